"""Scaling: sentences, tables, and what the words in them mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from mpicampaign.base.dimension import FRACTION, RATIO
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import DISTURBED, STRONG, WEAK
from mpicampaign.base.text import in_ranks, listed, visible
from mpicampaign.collect.startup import MPI_INIT
from mpicampaign.compare.metrics import STARTUP_METRICS
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.answer import WRONG, Answer, CandidateRow, Mark
from mpicampaign.questions.scaling.find import MESSAGES, STARTUP, WORK, Scaling, ScalingPoint, scalings
from mpicampaign.show.cells import MetricCell
from mpicampaign.show.document import Drawing, Grid, Heading, Line, Paragraph, Section
from mpicampaign.show.view import View
from mpicampaign.statistics.comparisons import FEWEST
from mpicampaign.verdicts.compare import FEW_REPEATS

TITLES = {
    WORK: "Scaling over the number of ranks",
    MESSAGES: "Messages over the number of ranks",
    STARTUP: "Start-up over the number of ranks",
}
_KINDS = {
    MESSAGES: "Latency and bandwidth of messages have no efficiency.",
    STARTUP: "Start-up: from the launch to the last rank's end of MPI_Init; launcher: to the beginning "
    "of the last rank's program. MPI_Init: of the rank that took longest. Clocks of several hosts may "
    "differ.",
}
_SPEED_UP = (
    "Speed-up: against the fewest ranks; ideal: as many times as there are more ranks. Efficiency: speed-up "
    "by the ideal. A rate is that of the work of all ranks."
)
_DECLARED = {
    STRONG: "Strong scaling: the campaign file says that all ran the same problem.",
    WEAK: "Weak scaling: the campaign file says that the problem grows with the ranks, and the speed-up of a "
    "time with it.",
    "": "No campaign file says whether the problem grows (scaling: strong or weak): times are read as if all "
    "ran the same problem, and have no speed-up where the arguments or the order of the matrix differ.",
}


def scaling_answers(comparison: Comparison, kind: str, view: View) -> Iterator[Answer]:
    """An answer for each metric and placement over the ranks."""
    for one in scalings(comparison):
        if one.kind == kind:
            title, said = scaling_title(comparison, one), (_finding(one, view), scaling_sentence(one, view))
            word = f"{one.declared} scaling".lstrip() if kind == WORK else "over the ranks"
            unit = view.unit_of(one.metric.dimension)
            marks = (Mark(WRONG, one.declared),) if one.is_contradicted else ()
            points = tuple(_candidates(one, view))
            yield Answer(one.table, title, word, said, (), points, unit, scaling=one, marks=marks)


def _candidates(scaling: Scaling, view: View) -> Iterator[CandidateRow]:
    """The points as times the ideal time; nothing without a speed-up."""
    for point in scaling.points if scaling.has_speed_up else ():
        ends = (
            [1 / end for end in (max(point.efficiencies), min(point.efficiencies))]
            if point.efficiencies
            else [None, None]
        )
        ratio = 1 / point.efficiency if point.efficiency else None
        name = f"{in_ranks(point.ranks)}"
        yield CandidateRow(
            name, MetricCell(point.row, point.cell, view), ratio, ends[0], ends[1], leads=False
        )


def scaling_nodes(
    comparison: Comparison, view: View, level: int = 2, kinds: Sequence[str] = tuple(TITLES)
) -> list[Heading | Paragraph | Grid]:
    """A table for each kind: of work, of messages, of start-up."""
    nodes: list[Heading | Paragraph | Grid] = []
    for kind, shown in grouped(scalings(comparison), lambda scaling: scaling.kind).items():
        if kind in kinds:
            header, lines = _TABLES[kind]
            title, grid_lines = TITLES[kind], tuple(lines(comparison, shown, view))
            grid = Grid(title, 1, header, grid_lines, role="sortable", label=title)
            nodes += [Heading(title, level), Paragraph(meaning(shown)), grid]
    return nodes


def scaling_section(
    comparison: Comparison, view: View, drawings: Callable[[str], Sequence[Drawing]]
) -> list[Section]:
    """The table of work, and its figure."""
    nodes = scaling_nodes(comparison, view, kinds=(WORK,))
    return [Section((*nodes, *drawings("scaling")), "scaling", "", "Scaling")] if nodes else []


def meaning(shown: Sequence[Scaling]) -> str:
    """What the words of scalings of one kind mean."""
    kind = shown[0].kind
    if kind != WORK:
        return _KINDS[kind]
    # a rate has the same speed-up whether the problem grows or not
    words = {scaling.declared for scaling in shown if scaling.declared or scaling.metric.lower_is_better}
    return " ".join([_SPEED_UP, *(text for word, text in _DECLARED.items() if word in words)])


def scaling_name(comparison: Comparison, scaling: Scaling) -> str:
    """``milan IBV``."""
    return f"{comparison.place(scaling.points[0].row)} {visible(scaling.placement)}"


def scaling_title(comparison: Comparison, scaling: Scaling) -> str:
    """``solve: time, milan IBV``."""
    return f"{scaling.table.title}: {scaling.metric.name}, {scaling_name(comparison, scaling)}"


def _finding(scaling: Scaling, view: View) -> str:
    """``From 2 to 8 ranks: speed-up 2.50 of 4.00, efficiency 62.5 %.``; without a speed-up the values."""
    first, last = scaling.points[0], scaling.points[-1]
    ends = f"From {first.ranks} to {in_ranks(last.ranks)}"
    gain = _gain(scaling, last).strip(" ()")
    values = f"{_value(scaling, first, view)} to {_value(scaling, last, view)}"
    return f"{'; '.join([f'{ends}: {gain or values}', *_cautions(scaling)])}."


def _cautions(scaling: Scaling) -> Iterator[str]:
    """``too few repeats (2)``, ``all runs disturbed``: what the medians may owe to chance, or to others."""
    fewest = min(point.cell.n for point in scaling.points)
    if fewest < FEWEST:
        yield f"{FEW_REPEATS} ({fewest})"
    runs = [run for point in scaling.points for run, _ in point.row.curves]
    if disturbed := sum(run.condition == DISTURBED for run in runs):
        yield f"{'all' if disturbed == len(runs) else f'{disturbed} of {len(runs)}'} runs disturbed"


def scaling_sentence(scaling: Scaling, view: View) -> str:
    """``10.0 s with 2 ranks; 4.0 s with 8 ranks (speed-up 2.50 of 4.00, efficiency 62.5 %).``"""
    counts = Counter(point.ranks for point in scaling.points)
    parts = []
    for point in scaling.points:
        where = f" in {visible(point.row.case.placement)}" if counts[point.ranks] > 1 else ""
        value = f"{_value(scaling, point, view)} with {in_ranks(point.ranks)}"
        parts.append(f"{value}{where}{_gain(scaling, point)}")
    return f"{'; '.join(parts)}.{_contradiction(scaling)}"


def _contradiction(scaling: Scaling) -> str:
    if not scaling.is_contradicted:
        return ""
    first, last = scaling.orders[0], scaling.orders[-1]
    shown = f"all solved N {first}" if first == last else f"N is {first} to {last}"
    return f" The campaign file says {scaling.declared}, but {shown}."


def _gain(scaling: Scaling, point: ScalingPoint) -> str:
    if point.speed_up is None or point.efficiency is None or point is scaling.points[0]:
        return ""
    of = f"speed-up {RATIO.number(point.speed_up)} of {RATIO.number(point.ideal)}"
    return f" ({of}, efficiency {FRACTION.number(point.efficiency)} %)"


def scaling_lead(comparison: Comparison, shown: Sequence[Scaling], view: View) -> str:
    """What the most ranks bring; of several the range of their efficiencies. Messages have values alone."""
    largest = [(scaling, scaling.points[-1]) for scaling in shown if scaling.has_speed_up]
    if len(largest) < 2:
        first = next((scaling for scaling, _ in largest), shown[0])
        return f"{scaling_title(comparison, first)}: {_finding(first, view)[:-1]}"
    ascending = sorted(last.efficiency or 0.0 for _, last in largest)
    efficiencies = dict.fromkeys(FRACTION.number(end) for end in (ascending[0], ascending[-1]))
    ends = {f"from {scaling.points[0].ranks} to {in_ranks(last.ranks)}" for scaling, last in largest}
    over = ends.pop() if len(ends) == 1 else "with the most ranks"
    by = listed(list(dict.fromkeys(scaling.metric.name for scaling in shown if scaling.has_speed_up)))
    return f"Efficiency {over}: {' to '.join(efficiencies)} % by {by}"


# Tables


def _work_lines(comparison: Comparison, shown: Iterable[Scaling], view: View) -> Iterator[Line]:
    for scaling in shown:
        for point in scaling.points:
            name = f"{scaling.table.title}: {scaling_name(comparison, scaling)}", scaling.metric.name
            counts = point.ranks, point.nodes or "unknown", point.cell.n
            of_work = _speed_up(point, view) if scaling.kind == WORK else ()
            yield (*name, *counts, _value(scaling, point, view), *of_work)


def _startup_lines(comparison: Comparison, shown: Iterable[Scaling], view: View) -> Iterator[Line]:
    """All of them side by side; each rank knows the time within MPI_Init, whatever clocks say."""
    for scaling in shown:
        for point in scaling.points if scaling.metric.name == MPI_INIT else ():
            name = f"{visible(scaling.table.benchmark)}: {scaling_name(comparison, scaling)}"
            medians = (
                view.quantity(cell.summary.median, cell.metric.dimension) if cell.summary else ""
                for cell in point.row.cells
            )
            yield (name, point.ranks, point.nodes or "unknown", point.cell.n, *medians)


def _value(scaling: Scaling, point: ScalingPoint, view: View) -> str:
    return view.quantity(point.median, scaling.metric.dimension)


def _speed_up(point: ScalingPoint, view: View) -> Iterator[str]:
    """Speed-up and its ideal, the efficiency of the median, and the range of the repeats."""
    if point.speed_up is None or point.efficiency is None:
        yield from ("", "", "", "")
        return
    ends = min(point.efficiencies), max(point.efficiencies)
    yield RATIO.number(point.speed_up)
    yield RATIO.number(point.ideal)
    yield view.number(point.efficiency, FRACTION)
    yield " to ".join(view.number(end, FRACTION) for end in ends)


_FIRST = ("", "metric", "ranks", "nodes", "n", "median")
_TABLES = {
    WORK: ((*_FIRST, "speed-up", "ideal", "efficiency (%)", "range of repeats"), _work_lines),
    MESSAGES: (_FIRST, _work_lines),
    STARTUP: (("", "ranks", "nodes", "n", *(metric.name for metric in STARTUP_METRICS)), _startup_lines),
}
