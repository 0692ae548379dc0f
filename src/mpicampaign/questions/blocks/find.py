"""Candidates of block designs, compared within their blocks: which is better, and by how much.

A block is one repeat of the candidates of a benchmark on the same nodes, which their evidence proves. It
counts if each candidate has a value there, or met its time limit, which is the worst rank. Blocks with a
disturbed run count only where there are no others: on a machine that is never quiet. All states of the
machine count: they change nothing between candidates that stand beside each other in random order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from mpicampaign.base.expectation import fewest_blocks
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import (
    ALL_PAIRS,
    BLOCK,
    COMPARED,
    CONTRADICTED,
    DISTURBED,
    MISSING,
    OK,
    OVERSUBSCRIBED,
    Case,
    Record,
    defined_name,
)
from mpicampaign.base.text import in_ranks, listed, visible
from mpicampaign.compare.candidates import (
    candidate_names,
    is_of_race,
    on_same_nodes,
    printed_series,
    series_label,
    series_of,
    side_by_side,
    values_of,
)
from mpicampaign.compare.findings import EARLIER, NOT_PRINTED, OTHER_NODES, OTHER_TIME, end_of
from mpicampaign.compare.metrics import Metric, choose_metrics
from mpicampaign.compare.rows import Row
from mpicampaign.verdicts import compare as engine
from mpicampaign.verdicts.blocks import Ratio, compare_blocks, ratio
from mpicampaign.verdicts.smallest import Sight, seen_in_blocks

BETTER, WORSE, NOT_SHOWN, FEW = "better", "worse", "not shown", "too few blocks"


class CountedBlock(NamedTuple):
    """One that counts: its repeat, its nodes, and each candidate's value; infinite cost is ``None``.

    ``looks``: how many reports there were before it was planned.
    """

    repeat: int
    hosts: tuple[str, ...]
    values: tuple[float | None, ...]
    disturbed: bool
    looks: int


class LeftOut(NamedTuple):
    """A block that does not count: which candidates are the reason, each with its kind of finding."""

    repeat: int
    reasons: tuple[tuple[str, str], ...]


class CandidateVerdict(NamedTuple):
    """A candidate against another, by their places; ``ratio``: of its values to those of the other."""

    candidate: int
    other: int
    ratio: Ratio
    pair: engine.PairVerdict

    @property
    def word(self) -> str:
        """What is shown of the candidate."""
        if not self.pair.shown:
            return NOT_SHOWN if self.pair.tested else FEW
        return BETTER if self.pair.better == self.candidate else WORSE


@dataclass(frozen=True)
class InBlocks:
    """One metric of the candidates of a benchmark; the first one is the reference.

    ``design``: its name in the plan. ``cases``: of the candidates. ``absent``: names of those without any
    value.
    """

    design: str
    compared: str
    title: str
    label: str
    metric: Metric
    ranks: int | None
    cases: tuple[Case, ...]
    names: tuple[str, ...]
    absent: tuple[str, ...]
    blocks: tuple[CountedBlock, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def disturbed(self) -> bool:
        """Whether its blocks are those of a machine that is never quiet."""
        return any(block.disturbed for block in self.blocks)

    @property
    def enough(self) -> int:
        """How many blocks can show a difference."""
        return fewest_blocks(len(self.cases), all_pairs=self.compared == ALL_PAIRS)

    @cached_property
    def verdicts(self) -> tuple[CandidateVerdict, ...]:
        """The verdict on each candidate against the reference, or on all pairs."""
        return tuple(
            CandidateVerdict(candidate, other, self.ratio(candidate, other), pair)
            for (other, candidate), pair in self._verdict.pairs.items()
        )

    @property
    def leaders(self) -> tuple[str, ...]:
        """Candidates that no other candidate leads by 1 % or more."""
        return tuple(name for place, name in enumerate(self.names) if place not in self._verdict.led_by)

    @property
    def best(self) -> str:
        """These, where all pairs are compared; empty where nobody is led."""
        some = self.compared == ALL_PAIRS and len(self.leaders) < len(self.names)
        return listed(self.leaders, "or") if some else ""

    @property
    def sight(self) -> Sight | None:
        """How small a difference the blocks could have shown, by the pairs not shown."""
        return seen_in_blocks(self._costs, self._verdict)

    @property
    def reference(self) -> str:
        """The name of the first candidate."""
        return self.names[0]

    def place_of(self, row: Row) -> int | None:
        """Which candidate's row with its series it is; a row may be of one state of the machine."""
        if (series_label(row.case, row.label), row.ranks or self.ranks) != (self.label, self.ranks):
            return None
        return next((place for place, case in enumerate(self.cases) if is_of(row.case, case)), None)

    def in_order(self, pair: engine.PairVerdict) -> tuple[str, str]:
        """The names of two, the better one first."""
        return self.names[pair.better], self.names[pair.worse]

    def ratio(self, candidate: int, other: int) -> Ratio:
        """The ratio of a candidate's values to another's, within blocks."""
        return ratio(self._costs[:, (other, candidate)] * (1 if self.metric.lower_is_better else -1))

    def costs(self, candidate: int, other: int) -> Ratio:
        """How many times worse than another a candidate is."""
        return ratio(self._costs[:, (other, candidate)])

    def costs_to_reference(self, place: int) -> tuple[float | None, float | None, float | None]:
        """How many times worse than the reference one is, and the ends of its interval where drawable."""
        if not place:
            return 1.0, None, None
        middle, ends = self.costs(place, 0) if self.blocks else (0.0, None)
        drawn = ends is not None and 0 < ends.low <= ends.high < math.inf
        if not 0 < middle < math.inf:
            return None, None, None
        return middle, *((ends.low, ends.high) if ends and drawn else (None, None))

    @cached_property
    def _costs(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Blocks x candidates, logarithms of what should be low."""
        cost = self.metric.cost
        costs = [
            [math.inf if value is None else cost(value) for value in block.values] for block in self.blocks
        ]
        return np.array(costs, dtype=float).reshape(len(costs), len(self.cases))

    @cached_property
    def _verdict(self) -> engine.Verdict:
        looks = [block.looks for block in self.blocks]
        return compare_blocks(self._costs, with_reference=self.compared != ALL_PAIRS, looks=looks)


def is_of(shown: Case, case: Case) -> bool:
    """Whether it is the case, or that in one state of the machine, or with ranks that share cores."""
    placed = replace(shown, placement=case.placement)
    return placed == case and (shown == case or shown.placement.startswith(f"{case.placement} ("))


# From records


def in_blocks(records: Iterable[Record], sizes: Sequence[int]) -> tuple[InBlocks, ...]:
    """All metrics of which two candidates have values; ``sizes``: as `choose_metrics` wants them."""
    in_blocks = (record for record in records if BLOCK in record.metadata and not is_of_race(record))
    designs = grouped(
        in_blocks, lambda r: (r.case.machine, r.metadata[BLOCK], defined_name(r.case.benchmark))
    )
    return tuple(compared for runs in designs.values() for compared in _of_benchmark(runs, sizes))


def _of_benchmark(runs: Sequence[Record], sizes: Sequence[int]) -> Iterator[InBlocks]:
    """The blocks of each series and number of ranks; cases whose ranks share cores are separate."""
    printed = printed_series(runs)
    cases = grouped(runs, lambda run: run.case)
    for (label, ranks), shared in product(printed, (False, True)):
        alone = sum(name == label for name, _ in printed) == 1
        members = {
            case: {run.repeat: run for run in of_case}
            for case, of_case in cases.items()
            if any(series_of(run, label, ranks) for run in of_case)
            or (alone and not any(run.sound for run in of_case))
            if any(OVERSUBSCRIBED in run.metadata for run in of_case) is shared
        }
        if len(members) > 1:
            counts = "" if alone else f", {in_ranks(ranks)}"
            # the benchmark as the campaign file defines it, with the series where that has another name
            name = defined_name(runs[0].case.benchmark)
            title = label if label.startswith(name) else f"{name}: {label}"
            title += f"{counts}{' (oversubscribed)' if shared else ''}"
            yield from _of_series(members, visible(title), label, ranks, sizes)


_Members = dict["Case", dict[int, "Record"]]  # by repeat


def _of_series(
    members: _Members, title: str, label: str, ranks: int | None, sizes: Sequence[int]
) -> Iterator[InBlocks]:
    all_runs = [run for of_case in members.values() for run in of_case.values()]
    printed = [series for run in all_runs if (series := series_of(run, label, ranks))]
    first = all_runs[0]
    names = candidate_names(list(members))
    for metric in choose_metrics(first.suite, printed, sizes):
        values = {case: values_of(metric, runs.values(), label, ranks) for case, runs in members.items()}
        having = [
            case for case in members if values[case] or any(r.timed_out for r in members[case].values())
        ]
        if len(having) < 2:
            continue
        absent = tuple(names[case] for case in members if case not in having)
        compared = first.metadata.get(COMPARED, "")
        enough = fewest_blocks(len(having), all_pairs=compared == ALL_PAIRS)
        blocks, left_out = _blocks({case: members[case] for case in having}, values, names, enough)
        yield InBlocks(
            visible(first.metadata[BLOCK]),
            compared,
            title,
            label,
            metric,
            ranks,
            tuple(having),
            tuple(names[case] for case in having),
            absent,
            blocks,
            left_out,
        )


def _blocks(
    members: _Members, values: Mapping[Case, Mapping[int, float]], names: Mapping[Case, str], enough: int
) -> tuple[tuple[CountedBlock, ...], tuple[LeftOut, ...]]:
    """Blocks that count and blocks left out; one of which no run was made is neither.

    With disturbed ones where too few others could show a difference, and the campaign asks for more.
    """
    blocks, left_out = list[CountedBlock](), list[LeftOut]()
    repeats = sorted({repeat for runs in members.values() for repeat in runs})
    beside = side_by_side(
        {n: [of_repeat[n] for of_repeat in members.values() if n in of_repeat] for n in repeats}
    )
    for repeat in repeats:
        runs = {case: of_repeat[repeat] for case, of_repeat in members.items() if repeat in of_repeat}
        if all(run.status == MISSING for run in runs.values()):
            continue
        known = {case: values[case].get(repeat) for case in members}
        ended = {case for case, run in runs.items() if run.timed_out} if any(known.values()) else set()
        lacking = {
            case: _why_none(runs.get(case))
            for case, value in known.items()
            if value is None and case not in ended
        }
        reasons = {case: DISTURBED for case, run in runs.items() if run.disturbed}
        together = on_same_nodes(runs.values())
        if not lacking and together and repeat in beside:
            hosts = next(runs[case].hosts for case, value in known.items() if value is not None)
            looks = max(run.looks for run in runs.values())
            blocks.append(CountedBlock(repeat, hosts, tuple(known.values()), bool(reasons), looks))
        else:
            reasons |= lacking or dict.fromkeys(members, OTHER_TIME if together else OTHER_NODES)
        if reasons:
            left_out.append(LeftOut(repeat, tuple((names[case], kind) for case, kind in reasons.items())))
    quiet = tuple(block for block in blocks if not block.disturbed)
    asked = max(sum(not run.further for run in runs.values()) for runs in members.values())
    if len(quiet) >= min(enough, asked):
        return quiet, tuple(left_out)
    counted = {block.repeat for block in blocks}  # of a busy machine
    return tuple(blocks), tuple(block for block in left_out if block.repeat not in counted)


def _why_none(run: Record | None) -> str:
    if run is None:
        return MISSING
    if run.status != OK:
        return end_of(run)
    if run.verdict == CONTRADICTED:
        return CONTRADICTED
    return EARLIER if run.earlier else NOT_PRINTED
