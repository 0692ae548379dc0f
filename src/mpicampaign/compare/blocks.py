"""Candidates of block designs, compared within their blocks: which is better, and by how much.

A block is one repeat of the candidates of a benchmark on the same nodes, which their evidence proves. It
counts if each candidate has a value there, or met its time limit, which is the worst rank. Blocks with a
disturbed run count only where there are no others: on a machine that is never quiet. All states of the
machine count: they change nothing between candidates that stand beside each other in random order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpicampaign.compare.cut_repeats import cut_repeats
from mpicampaign.compare.findings import EARLIER, NOT_PRINTED, OTHER_NODES, end_of
from mpicampaign.compare.metrics import choose_metrics, read
from mpicampaign.expectation import fewest_blocks
from mpicampaign.grouping import grouped
from mpicampaign.records import (
    ALL_PAIRS,
    BLOCK,
    COMPARED,
    CONTRADICTED,
    DISTURBED,
    MISSING,
    OK,
    OVERSUBSCRIBED,
    WITH,
    defined_name,
    race_rules,
)
from mpicampaign.statistics.blocks import Ratio, against_reference, all_pairs, ratio
from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.medians import Interval
from mpicampaign.suites import is_baseline
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.records import Case, Record, Series

BETTER, WORSE, NOT_SHOWN, FEW = "better", "worse", "not shown", "too few blocks"


class Block(NamedTuple):
    """One that counts: its repeat, its nodes, and each candidate's value; infinite cost is ``None``."""

    repeat: int
    hosts: tuple[str, ...]
    values: tuple[float | None, ...]
    disturbed: bool


class LeftOut(NamedTuple):
    """A block that does not count: which candidates are the reason, each with its kind of finding."""

    repeat: int
    reasons: tuple[tuple[str, str], ...]


class Verdict(NamedTuple):
    """A candidate against another, by their places; ``ratio``: of its values to those of the other.

    ``p``: corrected for all comparisons of the metric; ``None`` of too few blocks.
    """

    candidate: int
    other: int
    ratio: Ratio
    p: float | None
    verdict: str


@dataclass(frozen=True)
class InBlocks:
    """One metric of the candidates of a benchmark; the first one is the reference.

    ``design``: its name in the plan. ``cases``: of the candidates. ``absent``: names of those without any
    value. ``shared``: whether their ranks share cores.
    """

    design: str
    compared: str
    title: str
    label: str
    metric: Metric
    ranks: int | None
    several_ranks: bool
    shared: bool
    cases: tuple[Case, ...]
    names: tuple[str, ...]
    absent: tuple[str, ...]
    blocks: tuple[Block, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def disturbed(self) -> bool:
        """Whether its blocks are those of a machine that is never quiet."""
        return any(block.disturbed for block in self.blocks)

    @property
    def enough(self) -> int:
        """How many blocks can show a difference."""
        return fewest_blocks(len(self.cases), self.compared == ALL_PAIRS)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Each candidate against the reference, or all pairs."""
        return tuple(self._verdicts.values())

    @property
    def reference(self) -> str:
        """The name of the first candidate."""
        return self.names[0]

    def holds(self, row: Row, metric: Metric) -> bool:
        """Whether it is about this metric of the row."""
        return self.metric == metric and any(self.is_of(row, case) for case in self.cases)

    def is_of(self, row: Row, case: Case) -> bool:
        """Whether the row is this candidate's: one of its states of the machine."""
        own = series_label(row.case, row.label), row.ranks
        return own in ((self.label, self.ranks), (self.label, None)) and is_of(row.case, case)

    @property
    def to_reference(self) -> tuple[Ratio, ...]:
        """The ratio of each other candidate."""
        return tuple(self._verdicts[0, place].ratio for place in range(1, len(self.cases)))

    def of(self, row: Row) -> Verdict | None:
        """A row's own against the reference; a row may be of one state of the machine."""
        return self._verdicts.get((0, self._place(row)))

    def better_than(self, row: Row) -> tuple[str, ...]:
        """The names of those that a row is shown to be better than."""
        own = self._place(row)
        better = [(one.candidate, one.other) for one in self.verdicts if one.verdict == BETTER]
        better += [(one.other, one.candidate) for one in self.verdicts if one.verdict == WORSE]
        return tuple(self.names[other] for place, other in better if place == own)

    def _place(self, row: Row) -> int:
        return next((place for place, case in enumerate(self.cases) if is_of(row.case, case)), 0)

    def costs_to_reference(self, place: int) -> tuple[float | None, float | None, float | None]:
        """How many times worse than the reference a candidate is, and the ends of the interval."""
        verdict = self._verdicts.get((0, place))
        if verdict is None:
            return 1.0, None, None
        worse = verdict.ratio if self.metric.lower_is_better else _inverse(verdict.ratio)
        median, ends = worse.median, worse.interval
        if not 0 < median < math.inf:
            return None, None, None
        if ends is None or not 0 < ends.low <= ends.high < math.inf:
            return median, None, None
        return median, ends.low, ends.high

    @cached_property
    def _verdicts(self) -> Mapping[tuple[int, int], Verdict]:
        if not self.blocks:
            return {}
        costs = np.array([[self._cost(value) for value in block.values] for block in self.blocks])
        test = all_pairs if self.compared == ALL_PAIRS else against_reference
        few = len(self.blocks) < self.enough
        return {pair: self._verdict(costs, *pair, None if few else p) for pair, p in test(costs).items()}

    def _cost(self, value: float | None) -> float:
        """The logarithm of what should be low."""
        if value is None:
            return math.inf
        return math.log(value) if self.metric.lower_is_better else -math.log(value)

    def _verdict(self, costs: np.ndarray, other: int, candidate: int, p: float | None) -> Verdict:
        of_costs = ratio(costs[:, (other, candidate)])
        # equal values in most blocks have a median of 1: then the others decide
        higher, lower = (int(np.sum(sign * costs[:, candidate] > sign * costs[:, other])) for sign in (1, -1))
        is_worse = (of_costs.median, higher - lower) > (1, 0)
        verdict = FEW if p is None else NOT_SHOWN if p > LEVEL else WORSE if is_worse else BETTER
        shown = of_costs if self.metric.lower_is_better else _inverse(of_costs)
        return Verdict(candidate, other, shown, p, verdict)


def _inverse(ratio: Ratio) -> Ratio:
    def of(value: float) -> float:
        return 1 / value if value else math.inf

    ends = ratio.interval
    return Ratio(of(ratio.median), Interval(of(ends.high), of(ends.low), ends.coverage) if ends else None)


def is_of(shown: Case, case: Case) -> bool:
    """Whether it is the case, or that in one state of the machine, or with ranks that share cores."""
    own = replace(shown, placement=case.placement)
    return own == case and (shown == case or shown.placement.startswith(f"{case.placement} ("))


# From records


def in_blocks(records: Iterable[Record], sizes: Sequence[int]) -> tuple[InBlocks, ...]:
    """All metrics of which two candidates have values; ``sizes``: as `choose_metrics` wants them."""
    own = (record for record in records if BLOCK in record.metadata and not is_of_race(record))
    designs = grouped(own, lambda r: (r.case.machine, r.metadata[BLOCK], defined_name(r.case.benchmark)))
    return tuple(one for runs in designs.values() for one in _of_benchmark(runs, sizes))


def is_of_race(record: Record) -> bool:
    """Whether a run is one of a race, see `mpicampaign.compare.races`: no test of all blocks fits there."""
    return race_rules(record.metadata.get(COMPARED, "")) is not None


def _of_benchmark(runs: Sequence[Record], sizes: Sequence[int]) -> Iterator[InBlocks]:
    """For each series and number of ranks."""
    printed = dict.fromkeys(
        (series_label(run.case, series.label), series.ranks)
        for run in runs
        if run.sound
        for series in run.series
    )
    cases = grouped(runs, lambda run: run.case)
    for (label, ranks), shared in product(printed, (False, True)):
        if is_baseline(runs[0].suite, label):
            continue
        alone = sum(each == label for each, _ in printed) == 1
        members = {
            case: {run.repeat: run for run in of_case}
            for case, of_case in cases.items()
            if any(series_of(run, label, ranks) for run in of_case) or (alone and _none_printed(of_case))
            if any(OVERSUBSCRIBED in run.metadata for run in of_case) is shared
        }
        if len(members) > 1:
            yield from _of_series(members, label, ranks, not alone, shared, sizes)


def _none_printed(runs: Iterable[Record]) -> bool:
    return not any(run.sound for run in runs)


def series_of(run: Record, label: str, ranks: int | None) -> Series | None:
    """That of a run whose values mean what its label says."""
    own = (one for one in run.series if (series_label(run.case, one.label), one.ranks) == (label, ranks))
    return next(own, None) if run.sound else None


def series_label(case: Case, label: str) -> str:
    """Of programs of one's own the series of a variant has its name: that of the definition instead."""
    rest = label.removeprefix(case.benchmark)
    return label if rest == label else defined_name(case.benchmark) + rest


_Members = dict["Case", dict[int, "Record"]]  # by repeat


def _of_series(
    members: _Members, label: str, ranks: int | None, several_ranks: bool, shared: bool, sizes: Sequence[int]
) -> Iterator[InBlocks]:
    every = [run for of_case in members.values() for run in of_case.values()]
    printed = [series for run in every if (series := series_of(run, label, ranks))]
    first = every[0]
    names = candidate_names(list(members))
    for metric in choose_metrics(first.suite, printed, sizes):
        values = {case: _values(metric, runs.values(), label, ranks) for case, runs in members.items()}
        having = [
            case for case in members if values[case] or any(r.timed_out for r in members[case].values())
        ]
        if len(having) < 2:
            continue
        absent = tuple(names[case] for case in members if case not in having)
        blocks, left_out = _blocks({case: members[case] for case in having}, values, names)
        yield InBlocks(
            visible(first.metadata[BLOCK]),
            first.metadata.get(COMPARED, ""),
            visible(_title(first, label)),
            label,
            metric,
            ranks,
            several_ranks,
            shared,
            tuple(having),
            tuple(names[case] for case in having),
            absent,
            blocks,
            left_out,
        )


def _title(run: Record, label: str) -> str:
    """The benchmark as the campaign file defines it, with the series where that has another name."""
    name = defined_name(run.case.benchmark)
    return label if label.startswith(name) else f"{name}: {label}"


def candidate_names(cases: Sequence[Case]) -> dict[Case, str]:
    """What tells candidates apart: placement, MPI library, and the values of lists of the benchmark."""
    libraries = len({case.library for case in cases}) > 1
    variants = len({case.benchmark for case in cases}) > 1
    places = libraries or len({case.placement for case in cases}) > 1 or not variants

    def name(case: Case) -> str:
        place = WITH.join(filter(None, (case.placement, case.library if libraries else "")))
        if not places:
            return case.benchmark
        return " ".join(filter(None, (place, case.benchmark.partition(" ")[2] if variants else "")))

    return {case: visible(name(case)) for case in cases}


def _values(metric: Metric, runs: Iterable[Record], label: str, ranks: int | None) -> dict[int, float]:
    """By repeat, of sound runs; a logarithm needs what is positive."""
    curves = [(run, series) for run in runs if (series := series_of(run, label, ranks))]
    cut = cut_repeats(curves) if metric.size is None else {}
    readings = {
        run.repeat: read(metric, series, run.series) for run, series in curves if run.repeat not in cut
    }
    return {repeat: each.value for repeat, each in readings.items() if each and each.value > 0}


def _blocks(
    members: _Members, values: Mapping[Case, Mapping[int, float]], names: Mapping[Case, str]
) -> tuple[tuple[Block, ...], tuple[LeftOut, ...]]:
    """Those that count, and the others; a block of which no run was made is neither."""
    whole: list[Block] = []
    disturbed: list[Block] = []
    left_out = []
    for repeat in sorted({repeat for runs in members.values() for repeat in runs}):
        runs = {case: own.get(repeat) for case, own in members.items()}
        if all(run is None or run.status == MISSING for run in runs.values()):
            continue
        known = {case: values[case].get(repeat) for case in members}
        lacking = {
            case: _why_none(run)
            for case, run in runs.items()
            if known[case] is None and not (run and run.timed_out)
        }
        busy = {case: DISTURBED for case, run in runs.items() if run and run.disturbed}
        if lacking or not on_same_nodes([run for run in runs.values() if run]):
            reasons = lacking or dict.fromkeys(members, OTHER_NODES)
            left_out.append(_left_out(repeat, {**busy, **reasons}, names))
            continue
        hosts = next(run.hosts for case, run in runs.items() if run and known[case] is not None)
        (disturbed if busy else whole).append(Block(repeat, hosts, tuple(known.values()), bool(busy)))
        if busy:
            left_out.append(_left_out(repeat, busy, names))
    if not whole:  # a machine that is never quiet
        ranked = {block.repeat for block in disturbed}
        return tuple(disturbed), tuple(one for one in left_out if one.repeat not in ranked)
    return tuple(whole), tuple(left_out)


def _left_out(repeat: int, reasons: Mapping[Case, str], names: Mapping[Case, str]) -> LeftOut:
    return LeftOut(repeat, tuple((names[case], kind) for case, kind in reasons.items()))


def _why_none(run: Record | None) -> str:
    if run is None:
        return MISSING
    if run.status != OK:
        return end_of(run)
    if run.verdict == CONTRADICTED:
        return CONTRADICTED
    return EARLIER if run.earlier else NOT_PRINTED


def on_same_nodes(runs: Collection[Record]) -> bool:
    """Whether the evidence shows one set of hosts; a run that met its time limit may not show all of them."""
    ended = {frozenset(run.hosts) for run in runs if not run.timed_out}
    if len(ended) != 1:
        return False
    hosts = ended.pop()
    return bool(hosts) and all(hosts.issuperset(run.hosts) for run in runs)
