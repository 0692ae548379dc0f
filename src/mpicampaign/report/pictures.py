"""The pictures beside an answer: dots of few candidates, host groups × placements, leaders by size."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mpicampaign.base.text import visible
from mpicampaign.base.units import format_size
from mpicampaign.compare.metrics import Metric
from mpicampaign.mpis import library_version
from mpicampaign.questions.answer import Answer, CandidateRow
from mpicampaign.questions.crossings.draw import size_strips
from mpicampaign.questions.ranking.find import PLACEMENTS
from mpicampaign.show.cells import NO_VALUE, TERMS, MetricCell, placement_name
from mpicampaign.show.charts.curves import ELAPSED, WIRE
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.document import Box, Fold, Grid, PageNode, Span
from mpicampaign.show.runs import mark_of
from mpicampaign.show.source import ReportSource
from mpicampaign.show.strip import MOST_TICKS, Strip, StripDot

_PICTURED = 8  # candidates that are not folded
_SHADES = (1.1, 1.5, 3.0, 10.0)  # ratios to the best of a column up to which a shade goes


def pictures(source: ReportSource, answer: Answer, *, shows_sizes: bool) -> list[PageNode]:
    """All of them; ``shows_sizes``: with leaders by message size."""
    sizes = size_strips(answer) if shows_sizes else []
    return [*(_matrix(source, answer) or _dots(source, answer)), *sizes]


# Host groups × placements


def _matrix(source: ReportSource, answer: Answer) -> list[PageNode]:
    """The medians of many candidates; nothing where they differ in one thing only."""
    placed = {
        (source.comparison.place(one.row), placement_name(answer.table, one.row, alike_in_ranks=True)): one
        for one in answer.candidates
    }
    groups, placements = (
        (list(dict.fromkeys(names)) for names in zip(*placed, strict=True)) if placed else ((), ())
    )
    if len(answer.candidates) <= _PICTURED or min(len(groups), len(placements)) < 2:
        return []
    best = {
        name: min(one.ratio or 1.0 for (_, of), one in placed.items() if of == name) for name in placements
    }
    leading = {
        id(one.row)
        for ranking in answer.rankings
        if ranking.kind == PLACEMENTS and ranking.tested
        for one in ranking.contestants
        if one.name in ranking.leaders and one not in ranking.untold
    }

    def box(group: str, name: str) -> Box:
        one = placed.get((group, name))
        if one is None:
            return Box("–", role="value")
        times = one.ratio / best[name] if one.ratio else 1.0
        shade = sum(times > end for end in _SHADES)
        value = Span(one.value, link=source.runs_of(one.row), hint=_times(times, f"the best of {name}"))
        text = Span(value, "strong") if id(one.row) in leading else value
        return Box(text, tuple(mark_of(one.row)), one.ratio, f"value shade{shade}")

    lines = tuple((Box(group), *(box(group, name) for name in placements)) for group in sorted(groups))
    return [Grid(answer.title, 1, (f"median, {answer.unit}", *placements), lines, role="ratios matrix")]


# Dots


def _dots(source: ReportSource, answer: Answer) -> list[PageNode]:
    """A line for each candidate; those behind the first few folded."""
    ratios = [ratio for one in answer.candidates for ratio in (one.ratio, one.low, one.high) if ratio]
    if len(answer.candidates) < 2 or not ratios:
        return []
    strip = Strip(Scale(min(ratios), max(*ratios, 1.1 * min(ratios))))
    every = answer.candidates
    first = every if len(every) <= _PICTURED + 2 else every[:_PICTURED]
    nodes: list[PageNode] = [_ratios(source, answer, first, strip, answer.title)]
    if rest := every[len(first) :]:
        folded = _ratios(source, answer, rest, strip, f"{answer.title}: further candidates")
        nodes.append(Fold(f"{len(rest)} more candidates", (folded,)))
    return nodes


def _ratios(
    source: ReportSource, answer: Answer, chosen: Sequence[CandidateRow], strip: Strip, label: str
) -> Grid:
    """A line for each candidate: its name, its place on the scale, its value."""
    other = answer.blocks.names[0] if answer.blocks else "the ideal" if answer.scaling else "the best"
    best = "best" if other == "the best" else "1×"
    beside = _beside_useful(answer)
    ticks = (best if tick == 1 else f"{tick:g}×" for tick in strip.scale.ticks(MOST_TICKS))
    axis = strip.axis(ticks, f"times {other}")
    lines = tuple(
        (
            Box(Span(one.name, "strong" if one.leads else ""), below=_version(answer, one)),
            Box(_mark(one, strip, other), role="scale"),
            one.shown.box("median")._replace(
                text=Span(one.value, link=source.runs_of(one.row)),
                value=one.ratio,
                ends=None,
                role="value",
                below=(
                    Span(one.shown.interval, "small"),
                    *(_small(source, one, metric) for metric in beside),
                ),
            ),
        )
        for one in chosen
    )
    heads: tuple[str | Span, ...] = (f"median [interval], {answer.unit}",)
    heads += tuple(_head(source, metric) for metric in beside)
    return Grid(label, 3, (_what(answer), axis, heads), lines, role="ratios")


def _head(source: ReportSource, metric: Metric) -> Span:
    """``time at 1 KiB, µs``; what that is, is shown where one points at it."""
    term = metric.part or metric.column
    at = f" at {format_size(metric.size)}" if metric.size else ""
    return Span(f"{term}{at}, {source.view.unit_of(metric.dimension)}", "term", hint=TERMS[term])


def _small(source: ReportSource, one: CandidateRow, metric: Metric) -> Span:
    """The median with its interval; a dash without one."""
    shown = MetricCell(one.row, one.row.cell(metric), source.view)
    return Span(f"{shown.box('median').text or NO_VALUE} {shown.interval}".rstrip(), "small")


def _beside_useful(answer: Answer) -> list[Metric]:
    """What a kernel's useful bandwidth is read with: the time of a small call; wire bandwidth."""
    rows = [one.row for one in answer.candidates if answer.table.useful and not answer.scaling]
    wire = any(row.ranks != 2 for row in rows)  # of two ranks it is the useful one
    of_small = (one for one in answer.table.metrics if one.column == ELAPSED and one.size)
    largest = (one for one in answer.table.metrics if one.column == WIRE and not one.size and wire)
    return [one for one in (*of_small, *largest) if any(row.cell(one).n for row in rows)]


def _version(answer: Answer, one: CandidateRow) -> tuple[Span, ...]:
    """``Open MPI 5.0.11``, as its runs recorded it, where libraries are compared."""
    says = one.row.records[0].metadata.get("mpi_library", "") if one.row.case.library else ""
    several = len({other.row.case.library for other in answer.candidates}) > 1
    version = library_version(says) or visible(says)
    return (Span(version, "small"),) if several and version else ()


def _mark(one: CandidateRow, strip: Strip, other: str) -> Markup:
    """The median as a dot with its interval."""
    if one.ratio is None:
        return Markup("")
    ends = (one.low, one.high) if one.low and one.high else None
    label = _times(one.ratio, other)
    return strip.drawn([StripDot(one.ratio, ends, "leads" if one.leads else "", label)], label)


def _times(ratio: float, other: str) -> str:
    """``1.31 times the best``; ``the best``, where it is no worse."""
    return other if f"{ratio:.4g}" == "1" else f"{ratio:.4g} times {other}"


def _what(answer: Answer) -> str:
    """What candidates differ in; several things are a candidate."""
    several = [ranking for ranking in answer.rankings if len(ranking.contestants) == len(answer.candidates)]
    return "" if answer.scaling else several[0].one if several else "candidate"
