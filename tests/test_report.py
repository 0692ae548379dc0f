"""The HTML report: its contents, self-contained, and hostile text stays text."""

from __future__ import annotations

import json
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
from mpicampaign.compare.findings import MODES, Recorded
from mpicampaign.compare.tables import Comparison, PublishedRow
from mpicampaign.records import IMPORTED_FROM, UNVERIFIED, Case, Record, Series
from mpicampaign.show.answers import answers, behind, lead
from mpicampaign.show.figures.draw import Figure, draw_all
from mpicampaign.show.frame import script_hash
from mpicampaign.show.rankings import FEW, NOT_SHOWN, SHOWN
from mpicampaign.show.report.write import write_report
from mpicampaign.show.runs import how_many, run_counts

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


def without_scripts(text: str) -> str:
    return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


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


def test_the_answers_come_first(report: Path, page: Page) -> None:
    text = report.read_text(encoding="utf-8")
    assert text.index('id="answers"') < text.index('id="tables"') < text.index('id="figures"')
    assert any(line.startswith("SHM-1 is the fastest placement on local; no signif") for line in page.text)
    assert any(words.startswith("SHM-1 (0.253 µs) is fastest.") for words in page.text)
    assert "TCP-loopback: 4 of 7 runs count: 4 verified, 1 contradicted, 5 not judged" in page.text


def test_it_asks_no_server_for_anything(report: Path, page: Page) -> None:
    assert page.sources and all(source.startswith("data:image/svg+xml,") for source in page.sources)
    assert not any(link.startswith(("http", "//", "data", "javascript")) for link in page.links)
    assert page.tags.count("script") == 4 and "link" not in page.tags
    text = without_scripts(report.read_text(encoding="utf-8"))
    assert re.search(r"url\((?!%23)|@import", text) is None
    assert "default-src 'none'" in text and "unsafe-eval" not in text


def test_only_the_reports_own_programs_may_run(page: Page, report: Path) -> None:
    data, *programs = page.scripts
    assert json.loads(data)["curve-1"]["lines"]
    policy = re.findall(r"script-src ([^;]*);", report.read_text(encoding="utf-8"))[0]
    assert policy.split() == [script_hash(program) for program in programs]


def test_identifiers_are_unique_and_every_inner_link_leads_somewhere(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    inner = [link.removeprefix("#") for link in page.links if link.startswith("#")]
    assert set(inner) <= set(page.ids)
    assert "case-this-machine-local-SHM-1-PingPong" in inner
    assert "case-this-machine-local-TCP-loopback-PingPong-r3" in inner


def test_figures_have_alternative_texts(page: Page) -> None:
    assert len(page.alts) == 5 and all("SHM-1" in alt for alt in page.alts)


def test_raw_files_are_linked_relative_to_the_report(page: Page) -> None:
    assert "runs/a%20b%231/output.txt" in page.links and "job.sh" in page.links


def test_runs_left_out_are_shown_with_their_reasons(page: Page) -> None:
    assert "MPI library's report: it used shm, claimed: tcp" in page.text
    assert "output.txt: ends after 12 rows" in page.text


def test_what_is_not_available_is_listed_once_and_has_no_lines(page: Page) -> None:
    reason = "needs 2 sockets, node1 has 1"
    assert page.text.count(f"local SHM-2 is not available: {reason}.") == 1
    assert page.text.count(reason) == 1, "among what is left out"
    assert not any("SHM-2" in link for link in page.links)


def test_campaign_file_is_shown_line_by_line(report: Path) -> None:
    assert ">a: &lt;1&gt;\n  b: 2</pre>" in report.read_text(encoding="utf-8")


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


NO_DEVICE = synthetic.not_available(Case("s", "g", "IBV", "PingPong"), "no device")


@pytest.mark.parametrize("records", [[], NO_DEVICE])
def test_nothing_measured_is_reported(tmp_path: Path, records: list[Record]) -> None:
    assert "No run gave a value that counts" in Page(written(tmp_path, records)).text


def test_several_host_groups_are_answered_together() -> None:
    records = synthetic.campaign() + synthetic.campaign(host_group="other", factor=2)
    first = answers(compare(records))[0]
    assert first.said[0] == "Fastest placement: SHM-1 in 2 of 2 host groups."
    assert any("SHM (0.808 µs) takes 64 % longer than SHM-1 (0.492 µs)" in line for line in behind(first))
    assert first.host_groups[0].startswith("SHM-1: local (0.253 µs) is fastest; other takes 94 % longer")


def test_what_shows_a_difference_comes_first_and_nothing_is_dropped_in_silence(tmp_path: Path) -> None:
    cases = [Case("s", "g", place, f"A{number}") for number in range(5) for place in ("SHM-1", "SHM-2")]
    alike = [run for case in cases for run in synthetic.case_runs(case, 5e-7, 4e9, repeats=1)]
    text = written(tmp_path, alike + synthetic.campaign("s", "g"))
    titles = re.findall(r'<article class="answer" id="answer-\d+"><div class="said"><h3>([^<]*) <', text)
    assert titles[0].startswith("PingPong: ") and titles[-1].startswith("A")
    assert len(titles) > 6 and f"<summary>{len(titles) - 6} more metrics</summary>" in text


def test_the_baseline_is_not_an_answer_but_kernels_are_compared_with_it() -> None:
    found = answers(compare(synthetic.campaign()))
    assert not any("MPI_Gather:" in answer.title for answer in found)
    kernel = next(answer for answer in found if answer.title.startswith("tree_gather"))
    assert any(line.startswith("SHM-1: 0.926 × MPI_Gather at 32 KiB per rank [") for line in behind(kernel))


def test_counts_of_runs_by_state() -> None:
    counts = run_counts(synthetic.campaign())
    assert counts == {
        "verified": 25, "not_available": 12, "unverified": 3, "contradicted": 1, "failed": 1, "missing": 1,
    }  # fmt: skip


def test_five_hundred_runs_stay_under_five_megabytes(tmp_path: Path) -> None:
    groups = [synthetic.campaign(host_group=f"group{n}", factor=1 + n / 10) for n in range(12)]
    records = [record for group in groups for record in group]
    figure = draw_all(compare(synthetic.campaign()), tmp_path)[2]
    assert len(records) > 500
    assert len(written(tmp_path, records, [figure] * 12)) < 5_000_000


def two_groups() -> list[Record]:
    return synthetic.campaign() + synthetic.campaign(host_group="other", factor=2)


def test_the_first_screen_says_which_by_how_much_and_whether_it_is_real() -> None:
    latency = answers(compare(synthetic.campaign()))[0]
    assert latency.real == SHOWN
    assert latency.said[0] == "SHM-1 (0.253 µs) is fastest."
    assert latency.said[1] == "SHM takes 58 % longer than SHM-1, TCP-loopback 12.6 times as long."
    assert latency.said[2] == "All repeats agree: the difference is real."
    together = answers(compare(two_groups()))[0]
    low, high = (f"SHM takes {share} % longer than SHM-1" for share in (58, 64))
    assert together.said[1] == f"Smallest gap to the next: {low} (local); largest: {high} (other)."


def test_a_host_group_where_all_placements_tie_has_no_best() -> None:
    records = two_groups()
    tied = Case("this-machine", "other", "SHM-1", "PingPong")
    records = [record for record in records if record.case != tied]
    records += synthetic.case_runs(tied, 0.51e-6, 9.1e9, repeats=2)
    said = answers(compare(records))[0].said
    assert said[0] == "Fastest placement: SHM-1 in 1 of 2 host groups, no significant difference in 1."


def test_the_answer_names_the_next_that_differs_from_the_best() -> None:
    runs = {
        name: synthetic.case_runs(Case("s", "g", name, "PingPong"), latency, 1e9)
        for name, latency in (("A", 1e-6), ("B", 1e-6), ("C", 5e-6))
    }
    alike = answers(compare(runs["A"] + runs["B"]))[0]
    assert alike.real == NOT_SHOWN and len(alike.said) == 1
    assert alike.said[0].startswith("No significant difference between ")
    apart = answers(compare(runs["A"] + runs["B"] + runs["C"]))
    assert apart[0].said[0].endswith(" are fastest: no significant difference.")
    assert re.fullmatch("C takes .* times as long as [AB].", apart[0].said[1])
    assert re.fullmatch("(A and B|B and A) are the fastest placements on g", lead(compare(runs["A"]), apart))


def test_the_lead_names_who_ties_with_the_best_in_part() -> None:
    runs = [
        run
        for name, latency, bandwidth in (("A", 1e-6, 1e9), ("B", 1e-6, 1e8), ("C", 5e-6, 1e7))
        for run in synthetic.case_runs(Case("s", "g", name, "PingPong"), latency, bandwidth)
    ]
    found = lead(compare(runs), answers(compare(runs)))
    assert found == "A is the fastest placement on g; no significant difference from B in 1 of 2 comparisons"


def test_too_few_repeats_claim_nothing_and_say_what_to_do() -> None:
    runs = [
        run
        for name, latency in (("A", 1e-6), ("B", 9e-6))
        for run in synthetic.case_runs(Case("s", "g", name, "PingPong"), latency, 1e9, repeats=3)
    ]
    found = answers(compare(runs))
    assert {answer.real for answer in found} == {FEW}
    assert all(answer.said[0].startswith("Too few repeats to compare ") for answer in found)
    assert all("Ask for more repeats." in answer.said[0] for answer in found)
    assert lead(compare(runs), found) == "Too few repeats to say which of the placements is best"
    assert not any("fastest" in text for answer in found for text in answer.said)


def test_candidates_are_sorted_and_their_ratios_count_from_the_best() -> None:
    latency, bandwidth = answers(compare(two_groups()))[:2]
    for answer in (latency, bandwidth):
        ratios = [one.ratio for one in answer.candidates]
        assert ratios == sorted(ratios) and ratios[0] == 1, answer.title
        assert all(one.low <= one.ratio <= one.high for one in answer.candidates)
    assert latency.candidates[0].name == "local SHM-1" and latency.candidates[0].value == "0.253"
    assert not any(one.leads for one in latency.candidates), "no one ranking compares them all"
    alone = answers(compare(synthetic.campaign()))[0]
    assert [(one.name, one.leads) for one in alone.candidates] == [
        ("SHM-1", True), ("SHM", False), ("TCP-loopback", False)
    ]  # fmt: skip


def test_of_many_candidates_the_last_are_folded(tmp_path: Path) -> None:
    groups = [synthetic.campaign(host_group=f"group{n}", factor=1 + n / 10) for n in range(1, 5)]
    text = written(tmp_path, [record for group in groups for record in group])
    picture = text[text.index('<div class="picture">') : text.index("</article>")]
    shown, folded = picture.split("<summary>4 more candidates</summary>")
    assert (shown.count("<circle"), folded.count("<circle")) == (8, 4)


def test_statements_over_all_host_groups_stand_under_their_answer(tmp_path: Path) -> None:
    page = Page(written(tmp_path, two_groups()))
    stated = [words for words in page.text if words.startswith("latency at 0 B: SHM-1 <")]
    assert len(stated) == 1 and "of 2 host groups" in stated[0]


def test_published_rows_are_marked_and_their_gaps_are_explained(tmp_path: Path) -> None:
    comparison = compare(synthetic.campaign())
    first, *others = comparison.tables
    values = {first.metrics[0]: 80.04e-6}
    row = PublishedRow("old", "group<9>", "TCP", None, "mean", 5, "a report of 2017", "a-2017", values)
    comparison = replace(comparison, tables=(replace(first, published=(row,)), *others))
    write_report(tmp_path / "report.html", comparison, comparison.records)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    shown = re.findall(r'<tr class="published">.*?</tr>', text, flags=re.DOTALL)[0]
    assert "old/group&lt;9&gt; <b>TCP</b> <small>published, a-2017</small>" in shown
    assert "<li>published, a-2017: a report of 2017</li>" in text
    assert 'data-v="8.004e-05">80.0<small>mean</small>' in shown
    assert shown.count("not published") == 4


def test_every_median_of_a_curve_can_be_read_without_scripts(page: Page) -> None:
    assert "Medians at all sizes: PingPong: time" in page.text
    assert "local, SHM-1" in page.text


def test_without_sizes_there_are_no_curves_and_no_bokeh(tmp_path: Path) -> None:
    text = written(tmp_path, NO_DEVICE)
    assert "bokeh" not in text and 'id="curves"' not in text


def test_each_placement_has_its_best_host_group() -> None:
    found = answers(compare(two_groups()))[0]
    assert [line.partition(":")[0] for line in found.host_groups] == ["SHM-1", "SHM", "TCP-loopback"]
    assert all(": local (" in line and ") is fastest; other " in line for line in found.host_groups)
    assert answers(compare(synthetic.campaign()))[0].host_groups == ()


def test_small_differences_over_host_groups_are_not_reported_as_none() -> None:
    records = [
        record
        for group in ("g", "h")
        for name, latency in (("A", 1e-6), ("B", 1.02e-6))
        for record in steady(Case("s", group, name, "PingPong"), latency)
    ]
    assert answers(compare(records))[0].said[1] == "g: B takes 2 % longer than A."


def steady(case: Case, latency: float) -> list[Record]:
    """Six repeats that scatter by 0.01 %."""
    return [synthetic.run(case, n, synthetic.pingpong(latency * (1 + n * 1e-5), 1e9)) for n in range(1, 7)]


def test_runs_are_planned_or_imported(tmp_path: Path) -> None:
    planned = synthetic.campaign()
    imported = [replace(record, metadata={IMPORTED_FROM: "a"}) for record in planned]
    assert how_many([]) == "0 runs planned" and how_many(planned) == "43 runs planned"
    assert how_many(imported) == "43 runs imported"
    assert how_many(planned[:1] + imported[:2]) == "1 runs planned, 2 runs imported"
    text = written(tmp_path, imported)
    assert "43 runs imported" in text and "runs planned" not in without_scripts(text)


def test_changes_stand_in_the_cells_where_there_is_an_earlier_series(tmp_path: Path) -> None:
    records = two_groups()
    earlier = synthetic.campaign(factor=2)
    text = written(tmp_path, records, changes=changes_since(compare(earlier)))
    changed = re.findall(r'<span class="change[^>]*>([^<]*)<', text)
    assert changed and all(words.startswith("× ") for words in changed)
    assert any(words.endswith(" significant") and "not" not in words for words in changed)
    assert "the earlier series" in text
    assert 'class="change' not in written(tmp_path, records)


def test_published_values_are_in_stacked_tables(tmp_path: Path) -> None:
    case = Case("s", "g", "SHM", "gather")
    records = [
        synthetic.run(case, n, synthetic.tree_gather("binary", 1e-6, 1e9), suite="kernel") for n in (1, 2)
    ]
    comparison = compare(records)
    first, *others = comparison.tables
    metric = first.metrics[0]
    assert metric.part
    row = PublishedRow("old", "g<9>", "TCP", 4, "mean", 5, "a report", "a-2017", {metric: 2e9})
    comparison = replace(comparison, tables=(replace(first, published=(row,)), *others))
    write_report(tmp_path / "report.html", comparison, records)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    (line,) = re.findall(r'<tr class="published">.*?</tr>', text, flags=re.DOTALL)
    assert "old/g&lt;9&gt;" in line and '">2000<small>mean</small>' in line
    Page(text)


def test_several_modes_are_reported_once(tmp_path: Path) -> None:
    records = two_groups()
    comparison = compare(records)
    note = Recorded(kind=MODES, reason="two bands")
    tables = [
        replace(
            table, rows=tuple(replace(row, notes=(note, replace(note, reason="b"))) for row in table.rows)
        )
        for table in comparison.tables
    ]
    comparison = replace(comparison, tables=tuple(tables))
    write_report(tmp_path / "report.html", comparison, records)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    rows = sum(bool(row.records) for table in tables for row in table.rows)
    assert text.count('<small class="warn">several modes</small>') == rows


def test_first_places_alone_come_before_shared_ones() -> None:
    """A wins twice, B once; A and B share the first place once, and A and C."""
    latencies = {"g1": (1, 2, 3), "g2": (1, 2, 3), "g3": (2, 1, 3), "g4": (1, 1, 3), "g5": (1, 3, 1)}
    records = [
        record
        for group, of_group in latencies.items()
        for name, latency in zip("ABC", of_group, strict=True)
        for record in steady(Case("s", group, name, "PingPong"), latency * 1e-6)
    ]
    said = answers(compare(records))[0].said[0]
    assert said == "Fastest placement: A in 2 of 5 host groups, B in 1, several together in 2."
    together = [record for record in records if record.case.host_group in ("g4", "g5")]
    assert (
        answers(compare(together))[0].said[0] == "Fastest placement: several together in 2 of 2 host groups."
    )


def test_bands_at_other_sizes_cast_no_doubt_on_a_value() -> None:
    """Repeats in two bands from 32 to 512 KiB: neither the latency nor the maximum is taken from there."""
    records = [
        synthetic.run(Case("s", "g", "SHM", "PingPong"), n, slow_in_the_middle(n % 2 * 2.0))
        for n in range(1, 7)
    ]
    comparison = compare(records + steady(Case("s", "g", "TCP", "PingPong"), 1e-5))
    table = comparison.tables[0]
    row = next(row for row in table.rows if row.case.placement == "SHM")
    assert [note.kind for note in row.notes] == [MODES]
    in_bands = {metric.name: row.has_modes_in(metric) for metric in table.metrics}
    assert not in_bands["latency at 0 B"] and not in_bands["maximum bandwidth"]
    assert in_bands["bandwidth at 32 KiB"] and not in_bands["bandwidth at 8 KiB"]
    assert not any("several modes" in text for text in answers(comparison)[0].said)


def slow_in_the_middle(factor: float) -> Series:
    """A sweep whose times from 32 to 512 KiB are longer by the factor, all others alike."""
    whole = synthetic.pingpong(1e-6, 1e9)
    sizes, times = whole.columns["size"], whole.columns["time"]
    slowed = [t * (1 + factor * (2**15 <= s <= 2**19)) for s, t in zip(sizes, times, strict=True)]
    rates = [size / time for size, time in zip(sizes, slowed, strict=True)]
    return replace(whole, columns={"size": sizes, "time": slowed, "bandwidth": rates})


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


def test_figures_that_would_make_the_report_too_large_are_linked(tmp_path: Path) -> None:
    large = tmp_path / "figures" / "large.svg"
    large.parent.mkdir()
    large.write_text("<svg>" + "x" * 2_000_000 + "</svg>", encoding="utf-8")
    small = tmp_path / "figures" / "small.svg"
    small.write_text("<svg><!-- not seen -->\n</svg>", encoding="utf-8")
    figures = [Figure(f.stem, f.stem, "", "alt", (f,)) for f in (large, small)]
    text = written(tmp_path, synthetic.campaign(), figures)
    assert len(text) < 1_000_000 + len(written(tmp_path, synthetic.campaign()))
    assert '<a href="figures/large.svg">large</a>' in text and "1 of 2 figures are shown" in text
    assert "svg+xml,%3Csvg%3E %3C/svg%3E" in text


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


def test_below_the_runs_stands_whether_the_repeats_are_enough(tmp_path: Path) -> None:
    case = Case("s", "g", "SHM", "PingPong")
    runs = [synthetic.run(case, n, synthetic.pingpong(1e-6 + n * 1e-9, 1e9)) for n in range(1, 7)]
    text = "6 repeats: the median is known to 0.2 % (confidence 96.9 %): enough"
    assert f"latency at 0 B: {text}" in written(tmp_path, runs)
    assert "increase to 6 and look again" in written(tmp_path, runs[:3])


def test_unlike_repeats_are_named_in_the_report(tmp_path: Path) -> None:
    runs = synthetic.case_runs(Case("s", "g", "TCP", "PingPong"), 1e-6, 1e9, 3)
    versions = ("2019.6", "2019.6", "2021.2")
    records = [
        replace(run, metadata={**run.metadata, "version": version})
        for run, version in zip(runs, versions, strict=True)
    ]
    text = " ".join(Page(written(tmp_path, records)).text)
    assert "different setups" in text and "repeats 1-2 IMB 2019.6; repeat 3 IMB 2021.2" in text


def test_the_answers_name_placements_that_no_record_proves(tmp_path: Path) -> None:
    records = [
        replace(record, verdict=UNVERIFIED) if name == "A" else record
        for group in ("g", "h")
        for name, latency in (("A", 1e-6), ("B", 2e-6))
        for record in steady(Case("s", group, name, "PingPong"), latency)
    ]
    text = written(tmp_path, records)
    assert text.count("Unverified: A.") == 2, "two metrics"
    assert "12 of 24 runs are unverified: no evidence proves their placement." in text
