"""The report as a document, part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.show.answers import advice, answers, best_host_groups
from mpicampaign.show.charts.balance import not_drawn
from mpicampaign.show.document import (
    Box,
    ChartPlace,
    Fold,
    Grid,
    Heading,
    Items,
    Paragraph,
    Part,
    Picture,
    Span,
    Verbatim,
)
from mpicampaign.show.gathers import gather_nodes
from mpicampaign.show.mine import MINE, mine_legend, mine_lines, mine_table
from mpicampaign.show.names import condition_text, runs_are
from mpicampaign.show.numbers import percent
from mpicampaign.show.paired import LEGEND as PAIRED_LEGEND
from mpicampaign.show.paired import PAIRED, paired_lines
from mpicampaign.show.rankings import errors_text
from mpicampaign.show.report.tables import comparison_nodes, doubts_grid, ranking_nodes, state
from mpicampaign.show.runs import how_many, period, run_counts
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpicampaign.compare.ranking import Contestant
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.show.answers import Advice, Answer, Choice, MedianGrid
    from mpicampaign.show.charts.selection import FacetChoice, SelectionChart
    from mpicampaign.show.document import PageNode, Text
    from mpicampaign.show.figures.draw import Figure
    from mpicampaign.show.report.tables import Source

_ANSWERS = 6  # on the first screen; all rankings follow further down
_LONG_LIST = 3  # tables or charts, above which they are listed
_BANDS = "repeats in several bands"


def header(source: Source, title: str, name: str, beside: Sequence[str], history: str = "") -> list[PageNode]:
    """What the page is about, and how its runs ended.

    ``beside``: on results that have no part in it; ``history``: address of the campaign's history.
    """
    over_time: tuple[str | Span, ...] = (" · ", Span("history", link=history)) if history else ()
    campaign: tuple[str | Span, ...] = ("Campaign ", Span(name, "strong"), " · ") if name else ()
    times = period(source.records)
    measured = f" · measured {times[0]} to {times[1]}" if times else ""
    counts: list[str | Span] = []
    for kind, count in run_counts(source.records).items():
        counts += [Span((f"{count} ", state(kind)), link="#runs"), " "]
    return [
        Heading(title, 1),
        Paragraph((*campaign, how_many(source.records) + measured, *over_time), "subtitle"),
        Paragraph(tuple(counts), "counts"),
        *([Paragraph(condition, "subtitle")] if (condition := condition_text(source.records)) else []),
        *(Paragraph(line, "beside") for line in beside),
    ]


# The answers


def answers_part(source: Source) -> Part:
    """The first screen: which host group, mine against others, which placement."""
    nodes = [*_best_host_group(source), *_mine(source), *_paired(source), *_best_placement(source)]
    heading = Heading("Which is fastest, by how much, and is it real?")
    return Part((heading, *(nodes or _no_answer())), "answers", "", "Answers")


def _best_host_group(source: Source) -> list[PageNode]:
    """In each placement and metric; empty where there is one host group, or none can be excluded."""
    advised = best_host_groups(source.comparison)
    if advised is None:
        return []
    caption = (
        "The best median, then in parentheses all others that may be the best, with 95 % confidence; below, "
        "what it gains over the nearest that is excluded, and over the last",
    )
    grid = _advice_grid(advised, "placement", caption, "Best host groups by placement")
    return [Heading("Which host group is best?", 3), grid]


def _mine(source: Source) -> list[PageNode]:
    """The campaign's own host groups against others; empty where there are none."""
    comparison, unit = source.comparison, source.view.unit
    lines = mine_lines(comparison, unit)
    if not lines:
        return []
    header = ("metric", "placement", "mine", "other", "mine / other", "can it be told")
    pairs = tuple(tuple(map(Box, line)) for line in mine_table(comparison, unit))
    grid = Grid(f"{MINE}, each", 4, header, pairs, remarks=1, role="sortable", label=f"{MINE}, each")
    return [
        Heading(MINE, 3),
        Items(tuple(lines)),
        Paragraph(mine_legend(comparison), "legend"),
        Fold("Each of them", (grid,)),
    ]


def _paired(source: Source) -> list[PageNode]:
    """Placements of few repeats; empty where there are enough for tests."""
    lines = paired_lines(source.comparison)
    legend = Paragraph(PAIRED_LEGEND, "legend")
    return [Heading(PAIRED, 3), Items(tuple(lines)), legend] if lines else []


def _best_placement(source: Source) -> list[PageNode]:
    every = answers(source.comparison, source.view.unit)
    return _answers(source, every[:_ANSWERS], every) if every else []


def _no_answer() -> list[PageNode]:
    doubts = Span("Left out and in doubt", link="#doubts")
    return [Paragraph(("No run gave a value that counts; the reasons are in ", doubts, "."))]


def _answers(source: Source, found: Sequence[Answer], every: Sequence[Answer]) -> list[PageNode]:
    lines = tuple(
        (
            Box(Span(answer.title, link=f"#answer-{number}")),
            Box(answer.verdict, role="verdict"),
            Box(answer.how_much),
            Box(answer.real),
        )
        for number, answer in enumerate(found, 1)
    )
    header = ("metric", "fastest", "by how much", "is it real")
    caption = "Answers in short; each is explained below"
    advised = advice(found)
    explained = (_answer(source, answer, f"answer-{number}") for number, answer in enumerate(found, 1))
    return [
        Heading("Which placement is best?", 3),
        Grid(caption, 4, header, lines, role="short-answers"),
        *_not_answered(source.comparison, found, every),
        *(_advice(advised) if advised else []),
        Part(tuple(explained), role="answers"),
    ]


def _not_answered(comparison: Comparison, found: Sequence[Answer], every: Sequence[Answer]) -> list[PageNode]:
    """Links to the tables of the answers that have no place on the first screen."""
    wanted = [id(answer.table) for answer in every[len(found) :]]
    links: list[str | Span] = []
    for place, table in enumerate(comparison.tables, 1):
        if id(table) in wanted:
            links += [", " if links else " ", Span(table.title, link=f"#table-{place}")]
    text = f"{len(found)} of {len(every)} metrics; the others:"
    return [Paragraph((text, *links), "legend")] if links else []


def _answer(source: Source, answer: Answer, anchor: str) -> Part:
    """The verdict, what it rests on, and what stands behind each number."""
    behind: list[PageNode] = [Items(answer.lines)] if answer.lines else []
    behind += _lines(answer.evidence, "evidence")
    if answer.grid is not None:
        fold = Fold("For each host group", tuple(behind))
        behind = [_medians_grid(source, answer.grid, answer.title), fold]
    nodes = (Heading(answer.title, 3), Paragraph(answer.verdict, "verdict"))
    return Part((*nodes, *_lines(answer.statements, "stated"), *behind), anchor, "answer")


def _lines(sentences: Sequence[str], role: str) -> list[PageNode]:
    return [Paragraph(tuple(Span(text, "line") for text in sentences), role)] if sentences else []


def _medians_grid(source: Source, grid: MedianGrid, title: str) -> Grid:
    """Medians of several host groups; those not distinguishable from the best there are marked."""
    metric = grid.metric
    unit = source.view.unit_of(metric.dimension)
    bands = ("; ", Span("*", "warn"), f" {_BANDS}") if grid.several_modes else ()
    caption = (f"Median, {unit}; ", Span("best", "best"), " or not distinguishable from it", *bands)
    lines = tuple(
        (Box(scope), *(_median(source, grid, scope, contestant) for contestant in contestants))
        for scope, contestants in grid.rows
    )
    columns = range(0 if metric.lower_is_better else len(grid.placements))
    return Grid(
        caption,
        1,
        ("host group", *grid.placements),
        lines,
        role="grid sortable",
        label=f"{title} by host group and placement",
        largest_first=frozenset(column + 1 for column in columns),
    )


def _median(source: Source, grid: MedianGrid, scope: str, one: Contestant | None) -> Box:
    if one is None:
        return Box("n/a", role="number none")
    text = Span(source.view.number(one.median, grid.metric.dimension), link=source.runs_of(one.row))
    text = Span(text, "best") if (scope, one.name) in grid.best else text
    return Box((text, *_modes_mark(one)), value=one.median)


def _modes_mark(one: Contestant) -> tuple[Span, ...]:
    return (Span("*", "warn", hint=_BANDS),) if one.several_modes else ()


def _advice(found: Advice) -> list[PageNode]:
    """The answers by host group: which placement, and what it gains."""
    caption = (
        "The best placement, then in parentheses those not distinguishable from it; below, what it gains. ",
        *_MARKS,
    )
    label = "Best placements by host group"
    return [
        Heading("Which placement for which host group?", 3),
        _advice_grid(found, "host group", caption, label),
    ]


_MARKS = (
    Span("*", "warn"),
    " repeats fall into several bands (modes): do not rely on its median. ",
    Span("?", "warn"),
    " unverified: no evidence proves the placement of all its runs",
)


def _advice_grid(found: Advice, of: str, caption: Text, label: str) -> Grid:
    """A line for each host group or placement (``of``), a choice for each answer."""
    lines = tuple(
        (Box(scope), *(_choice(choice, title) for choice, title in zip(choices, found.titles, strict=True)))
        for scope, choices in found.rows
    )
    header = (of, *found.titles)
    return Grid(caption, len(header), header, lines, role="grid advice", label=label)


def _choice(choice: Choice | None, title: str) -> Box:
    if choice is None:
        return Box("", label=title)
    if not choice.differs:
        return Box(Span(choice.how_much, "absent"), label=title)
    first, *others = map(_leader, choice.leaders)
    text: list[str | Span] = [*first]
    for other in others:
        text += [" (" if other is others[0] else ", ", *other]
    text += [")"] if others else []
    return Box(tuple(text), label=title, below=(Span(choice.how_much, "small"),))


def _leader(one: Contestant) -> tuple[Span, ...]:
    unproved = "unverified" in one.row.verdicts
    proof = (Span("?", "warn", hint="unverified"),) if unproved else ()
    return (Span(one.name, "strong"), *_modes_mark(one), *proof)


# Tables, curves, figures


def tables_part(source: Source) -> Part:
    """The comparison of each benchmark."""
    comparison, changes = source.comparison, source.changes
    coverages = ", ".join(f"{percent(c)} for n = {n}" for n, c in comparison.coverages().items())
    legend = "Median over repeats, in brackets its order-statistic interval"
    legend += f" ({coverages}), " if coverages else ", "
    legend += f"then mean and range. n: how many runs count / how many were {runs_are(comparison.records)}. "
    legend += (
        "Contradicted and failed runs are shown, but left out of all numbers. Each median leads to its runs. "
    )
    legend += condition_text(comparison.records)
    if changes:
        since = changes.since or "at an unknown date"
        legend += f" × is the median divided by that of the earlier series, which ended {since}, each metric"
        legend += " tested alone at 5 %."
    numbered = {f"table-{number}": table for number, table in enumerate(comparison.tables, 1)}
    titles = {anchor: table.title for anchor, table in numbered.items()}
    nodes = [node for anchor, table in numbered.items() for node in comparison_nodes(source, table, anchor)]
    nodes += gather_nodes(comparison, source.view.unit, 3)
    start = (Heading("Tables"), Paragraph(legend, "legend"), *_list(titles, "List of tables"))
    return Part((*start, *nodes), "tables", "", "Tables")


def _list(titles: Mapping[str, str], label: str) -> list[PageNode]:
    """Links to the titles by their anchors, where there are many."""
    links = tuple(Span(title, link=f"#{anchor}") for anchor, title in titles.items())
    return [Items(links, "list", label)] if len(links) > _LONG_LIST else []


def curves_part(charts: Sequence[SelectionChart]) -> Part:
    """Charts over message size."""
    legend = "Medians of repeats; both axes are logarithmic, so 0 B is not on them. "
    legend += "Point at a line for its values; tick what to show."
    titles = {chart.anchor: chart.title for chart in charts}
    start = (
        Heading("Curves over message size"),
        Paragraph(legend, "legend"),
        *_list(titles, "List of curves"),
    )
    return Part((*start, *map(_chart, charts)), "curves", "", "Curves")


def _chart(chart: SelectionChart) -> Part:
    """The chart, and its medians as a table, which needs no script."""
    heads = tuple(map(format_size, chart.sizes))
    grid = Grid(
        f"{chart.title}: medians of repeats, {chart.up.label}",
        1,
        ("line", *heads),
        tuple(_median_line(chart, line) for line in chart.lines),
        role="sortable",
        label=f"Medians of {chart.title}",
    )
    nodes: list[PageNode] = [Heading(chart.title, 3, f"{chart.anchor}-title"), ChartPlace(chart)]
    nodes += [Paragraph(chart.note, "legend")] if chart.note else []
    fold = Fold(f"Medians at all sizes: {chart.title}", (grid,), "medians")
    return Part((*nodes, fold), chart.anchor, "chart")


def _median_line(chart: SelectionChart, line: FacetChoice) -> tuple[Box, ...]:
    found, unit = line.curve.median, chart.up.unit.name
    cells = (
        Box(chart.up.dimension.number(found[size], unit), value=found[size])
        if size in found
        else Box("n/a", role="number none")
        for size in chart.sizes
    )
    return (Box(line.curve.name), *cells)


def figures_part(source: Source, figures: Sequence[tuple[Figure, str | None]]) -> Part:
    """Figures with their addresses; those without one are linked."""
    shown: list[PageNode] = [
        Picture(f"figure-{figure.name}", address, figure.alt, figure.caption)
        for figure, address in figures
        if address
    ]
    linked = tuple(
        Span(figure.title, link=source.address(str(figure.svg))) for figure, address in figures if not address
    )
    nodes: list[PageNode] = [Heading("Figures")]
    if linked:
        text = f"{len(shown)} of {len(figures)} figures are shown; the others are files of the folder that "
        nodes += [Paragraph(text + "this report is in:", "legend"), Items(linked, "list")]
    nodes += shown or [Paragraph("There are no figures.")]
    missing = not_drawn(source.comparison)
    nodes += [Paragraph(missing, "legend")] if missing else []
    return Part(tuple(nodes), "figures", "", "Figures")


# All else


def rankings_part(source: Source) -> Part:
    """All comparisons."""
    legend = (
        "Each pair must differ by two tests, Mann and Whitney's and Welch's of logarithms; p is corrected "
        "for all pairs of the same metric and place. "
        f"{errors_text(ranking for _, ranking in source.comparison.rankings)} "
        "Factor: larger median by smaller. Effect: Cliff's delta, 1 where all repeats of one are better than "
        "all of the other."
    )
    tables = [table for table in source.comparison.tables if table.rankings]
    nodes = [node for table in tables for node in ranking_nodes(source, table)]
    return Part(
        (Heading("All comparisons"), Paragraph(legend, "legend"), *nodes), "rankings", "", "All comparisons"
    )


def doubts_part(source: Source) -> Part:
    """Runs left out or in doubt."""
    title = "Left out and in doubt"
    return Part((Heading(title), doubts_grid(source)), "doubts", "", title)


def provenance_part(facts: Mapping[str, str], campaign_text: str) -> Part:
    """What the runs and this program recorded, and the campaign file."""
    nodes: list[PageNode] = [Heading("Provenance")]
    if facts:
        caption = "Facts that the runs and this program recorded"
        lines = tuple((Box(name), Box(value)) for name, value in facts.items())
        header = ("fact", "as recorded")
        nodes.append(Grid(caption, 2, header, lines, role="facts", label="Facts recorded"))
    if campaign_text:
        nodes += [Heading("Campaign file", 3), Verbatim(campaign_text, "Campaign file")]
    return Part(tuple(nodes), "provenance", "", "Provenance")
