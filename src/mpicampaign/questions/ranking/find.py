"""Which is best, by how much, and whether the repeats show it: pairwise comparison.

Who is led by 1 % or more, by whichever other, is not the best; see `mpicampaign.verdicts.compare`. Those that
are not judged, for want of repeats or since they ran at another time, never lead, and nobody leads them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import comb

from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import in_ranks, visible
from mpicampaign.compare.findings import Absence
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Cell, Row
from mpicampaign.compare.timed_runs import timed_runs
from mpicampaign.questions.decided.find import ByLooks
from mpicampaign.statistics.comparisons import FEWEST, LEVEL
from mpicampaign.verdicts.compare import FEW_REPEATS, PairVerdict, at_planned_looks, compare
from mpicampaign.verdicts.smallest import Sight, smallest_seen

PLACEMENTS = "placements"
HOST_GROUPS = "host groups"
LIBRARIES = "MPI libraries"
_FAR = 2.0  # times
ONE = {PLACEMENTS: "placement", HOST_GROUPS: "host group", LIBRARIES: "MPI library"}


@dataclass(frozen=True, slots=True)
class Contestant:
    """A row, by the name in which it differs from the others of its ranking.

    ``judged``: whether it is tested with any other; if not, ``why``.
    """

    name: str
    row: Row
    cell: Cell
    judged: bool = True
    why: str = ""

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
    """Two contestants, the one with the better median first; ``among`` how many pairs the two are tested."""

    better: Contestant
    worse: Contestant
    verdict: PairVerdict
    among: int

    @property
    def factor(self) -> float | None:
        """How many times larger the larger median is, at least 1; ``None`` where the smaller is 0."""
        medians = sorted((self.better.median, self.worse.median))
        return medians[1] / medians[0] if medians[0] else None

    @property
    def effect(self) -> float:
        """How far one lies on one side of the other, from 0 to 1: the size of Cliff's delta."""
        a, b = self.better.cell.values, sorted(self.worse.cell.values)
        return abs(sum(len(b) - bisect_right(b, x) - bisect_left(b, x) for x in a)) / (len(a) * len(b))

    @property
    def apart(self) -> bool:
        """Whether all repeats of one lie on one side of all of the other's."""
        return self.effect == 1

    @property
    def too_few(self) -> str:
        """What a test needs that the two do not have."""
        a, b = self.verdict.runs
        at_best = 2 / comb(a + b, a)
        if at_best > LEVEL:
            return f"{a} and {b} repeats cannot show a difference: p is {at_best:.2g} at best"
        if min(a, b) < FEWEST:
            return f"{a} and {b} repeats: a test needs {FEWEST} of each"
        return f"{self.verdict.rows} of their repeats stand together in time: a test needs {FEWEST}"


@dataclass(frozen=True, slots=True)
class Absent:
    """One that has no value, or only those of a busy machine, and why."""

    name: str
    reasons: Absence


@dataclass(frozen=True, slots=True)
class Ranking:
    """One metric, contestants that differ in one thing only, best median first.

    ``scope``: what they have in common, such as the host group. ``kind``: what differs. ``pairs``: all of
    them; those tested are one family in which ``error`` is controlled (`mpicampaign.statistics.comparisons`).
    ``behind``:
    those judged that another leads clearly, nearest to the best first, each with the best of those that lead
    it. ``absent``: those without a value, with the reason. ``ranks``: of the runs. ``sight``: how small a
    difference the repeats could have shown.
    """

    kind: str
    scope: str
    metric: Metric
    contestants: tuple[Contestant, ...]
    pairs: tuple[Pair, ...]
    error: str
    behind: tuple[Pair, ...]
    absent: tuple[Absent, ...]
    ranks: int | None = None
    sight: Sight | None = None

    @property
    def leaders(self) -> tuple[str, ...]:
        """Those judged that may be the best: nobody leads them."""
        led = {pair.worse.name for pair in self.behind}
        return tuple(one.name for one in self.contestants if one.judged and one.name not in led)

    @property
    def one(self) -> str:
        """What a contestant is: a setting, if they are variants of one placement."""
        plain = {re.sub(r"\S+=\S+", "", one.name).strip() for one in self.contestants}
        is_sweep = self.kind == PLACEMENTS and len(plain) == 1 < len(self.contestants)
        return "setting" if is_sweep else ONE[self.kind]

    @property
    def library(self) -> str:
        """The MPI library of all, where their systems have several."""
        return self.contestants[0].row.case.library if self.kind != LIBRARIES else ""

    @property
    def place(self) -> str:
        """The scope without the number of ranks."""
        return self.scope.removesuffix(f", {in_ranks(self.ranks)}") if self.ranks else self.scope

    @property
    def judged(self) -> bool:
        """Whether any pair is tested, or there is nothing to compare."""
        return not self.pairs or any(pair.verdict.tested for pair in self.pairs)

    @property
    def tested(self) -> bool:
        """Whether any pair is."""
        return any(pair.verdict.tested for pair in self.pairs)

    @property
    def why_not_judged(self) -> str:
        """Why no pair is tested: that of most, or of those with repeats enough."""
        why = Counter(pair.verdict.reason for pair in self.pairs)
        return next((reason for reason, _ in why.most_common() if reason != FEW_REPEATS), FEW_REPEATS)

    @property
    def best(self) -> Contestant:
        """The first that is judged; where none is, the first."""
        return next((one for one in self.contestants if one.judged), self.contestants[0])

    @property
    def unjudged_ahead(self) -> tuple[Contestant, ...]:
        """Those that are not judged whose medians are better than that of the best, by 1 % or more."""
        best = self.best
        behind = (pair for pair in self.pairs if pair.worse is best and not pair.verdict.small)
        return tuple(pair.better for pair in behind if not pair.better.judged)

    @property
    def few(self) -> bool:
        """Whether further runs are needed to say which is best."""
        return not self.judged or bool(self.unjudged_ahead or self.untold)

    @property
    def untold(self) -> tuple[Contestant, ...]:
        """Those far behind the best of which the repeats do not even tell that they are worse."""
        pairs = (pair for pair in self.pairs_of_best if pair.worse.name in self.leaders)
        return tuple(pair.worse for pair in pairs if pair.factor and pair.factor >= _FAR)

    @property
    def tied(self) -> bool:
        """Whether all leaders are within 1 % of the best; if not, some of them may be far behind it."""
        return all(pair.verdict.small for pair in self.pairs_of_best if pair.worse.name in self.leaders)

    @property
    def gap(self) -> Pair | None:
        """The nearest contestant that does not lead, behind one that leads it."""
        return next(iter(self.behind), None)

    @property
    def pairs_of_best(self) -> tuple[Pair, ...]:
        """The best contestant with each other one that is judged, nearest first."""
        best = self.best
        return tuple(pair for pair in self.pairs if pair.better is best and pair.worse.judged)

    @property
    def told_pairs(self) -> tuple[Pair, ...]:
        """These, and those of others than the best that lead clearly."""
        return (*self.pairs_of_best, *(pair for pair in self.behind if pair.better is not self.best))


def rank(
    rows: Sequence[Row],
    metrics: Iterable[Metric],
    decided: Sequence[ByLooks] = (),
    kinds: Sequence[str] = (PLACEMENTS, HOST_GROUPS, LIBRARIES),
) -> tuple[Ranking, ...]:
    """Rows that differ in one thing only compared, for each headline metric.

    These are the placements of each host group; where there are several host groups, these in each placement
    and with each MPI library; the MPI libraries of each system in each placement. Rows in blocks are compared
    there, with others of their host group.
    """
    several_systems = len({row.case.machine[0] for row in rows}) > 1
    several_machines = len({row.case.machine for row in rows}) > 1
    named: dict[tuple[str, str], list[tuple[str, Row]]] = defaultdict(list)  # by kind and scope
    for row in (row for row in rows if not row.apart):
        case = row.case
        system = f"{case.machine[0]}/" if several_systems else ""
        if not row.in_blocks:
            named[PLACEMENTS, system + case.host_group].append((case.placement, row))
        if several_machines:
            scope = ", ".join(filter(None, (case.placement, case.library)))
            named[HOST_GROUPS, scope].append((system + case.machine[1], row))
        if case.library and not row.in_blocks:
            named[LIBRARIES, f"{system}{case.machine[1]} {case.placement}"].append((case.library, row))
    headlines = [metric for metric in metrics if metric.headline]
    return tuple(
        ranking
        for kind, metric in product(kinds, headlines)
        for (of_kind, scope), members in named.items()
        if of_kind == kind
        for ranking in _rankings(kind, scope, metric, members, decided)
    )


def _rankings(
    kind: str, scope: str, metric: Metric, named: Sequence[tuple[str, Row]], decided: Sequence[ByLooks]
) -> Iterator[Ranking]:
    """One ranking for each number of ranks: values of 2 and of 44 ranks are not compared."""
    absent = tuple(Absent(visible(name), row.unranked) for name, row in named if row.unranked)
    ranked = [(name, row) for name, row in named if row.cell(metric).summary and not row.unranked]
    of_ranks = grouped(ranked, lambda one: one[1].ranks)
    for ranks, members in of_ranks.items():
        contestants = best_first(Contestant(visible(name), row, row.cell(metric)) for name, row in members)
        common = visible(scope) if len(of_ranks) == 1 else f"{visible(scope)}, {in_ranks(ranks)}"
        yield _ranking(kind, common, contestants, absent, ranks, decided)


def _ranking(
    kind: str,
    scope: str,
    contestants: tuple[Contestant, ...],
    absent: tuple[Absent, ...],
    ranks: int | None,
    decided: Sequence[ByLooks],
) -> Ranking:
    metric = contestants[0].cell.metric
    logarithms = all(value > 0 for one in contestants for value in one.cell.values)
    runs = [timed_runs(one.row, one.cell, logarithms) for one in contestants]
    rows = [one.row for one in contestants]
    looks = next(
        (by_looks for by_looks in decided if {row.case for row in rows} <= set(by_looks.cases)), None
    )
    if looks:
        runs = [[run._replace(looks=0) for run in own] for own in runs]  # all repeats were planned at once
    verdicts = compare(runs, logarithms=logarithms)
    if looks:
        verdicts = at_planned_looks(verdicts, lambda pair: looks.seen(metric, rows, pair))
    if len(contestants) > 1:
        contestants = tuple(
            replace(one, judged=number in verdicts.judged, why=verdicts.why_not(number))
            for number, one in enumerate(contestants)
        )
    tested = sum(pair.tested for pair in verdicts.pairs.values())
    pairs = tuple(
        Pair(contestants[a], contestants[b], found, tested) for (a, b), found in verdicts.pairs.items()
    )
    led: dict[str, Pair] = {}
    for pair in pairs:  # the best come first
        if pair.verdict.clear:
            led.setdefault(pair.worse.name, pair)
    behind = tuple(led[one.name] for one in contestants if one.name in led)
    sight = smallest_seen(verdicts) if logarithms and not looks else None
    return Ranking(kind, scope, metric, contestants, pairs, verdicts.error, behind, absent, ranks, sight)


def best_first(contestants: Iterable[Contestant]) -> tuple[Contestant, ...]:
    """Contestants in one metric, the best median first."""

    def worse(one: Contestant) -> float:
        return one.median if one.cell.metric.lower_is_better else -one.median

    return tuple(sorted(contestants, key=worse))
