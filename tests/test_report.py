"""The HTML report: its contents, self-contained, and hostile text stays text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import build_records as make
import pytest
from markupsafe import Markup

from mpicampaign.base.records import CONTRADICTED, MISSING, STATE, UNVERIFIED, VERIFIED, Case, Record
from mpicampaign.compare.compare import compare
from mpicampaign.compare.rows import PublishedRow
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.answer import NOT_SHOWN
from mpicampaign.questions.ranking.answer import behind
from mpicampaign.questions.ranking.find import PLACEMENTS
from mpicampaign.questions.ranking.say import verdict
from mpicampaign.questions.two_sides.find import changes_since
from mpicampaign.report.draw_figures import Figure, draw_all
from mpicampaign.report.questions import answers, lead
from mpicampaign.report.write import write_report
from mpicampaign.verdicts.compare import FEW_REPEATS

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


def test_cases_whose_names_differ_only_in_signs_have_their_own_anchors(tmp_path: Path) -> None:
    names = ("SHM 1", "SHM-1", "SHM/1")
    records = [run for name in names for run in make.case_runs(name)]
    page = Page(written(tmp_path, records))
    assert len(page.ids) == len(set(page.ids))


def test_facts_of_all_repeats_stand_once_for_each_case(tmp_path: Path) -> None:
    alike = "binding: one core per rank"
    records = make.case_runs("SHM", verdict_reasons=lambda repeat: (alike, f"ranks: on CPU {repeat}"))
    text = written(tmp_path, [*records, Record(make.case(), "imb", 99, MISSING)])
    assert text.count(alike) == 1 < text.count("2 reasons for the verdict") == len(records)
    assert all(text.count(f"ranks: on CPU {run.repeat}") == 1 for run in records)
    assert not re.search("<details[^>]* open", text)
    contradicted = [replace(run, verdict=CONTRADICTED) for run in records]
    opened = re.findall("<details[^>]* open", written(tmp_path, contradicted))
    assert len(opened) == len(records) + 1


NO_DEVICE = make.not_available(make.case("IBV"), "no device")


def test_the_baseline_is_not_an_answer_but_kernels_are_compared_with_it() -> None:
    found = answers(compare(make.campaign()))
    assert not any("MPI_Gather:" in answer.title for answer in found)
    kernel = next(answer for answer in found if answer.title.startswith("tree_gather"))
    assert any(line.startswith("SHM-1: 0.926 × MPI_Gather at 32 KiB per rank [") for line in behind(kernel))


BOTH = "of latency at 0 B and maximum bandwidth"


def test_the_answer_names_the_next_that_differs_from_the_best() -> None:
    runs = {name: make.case_runs(name, time) for name, time in (("A", 1e-6), ("B", 1e-6), ("C", 5e-6))}
    alike = answers(compare(runs["A"] + runs["B"]))[0]
    assert alike.real == NOT_SHOWN and alike.said[1:] == ("6 repeats find 5 % here in 8 of 10 cases.",)
    assert re.fullmatch(r"(A|B) \(.*\) and (A|B) \(.*\) tie\.", alike.said[0])
    apart = answers(compare(runs["A"] + runs["B"] + runs["C"]))
    assert apart[0].said[0].endswith(" tie as fastest.")
    assert re.fullmatch("C takes .* times as long as [AB].", apart[0].said[1])
    said = lead(compare(runs["A"]), apart)
    whole = f"A or B is the fastest placement in 1 of 2 comparisons {BOTH}, no clear lead in 1"
    assert said == whole, "bandwidth: all are alike"


@pytest.mark.parametrize("groups", ["g", "gh"])
def test_nobody_is_called_fastest_behind_one_of_too_few_repeats(groups: str) -> None:
    runs = [
        run
        for group in groups
        for name, latency, repeats in (("A", 1e-6, 3), ("B", 2e-6, 6), ("C", 9e-6, 6))
        for run in steady(name, latency, group)[: repeats if group == "g" else 6]
    ]
    comparison = compare(runs)
    latency, bandwidth = found = answers(comparison)
    said = {
        "g": "B (2.00 µs) is fastest of those judged, behind A (3 repeats).",
        "gh": "Fastest placement: A in 1 of 2 host groups, too few repeats in 1.",
    }
    assert said[groups] in latency.said and not any("those judged" in text for text in bandwidth.said)
    [ranked] = [one for one in latency.rankings if one.kind == PLACEMENTS and one.scope == "g"]
    assert verdict(ranked) == "lowest of those judged: B; not judged: A (3 repeats)"
    counted = {
        "g": f"No placement has a clear lead in any of the 2 comparisons {BOTH}, too few repeats in 1",
        "gh": f"A is the fastest placement in 1 of 4 comparisons {BOTH}, no clear lead in 2, "
        "too few repeats in 1",
    }
    assert lead(comparison, found).endswith(counted[groups])


@pytest.mark.parametrize("groups", ["g", "gh"])
def test_too_few_repeats_claim_nothing_and_say_what_to_do(groups: str) -> None:
    runs = [
        run
        for group in groups
        for name, latency in (("A", 1e-6), ("B", 9e-6))
        for run in make.case_runs(make.case(name, group=group), latency, repeats=3)
    ]
    found = answers(compare(runs))
    assert {answer.real for answer in found} == {FEW_REPEATS}
    assert found[0].said[0] == "Too few repeats to say which is best. Ask for more repeats."
    few = {"g": "A (0.980 µs) and B (9.08 µs)", "gh": "4 of 4 candidates (0.980 to 9.08 µs)"}[groups]
    assert found[0].said[1] == f"Not judged, fewer than 4 repeats: {few}."
    kinds = "placement" if groups == "g" else "host group or placement"
    assert lead(compare(runs), found) == f"Too few repeats to say which {kinds} is best"
    assert not any("fastest" in text for answer in found for text in answer.said)


def test_the_only_candidate_with_repeats_enough_is_not_shown_as_best() -> None:
    runs = [
        run
        for name, latency, repeats in (("A", 9e-6, 6), ("B", 1e-6, 3))
        for run in make.case_runs(name, latency, repeats=repeats)
    ]
    [latency] = [answer for answer in answers(compare(runs)) if "latency" in answer.title]
    assert [(one.name, one.leads) for one in latency.candidates] == [("B", False), ("A", False)]


def test_of_several_host_groups_those_that_no_ranking_beats_may_be_the_best() -> None:
    medians = {("g", "A"): 1e-6, ("g", "B"): 5e-6, ("h", "A"): 2e-6, ("h", "B"): 9e-6, ("i", "C"): 3e-6}
    runs = [
        run
        for (group, name), latency in medians.items()
        for run in make.case_runs(make.case(name, group=group), latency)
    ]
    [latency] = [answer for answer in answers(compare(runs)) if "latency" in answer.title]
    assert [(one.name, one.leads) for one in latency.candidates] == [
        *(("g A", True), ("h A", False), ("i C", False), ("g B", False), ("h B", False))
    ]


def test_without_sizes_there_are_no_curves_nor_their_program(tmp_path: Path) -> None:
    text = written(tmp_path, NO_DEVICE)
    assert len(Page(text).scripts) == 1 and 'id="curves"' not in text


def test_small_differences_over_host_groups_are_not_reported_as_none() -> None:
    records = [
        record
        for group in ("g", "h")
        for name, latency in (("A", 1e-6), ("B", 1.02e-6))
        for record in steady(name, latency, group)
    ]
    assert answers(compare(records))[0].said == (
        "A < B in 2 of 2 host groups (shown in each).",
        "Clear lead: B takes 2 % longer than A.",
    )


def steady(placement: str, latency: float, group: str) -> list[Record]:
    """Six repeats that scatter by 0.01 %."""
    return make.runs(make.case(placement, group=group), [latency * (1 + n * 1e-5) for n in range(1, 7)])


def test_changes_stand_in_the_cells_where_there_is_an_earlier_series(tmp_path: Path) -> None:
    records = make.campaign() + make.campaign(host_group="other", factor=2)
    earlier = make.campaign(factor=2)
    text = written(tmp_path, records, changes=changes_since(earlier, records, (1024,)))
    changed = re.findall(r'<span class="change[^>]*>([^<]*)<', text)
    assert changed and all(words.startswith("× ") for words in changed)
    assert any(words.endswith(" significant") and "not" not in words for words in changed)
    assert "the earlier series" in text
    assert 'class="change' not in written(tmp_path, records)


@pytest.mark.parametrize("lower_is_better", [True, False])
def test_published_systems_are_one_line_and_one_strip_with_own_values_among_them(
    tmp_path: Path, lower_is_better: bool
) -> None:
    comparison = compare(make.case_runs("SHM"))
    (table,) = comparison.tables
    metric = next(one for one in table.metrics if one.headline and one.lower_is_better == lower_is_better)
    own = table.rows[0].cell(metric).summary
    assert own
    values = [own.median * factor for factor in (0.5, 2.0, 3.0)]
    rows = [
        PublishedRow("old", f"g<{n}>", "TCP", 2, "mean", 5, "a", "r", {metric: v})
        for n, v in enumerate(values)
    ]
    text = below(tmp_path, replace(comparison, tables=(replace(table, published=tuple(rows)),)))
    tables = text.partition('id="tables"')[2].partition('id="curves"')[0]
    (strip,) = re.findall(r'<td class="scale">(.*?)<td', tables, flags=re.DOTALL)
    dots = re.findall(r'<circle cx="([\d.]+)%" cy="10" r="5" class="(\w+)">', strip)
    places = {role: [float(x) for x, of in dots if of == role] for role in ("published", "leads")}
    assert (
        len(places["published"]) == 3 and len(places["leads"]) == 1 and strip.count('class="interval"') == 1
    )
    assert places["published"] == sorted(places["published"]), "best at the left"
    place = 2 if lower_is_better else 3
    assert f"{place} of 4 by value" in tables
    folded = tables.partition("<summary>3 published of r</summary>")[2].partition("</table>")[0]
    names = re.findall(r'<th scope="row">(.*?)\n', folded)
    assert len(names) == 4 and "g SHM" in names[place - 1]


def test_an_upper_limit_has_no_place_among_published_values(tmp_path: Path) -> None:
    comparison = compare(make.case_runs("SHM"))
    (table,) = comparison.tables
    metric = next(one for one in table.metrics if one.headline)
    published = PublishedRow("old", "g", "TCP", 2, "mean", 5, "a report", "r", {metric: 1e-3})
    rows = (replace(table.rows[0], at_most=True),)
    text = below(tmp_path, replace(comparison, tables=(replace(table, rows=rows, published=(published,)),)))
    assert "not ranked, median, at most" in text and "by value" not in text
    assert 'class="unranked"' in text


def test_rows_of_another_state_are_folded(tmp_path: Path) -> None:
    aside = make.case_runs("SHM (60 ns apart)", 2e-6, metadata={STATE: "60 ns apart"})
    text = written(tmp_path, [*make.case_runs("SHM"), *aside])
    tables = text.partition('id="tables"')[2].partition('id="curves"')[0]
    shown, _, folded = tables.partition("<details>")
    assert "60 ns" not in shown and "60 ns" in folded
    assert "1 more row, of another state of the machine" in folded


def test_where_no_repeat_tells_anything_no_placement_is_called_best(tmp_path: Path) -> None:
    records = [
        make.run(make.case(name, group=group), 1, make.pingpong(1e-6 * factor))
        for group in ("g", "h", "i")
        for factor, name in enumerate(("A", "B"), 1)
    ]
    found = answers(compare(records))
    assert found == []
    assert "A was better than B in 3 of 3 settings, by " in written(tmp_path, records)
    assert "fastest" not in "".join(Page(written(tmp_path, records)).text)


def test_figures_that_would_make_the_report_too_large_are_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"huge": 61_000, "large": 50_000, "small": 40_000}
    figures = [figure_of(tmp_path, name, size) for name, size in sizes.items()]
    whole = written(tmp_path, make.campaign(), figures)
    assert '<a href="huge.svg">huge</a>' in whole and "2 of 3 figures are shown" in whole
    monkeypatch.setattr("mpicampaign.report.write._LARGEST", len(whole) - 45_000)
    text = written(tmp_path, make.campaign(), figures)
    assert '<a href="large.svg">large</a>' in text and "1 of 3 figures are shown" in text
    assert text.count('<svg id="large') == 0 and text.count('<svg id="small') == 1


def figure_of(folder: Path, name: str, size: int) -> Figure:
    """One whose picture has so many characters."""
    picture = Markup(f'<svg id="{name}">{"x" * size}</svg>')
    return Figure(name, name, "caption", "alt", picture, (folder / f"{name}.svg",))


@pytest.mark.parametrize(("metrics", "folded"), [(7, ""), (8, "2 more metrics")])
def test_answers_on_many_metrics_are_folded_but_never_one_alone(
    tmp_path: Path, metrics: int, folded: str
) -> None:
    names = ("Bcast", "Reduce", "Gather", "Scatter", "Allreduce", "Allgather", "Alltoall", "Scan")[:metrics]
    records = [make.run(make.case("SHM", name), 1, make.series(name, size=8.0, time=1e-6)) for name in names]
    first, _, _ = written(tmp_path, records).partition('id="tables"')
    assert re.findall(r"\d+ more metrics", first) == ([folded] if folded else [])
    assert all(first.count(f'id="answer-{number}') == 1 for number in range(1, metrics + 1))


def test_placements_unverified_in_all_host_groups_are_named_once() -> None:
    records = [
        run
        for group in "abc"
        for placement in ("SHM", "TCP")
        for run in make.case_runs(
            make.case(placement, group=group),
            verdict=VERIFIED if placement == "SHM" and group != "a" else UNVERIFIED,
        )
    ]
    assert [answer.said[-1] for answer in answers(compare(records))] == ["Unverified: TCP and a SHM."] * 2


def test_own_host_groups_against_published_ones_stand_on_the_first_screen(tmp_path: Path) -> None:
    comparison = compare(make.campaign())
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
