"""The HTML report: what it says, that it stands alone, and that hostile text stays text."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
import synthetic

from mpicampaign.comparison import compare
from mpicampaign.figures import Figure, draw_all
from mpicampaign.records import Case, Record
from mpicampaign.report import answers, run_counts, write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """What a test wants to know of a page; fails on tags that do not close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.alts: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if "href" in values else []
        self.sources += [values["src"]] if "src" in values else []
        self.alts += [values.get("alt", "")] if tag == "img" else []
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += [data.strip()] if data.strip() else []


def written(folder: Path, records: list[Record], figures: list[Figure] | None = None, **facts: str) -> str:
    path = folder / "report.html"
    write_report(path, compare(records), records, figures or [], **facts)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    records = synthetic.campaign()
    files = {"output": str(folder / "runs" / "a b#1" / "output.txt"), "script": str(folder / "job.sh")}
    records = [replace(record, files=files) if record.status == "ok" else record for record in records]
    figures = draw_all(compare(records), folder / "figures")
    written(folder, records, figures, campaign_title="A & B", campaign_text="a: <1>\n  b: 2\n")
    return folder / "report.html"


@pytest.fixture(scope="module")
def page(report: Path) -> Page:
    return Page(report.read_text(encoding="utf-8"))


def test_the_answers_come_first(report: Path, page: Page) -> None:
    text = report.read_text(encoding="utf-8")
    assert text.index('id="answers"') < text.index('id="tables"') < text.index('id="figures"')
    assert "lowest: SHM-1" in page.text
    assert "TCP-loopback: 3 of 6 runs count: 3 verified, 1 contradicted" in page.text


def test_it_asks_no_server_for_anything(report: Path, page: Page) -> None:
    assert page.sources and all(source.startswith("data:image/svg+xml,") for source in page.sources)
    assert not any(link.startswith(("http", "//", "data", "javascript")) for link in page.links)
    assert "script" not in page.tags and "link" not in page.tags
    assert re.search(r"url\((?!%23)|@import", report.read_text(encoding="utf-8")) is None
    assert "default-src 'none'" in report.read_text(encoding="utf-8")


def test_identifiers_are_unique_and_every_inner_link_leads_somewhere(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    inner = [link.removeprefix("#") for link in page.links if link.startswith("#")]
    assert set(inner) <= set(page.ids)
    assert "case-this-machine-local-SHM-1-PingPong" in inner
    assert "case-this-machine-local-TCP-loopback-PingPong-r3" in inner


def test_figures_have_alternative_texts(page: Page) -> None:
    assert len(page.alts) == 3 and all("SHM-1" in alt for alt in page.alts)


def test_raw_files_are_linked_relative_to_the_report(page: Page) -> None:
    assert "runs/a%20b%231/output.txt" in page.links and "job.sh" in page.links


def test_runs_left_out_are_shown_with_their_reasons(page: Page) -> None:
    assert "MPI library's report: it used shm, claimed: tcp" in page.text
    assert "output.txt: ends after 12 rows" in page.text
    assert page.text.count("needs 2 sockets, node1 has 1") >= 12


def test_campaign_file_is_shown_line_by_line(report: Path) -> None:
    assert "<pre>a: &lt;1&gt;\n  b: 2</pre>" in report.read_text(encoding="utf-8")


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    evil = synthetic.HOSTILE + '"><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}'
    case = Case(evil, evil, evil, evil)
    records = [
        replace(
            record,
            case=case,
            hosts=(evil,),
            job_id=evil,
            verdict_reasons=(evil,),
            metadata={evil: evil},
            files={evil: f"javascript:{evil}"},
        )
        for record in synthetic.case_runs(case, 1e-6, 1e9)
    ]
    records += synthetic.not_available(replace(case, placement=evil + "2"), evil)
    figures = draw_all(compare(records), tmp_path / "figures")
    text = written(tmp_path, records, figures, campaign_title=evil, campaign_name=evil, campaign_text=evil)
    page = Page(text)
    assert "script" not in page.tags and page.tags.count("img") == len(figures)
    assert "\x1b" not in text and "\u202e" not in text
    assert "49" not in page.text and "{{ 7*7 }}" in text
    assert not any(unquote(link).startswith("javascript:") and "/" not in link for link in page.links)


def test_cases_whose_names_differ_only_in_signs_have_their_own_anchors(tmp_path: Path) -> None:
    names = ("SHM 1", "SHM-1", "SHM/1")
    records = [r for name in names for r in synthetic.case_runs(Case("s", "g", name, "PingPong"), 1e-6, 1e9)]
    page = Page(written(tmp_path, records))
    assert len(page.ids) == len(set(page.ids))


NO_DEVICE = synthetic.not_available(Case("s", "g", "IBV", "PingPong"), "no device")


@pytest.mark.parametrize("records", [[], NO_DEVICE])
def test_nothing_measured_is_said(tmp_path: Path, records: list[Record]) -> None:
    assert any(words.startswith("No run gave a figure") for words in Page(written(tmp_path, records)).text)


def test_several_host_groups_are_answered_together() -> None:
    records = synthetic.campaign() + synthetic.campaign(host_group="other", factor=2)
    first = answers(compare(records))[0]
    assert first.verdict == "lowest: SHM-1 in 2 of 2 host groups"
    assert first.lines[1].startswith("other: SHM-1 0.492 µs is 38 % lower than SHM 0.788 µs")


def test_the_baseline_is_no_answer_but_kernels_are_held_against_it() -> None:
    found = answers(compare(synthetic.campaign()))
    assert not any("MPI_Gather:" in answer.title for answer in found)
    kernel = next(answer for answer in found if answer.title.startswith("tree_gather"))
    assert any(line.startswith("SHM-1: 0.926 × MPI_Gather at 32 KiB per rank [") for line in kernel.lines)


def test_counts_of_runs_by_state() -> None:
    counts = run_counts(synthetic.campaign())
    assert counts == {
        "verified": 24, "not_available": 12, "unverified": 3, "contradicted": 1, "failed": 1, "missing": 1,
    }  # fmt: skip


def test_five_hundred_runs_stay_under_five_megabytes(tmp_path: Path) -> None:
    groups = [synthetic.campaign(host_group=f"group{n}", factor=1 + n / 10) for n in range(12)]
    records = [record for group in groups for record in group]
    figure = draw_all(compare(synthetic.campaign()), tmp_path)[2]
    assert len(records) > 500
    assert len(written(tmp_path, records, [figure] * 12)) < 5_000_000


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_a_browser_shows_it_without_complaint(report: Path, tmp_path: Path) -> None:
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-sync"]
    command += ["--no-first-run", "--disable-background-networking", "--disable-component-update"]
    command += [f"--user-data-dir={tmp_path}", "--enable-logging=stderr", "--dump-dom", report.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "lowest: SHM-1" in shown.stdout
    assert "CONSOLE" not in shown.stderr
