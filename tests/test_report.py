"""The HTML report: its contents, self-contained, and hostile text stays text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import synthetic

from mpicampaign.compare.changes import changes_since
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison, PublishedRow
from mpicampaign.records import Case, Record
from mpicampaign.show.answers import answers
from mpicampaign.show.figures.draw import Figure, draw_all
from mpicampaign.show.report.write import write_report

VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """The parts of a page that tests need; fails on tags that do not close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.alts: list[str] = []
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
        self.sources += [values["src"]] if "src" in values else []
        self.alts += [values.get("alt", "")] if tag == "img" else []
        self.open += [] if tag in VOID else [tag]

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
    assert page.tags.count("script") == 4 and page.tags.count("img") == len(figures)
    assert not any(sign in page.scripts[0] for sign in ("<", ">", "&", "\u2028"))
    assert "alert(1)" in page.scripts[0], "the tooltips name it, as text"
    assert "\x1b" not in text and "\u202e" not in text
    assert "49" not in page.text and "{{ 7*7 }}" in text
    assert not any(unquote(link).startswith("javascript:") and "/" not in link for link in page.links)


def test_cases_whose_names_differ_only_in_signs_have_their_own_anchors(tmp_path: Path) -> None:
    names = ("SHM 1", "SHM-1", "SHM/1")
    records = [r for name in names for r in synthetic.case_runs(Case("s", "g", name, "PingPong"), 1e-6, 1e9)]
    page = Page(written(tmp_path, records))
    assert len(page.ids) == len(set(page.ids))


def two_groups() -> list[Record]:
    return synthetic.campaign() + synthetic.campaign(host_group="other", factor=2)


def test_changes_stand_in_the_cells_where_there_is_an_earlier_series(tmp_path: Path) -> None:
    records = two_groups()
    earlier = synthetic.campaign(factor=2)
    text = written(tmp_path, records, changes=changes_since(compare(earlier)))
    changed = re.findall(r'<span class="change[^>]*>([^<]*)<', text)
    assert changed and all(words.startswith("× ") for words in changed)
    assert any(words.endswith(" significant") and "not" not in words for words in changed)
    assert "the earlier series" in text
    assert 'class="change' not in written(tmp_path, records)


def test_where_no_repeat_tells_anything_no_placement_is_called_best(tmp_path: Path) -> None:
    records = [
        synthetic.run(Case("s", group, name, "PingPong"), 1, synthetic.pingpong(1e-6 * factor, 1e9))
        for group in ("g", "h", "i")
        for factor, name in enumerate(("A", "B"), 1)
    ]
    found = answers(compare(records))
    assert found == []
    assert "A was better than B in 3 of 3 settings at every size" in written(tmp_path, records)
    assert "fastest" not in "".join(Page(written(tmp_path, records)).text)


def test_own_host_groups_against_published_ones_stand_on_the_first_screen(tmp_path: Path) -> None:
    comparison = compare(synthetic.campaign())
    first, *others = comparison.tables
    placement = first.rows[0].case.placement
    values = dict.fromkeys((metric for metric in first.metrics if not metric.bound), 1e-6)
    rows = [PublishedRow("old", f"g{n}", placement, 2, "mean", 5, "a report", "r", values) for n in (1, 2)]
    text = below(tmp_path, replace(comparison, tables=(replace(first, published=tuple(rows)), *others)))
    answers, _, rest = text.partition('id="tables"')
    assert "is better than 2 of 2 host groups of old (published, r): × 0.253" in answers
    assert answers.count("published, r: no test") == 4, "two metrics of two host groups"
    assert "My host groups" in answers and "My host groups" not in rest


def below(folder: Path, comparison: Comparison) -> str:
    write_report(folder / "report.html", comparison, comparison.records)
    text = (folder / "report.html").read_text(encoding="utf-8")
    Page(text)
    return text


def test_where_all_else_is_large_fewer_figures_are_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = []
    for name in ("first", "second"):
        file = tmp_path / f"{name}.svg"
        file.write_text("<svg>" + "x" * 500_000 + "</svg>", encoding="utf-8")
        figures.append(Figure(name, name, "", "alt", (file,)))
    whole = written(tmp_path, synthetic.campaign(), figures)
    assert whole.count("<img src=") == 2
    monkeypatch.setattr("mpicampaign.show.report.write._LARGEST", len(whole) - 400_000)
    monkeypatch.setattr("mpicampaign.show.report.write._MOST_DRAWN", 1_100_000)
    text = written(tmp_path, synthetic.campaign(), figures)
    assert text.count("<img src=") == 1 and "1 of 2 figures are shown" in text
