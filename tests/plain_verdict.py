"""Who may be the best, from values and times alone: docs/statistics.md a second time, by numpy alone."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache, cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FEW, LEVEL, TIE, HOUR = 4, 0.05, math.log(1.01), 3600
Members = tuple[str, ...]


class Run(NamedTuple):
    """``begin``: in seconds; ``order``: of runs of one second."""

    begin: float | None
    order: int
    value: float


class Contest:
    """Candidates that differ in one thing, with the runs of each."""

    def __init__(self, runs: Mapping[str, Sequence[Run]], lower: bool) -> None:
        self.lower, sign = lower, 1 if lower else -1
        self.values = {name: np.array([run.value for run in own]) for name, own in runs.items()}
        self.names = sorted(runs, key=lambda name: sign * np.median(self.values[name]))
        self.costs = {name: sign * np.log(self.values[name]) for name in self.names}
        self.runs = {name: runs[name] for name in self.names}
        self.cost = {id(run): sign * math.log(run.value) for own in runs.values() for run in own}
        self.rows = cache(self._rows)
        self.tested = [pair for pair in combinations(self.names, 2) if not self.why_not(*pair)]
        self.judged = [name for name in self.names if any(name in pair for pair in self.tested)]
        self.enough = 8 if len(self.judged) <= 4 else 16

    def median(self, name: str) -> float:
        return float(np.median(self.values[name]))

    def factor(self, a: str, b: str) -> float:
        low, high = sorted((self.median(a), self.median(b)))
        return high / low

    def lead(self, a: str, b: str) -> float:
        """How far the first leads by the medians of logarithms."""
        return float(np.median(self.costs[b]) - np.median(self.costs[a]))

    def apart(self, a: str, b: str) -> bool:
        return bool(max(self.costs[a]) < min(self.costs[b]) or max(self.costs[b]) < min(self.costs[a]))

    # Rows

    def _rows(self, members: Members) -> list[list[Run]]:
        timed = [
            (run.begin, run.order, place, run)
            for place, name in enumerate(members)
            for run in self.runs[name]
            if run.begin is not None
        ]
        timed.sort(key=lambda one: one[:3])
        gaps = [0.0, *(b[0] - a[0] for a, b in pairwise(timed))]
        pause = 10 * max(float(np.median(gaps[1:])), 1.0) if len(gaps) > 1 else 0
        rows: list[list[Run]] = []
        row: dict[int, Run] = {}
        for (_, _, place, run), gap in zip(timed, gaps, strict=False):
            row = {} if place in row or gap > pause else row
            row[place] = run
            if len(row) == len(members):
                rows.append([row[number] for number in range(len(members))])
                row = {}
        return rows

    def even(self, members: Members) -> bool:
        begins = [[(run.begin, run.order) for run in row] for row in self.rows(members)]
        shares = [
            np.mean([row[a] < row[b] for row in begins]) for a, b in combinations(range(len(members)), 2)
        ]
        return bool(np.mean(np.abs(2 * np.array(shares) - 1)) <= 0.5)

    def within(self, members: Members) -> bool:
        return len(self.rows(members)) >= self.enough and self.even(members)

    def why_not(self, a: str, b: str) -> str:
        rows, fewest = self.rows((a, b)), min(len(self.runs[a]), len(self.runs[b]))
        if len(rows) < FEW:
            if any(run.begin is None for name in (a, b) for run in self.runs[name]):
                return "too few repeats" if fewest < FEW else "when some runs were made is not known"
            return "too few repeats" if 2 * len(rows) > fewest else "measured one after the other"
        width = np.median([abs(one.begin - other.begin) for one, other in rows])  # type: ignore[operator]
        wide = not self.even((a, b)) and width > HOUR
        return "always in the same order, more than an hour apart" if wide else ""

    # Tests

    def alike(self, members: Members) -> float | None:
        """The probability that all are; without rows enough there is none."""
        rows = self.rows(members)
        if len(rows) < FEW:
            return None
        if self.within(members):
            costs = self.in_rows(members)
            return signed_ranks(costs[:, 1] - costs[:, 0]) if len(members) == 2 else aligned(costs)
        groups = self.compared(members)
        return max(rank_sum(*groups), welch(*groups)) if len(groups) == 2 else kruskal(groups)

    def in_rows(self, members: Members) -> np.ndarray:
        return np.array([[self.cost[id(run)] for run in row] for row in self.rows(members)])

    def compared(self, members: Members) -> list[np.ndarray]:
        """All costs where nearly all runs stand in few rows, else those in rows."""
        rows = len(self.rows(members))
        every = all(rows >= 0.75 * len(self.runs[name]) for name in members)
        return (
            [self.costs[name] for name in members]
            if rows < self.enough and every
            else [*self.in_rows(members).T]
        )

    @cached_property
    def alone(self) -> dict[Members, float]:
        return {pair: self.alike(pair) or 0.0 for pair in self.tested}

    @cached_property
    def p(self) -> dict[Members, float]:
        """Of each tested pair among all."""
        found = self._among_all()
        for pair in self.tested:
            a, b = pair
            within = [self.cost[id(y)] - self.cost[id(x)] for x, y in self.rows(pair)]
            if self.within(pair) and float(np.median(within)) * self.lead(a, b) <= 0:
                found[pair] = 1.0
        return {pair: max(p, self.alone[pair]) for pair, p in found.items()}

    @cached_property
    def by_sets(self) -> bool:
        """Whether the sets of all judged can show half of the pairs at all."""
        if len(self.judged) <= 2:
            return True
        whole = len(self.tested) == math.comb(len(self.judged), 2) and len(self.judged) <= 16
        return (
            whole and self._half([scaled(p, self.share(2)) for p in self.least]) and self._closed is not None
        )

    def _among_all(self) -> dict[Members, float]:
        if len(self.judged) <= 2:
            return dict(self.alone)
        if self.by_sets and self._closed:
            return dict(self._closed)
        order = sorted(self.alone, key=self.alone.__getitem__)
        ps, k = np.array([self.alone[pair] for pair in order]), len(order)
        if len(self.judged) <= 16 and self._half([p * k for p in self.least]):
            steps = np.maximum.accumulate(ps * np.arange(k, 0, -1))  # Holm
        else:
            steps = np.minimum.accumulate((ps * k / np.arange(1, k + 1))[::-1])[::-1]  # false share
        return dict(zip(order, map(float, np.minimum(steps, 1)), strict=True))

    @staticmethod
    def _half(ps: Sequence[float]) -> bool:
        return 2 * sum(p <= LEVEL + 1e-12 for p in ps) >= len(ps)

    @cached_property
    def least(self) -> list[float]:
        counts = [(len(self.rows(pair)), self.within(pair)) for pair in self.tested]
        return [2.0 ** (1 - n) if within else 2 / math.comb(2 * n, n) for n, within in counts]

    def share(self, m: int) -> float:
        """Sets of m of k are tested at 1 - .95^share."""
        k = len(self.judged)
        pair, needed = 2 / k, math.log1p(-max(self.least)) / math.log(1 - LEVEL)
        if k % 2 and pair < needed <= 2 / (k - 1):
            pair = needed
        if m >= k - 1:
            return 1.0
        return 1 - (k - m) * pair / 2 if k % 2 and m % 2 else m * pair / 2

    @cached_property
    def _closed(self) -> dict[Members, float] | None:
        worst = {pair: scaled(p, self.share(2)) for pair, p in self.alone.items()}
        for m in range(3, len(self.judged) + 1):
            for members in combinations(self.judged, m):
                p = self.alike(members)
                if p is None:
                    return None
                for pair in combinations(members, 2):
                    worst[pair] = max(worst[pair], scaled(p, self.share(m)))
        return worst

    # Answers: None where another rounding might decide

    def clear(self, a: str, b: str) -> bool | None:
        if (a, b) not in self.p:
            return False
        p, lead = self.p[a, b], self.lead(a, b)
        if abs(p / LEVEL - 1) < 1e-6 or abs(lead - TIE) < 1e-9:
            return None
        return p <= LEVEL and lead > TIE

    def led(self, name: str) -> bool | None:
        found = [self.clear(other, name) for other in self.judged]
        return True if True in found else None if None in found else False

    @property
    def leaders(self) -> list[str]:
        return [name for name in self.judged if not self.led(name)]

    @property
    def behind(self) -> list[tuple[str, str]]:
        """Who is led, after the best that leads them."""
        return [
            (next(one for one in self.judged if self.clear(one, name)), name)
            for name in self.judged
            if self.led(name)
        ]

    @property
    def unjudged_ahead(self) -> list[str]:
        first = (self.judged or self.names)[0]
        return [
            name
            for name in self.names[: self.names.index(first)]
            if name not in self.judged and self.lead(name, first) >= TIE
        ]

    @property
    def few(self) -> bool:
        return not self.judged or bool(self.unjudged_ahead)

    @property
    def tie(self) -> bool:
        return all(abs(self.lead(self.leaders[0], name)) < TIE for name in self.leaders)

    def why_unjudged(self, name: str) -> str:
        if name in self.judged:
            return ""
        if len(self.runs[name]) < FEW:
            return "too few repeats"
        why = [self.why_not(*pair) for pair in combinations(self.names, 2) if name in pair]
        return next((one for one in why if one != "too few repeats"), "too few repeats")

    @property
    def why_none(self) -> str:
        why = Counter(self.why_not(*pair) for pair in combinations(self.names, 2))
        return next((one for one, _ in why.most_common() if one != "too few repeats"), "too few repeats")

    # The smallest difference seen in 8 of 10 cases

    @cached_property
    def seen(self) -> tuple[int, float] | None:
        """Repeats, and the logarithm that they find."""
        return self.seen_by_steps(0)

    def seen_by_steps(self, steps: int) -> tuple[int, float] | None:
        """The same of so many pairs that share the error by Holm's steps."""
        best = [pair for pair in self.tested if {*pair} <= {*self.leaders}] or self.tested
        if not best:
            return None
        values = np.mean([math.sqrt(2) * spread(self.costs[name]) for pair in best for name in pair])
        inner = [[self.cost[id(a)] - self.cost[id(b)] for a, b in self.rows(pair)] for pair in best]
        n = min(len(costs) for pair in best for costs in self.compared(pair))
        within = n >= self.enough and all(map(self.even, best))
        k = len(self.judged)
        if steps:
            level = LEVEL / steps
        elif not self.by_sets:
            level = LEVEL / len(self.tested)
        elif k == 2:
            level = LEVEL
        else:
            level = 1 - (1 - LEVEL) ** self._seen_share(n, within)
        spread_ = float(np.mean([*map(spread, inner)]) if within else values)
        possible = [p for p in attainable(n, within) if p <= level] if n <= 30 else [level]
        if not possible or not spread_:
            return None
        freedom = n - 1 if within else 2 * n - 2
        return n, 1.1 * (t_quantile(max(possible), freedom) + 0.84) * spread_ / math.sqrt(n)

    def _seen_share(self, n: int, within: bool) -> float:
        k, least = len(self.judged), 2.0 ** (1 - n) if within else 2 / math.comb(2 * n, n)
        needed = math.log1p(-least) / math.log(1 - LEVEL)
        pair = needed if k % 2 and 2 / k < needed <= 2 / (k - 1) else 2 / k
        return 1.0 if k <= 3 else pair


def scaled(p: float, share: float) -> float:
    return float(1 - (1 - min(p, 1.0)) ** (1 / share))


def spread(values: Iterable[float]) -> float:
    known = np.array([*values])
    return float(1.25 * np.mean(np.abs(known - np.median(known))) * len(known) / (len(known) - 1))


def ranks_of(values: np.ndarray) -> np.ndarray:
    """Twice the ranks, so that those of ties are whole."""
    ordered = np.sort(values)
    return np.searchsorted(ordered, values) + np.searchsorted(ordered, values, "right") + 1


def signed_ranks(differences: np.ndarray) -> float:
    known = differences[differences != 0]
    ranks = ranks_of(np.abs(known))
    observed = abs((np.sign(known) * ranks).sum())
    sums = Counter({0: 1})
    for rank in ranks.tolist():
        sums = Counter(_moved(sums, rank)) + Counter(_moved(sums, -rank))
    return float(sum(ways for total, ways in sums.items() if abs(total) >= observed) / 2 ** len(ranks))


def _moved(sums: Counter[int], by: int) -> dict[int, int]:
    return {total + by: ways for total, ways in sums.items()}


def rank_sum(a: np.ndarray, b: np.ndarray) -> float:
    ranks = ranks_of(np.concatenate([a, b])).tolist()
    if 2 / math.comb(len(ranks), len(a)) > LEVEL:
        return 1.0
    ways = [Counter({0: 1}), *(Counter() for _ in a)]
    for rank in ranks:
        for chosen in range(len(a), 0, -1):
            ways[chosen].update(_moved(ways[chosen - 1], rank))
    middle = len(a) * (len(ranks) + 1)
    observed = abs(sum(ranks[: len(a)]) - middle)
    return sum(n for total, n in ways[-1].items() if abs(total - middle) >= observed) / ways[-1].total()


def welch(a: np.ndarray, b: np.ndarray) -> float:
    parts = [np.var(one, ddof=1) / len(one) for one in (a, b)]
    if not sum(parts):
        return float(a.mean() == b.mean())
    freedom = sum(parts) ** 2 / sum(part**2 / (len(one) - 1) for part, one in zip(parts, (a, b), strict=True))
    return t_tail(abs(a.mean() - b.mean()) / math.sqrt(sum(parts)), freedom)


def aligned(costs: np.ndarray) -> float:
    ranks = ranks_of((costs - costs.mean(axis=1, keepdims=True)).round(12).ravel()).reshape(costs.shape)
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    between = (costs.shape[1] - 1) * (centred.sum(axis=0) ** 2).sum()
    scatter = float((centred**2).sum())
    return chi_tail(float(between) / scatter if scatter else 0.0, costs.shape[1] - 1)


def kruskal(groups: Sequence[np.ndarray]) -> float:
    ranks = ranks_of(np.concatenate(groups))
    centred = np.split(ranks - ranks.mean(), np.cumsum([len(own) for own in groups])[:-1])
    between = (len(ranks) - 1) * sum(own.sum() ** 2 / len(own) for own in centred)
    scatter = float(sum((own**2).sum() for own in centred))
    return chi_tail(float(between) / scatter if scatter else 0.0, len(groups) - 1)


def chi_tail(x: float, freedom: int) -> float:
    if freedom % 2 == 0:
        return math.exp(-x / 2) * sum((x / 2) ** i / math.factorial(i) for i in range(freedom // 2))
    terms = (
        math.exp(-x / 2) * (x / 2) ** (i - 0.5) / math.gamma(i + 0.5) for i in range(1, freedom // 2 + 1)
    )
    return math.erfc(math.sqrt(x / 2)) + sum(terms)


def t_tail(t: float, freedom: float) -> float:
    """Two-sided, by the angle whose tangent is t / sqrt(freedom)."""

    def area(low: float) -> float:
        angles = np.linspace(low, math.pi / 2, 4001)
        return float(np.trapezoid(np.cos(angles) ** (freedom - 1), angles))

    return area(math.atan(t / math.sqrt(freedom))) / area(0.0)


@cache
def t_quantile(p: float, freedom: float) -> float:
    low, high = 0.0, 1e4
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, freedom) > p else (low, middle)
    return low


@cache
def attainable(n: int, within: bool) -> tuple[float, ...]:
    """The probabilities that the test of two can have."""
    if within:
        counted: Counter[int] = Counter({0: 1})
        for rank in range(1, n + 1):
            counted = Counter(_moved(counted, rank)) + counted
    else:
        ways = [Counter({0: 1}), *(Counter() for _ in range(n))]
        for rank in range(2 * n):
            for chosen in range(n, 0, -1):
                ways[chosen].update(_moved(ways[chosen - 1], rank))
        counted = ways[-1]
    each = np.cumsum([counted[total] for total in sorted(counted)]) / counted.total()
    return tuple(float(min(1.0, 2 * p)) for p in each[: (len(each) + 1) // 2])
