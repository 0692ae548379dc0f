"""Which is best, by how much, and whether the repeats show it: pairwise comparison.

A lead is clear if it is significant and no tie. Complete own repeats are blocks of time: enough of them are
compared within these, which their number alone decides. Two that were measured one after the other are not
tested: there a lead is clear if all repeats of one lie on one side of all of the other's. Those of fewer
repeats than a test needs are not judged: they never lead, and nobody leads behind one of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from mpicampaign.compare.in_turn import IN_TURN, in_turn
from mpicampaign.records import IMPORTED_FROM
from mpicampaign.statistics.blocks import compare_in_blocks
from mpicampaign.statistics.comparisons import FEWEST, compare_pairs
from mpicampaign.statistics.one_and_others import may_be_best
from mpicampaign.text import in_ranks, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpicampaign.compare.findings import Absence
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.statistics.medians import Difference

PLACEMENTS = "placements"
HOST_GROUPS = "host groups"
LIBRARIES = "MPI libraries"
ONE = {PLACEMENTS: "placement", HOST_GROUPS: "host group", LIBRARIES: "MPI library"}
TIE = 0.01  # a smaller lead is none
# Repeats that are compared as blocks of time, and among how many contestants: simulated, bench/blocks.py.
FEWEST_BLOCKS, MOST_IN_BLOCKS = 8, 4


@dataclass(frozen=True, slots=True)
class Contestant:
    """A row, by the name in which it differs from the others of its ranking."""

    name: str
    row: Row
    cell: Cell

    @property
    def median(self) -> float:
        """The median over the repeats that count."""
        if self.cell.summary is None:
            raise ValueError(f"{self.name} has no values")
        return self.cell.summary.median

    @property
    def judged(self) -> bool:
        """Whether it has repeats enough for a test."""
        return self.cell.n >= FEWEST

    @property
    def several_modes(self) -> bool:
        """Whether the repeats fall into bands, so that the median may be a value that no run had."""
        return self.row.has_modes_in(self.cell.metric)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two contestants, the one with the better median first; ``in_blocks``: their repeats were blocks."""

    better: Contestant
    worse: Contestant
    difference: Difference
    in_blocks: bool = False

    @property
    def factor(self) -> float | None:
        """How many times larger the larger median is, at least 1; ``None`` where the smaller is 0."""
        medians = sorted((self.better.median, self.worse.median))
        return medians[1] / medians[0] if medians[0] else None

    @property
    def factors(self) -> tuple[float, float] | None:
        """The smallest and the largest of single repeats; ``None`` where a value is not positive."""
        better, worse = self.better.cell.values, self.worse.cell.values
        if min(*better, *worse) <= 0:
            return None
        if self.better.cell.metric.lower_is_better:
            better, worse = worse, better
        return min(better) / max(worse), max(better) / min(worse)

    @property
    def in_turn(self) -> bool | None:
        """Whether one was measured after the other, so that no test is valid; ``None``: unknown."""
        return in_turn(self.better.row, self.worse.row)

    @property
    def judged(self) -> bool:
        """Whether both have repeats enough."""
        return self.better.judged and self.worse.judged

    @property
    def apart(self) -> bool:
        """Whether all repeats of one lie on one side of all of the other's."""
        return abs(self.difference.effect) == 1

    @property
    def small(self) -> bool:
        """Whether the lead is below 1 %."""
        return self.better.median == self.worse.median or (self.factor or math.inf) < 1 + TIE

    @property
    def tied(self) -> bool:
        """Whether the lead is below 1 %, or smaller than the intervals: either median lies in the other's.

        Within blocks what widens the intervals drops out.
        """
        if self.in_blocks:
            return self.small
        return self.small or _within(self.better, self.worse) or _within(self.worse, self.better)

    @property
    def clear(self) -> bool:
        """Whether the repeats show a lead that is worth the name."""
        shown = self.judged and self.apart if self.in_turn else bool(self.difference.significant)
        return shown and not self.tied


def _within(one: Contestant, other: Contestant) -> bool:
    """Whether the median of one lies in the interval of the other."""
    interval = other.cell.summary.interval if other.cell.summary else None
    return interval is not None and interval.low <= one.median <= interval.high


@dataclass(frozen=True, slots=True)
class Absent:
    """One that has no value, or only those of disturbed runs, and why."""

    name: str
    reasons: Absence


@dataclass(frozen=True, slots=True)
class Ranking:
    """One metric, contestants that differ in one thing only, best median first.

    ``scope``: what they have in common, such as the host group. ``kind``: what differs. ``pairs``: all of
    them; those tested are one family in which ``error`` is controlled (`mpicampaign.statistics.comparisons`).
    ``leaders``:
    those judged that may be the best, or are within 1 % of it. ``absent``: those without a value, with the
    reason. ``ranks``: of the runs.
    """

    kind: str
    scope: str
    metric: Metric
    contestants: tuple[Contestant, ...]
    pairs: tuple[Pair, ...]
    error: str
    leaders: tuple[str, ...]
    absent: tuple[Absent, ...]
    ranks: int | None = None

    @property
    def library(self) -> str:
        """The MPI library of all, where their systems have several."""
        return self.contestants[0].row.case.library if self.kind != LIBRARIES else ""

    @property
    def judged(self) -> bool:
        """Whether any pair has repeats enough, or there is nothing to compare."""
        return not self.pairs or any(pair.judged for pair in self.pairs)

    @property
    def tested(self) -> bool:
        """Whether any pair is."""
        return any(pair.difference.p is not None for pair in self.pairs)

    @property
    def in_turn(self) -> bool:
        """Whether any pair with repeats enough is not tested since it was measured one after the other."""
        return any(pair.judged and pair.in_turn for pair in self.pairs)

    @property
    def best(self) -> Contestant:
        """The first that is judged; where none is, the first."""
        return next((one for one in self.contestants if one.judged), self.contestants[0])

    @property
    def unjudged_ahead(self) -> tuple[Contestant, ...]:
        """Those of too few repeats whose medians are better than that of the best, by 1 % or more."""
        best = self.best
        behind = (pair for pair in self.pairs if pair.worse is best and not pair.small)
        return tuple(pair.better for pair in behind if not pair.better.judged)

    @property
    def few(self) -> bool:
        """Whether more repeats are needed to say which is best."""
        return not self.judged or bool(self.unjudged_ahead)

    @property
    def tied(self) -> bool:
        """Whether all leaders tie with the best; if not, some of them may be far behind it.

        Host groups only within 1 %: one whose interval holds the best median may be excluded by others.
        """
        leading = (pair for pair in self.pairs_of_best if pair.worse.name in self.leaders)
        return all(pair.small if self.kind == HOST_GROUPS else pair.tied for pair in leading)

    @property
    def gap(self) -> Pair | None:
        """The best against the nearest contestant that does not lead."""
        return next((pair for pair in self.pairs_of_best if pair.worse.name not in self.leaders), None)

    @property
    def pairs_of_best(self) -> tuple[Pair, ...]:
        """The best contestant with each other one that is judged, nearest first."""
        best = self.best
        return tuple(pair for pair in self.pairs if pair.better is best and pair.worse.judged)


def rank_placements(rows: Sequence[Row], metrics: Iterable[Metric]) -> tuple[Ranking, ...]:
    """The placements of each host group compared, for each headline metric; not those compared in blocks."""
    place = _place(rows)
    rows = [row for row in rows if not row.in_blocks]
    return _rank(PLACEMENTS, rows, metrics, scope=place, name=lambda row: row.case.placement)


def rank_host_groups(rows: Sequence[Row], metrics: Iterable[Metric]) -> tuple[Ranking, ...]:
    """The host groups compared in each placement, and with each MPI library where their systems have several.

    Empty if there is only one host group.
    """
    if len({row.case.machine for row in rows}) < 2:
        return ()

    def scope(row: Row) -> str:
        return ", ".join(filter(None, (row.case.placement, row.case.library)))

    return _rank(HOST_GROUPS, rows, metrics, scope=scope, name=_machine(rows))


def rank_libraries(rows: Sequence[Row], metrics: Iterable[Metric]) -> tuple[Ranking, ...]:
    """The MPI libraries of each system compared in each placement; empty if none has several."""
    machine = _machine(rows)
    several = [row for row in rows if row.case.library and not row.in_blocks]

    def scope(row: Row) -> str:
        return f"{machine(row)} {row.case.placement}"

    return _rank(LIBRARIES, several, metrics, scope=scope, name=lambda row: row.case.library)


def _place(rows: Sequence[Row]) -> Callable[[Row], str]:
    """How host groups are named: with their system where there are several, and with their MPI library."""
    if len({row.case.machine[0] for row in rows}) > 1:
        return lambda row: f"{row.case.machine[0]}/{row.case.host_group}"
    return lambda row: row.case.host_group


def _machine(rows: Sequence[Row]) -> Callable[[Row], str]:
    """How they are named without the library."""
    if len({row.case.machine[0] for row in rows}) > 1:
        return lambda row: "/".join(row.case.machine)
    return lambda row: row.case.machine[1]


def _rank(
    kind: str,
    rows: Sequence[Row],
    metrics: Iterable[Metric],
    scope: Callable[[Row], str],
    name: Callable[[Row], str],
) -> tuple[Ranking, ...]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.apart:
            continue
        groups.setdefault(scope(row), []).append(row)
    rankings = []
    for metric in (metric for metric in metrics if metric.headline):
        for common, members in groups.items():
            rankings += _rankings_of(kind, common, metric, members, name)
    return tuple(rankings)


def _rankings_of(
    kind: str, scope: str, metric: Metric, rows: Sequence[Row], name: Callable[[Row], str]
) -> list[Ranking]:
    """One ranking for each number of ranks: values of 2 and of 44 ranks are not compared."""
    absent = tuple(Absent(visible(name(row)), row.unranked) for row in rows if row.unranked)
    ranked = [row for row in rows if row.cell(metric).summary and not row.unranked]
    counts = dict.fromkeys(row.ranks for row in ranked)
    rankings = []
    for ranks in counts:
        members = [row for row in ranked if row.ranks == ranks]
        contestants = best_first([Contestant(visible(name(row)), row, row.cell(metric)) for row in members])
        named = visible(scope) if len(counts) == 1 else f"{visible(scope)}, {in_ranks(ranks)}"
        rankings.append(_ranking(kind, named, contestants, absent, ranks))
    return rankings


def _ranking(
    kind: str, scope: str, contestants: tuple[Contestant, ...], absent: tuple[Absent, ...], ranks: int | None
) -> Ranking:
    metric = contestants[0].cell.metric
    values = tuple(contestant.cell.values for contestant in contestants)
    rows = list(enumerate(contestant.row for contestant in contestants))
    untested = {(a, b): IN_TURN for (a, one), (b, other) in combinations(rows, 2) if in_turn(one, other)}
    blocks = kind != HOST_GROUPS and _are_in_blocks(contestants)
    family = compare_in_blocks(values) if blocks else compare_pairs(values, left_out=untested)
    pairs = tuple(
        Pair(contestants[a], contestants[b], found, blocks) for (a, b), found in family.differences.items()
    )
    made = Ranking(kind, scope, metric, contestants, pairs, family.error, (), absent, ranks)
    return replace(made, leaders=_leaders(made))


def _are_in_blocks(contestants: Sequence[Contestant]) -> bool:
    """Whether the repeats are complete blocks: own campaigns run repeat by repeat, in random order."""
    cells = [one.cell for one in contestants]
    own = not any(IMPORTED_FROM in run.metadata for one in contestants for run, _ in one.row.curves)
    complete = len({cell.repeats for cell in cells}) == 1 and cells[0].n >= FEWEST_BLOCKS
    few = 1 < len(cells) <= MOST_IN_BLOCKS
    return own and complete and few and all(value > 0 for cell in cells for value in cell.values)


def _leaders(ranking: Ranking) -> tuple[str, ...]:
    """Those that the best does not clearly lead; host groups that may be the best, or are within 1 %.

    Host groups of which some are not tested are treated as placements.
    """
    judged = [one for one in ranking.contestants if one.judged]
    if not judged:
        return ()
    if ranking.kind != HOST_GROUPS or ranking.in_turn:
        behind = {pair.worse.name for pair in ranking.pairs_of_best if pair.clear}
    else:
        kept = may_be_best([one.cell.values for one in judged], bool(ranking.metric.lower_is_better))
        small = {pair.worse.name for pair in ranking.pairs_of_best if pair.small}
        behind = {one.name for place, one in enumerate(judged) if place not in kept} - small
    return tuple(one.name for one in judged if one is ranking.best or one.name not in behind)


def best_first(contestants: Iterable[Contestant]) -> tuple[Contestant, ...]:
    """Those of one metric by their medians."""

    def worse(one: Contestant) -> float:
        return one.median if one.cell.metric.lower_is_better else -one.median

    return tuple(sorted(contestants, key=worse))
