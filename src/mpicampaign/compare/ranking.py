"""Which is best, by how much, and whether the repeats show it: pairwise comparison."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from mpicampaign.statistics.comparisons import corrected_differences
from mpicampaign.statistics.medians import difference
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpicampaign.compare.findings import Absence
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.statistics.medians import Difference

PLACEMENTS = "placements"
HOST_GROUPS = "host groups"
MANY = 12  # contestants above which not every pair is compared


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
    def several_modes(self) -> bool:
        """Whether the repeats fall into bands, so that the median may be a value that no run had."""
        return self.row.has_modes_in(self.cell.metric)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two contestants, the one with the better median first."""

    better: Contestant
    worse: Contestant
    difference: Difference

    @property
    def factor(self) -> float | None:
        """How many times larger the larger median is, at least 1; ``None`` where the smaller is 0."""
        medians = sorted((self.better.median, self.worse.median))
        return medians[1] / medians[0] if medians[0] else None


@dataclass(frozen=True, slots=True)
class Absent:
    """One that has no value, or only those of disturbed runs, and why."""

    name: str
    reasons: Absence


@dataclass(frozen=True, slots=True)
class Ranking:
    """One metric, contestants that differ in one thing only, best median first.

    ``scope``: what they have in common, such as the host group. ``kind``: what differs.
    ``pairs``: all of them, or those of the best where there are more than `MANY` contestants.
    They are one family of comparisons: `mpicampaign.statistics.comparisons`. ``absent``: those without a
    value, with the reason. ``ranks``: of the runs.
    """

    kind: str
    scope: str
    metric: Metric
    contestants: tuple[Contestant, ...]
    pairs: tuple[Pair, ...]
    absent: tuple[Absent, ...]
    ranks: int | None = None

    @property
    def leaders(self) -> tuple[str, ...]:
        """The best contestant and all that show no difference from it."""
        best = self.contestants[0]
        ties = [pair.worse.name for pair in self.pairs_of_best if not pair.difference.significant]
        return (best.name, *ties)

    @property
    def pairs_of_best(self) -> tuple[Pair, ...]:
        """The best contestant with each other one, nearest first."""
        return tuple(pair for pair in self.pairs if pair.better is self.contestants[0])


def rank_placements(rows: Sequence[Row], metrics: Iterable[Metric]) -> tuple[Ranking, ...]:
    """The placements of each host group compared, for each headline metric."""
    place = _place(rows)
    return _rank(PLACEMENTS, rows, metrics, scope=place, name=lambda row: row.case.placement)


def rank_host_groups(rows: Sequence[Row], metrics: Iterable[Metric]) -> tuple[Ranking, ...]:
    """The host groups compared in each placement; empty where there is only one host group."""
    place = _place(rows)
    if len({place(row) for row in rows}) < 2:
        return ()
    return _rank(HOST_GROUPS, rows, metrics, scope=lambda row: row.case.placement, name=place)


def _place(rows: Sequence[Row]) -> Callable[[Row], str]:
    """How host groups are named: with their system where there are several."""
    if len({row.case.system for row in rows}) > 1:
        return lambda row: f"{row.case.system}/{row.case.host_group}"
    return lambda row: row.case.host_group


def _rank(
    kind: str,
    rows: Sequence[Row],
    metrics: Iterable[Metric],
    scope: Callable[[Row], str],
    name: Callable[[Row], str],
) -> tuple[Ranking, ...]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.oversubscribed:
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
        contestants = _sorted([Contestant(visible(name(row)), row, row.cell(metric)) for row in members])
        named = visible(scope) if len(counts) == 1 else f"{visible(scope)}, {ranks} ranks"
        rankings.append(Ranking(kind, named, metric, contestants, _pairs(contestants), absent, ranks))
    return rankings


def _sorted(contestants: list[Contestant]) -> tuple[Contestant, ...]:
    lower = contestants[0].cell.metric.lower_is_better
    return tuple(sorted(contestants, key=lambda contestant: contestant.median, reverse=not lower))


def _pairs(contestants: Sequence[Contestant]) -> tuple[Pair, ...]:
    """Every pair; among many contestants the best with each other one."""
    k = len(contestants)
    shown = list(combinations(range(k), 2)) if k <= MANY else [(0, other) for other in range(1, k)]
    values = [contestant.cell.values for contestant in contestants]
    alone = {(a, b): difference(values[a], values[b]) for a, b in shown}
    judged = corrected_differences(values, alone)
    return tuple(Pair(contestants[a], contestants[b], judged[a, b]) for a, b in shown)
