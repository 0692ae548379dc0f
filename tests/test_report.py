"""The HTML report: self-contained, hostile text stays text, made again after a change; Snakemake's report."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import build_records as make
import pytest
from build_campaigns import UNBOUND, write_trivial
from conftest import ProjectCopy, completed, copy_project, succeeded
from markupsafe import Markup
from test_importing import chosen

from mpicampaign.base.records import CONTRADICTED, Case, Record
from mpicampaign.cli import main
from mpicampaign.compare.compare import compare
from mpicampaign.compare.rows import PublishedRow
from mpicampaign.compare.tables import Comparison
from mpicampaign.imports import importing
from mpicampaign.report.draw_figures import Figure, draw_all
from mpicampaign.report.write import write_report
from mpicampaign.show.charts.model import Captioned

WITHOUT_END = {"meta", "link", "img", "br", "hr", "input", "li", "td", "th", "tr"}


class Page(HTMLParser):
    """The parts of a page that tests need; fails on tags that do not close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if "href" in values else []
        self.open += [] if tag in WITHOUT_END else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        else:
            self.text += [data.strip()] if data.strip() else []


def written(folder: Path, records: list[Record], figures: list[Figure] | None = None, **facts: Any) -> str:
    path = folder / "report.html"
    write_report(path, compare(records), records, lambda: figures or [], **facts)
    return path.read_text(encoding="utf-8")


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    evil = make.HOSTILE + '"><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}'
    case = Case(evil, evil, evil, evil)
    fields = {"hosts": (evil,), "verdict_reasons": (evil,), "files": {evil: f"javascript:{evil}"}}
    records = make.case_runs(case, job_id=evil, metadata={evil: evil}, **fields)
    records += make.not_available(replace(case, placement=evil + "2"), evil)
    figures = draw_all(compare(records), tmp_path / "figures")
    text = written(tmp_path, records, figures, campaign_title=evil, campaign_name=evil, campaign_text=evil)
    page = Page(text)
    assert page.tags.count("script") == 2 and "img" not in page.tags
    assert page.tags.count("figcaption") == len(figures)
    assert "alert(1)" not in "".join(page.scripts) and any("alert(1)" in text for text in page.text)
    assert "\x1b" not in text and "\u202e" not in text
    assert "49" not in page.text and "{{ 7*7 }}" in text
    assert not any(unquote(link).startswith("javascript:") and "/" not in link for link in page.links)


def test_figures_that_would_make_the_report_too_large_are_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"huge": 61_000, "large": 50_000, "small": 40_000}
    figures = [figure_of(tmp_path, name, size) for name, size in sizes.items()]
    figures[0] = replace(figures[0], picture=Markup())  # of a huge one no picture is handed over
    whole = written(tmp_path, make.campaign(), figures)
    assert '<a href="huge.svg">huge</a>' in whole and "2 of 3 figures are shown" in whole
    monkeypatch.setattr("mpicampaign.report.write._LARGEST", len(whole) - 45_000)
    text = written(tmp_path, make.campaign(), figures)
    assert '<a href="large.svg">large</a>' in text and "1 of 3 figures are shown" in text
    assert text.count('<svg id="large') == 0 and text.count('<svg id="small') == 1


def test_a_page_of_many_runs_lists_those_in_doubt_and_says_where_all_are(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    runs = [
        run
        for group in "ab"
        for run in make.runs(make.case(group=group), [2e-6 + n * 1e-9 for n in range(500)])
    ]
    every = Page(written(tmp_path, runs))
    assert not (tmp_path / "tables/runs.csv").exists()
    assert sum("-r" in name for name in every.ids) == 1000
    bad = replace(runs[-1], repeat=501, verdict=CONTRADICTED, verdict_reasons=("rank 0 ran elsewhere",))
    page = Page(written(tmp_path, [*runs, bad]))
    assert [name for name in page.ids if "-r" in name] == ["case-s-b-SHM-PingPong-r501"]
    assert "1000 of these runs are only in" in page.text
    assert {link.removeprefix("#") for link in page.links if "-r" in link} <= {*page.ids}
    lines = (tmp_path / "tables/runs.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 1001
    assert ",500,ok," in lines[500] and ",2.499e-06," in lines[500]


def test_of_many_pairs_the_page_has_those_with_the_best(tmp_path: Path) -> None:
    runs = [run for n in range(33) for run in make.runs(make.case(group=f"g{n}"), [1e-6 * (40 - n)])]
    page = Page(written(tmp_path, runs))
    assert any("64 of 1056 pairs, those with the best: PingPong" in text for text in page.text)
    assert any("Each pair: PingPong" in text for text in Page(written(tmp_path, runs[:26])).text)


def figure_of(folder: Path, name: str, size: int) -> Figure:
    """One whose picture has so many characters."""
    picture = Markup(f'<svg id="{name}">{"x" * size}</svg>')
    return Figure(name, Captioned(name, "caption", "alt"), picture, (folder / f"{name}.svg",))


@pytest.mark.parametrize(("metrics", "folded"), [(7, ""), (8, "2 more metrics")])
def test_answers_on_many_metrics_are_folded_but_never_one_alone(
    tmp_path: Path, metrics: int, folded: str
) -> None:
    names = ("Bcast", "Reduce", "Gather", "Scatter", "Allreduce", "Allgather", "Alltoall", "Scan")[:metrics]
    printed = {name: make.series(name, size=8.0, time=1e-6, time_min=1e-6) for name in names}
    records = [make.run(make.case("SHM", name), 1, series) for name, series in printed.items()]
    first, _, _ = written(tmp_path, records).partition('id="tables"')
    assert re.findall(r"\d+ more metrics", first) == ([folded] if folded else [])
    assert all(first.count(f'id="answer-{number}') == 1 for number in range(1, metrics + 1))
    assert first.count("is the mean over ranks") == 1


def test_kernels_show_the_time_of_a_small_call_and_wire_bandwidth_beside_useful_bandwidth(
    tmp_path: Path,
) -> None:
    """Where they were printed: one candidate without a time has a dash, and a metric of nobody no line."""
    records = [make.run(name, 1, make.tree_gather("max-inter", 2e-6, 4e9), suite="kernel") for name in "AB"]
    first, _, rest = written(tmp_path, records).partition('id="tables"')
    time, wire = 2 + 4 * 1024 / 4e3, 4 * 2**22 / (2e-6 + 2**22 / 1e9) / 1e6
    assert first.count("<small>3.02</small>") == 2 and f"{time:.2f}" == "3.02"
    assert first.count(f"<small>{wire:.0f}</small>") == 2
    terms = re.findall(r'<abbr class="term" title="([^"]*)">([^<]*)</abbr>', first)
    assert [term for _, term in terms] == ["B_useful", "time at 1 KiB, µs", "B_wire, MB/s"]
    assert "bytes that the operation has to deliver" in terms[0][0] and "no latency" in terms[1][0]
    assert ">time</abbr> at 1 KiB per rank" in rest and "is the mean over ranks" not in first
    del records[0].series[0].columns["time"]
    assert written(tmp_path, records).partition('id="tables"')[0].count("<small>–</small>") == 1
    del records[1].series[0].columns["time"]
    assert "time at 1 KiB" not in written(tmp_path, records)


def test_own_host_groups_against_published_ones_stand_on_the_first_screen(tmp_path: Path) -> None:
    comparison = compare(make.campaign())
    first, *others = comparison.tables
    placement = first.rows[0].case.placement
    values = dict.fromkeys((metric for metric in first.metrics if not metric.bound), 1e-6)
    rows = [PublishedRow("old", f"g{n}", placement, 2, "mean", 5, "a report", "r", values) for n in (1, 2)]
    text = below(tmp_path, replace(comparison, tables=(replace(first, published=tuple(rows)), *others)))
    answers, _, rest = text.partition('id="tables"')
    assert "is lower than 2 of 2 host groups of old (published, r): × 0.253" in answers
    assert "My host groups" in answers and "My host groups" not in rest


def below(folder: Path, comparison: Comparison) -> str:
    write_report(folder / "report.html", comparison, comparison.records)
    text = (folder / "report.html").read_text(encoding="utf-8")
    Page(text)
    return text


FIXTURE = Path(__file__).parent / "fixtures/imb/pingpong.out"


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, bool]]:
    """The exit status of an import, and whether anything was read."""
    calls: list[int] = []
    real = importing.import_folders

    def counted(*arguments: object) -> object:
        calls.append(1)
        return real(*arguments)  # type: ignore[arg-type]

    raw = tmp_path / "raw" / "TCP"
    raw.mkdir(parents=True)
    shutil.copy(FIXTURE, raw / "a.out")
    chosen(tmp_path)
    monkeypatch.setattr(importing, "import_folders", counted)
    monkeypatch.setattr("mpicampaign.base.places.results_folder", lambda: tmp_path / "results")

    def call(*options: str) -> tuple[int, bool]:
        calls.clear()
        return main(["import", str(raw.parent), "--map", str(tmp_path / "map.yaml"), *options]), bool(calls)

    return call


def test_an_unchanged_import_is_not_read_again_unless_asked(
    imported: Callable[..., tuple[int, bool]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported() == (0, True)
    first = capsys.readouterr().out
    assert imported() == (0, False)
    assert capsys.readouterr().out == first.replace("1 new in", "0 new in") != first
    assert imported("--recheck") == (0, True)


@pytest.mark.parametrize("change", ["source", "new file", "copy", "map", "tables", "broken link"])
def test_an_import_is_read_again_after_a_change(
    change: str, imported: Callable[..., tuple[int, bool]], tmp_path: Path
) -> None:
    assert imported() == (0, True)
    raw = tmp_path / "raw" / "TCP"
    (copy,) = (tmp_path / "results").rglob("a.out")
    (tables,) = (tmp_path / "results").rglob("comparison.csv")
    match change:
        case "source":
            os.utime(raw / "a.out")
        case "new file":
            shutil.copy(FIXTURE, raw / "b.out")
        case "copy":
            os.utime(copy)
        case "map":
            with (tmp_path / "map.yaml").open("a") as file:
                file.write("# changed\n")
        case "tables":
            tables.unlink()
        case "broken link":
            (raw / "link").symlink_to("nowhere")
    assert imported() == (0, True)


# No network where the machine lets us take it away; in any case nothing is fetched over a proxy.
ALONE = ["unshare", "--net", "--map-root-user"] if shutil.which("unshare") else []


def snakemake(project: ProjectCopy, *arguments: str, alone: bool = False) -> subprocess.CompletedProcess[str]:
    command = [*ALONE * alone, sys.executable, "-m", "snakemake", "--profile", "cluster", *arguments]
    proxy = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    return completed(command, cwd=project.folder, env={**project.environment, **proxy}, timeout=120)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopy:
    project = copy_project(tmp_path_factory.mktemp("small") / "project")
    write_trivial(project, "campaign", title="Before", placements={"one": UNBOUND})
    assert succeeded(snakemake(project))
    return project


@pytest.mark.slow
@pytest.mark.full
def test_the_zip_holds_our_report_whole(finished: ProjectCopy, tmp_path: Path) -> None:
    archive = tmp_path / "report.zip"
    assert succeeded(snakemake(finished, "--report", str(archive)))
    ours = (finished.folder / "results/campaign/report.html").read_bytes()
    with zipfile.ZipFile(archive) as opened:
        held = [opened.read(name) for name in opened.namelist() if name.endswith("/report.html")]
        assert ours in held


@pytest.mark.slow
@pytest.mark.full
def test_files_of_others_among_the_figures_survive_a_new_report(finished: ProjectCopy) -> None:
    folder = finished.folder / "results/campaign"
    mine = folder / "figures/mine.txt"
    mine.write_text("kept")
    campaign = finished.folder / "campaign.yaml"
    campaign.write_text(campaign.read_text().replace("title: Before", "title: Afterwards"))
    assert succeeded(snakemake(finished))
    assert "Afterwards" in (folder / "report.html").read_text()
    assert mine.read_text() == "kept"
    again = snakemake(finished)
    assert "nothing to do, all " in again.stderr
