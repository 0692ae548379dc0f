"""The report: one HTML file that opens offline and asks no server for anything.

Its parts are documents; raw files are linked, relative to the report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from mpicampaign.base.files import whole, write_whole
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import NOT_AVAILABLE, OK, Record
from mpicampaign.base.text import counted
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.machine.find_searches import is_of_machine
from mpicampaign.questions.machine.say_tables import told_runs
from mpicampaign.questions.ranking.say import OF_OWN_REPEATS, errors_text
from mpicampaign.report.data import runs_lines
from mpicampaign.report.draw_figures import LARGEST, Figure
from mpicampaign.report.questions import nodes_of_page, sections_of_page
from mpicampaign.report.summary import first_screen
from mpicampaign.report.tables import (
    NO_DOUBTS,
    comparison_nodes,
    doubts_grid,
    ranking_nodes,
    runs_section,
    state,
)
from mpicampaign.show import runs
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.document import (
    Box,
    Drawing,
    Fold,
    Grid,
    Heading,
    Items,
    PageNode,
    Paragraph,
    Section,
    Span,
    Verbatim,
    titled,
)
from mpicampaign.show.interactive import (
    InteractiveChart,
    InteractiveLine,
    curve_chart,
    interactive_charts,
    places,
)
from mpicampaign.show.source import ReportSource
from mpicampaign.show.view import DEFAULT, View, percent
from mpicampaign.show.writers.csv import csv_lines
from mpicampaign.show.writers.html import element, framed, html, program

HISTORY = "history.html"  # beside the report
_LARGEST = 4_800_000  # characters of all parts, which mail and browsers take easily


def write_report(
    path: Path,
    comparison: Comparison,
    records: Sequence[Record],
    figures: Callable[[], Sequence[Figure]] = tuple,
    *,
    campaign_title: str = "",
    campaign_name: str = "",
    campaign_text: str = "",
    provenance: dict[str, str] | None = None,
    beside: Sequence[str] = (),
    view: View = DEFAULT,
    history: str = "",
) -> None:
    """Write the report.

    Parameters
    ----------
    path : the HTML file; links to raw files are relative to its folder
    comparison : of the same records
    figures : yields the drawn ones, when all else is made; their SVG is put inline
    campaign_text : the campaign file, shown as it is
    provenance : further facts to show, such as the version of this program
    beside : lines on results that are there and have no part in the report
    history : address of the campaign's history, where it has one
    """
    title = campaign_title or campaign_name or "MPI campaign"
    own = (*comparison.records, *told_runs(comparison.machines))
    source = ReportSource(comparison, own, view, path.parent, runs.anchors(own))
    ordinary = [record for record in records if not is_of_machine(record)]
    charts = interactive_charts(Scene(comparison, view))
    tables = [tables_section(source)] if comparison.tables else []
    above = [first_screen(source), *tables, *([curves_section(charts)] if charts else [])]
    below = [
        *([rankings_section(source), doubts_section(source)] if comparison.tables else []),
        *([runs_section(source)] if own or not comparison.machines else []),
        provenance_section({**(provenance or {}), **runs.facts(ordinary)}, campaign_text),
    ]
    rendered = {part.anchor: html([part]) for part in (*above, *below)}
    room = _LARGEST - sum(map(len, rendered.values()))
    by_section = grouped(figures(), lambda figure: figure.chart.section)
    of_questions = sections_of_page(
        comparison, view, lambda anchor: [*map(_drawing, by_section.get(anchor, ()))]
    )
    others = by_section.get("figures", [])
    pictures = [figures_section(source, others, room)] if others or not comparison.machines else []
    parts = [above[0], *of_questions, *above[1:], *pictures, *below]
    programs = [program("tables.js"), program("curves.js")]
    text = framed(
        title,
        Markup("\n\n").join(rendered.get(part.anchor) or html([part]) for part in parts),
        header=html(header(replace(source, records=records), title, campaign_name, beside, history)),
        contents={part.anchor: part.title for part in parts},
        programs=programs if charts else programs[:1],
    )
    write_whole(path, text.encode("utf-8", errors="replace"))
    runs_file = path.parent / runs.RUNS_FILE
    if runs.are_many(own):
        with whole(runs_file) as part, part.open("w", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(*runs_lines(comparison, own)))
    else:  # of an earlier call
        runs_file.unlink(missing_ok=True)


_LONG_LIST = 3  # tables or charts, above which they are listed


def header(
    source: ReportSource, title: str, name: str, beside: Sequence[str], history: str = ""
) -> list[PageNode]:
    """What the page is about, and how its runs ended.

    ``beside``: on results that have no part in it; ``history``: address of the campaign's history.
    """
    over_time: tuple[str | Span, ...] = (" · ", Span("history", link=history)) if history else ()
    campaign: tuple[str | Span, ...] = ("Campaign ", Span(name, "strong"), " · ") if name else ()
    times = runs.period(source.records)
    measured = f" · measured {times[0]} to {times[1]}" if times else ""
    counts: list[str | Span] = []
    disturbed = runs.run_counts(run for run in source.records if run.status == OK and run.disturbed)
    for kind, count in runs.run_counts(source.records).items():
        link = "#doubts" if kind == NOT_AVAILABLE else "#runs"
        link = link if source.comparison.tables else ""
        of_them = disturbed.get(kind, 0)
        text = (f"{count} ", state(kind), f", {of_them} of them disturbed" if of_them else "")
        counts += [" · ", Span(text, "busy" if 2 * of_them > count else "", link)]
    return [
        Heading(title, 1),
        Paragraph((*campaign, runs.how_many(source.records) + measured, *over_time, *counts), "subtitle"),
        *([Fold(beside[0].rstrip(":"), (Items(tuple(beside[1:])),), "marks")] if beside[1:] else []),
        *(Paragraph(line, "beside") for line in beside if len(beside) == 1),
    ]


# Tables, curves, figures


def tables_section(source: ReportSource) -> Section:
    """The comparison of each benchmark."""
    comparison = source.comparison
    coverages = ", ".join(f"{percent(c)} for n = {n}" for n, c in comparison.coverages().items())
    legend = "Median over repeats, below it its order-statistic interval"
    legend += f" ({coverages}). " if coverages else ". "
    legend += f"n: runs with values / runs {runs.runs_are(comparison.records)}. "
    legend += "Contradicted and failed runs are shown, but left out of all numbers. "
    legend += "Each median leads to its runs."
    legend += f" {OF_OWN_REPEATS}" if comparison.apart_in_time else ""
    numbered = {
        f"table-{number}": table for number, table in enumerate(filter(runs.offered, comparison.tables), 1)
    }
    titles = {anchor: table.title for anchor, table in numbered.items()}
    nodes: list[PageNode] = []
    for anchor, table in numbered.items():
        found = comparison_nodes(source, table, anchor)
        nodes += [Fold(f"Baseline: {table.title}", tuple(found))] if table.is_baseline else found
    nodes += nodes_of_page(comparison, source.view)
    listed = _list(titles, "List of tables")
    return titled("tables", "Tables", Paragraph(legend, "legend"), *listed, *nodes)


def _list(titles: Mapping[str, str], label: str) -> list[PageNode]:
    """Links to the titles by their anchors, where there are many."""
    links = tuple(Span(title, link=f"#{anchor}") for anchor, title in titles.items())
    return [Items(links, "list", label)] if len(links) > _LONG_LIST else []


def curves_section(charts: Sequence[InteractiveChart]) -> Section:
    """Charts over message size."""
    legend = "Medians of repeats; both axes are logarithmic, so 0 B is not on them. "
    legend += "Point at a line for its values, or choose it "
    legend += "and use the arrow keys; the boxes choose lines, and show which are which."
    titles = {chart.anchor: chart.title for chart in charts}
    start = Heading("Curves over message size"), Paragraph(legend, "legend"), *_list(titles, "List of curves")
    return Section((*start, *map(_chart, charts)), "curves", "", "Curves")


def _chart(chart: InteractiveChart) -> Section:
    """The chart, and its medians as a table, which needs no script."""
    grid = Grid(
        f"{chart.title}: medians of repeats, {chart.up.label}",
        1,
        ("line", *chart.labels.values()),
        tuple(_median_line(chart, line) for line in chart.lines),
        role="sortable",
        label=f"Medians of {chart.title}",
        si_units=dict.fromkeys(range(1, len(chart.labels) + 1), chart.up.dimension.si_unit),
    )
    fold = Fold(f"Medians at all sizes: {chart.title}", (grid,), "medians")
    return chart_section(chart, Drawing(element("div", curve_chart(chart), **places(chart))), fold)


def chart_section(chart: InteractiveChart, *nodes: PageNode) -> Section:
    """The chart's title, its first node, its note, then the others."""
    title = Heading(chart.title, 3)
    note = [Paragraph(chart.note, "legend")] if chart.note else []
    return Section((title, *nodes[:1], *note, *nodes[1:]), chart.anchor, "chart")


def _median_line(chart: InteractiveChart, line: InteractiveLine) -> tuple[Box, ...]:
    found, unit = line.curve.median, chart.up.unit.name
    cells = (
        Box(chart.up.dimension.number(found[size], unit), value=found[size])
        if size in found
        else Box("n/a", role="none")
        for size in chart.labels
    )
    return (Box(line.curve.name), *cells)


def figures_section(source: ReportSource, figures: Sequence[Figure], room: int) -> Section:
    """All but huge figures that go in so many characters, the small ones first; the others are linked.

    Those that show what tables and curves say are folded.
    """
    fitting = set()
    for size, name in sorted((len(figure.picture), figure.name) for figure in figures):
        room -= size
        fitting |= {name} if 0 < size <= LARGEST and room >= 0 else set()
    shown = [figure for figure in figures if figure.name in fitting]
    nodes: list[PageNode] = []
    if linked := [figure for figure in figures if figure.name not in fitting]:
        text = f"{len(shown)} of {len(figures)} figures are shown; the others are files beside this report:"
        links = (Span(figure.chart.title, link=source.address(str(figure.files[0]))) for figure in linked)
        nodes += [Paragraph(text, "legend"), Items(tuple(links), "list")]
    nodes += [_drawing(figure) for figure in shown if not figure.chart.folded]
    folded: list[PageNode] = [_drawing(figure) for figure in shown if figure.chart.folded]
    title = f"{counted(len(folded), 'figure')} more"
    nodes += [Fold(title, tuple(folded))] if folded else []
    nodes += [] if figures else [Paragraph("There are no figures.")]
    return titled("figures", "Figures", *nodes)


def _drawing(figure: Figure) -> Drawing:
    return Drawing(figure.picture, f"figure-{figure.name}", figure.chart.caption, figure.chart.title)


# All else


_TWO_TESTS = (
    "Where all values are ranked, a pair must differ by two tests, Mann and Whitney's and Welch's of "
    "logarithms. p is corrected for all pairs of the same metric and place."
)
_FACTOR = (
    "Factor: larger median by smaller. Effect: Cliff's delta, 1 where all repeats of one are better than all "
    "of the other."
)


def rankings_section(source: ReportSource) -> Section:
    """All comparisons."""
    comparison = source.comparison
    rankings = [ranking for _, ranking in comparison.rankings]
    legend = filter(None, (_TWO_TESTS if comparison.tested else "", errors_text(rankings), _FACTOR))
    nodes: list[PageNode] = [Paragraph(" ".join(legend), "legend")]
    nodes += [node for table in comparison.tables for node in ranking_nodes(source, table)]
    return titled("rankings", "All comparisons", Fold(counted(len(rankings), "ranking"), tuple(nodes)))


def doubts_section(source: ReportSource) -> Section:
    """Runs left out or in doubt."""
    grid = doubts_grid(source)
    found = Fold(counted(len(grid.lines), "case"), (grid,)) if grid.lines else Paragraph(NO_DOUBTS)
    return titled("doubts", "Left out and in doubt", found)


def provenance_section(facts: Mapping[str, str], campaign_text: str) -> Section:
    """What the runs and this program recorded, and the campaign file."""
    nodes: list[PageNode] = []
    if facts:
        caption = "Facts that the runs and this program recorded"
        lines = tuple((Box(name), Box(value)) for name, value in facts.items())
        header = ("fact", "as recorded")
        grid = Grid(caption, 2, header, lines, role="facts", label="Facts recorded")
        nodes.append(Fold(counted(len(facts), "fact"), (grid,)))
    if campaign_text:
        nodes.append(Fold("Campaign file", (Verbatim(campaign_text, "Campaign file"),)))
    return titled("provenance", "Provenance", *nodes)
