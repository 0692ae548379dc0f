"""Scaling: its table, and the sentences that say what efficiency means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.collect.startup import MPI_INIT
from mpicampaign.compare.scaling import MESSAGES, STARTUP, STRONG, WEAK, Scaling, scalings
from mpicampaign.compare.startup import METRICS
from mpicampaign.dimension import FRACTION
from mpicampaign.grouping import grouped
from mpicampaign.show.document import Grid, Heading, Paragraph
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpicampaign.compare.scaling import Point
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.show.document import Line
    from mpicampaign.show.view import View

SCALING = "Scaling over the number of ranks"
OF_STARTUP = "Start-up over the number of ranks"
MEANING = {
    STRONG: "Strong scaling: all ran the same problem. Efficiency: the rate per rank, or for times the time "
    "× ranks, against that with the fewest ranks.",
    WEAK: "Weak scaling: the problem differs with the ranks. Efficiency: the rate per rank, or the time, "
    "against that with the fewest ranks.",
    MESSAGES: "Messages have no efficiency: their latency and bandwidth are shown.",
    STARTUP: "Start-up: from the launch to the last rank's end of MPI_Init; launcher: to the beginning "
    "of the last rank's program. MPI_Init: of the rank that took longest. Clocks of several hosts may "
    "differ.",
}


def scaling_nodes(comparison: Comparison, view: View, level: int = 2) -> list[Heading | Paragraph | Grid]:
    """A table of all benchmarks with several numbers of ranks, and one of their start-up."""
    nodes: list[Heading | Paragraph | Grid] = []
    for title, shown in grouped(scalings(comparison), scaling_title).items():
        header, lines = (_STARTUP, _startup_lines) if title == OF_STARTUP else (_HEADER, _lines)
        found = tuple(lines(comparison, shown, view))
        grid = Grid(title, 1, header, found, role="sortable", label=title)
        nodes += [Heading(title, level), Paragraph(meaning(shown)), grid]
    return nodes


def scaling_title(scaling: Scaling) -> str:
    """Of the table and figure in which it stands."""
    return OF_STARTUP if scaling.kind == STARTUP else SCALING


_STARTUP = ("", "ranks", "nodes", "n", *(metric.name for metric in METRICS))
_HEADER = ("", "metric", "scaling", "ranks", "nodes", "n", "median", "efficiency (%)", "range of repeats")


def meaning(shown: list[Scaling]) -> str:
    """What the kinds of scaling that occur mean."""
    kinds = dict.fromkeys(each.kind for each in shown)
    return " ".join(MEANING[kind] for kind in kinds)


def scaling_name(comparison: Comparison, scaling: Scaling) -> str:
    """``milan IBV``."""
    return f"{comparison.place(scaling.points[0].row)} {visible(scaling.placement)}"


def _lines(comparison: Comparison, shown: Iterable[Scaling], view: View) -> Iterator[Line]:
    for each in shown:
        for point in each.points:
            yield _line(comparison, each, point, view)


def _startup_lines(comparison: Comparison, shown: Iterable[Scaling], view: View) -> Iterator[Line]:
    """All of them side by side; each rank knows the time within MPI_Init, whatever clocks say."""
    for each in shown:
        for point in each.points if each.metric.name == MPI_INIT else ():
            name = f"{visible(each.table.benchmark)}: {scaling_name(comparison, each)}"
            medians = (
                view.quantity(cell.summary.median, cell.metric.dimension) if cell.summary else ""
                for cell in point.row.cells
            )
            yield (name, point.ranks, point.nodes or "unknown", point.cell.n, *medians)


def _line(comparison: Comparison, scaling: Scaling, point: Point, view: View) -> Line:
    return (
        f"{scaling.table.title}: {scaling_name(comparison, scaling)}",
        scaling.metric.name,
        scaling.kind,
        point.ranks,
        point.nodes or "unknown",
        point.cell.n,
        view.quantity(point.cell.summary.median, scaling.metric.dimension) if point.cell.summary else "",
        *_efficiency(scaling, point, view),
    )


def _efficiency(scaling: Scaling, point: Point, view: View) -> Iterator[str]:
    """The median, and the range of the repeats."""
    if not scaling.has_efficiency:
        yield from ("", "")
        return
    ends = min(point.by_repeat, default=point.median), max(point.by_repeat, default=point.median)
    yield view.number(point.median, FRACTION)
    yield " to ".join(view.number(end, FRACTION) for end in ends)
