"""Two sets of results side by side: what differs, by how much, and whether it is real."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import counted, visible
from mpicampaign.collect.undescribed import NO_CASE, EarlierRuns
from mpicampaign.compare.rows import Cell, Row
from mpicampaign.questions.ranking.say import sight_text
from mpicampaign.questions.two_sides.find import Both, TwoSides
from mpicampaign.show.document import Grid, Heading, Items, Kind, Node, Paragraph, Value
from mpicampaign.show.runs import ranked_state
from mpicampaign.show.sentences import over_sizes
from mpicampaign.show.view import DEFAULT, probability
from mpicampaign.statistics.comparisons import FEWEST

_APART, _OVERLAP, _FEW = "apart", "overlap", "too few to tell"
_SAME_FILE = "another program or library, or another machine"
_OF_BENCHMARK = ("arguments:", "parameters")  # what changed: no placement can have both
_MARK = "†"  # of a maximum that is not over all sizes
_NO_RUN = "no run of its present definition yet"
_NAMED = 4  # cases, or definitions
_UNTESTED = (
    f"Not tested are {_APART} (all repeats of one lie on one side of the other's, and the medians differ by "
    f"1 % or more) and {_OVERLAP}."
)


class Past(NamedTuple):
    """Of two sides of one campaign.

    ``file``: the campaign file. ``definitions``, ``older``: earlier ones that the runs before are of, and
    others beside them; ``unchanged``: how many cases have none.
    """

    file: str = ""
    definitions: Sequence[EarlierRuns] = ()
    older: Sequence[EarlierRuns] = ()
    unchanged: int = 0


NO_PAST = Past()


def two_sides_document(sides: TwoSides, known: Mapping[int, str], past: Past = NO_PAST) -> list[Node]:
    """What differs, then each metric of each case, then what was defined and recorded, what one side lacks.

    ``known``: what the history says of a metric, by its number in ``sides.both``.
    """
    names = visible(sides.before.name), visible(sides.after.name)
    nodes: list[Node] = [Heading(f"{names[1]} against {names[0]}", 1), Paragraph(lead(sides, known, past))]
    nodes += [*_definition_nodes(past)] if past.definitions else []
    if past.file and not past.definitions and any(both.few for both in sides.both):
        command = visible(f"mpicampaign history {shlex.quote(past.file)}")
        nodes.append(Paragraph(f"'{command}' looks for changes in all runs that count."))
    if sides.both:
        legend = _legend(sides)
        nodes += [_grid(sides, known, names), *([Paragraph(legend, "legend")] if legend else [])]
    if sides.unlike:
        lines = (f"{_name(row)}, {metric.name}: no message size is of both" for row, metric in sides.unlike)
        nodes += [Heading("Not compared"), Items(tuple(lines))]
    if sides.recorded:
        recorded = tuple((name, visible(before), visible(after)) for name, before, after in sides.recorded)
        nodes += [Heading("Recorded as different"), Grid("", 1, ("", *names), recorded, remarks=2)]
    not_again = dict(_not_again(sides, past))
    if not_again:
        texts = tuple(visible(f"{case}: {why}") for case, why in not_again.items())
        nodes += [Heading("Not run again"), Items(texts)]
    if _NO_RUN in not_again.values():
        command = visible(f"mpicampaign run {shlex.quote(past.file)}")
        nodes.append(Paragraph(f"'{command}' makes what has no run yet."))
    others = [case for case in sides.only[0] if case not in not_again], sides.only[1]
    for name, cases in zip(names, others, strict=True):
        if cases:
            nodes += [Heading(f"Only in {name}"), Items(tuple(map(visible, cases)))]
    return nodes


def _not_again(sides: TwoSides, past: Past) -> Iterator[tuple[str, str]]:
    """The cases that were defined otherwise, and have no run since, each with what there is of it."""
    for runs in past.definitions:
        case, of_now = str(runs.case), [run for run in sides.after.records if run.case == runs.case]
        latest = max((run.started for run in of_now), default="")
        if case in sides.only[0] and runs.changed != (NO_CASE,):
            yield case, _NO_RUN
        elif "" < latest < runs.began:
            yield case, f"the runs of its present definition are older, the last one at {latest}"


def _definition_nodes(past: Past) -> Iterator[Node]:
    """What each case was before, and the times of definitions before that."""
    texts = grouped(past.definitions, lambda runs: ("; ".join(runs.changed) or _SAME_FILE, runs.began))
    yield Heading("Defined before")
    yield Items(
        tuple(
            visible(f"{what}, {_times(time, runs)}: {_cases(runs)}") for (what, time), runs in texts.items()
        )
    )
    if past.unchanged:
        yield Paragraph(
            f"Defined as before, and compared with nothing: {counted(past.unchanged, 'other case')}."
        )
    if times := sorted({runs.began for runs in past.older}):
        command = f"mpicampaign compare {times[-1]} {shlex.quote(past.file)}"
        text = f"Older definitions, of {', '.join(times[-_NAMED:])}, are known, too: {command}"
        yield Paragraph(visible(text))


def _times(began: str, definitions: Sequence[EarlierRuns]) -> str:
    """``8 runs, the first one at 2026-11-01T04:00:00Z, the last one at 2026-11-04T04:00:00Z``."""
    records = [record for runs in definitions for record in runs.records]
    last = max((record.started for record in records), default="")
    ends = f"the first one at {began or 'an unknown time'}"
    return f"{counted(len(records), 'run')}, {ends}" + (f", the last one at {last}" if last > began else "")


def _cases(definitions: Sequence[EarlierRuns]) -> str:
    names = [str(runs.case) for runs in definitions]
    return "; ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if names[_NAMED:] else "")


def _grid(sides: TwoSides, known: Mapping[int, str], names: tuple[str, str]) -> Grid:
    """A line for each case, and below it one for each metric."""
    heads = _told_apart(names)
    numbered = [(one, known.get(number, "")) for number, one in enumerate(sides.both)]
    of_cases = grouped(numbered, lambda pair: _name(pair[0].row)).items()
    lines = (line for case, of in of_cases for line in ((case,), *(_line(one, said) for one, said in of)))
    return Grid("", 1, ("case, metric", *heads, "ratio", "judged"), tuple(lines), remarks=1)


def _told_apart(names: tuple[str, str]) -> tuple[str, ...]:
    """As much of the ends of two paths as tells them apart: the table keeps its width for what is judged."""
    parts = [name.split("/") for name in names]
    ends = (tuple("/".join(part[-count:]) for part in parts) for count in range(1, max(map(len, parts)) + 1))
    return next((pair for pair in ends if pair[0] != pair[1]), names)


def _legend(sides: TwoSides) -> str:
    untested = any(one.p is None and not one.few for one in sides.both)
    single = all(len(cell.values) < 2 for one in sides.both for cell in (one.before, one.after))
    ranges = "" if single else "In brackets: the range of all repeats."
    over = "; ".join(dict.fromkeys(f"{_MARK}{over_sizes(one.sizes)}" for one in sides.both if one.sizes))
    return " ".join(
        filter(None, (over and f"{over}.", ranges, ranked_state(sides.states), _UNTESTED * untested))
    )


def lead(sides: TwoSides, known: Mapping[int, str], past: Past = NO_PAST) -> str:
    """``3 of 40 values differ``, and what that rests on; see `two_sides_document`."""
    every = len(sides.both)
    if not every:
        makes = f" 'mpicampaign run {shlex.quote(past.file)}' makes those of now." if past.file else ""
        return f"No case has values that count on both sides.{visible(makes)}"
    tested = [one for one in sides.both if one.p is not None]
    untested = [one for one in sides.both if one.p is None and not one.few]
    parts = []
    if tested:
        real = sum(one.real for one in tested)
        parts.append(f"{real} of {len(tested)} tested values differ by 1 % or more{_furthest(tested)}")
    if untested:
        of = f"{len(untested)} {'other ' * bool(tested)}values"
        apart = sum(one.apart for one in untested)
        parts.append(f"{apart} of {of} differ by more than their ranges{_furthest(untested)}")
    if few := every - len(tested) - len(untested):
        have = "has" if few == 1 else "have"
        parts.append(f"{few} of {every} {have} fewer than {FEWEST} repeats a side, {_FEW}")
    if known:
        parts.append(f"the history shows a change between the two in {len(known)}")
    return " ".join([f"{'; '.join(parts)}.", *_reservations(sides, untested, _decides(past))])


def _furthest(of: Sequence[Both]) -> str:
    """``, most s/g SHM PingPong, latency at 0 B (× 1.30)``: of those that differ the largest ratio."""
    differ = [one for one in of if one.ratio and (one.real or (one.p is None and one.apart))]
    if not differ:
        return ""
    most = max(differ, key=lambda one: abs(math.log(one.ratio or 1)))
    metric = f"{most.metric.name}{over_sizes(most.sizes)}"
    return f", most {_name(most.row)}, {metric} (× {RATIO.number(most.ratio or 1)})"


def _reservations(sides: TwoSides, untested: Sequence[Both], decides: str) -> Iterator[str]:
    """What else may be the reason, and what decides it."""
    if why := dict.fromkeys(one.pair.reason for one in untested):
        yield f"Not tested: {'; '.join(why)}. What else changed meanwhile may be the reason."
        if decides:
            yield f"What decides: {decides}."
    open_ = [one.sight for one in sides.both if one.sight and not (one.pair.small or one.real)]
    if shown := [sight for sight in open_ if sight.difference]:
        yield f"Where no difference is shown, {sight_text(shown)} in 8 of 10 cases."
    if any(one.p is not None and one.pair.same_order for one in sides.both):
        yield "The two always ran in the same order: what the order does would look the same."


def _decides(past: Past) -> str:
    """How to measure both sides of one campaign in turn; empty where they are not of one."""
    if any(text.startswith(_OF_BENCHMARK) for runs in past.definitions for text in runs.changed):
        return "both values as a list in `parameters` of the benchmark, in a matrix entry with `blocks`"
    command = visible(f"mpicampaign run {shlex.quote(past.file)} --again A,B")
    return f"both as placements or MPI libraries A and B of one file, and '{command}'" if past.file else ""


def _name(row: Row) -> str:
    case, label = row.case, row.label
    return visible(f"{case}" if label == case.benchmark else f"{case}: {label}")


def _line(one: Both, known: str) -> tuple[str, ...]:
    ratio = "" if one.ratio is None else RATIO.number(one.ratio)
    name = f"  {one.metric.name}{_MARK * bool(one.sizes)} ({DEFAULT.unit_of(one.metric.dimension)})"
    return name, _values(one.before), _values(one.after), ratio, known or _judged(one)


def _values(cell: Cell) -> str:
    """``0.170 [0.168, 0.175]``: the median with the range."""
    dimension = cell.metric.dimension
    low, high = (DEFAULT.number(end(cell.values), dimension) for end in (min, max))
    median = DEFAULT.number(cell.summary.median, dimension) if cell.summary else ""
    return f"{median} [{low}, {high}]" if cell.n > 1 else median


def _judged(one: Both) -> str:
    if one.few:
        return _FEW
    if one.p is None:
        return _APART if one.apart else _OVERLAP
    if one.real:
        return f"real, {probability(one.p)}"
    return "less than 1 %" if one.pair.small else f"no difference shown, {probability(one.p)}"


def two_sides_data(sides: TwoSides, known: Mapping[int, str]) -> Grid:
    """A line for each metric of each case, in SI units; ``known``: what the history says of it."""
    lines = tuple(_data_line(both, known.get(number, "")) for number, both in enumerate(sides.both))
    return Grid("compare", 9, tuple(_COLUMNS), lines, kinds=tuple(_COLUMNS.values()))


_OF_SIDE: dict[str, Kind] = {"n": int, **dict.fromkeys(("median", "minimum", "maximum"), float)}
_COLUMNS: dict[str, Kind] = {
    **dict.fromkeys(("system", "host_group", "placement", "benchmark", "series"), str),
    **{"ranks": int, "metric": str, "size": int, "unit": str},
    **{f"{side}_{name}": kind for side in ("before", "after") for name, kind in _OF_SIDE.items()},
    **{"ratio": float, "p": float, "judged": str, "not_tested_because": str},
}


def _data_line(both: Both, known: str) -> tuple[Value, ...]:
    case, row, metric = both.row.case, both.row, both.metric
    names = map(visible, (case.system, case.host_group, case.placement, case.benchmark, row.label))
    about = (row.ranks, f"{metric.name}{over_sizes(both.sizes)}", metric.size, metric.dimension.si_unit)
    values = (value for cell in (both.before, both.after) for value in _data_of(cell))
    return (*names, *about, *values, both.ratio, both.p, known or _judged(both), both.pair.reason or None)


def _data_of(cell: Cell) -> tuple[Value, ...]:
    median = cell.summary.median if cell.summary else None
    return (cell.n, median, min(cell.values), max(cell.values))
