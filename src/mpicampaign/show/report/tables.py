"""The report's tables: the comparison of each benchmark with what belongs to it, rankings, doubts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from mpicampaign.compare.findings import MODES, OF_ONE_SERIES
from mpicampaign.records import NOT_AVAILABLE
from mpicampaign.show.cells import NO_VALUE, STATISTICS, metric_cell, published_mark, published_sources
from mpicampaign.show.document import Box, Fold, Grid, Heading, Items, LineOnPage, Span
from mpicampaign.show.over_groups import over_group_lines
from mpicampaign.show.pairs import change_ratio, change_verdict, factor_text
from mpicampaign.show.rankings import absent_text, disturbed_lines, verdict
from mpicampaign.show.runs import explained, is_offered, not_available, offered, runs_are
from mpicampaign.show.sentences import absence, kind_name, reason
from mpicampaign.show.view import probability
from mpicampaign.text import in_ranks, repeats_text, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mpicampaign.compare.changes import Change, Changes
    from mpicampaign.compare.findings import Note
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.ranking import Absent, Pair, Ranking
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, PublishedRow, Table
    from mpicampaign.records import Case, Record
    from mpicampaign.show.document import PageNode, Text
    from mpicampaign.show.view import View

_EMPTY = Box("", role="short")


@dataclass(frozen=True, slots=True)
class Source:
    """What the report is made from; ``anchors``: of the cases, ``folder``: in which the report is."""

    comparison: Comparison
    records: Sequence[Record]
    view: View
    folder: Path
    anchors: Mapping[Case, str]
    changes: Changes | None = None

    def unit_of(self, metric: Metric) -> Span:
        """The metric's unit, as heads show it."""
        return Span(self.view.unit_of(metric.dimension), "small")

    def runs_of(self, row: Row) -> str:
        """The link to the row's runs."""
        return f"#{self.anchors[row.case]}"

    def address(self, target: str) -> str:
        """The address of a file relative to the report's folder, safe in an attribute."""
        return quote(os.path.relpath(target, self.folder).replace(os.sep, "/"), errors="replace")


def state(kind: str) -> Span:
    """A state of a run as text with a colour; the text alone says everything."""
    return Span(kind_name(kind), f"state {kind.replace(' ', '_')}")


def comparison_nodes(source: Source, table: Table, anchor: str) -> list[PageNode]:
    """The comparison, and what was published."""
    return [
        Heading(table.title, 3, anchor),
        _comparison_grid(source, table),
        *([Items(tuple(sources), "below")] if (sources := published_sources(table)) else []),
    ]


# The comparison: a column for each metric. Metrics with parts, such as useful and wire bandwidth, have a
# column for each part, and each row has a line for each size.


class _Layout(NamedTuple):
    """Metrics by the names of their columns, in groups; ``stacked``: a line for each group."""

    stacked: bool
    groups: tuple[tuple[str, dict[str, Metric]], ...]

    @property
    def columns(self) -> dict[str, Metric]:
        return self.groups[0][1]

    def names(self, group: str) -> list[Box]:
        """What stands between the names of a line and its numbers."""
        return [Box(group, role="short")] if self.stacked else []


def _layout(metrics: Sequence[Metric]) -> _Layout:
    if not any(metric.part for metric in metrics):
        return _Layout(False, (("", {metric.name: metric for metric in metrics}),))
    groups = groupby(metrics, lambda metric: metric.group)
    return _Layout(True, tuple((name, {metric.part: metric for metric in found}) for name, found in groups))


def _comparison_grid(source: Source, table: Table) -> Grid:
    layout = _layout(table.metrics)
    bodies = [("", _row_lines(source, row, layout)) for row in offered(table)]
    bodies += [("published", _published_lines(source, row, layout)) for row in table.published]
    numbered = [(number if layout.stacked else 0, *body) for number, body in enumerate(bodies)]
    count = Span("n", hint=f"runs with values / runs {runs_are(source.comparison.records)}")
    names: list[Text] = ["host group, placement", count, *(["size"] if layout.stacked else [])]
    caption = "host groups and placements"
    caption += ", a line for each size; sorted by the largest value of a placement" if layout.stacked else ""
    columns = list(enumerate(layout.columns.values(), len(names)))
    heads: list[Text] = [(name, " ", source.unit_of(metric)) for name, metric in layout.columns.items()]
    return Grid(
        f"{table.title}: {caption}",
        len(names),
        (*names, *heads),
        tuple(line for _, _, lines in numbered for line in lines),
        role=f"comparison {'stacked ' if layout.stacked else ''}sortable",
        label=f"Table of {table.title}",
        largest_first=frozenset({1, *(column for column, m in columns if not m.lower_is_better)}),
        si_units={column: metric.dimension.si_unit for column, metric in columns},
        footnotes=explained(table.rows),
        on_page=tuple(LineOnPage(role, "", body) for body, role, lines in numbered for _ in lines),
    )


def _row_lines(source: Source, row: Row, layout: _Layout) -> list[tuple[Box, ...]]:
    """The lines of a row under common names, or why it has no values."""
    if row.absence:
        columns = max(1, len(layout.columns) + layout.stacked)
        return [(*_row_head(source, row, 1), Box(absence(row.absence), role="absent", columns=columns))]
    lines = []
    for index, (group, metrics) in enumerate(layout.groups):
        head = () if index else _row_head(source, row, len(layout.groups))
        cells = [_cell(source, row, metrics.get(name)) for name in layout.columns]
        lines.append((*head, *layout.names(group), *cells))
    return lines


def _row_head(source: Source, row: Row, lines: int) -> tuple[Box, Box]:
    name = (f"{source.comparison.place(row)} ", Span(row.case.placement, "strong"))
    ranks = [Span(in_ranks(row.ranks), "small")] if row.ranks is not None else []
    ranks += [Span(visible(text), "small") for text in (row.detail, row.blas) if text]
    runs = [Span(f"{count} {verdict}", "small") for verdict, count in row.verdicts.items()]
    if row.at_most:
        runs.append(Span("at most", "small warn"))
    if any(note.kind == MODES for note in row.notes):
        runs.append(Span("several modes", "small warn"))
    return (
        Box(Span(name, link=source.runs_of(row)), rows=lines, below=tuple(ranks)),
        Box(f"{row.counted}/{row.planned}", value=row.counted, role="n", rows=lines, below=tuple(runs)),
    )


def _cell(source: Source, row: Row, metric: Metric | None) -> Box:
    """The median, which leads to its runs; below, the interval and the change, mean and range."""
    if metric is None:
        return _EMPTY
    shown = metric_cell(row, metric, source.view, source.changes)
    if shown.reasons:
        return Box(kind_name(shown.reasons[0].kind), role="none")
    median, mean, low, high = map(shown.box, STATISTICS)
    small = [f"mean {mean.text}", f"{low.text} to {high.text}"]
    small += [f"at {shown.at}"] if shown.at else []
    small += [f"of {shown.bound}"] if shown.bound else []
    below = (
        Span(shown.interval, "interval"),
        *_change(shown.change),
        *(Span(text, "small") for text in small),
    )
    text = f"{median.text} %" if metric.bound else median.text
    return median._replace(text=Span(text, link=source.runs_of(row)), below=below)


def _change(change: Change | None) -> tuple[Span, ...]:
    """How a median changed since the earlier series, where there is one."""
    if change is None or not change_ratio(change):
        return ()
    found = change.difference
    known = "significant" if found.significant else "not significant"
    known = "too few repeats" if found.p is None else known
    role = "change warn" if found.significant else "change"
    return (Span(f"{change_ratio(change)} {known}", role, hint=change_verdict(change)),)


def _published_lines(source: Source, row: PublishedRow, layout: _Layout) -> list[tuple[Box, ...]]:
    """Published values: marked, and without links, since there are no runs. Of sizes, those with a value.

    What they are, such as a mean, stands once in each row.
    """
    name = (f"{row.system}/{row.host_group} ", Span(row.placement, "strong"), " ")
    head = Box((*name, Span(published_mark(row), "small")))
    count = "" if row.n is None else str(row.n)
    names = (head, Box(count, value=row.n, role="n", below=(Span(row.statistic, "small"),)))
    return [
        (
            *names,
            *layout.names(group),
            *(_published_cell(source, row, metrics.get(name)) for name in layout.columns),
        )
        for group, metrics in layout.groups
        if not layout.stacked or not row.values.keys().isdisjoint(metrics.values())
    ]


def _published_cell(source: Source, row: PublishedRow, metric: Metric | None) -> Box:
    if metric is None:
        return _EMPTY
    if metric not in row.values:
        return Box(NO_VALUE)
    value = row.values[metric]
    return Box(source.view.number(value, metric.dimension), value=value)


# Rankings and doubts


def ranking_nodes(source: Source, table: Table) -> list[PageNode]:
    """What is tested, and what is said of disturbed runs."""
    said = disturbed_lines(source.comparison, table, source.view)
    over = over_group_lines(table, source.view)
    nodes: list[PageNode] = [Items(tuple(over))] if over else []
    nodes += [*(_tested(source, table) if table.rankings else []), *([Items(said)] if said else [])]
    return [Heading(table.title, 3), *nodes] if nodes else []


def _tested(source: Source, table: Table) -> list[PageNode]:
    """The verdicts, and each pair folded; without p where no pair is tested."""
    lines = tuple(
        (
            *map(Box, (ranking.metric.name, ranking.scope, ranking.kind)),
            Box(Span(verdict(ranking), "strong")),
            Box("; ".join(absent_text(one) for one in ranking.absent if not _is_not_available(one))),
        )
        for ranking in table.rankings
    )
    header = ("metric", "of", "compared", "verdict", "not compared")
    label = f"Verdicts of {table.title}"
    verdicts = Grid(f"{table.title}: verdicts", 5, header, lines, role="sortable", label=label)
    pairs = [(ranking, pair) for ranking in table.rankings for pair in ranking.pairs]
    if not pairs:
        return [verdicts]
    columns = ("metric", "of", "better", "worse", "factor", "effect", "p")
    shown = len(columns) - all(pair.in_turn for _, pair in pairs)
    grid = Grid(
        f"{table.title}: pairs",
        4,
        columns[:shown],
        tuple(_pair_line(source, *each)[:shown] for each in pairs),
        role="sortable",
        label=f"Pairs of {table.title}",
        largest_first=frozenset({4, 5}),
    )
    return [verdicts, Fold(f"Each pair: {table.title}", (grid,))]


def _is_not_available(one: Absent) -> bool:
    return all(note.kind == NOT_AVAILABLE for note in one.reasons)


def _pair_line(source: Source, ranking: Ranking, pair: Pair) -> tuple[Box, ...]:
    p, effect = pair.difference.corrected, abs(pair.difference.effect)
    return (
        *map(Box, (ranking.metric.name, ranking.scope, pair.better.name, pair.worse.name)),
        Box(factor_text(pair), value=pair.factor),
        Box(f"{effect:.2f}", value=effect),
        Box(_no_p(pair) if p is None else probability(p).removeprefix("p = ").removeprefix("p "), value=p),
    )


def _no_p(pair: Pair) -> str:
    return "in turn" if pair.judged and pair.in_turn else "too few"


def doubts_grid(source: Source) -> Grid:
    """What is left out or in doubt, with links to the first of its runs."""
    absent = (
        (Box(one.name), Box(state(NOT_AVAILABLE)), Box(one.reason), Box(f"{one.runs} runs", role="short"))
        for one in not_available(source.comparison)
    )
    notes = (found for found in source.comparison.notes() if is_offered(found[1]))
    lines = (*absent, *(_doubt_line(source, *found) for found in notes))
    nothing = (Box("Nothing: every planned run was made, counts and is verified."),)
    return Grid(
        "Runs left out or in doubt, with the reasons",
        4,
        ("case", "what", "why", "repeats"),
        lines or (nothing,),
        role="sortable",
        label="Left out and in doubt",
    )


def _doubt_line(source: Source, table: Table, row: Row, note: Note) -> tuple[Box, ...]:
    series = table.title if note.kind in OF_ONE_SERIES else table.benchmark
    name = f"{source.comparison.place(row)} {row.case.placement}, {series}"
    link = source.runs_of(row) + (f"-r{note.repeats[0]}" if note.repeats else "")
    repeats = repeats_text(note.repeats) if note.repeats else ""
    return (
        Box(Span(name, link=link)),
        Box(state(note.kind)),
        Box(reason(note, source.view)),
        Box(repeats, role="short"),
    )
