"""Which of several candidates may be the best: every pair, with one stated error for all of them.

A set of candidates is tested by its `rows`; fewer than `FEWEST` are none. From `WITHIN` rows (`WITHIN_MANY`
of more than `FEW_CANDIDATES`) in even order by ranks within rows, else by ranks of all values. Two differ if
every set of judged candidates that holds both differs (see `mpicampaign.statistics.comparisons` for the
levels of the sets, and for the false share of many candidates). Who is in no pair of enough rows is not
judged: it neither leads nor is led. A pair that a report has tested is not tested again with runs that were
added after it, as that would find a difference in the end where there is none: they are bet on
(`mpicampaign.verdicts.rank_tests`). How often all this errs, and what it finds: ``bench/verdicts.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations
from statistics import median
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mpicampaign.base.expectation import FEW_CANDIDATES, WITHIN, WITHIN_MANY
from mpicampaign.statistics.comparisons import (
    FALSE_SHARE,
    FAMILY_WISE,
    FEWEST,
    LEVEL,
    MOST,
    by_steps,
    holm,
    share_of_level,
    share_of_pairs,
)
from mpicampaign.statistics.distributions import Array
from mpicampaign.verdicts.rank_tests import (
    aligned_ranks,
    plain_ranks,
    probability_at_any_time,
    rank_sum_and_welch,
    signed_ranks,
)
from mpicampaign.verdicts.rows import EVEN, Row, TimedRun, firsts, have_one_order, is_even, rows_of, width

Pairs = Mapping[tuple[int, int], "PairVerdict"]
TIE = 0.01  # a smaller lead is none
ALL_SETS = 8
_HOUR = 3600.0
_IN_ROWS = 0.75  # of the runs of each: then all runs are compared, as one that was made again costs no row
_ROUNDING = 1e-12

FEW_REPEATS = "too few repeats"
APART_IN_TIME = "measured one after the other"
WIDE_ROWS = "always in the same order, more than an hour apart"
NO_TIMES = "when some runs were made is not known"
UNEVEN_ADDED = "repeats were added after a report, in uneven order"

Members = tuple[int, ...]


class Added(NamedTuple):
    """How many repeats a report had tested, and were added since.

    ``bets``: whether these decide; else the report's test stands, which showed a difference.
    """

    reported: int
    repeats: int
    bets: bool


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Two candidates by their positions, the one with the better median first.

    ``runs``: of each; ``rows``: how many they share; ``within``: tested within them. ``same_order``: each row
    had the same order. ``alone``: probability of this pair by itself, ``p`` among all; ``None`` where it is
    not tested, for the ``reason``. ``small``: the medians are within 1 %.
    """

    better: int
    worse: int
    runs: tuple[int, int]
    rows: int
    within: bool
    same_order: bool
    alone: float | None
    p: float | None
    reason: str
    small: bool
    added: Added | None = None

    @property
    def tested(self) -> bool:
        """Whether the two stand in rows enough for a test."""
        return self.p is not None

    @property
    def shown(self) -> bool | None:
        """Whether a test shows a difference; ``None`` without one."""
        return None if self.p is None else self.p <= LEVEL + _ROUNDING

    @property
    def clear(self) -> bool:
        """Whether a lead of 1 % or more is shown."""
        return bool(self.shown) and not self.small


@dataclass(frozen=True)
class Verdict:
    """``error``: what is controlled over all pairs.

    ``led_by``: of those that another leads clearly, the best that does.
    """

    error: str
    pairs: Pairs
    led_by: Mapping[int, int]

    @cached_property
    def judged(self) -> frozenset[int]:
        """Candidates in any pair that is tested."""
        return frozenset(who for both, pair in self.pairs.items() if pair.tested for who in both)

    @property
    def may_be_best(self) -> tuple[int, ...]:
        """Judged candidates that no other candidate leads."""
        return tuple(sorted(self.judged - self.led_by.keys()))

    def why_not(self, who: int) -> str:
        """Why a candidate is not judged; empty where it is."""
        if who in self.judged or not self.pairs:
            return ""
        tested = [pair for both, pair in self.pairs.items() if who in both]
        if all(pair.runs[who != pair.better] < FEWEST for pair in tested):
            return FEW_REPEATS
        return next((pair.reason for pair in tested if pair.reason != FEW_REPEATS), FEW_REPEATS)


@dataclass(frozen=True)
class OfRows(Verdict):
    """A verdict that follows from rows in time, which the question has."""

    question: Question


def compare(candidates: Sequence[Sequence[TimedRun]], *, logarithms: bool = True) -> OfRows:
    """Compare all pairs of candidates.

    Parameters
    ----------
    candidates : the runs of each
    logarithms : whether costs are; else 1 % is that of the costs themselves
    """
    answers: list[tuple[str, Pairs]] = []
    for looks in sorted({run.looks for runs in candidates for run in runs}) or [0]:
        question = Question([[run for run in runs if run.looks <= looks] for runs in candidates])
        answers.append(_tested(question, logarithms))
    pairs = first_or_bets([pairs for _, pairs in answers], lambda pair: _of_bets(question, pair))
    return _verdict(answers[-1][0], pairs, question)


def _tested(question: Question, logarithms: bool) -> tuple[str, Pairs]:
    """The error that is controlled, and all pairs by the tests planned once."""
    pairs = list(combinations(range(len(question.candidates)), 2))
    tested = [pair for pair in pairs if not question.lacks(pair)]
    judged = tuple(sorted({who for pair in tested for who in pair}))
    question.few = len(judged) <= FEW_CANDIDATES
    alone = {pair: question.of_pair(pair) for pair in tested}
    error, among = _among_all(question, judged, alone)
    return error, {
        pair: _pair(question, pair, alone.get(pair), among.get(pair), logarithms) for pair in pairs
    }


def at_planned_looks(
    verdict: OfRows, looked: Callable[[PairVerdict], tuple[float | None, int, bool]]
) -> OfRows:
    """The verdict with the probability of each pair at looks that were planned, in place of its own.

    ``looked``: that, ``None`` before the first look; the number of rows; whether the worse one has left: then
    it is led, however little.
    """

    def by_looks(pair: PairVerdict) -> PairVerdict:
        p, rows, has_left = looked(pair)
        reason = "" if p is not None else pair.reason or FEW_REPEATS
        pair = replace(pair, p=p, rows=rows, within=True, reason=reason, added=None)
        return replace(pair, small=pair.small and not (pair.shown and has_left))

    pairs = {both: by_looks(pair) for both, pair in verdict.pairs.items()}
    return _verdict(FAMILY_WISE, pairs, verdict.question)


def _verdict(error: str, pairs: Pairs, question: Question) -> OfRows:
    medians = question.medians
    led_by: dict[int, int] = {}
    for pair in sorted((pair for pair in pairs.values() if pair.clear), key=lambda p: medians[p.better]):
        led_by.setdefault(pair.worse, pair.better)
    return OfRows(error, pairs, led_by, question)


def first_or_bets(
    answers: Sequence[Pairs], by_bets: Callable[[tuple[int, int]], float | None]
) -> dict[tuple[int, int], PairVerdict]:
    """Pairs as the first report that tested each did; where runs were added since, by that or by bets on all.

    Together the two err in at most .06 (``bench/looks.py``).

    Parameters
    ----------
    answers : of the runs that were planned before each report; the last one of all
    by_bets : the probability of a pair by itself; ``None`` where there can be no bets
    """
    if len(answers) == 1:
        return {**answers[0]}
    count = sum(pair.tested for pair in answers[-1].values())  # they share the error of the bets
    return {
        both: _first_or_bet([pairs[both] for pairs in answers], by_bets(both), count) for both in answers[-1]
    }


def _first_or_bet(answers: Sequence[PairVerdict], alone: float | None, count: int) -> PairVerdict:
    last = answers[-1]
    first = next((pair for pair in answers if pair.tested), last)
    if first.runs == last.runs:
        return first
    bets = None if alone is None else min(1.0, count * alone)
    shown = first.p if first.shown and first.better == last.better else None
    before = first.runs if first.better == last.better else first.runs[::-1]
    more = max(now - then for now, then in zip(last.runs, before, strict=True))
    added = Added(max(first.runs), more, bets=False)
    if shown is not None and (bets is None or shown <= bets):
        return replace(last, within=first.within, alone=first.alone, p=shown, reason="", added=added)
    added = added._replace(bets=True)
    return replace(
        last, within=False, alone=alone, p=bets, reason=UNEVEN_ADDED if bets is None else "", added=added
    )


def _of_bets(question: Question, pair: tuple[int, int]) -> float | None:
    """The probability of two by bets on their rows; ``None`` where the order within these is not even."""
    rows = question.rows(pair)
    if question.lacks(pair) or not is_even(rows):
        return None
    if _turns(rows, question.medians[pair[1]] - question.medians[pair[0]]):
        return 1.0
    return probability_at_any_time([_difference(b.cost, a.cost) for a, b in rows])


def why_untested(pairs: Iterable[tuple[Sequence[TimedRun], Sequence[TimedRun]]]) -> str:
    """Why no test over several pairs is valid, such as of two in several settings; empty where one is.

    Of few runs more than half must stand in rows.
    """
    all_rows: list[Row] = []
    for both in pairs:
        rows = rows_of(both, (0, 1))
        if len(rows) < FEWEST and 2 * len(rows) <= min(map(len, both)):
            unknown = any(run.begin is None for runs in both for run in runs)
            return NO_TIMES if unknown else APART_IN_TIME
        all_rows += rows
    return WIDE_ROWS if all_rows and not is_even(all_rows) and width(all_rows) > _HOUR else ""


def _pair(
    question: Question,
    pair: tuple[int, int],
    alone: float | None,
    among: float | None,
    logarithms: bool,
) -> PairVerdict:
    medians = question.medians
    a, b = sorted(pair, key=lambda who: (medians[who], who))
    rows, within = question.rows(pair), alone is not None and question.is_within(pair)
    if among is not None and within and _turns(rows, medians[pair[1]] - medians[pair[0]]):
        among = 1.0
    small = _is_small(medians[a], medians[b], logarithms)
    p = max(among, alone or 0.0) if among is not None else None
    runs = len(question.candidates[a]), len(question.candidates[b])
    return PairVerdict(
        a, b, runs, len(rows), within, have_one_order(rows), alone, p, question.lacks(pair), small
    )


def _turns(rows: Sequence[Row], difference: float) -> bool:
    """Whether the one with the larger median is the smaller one within rows: then nothing is shown."""
    return median(_difference(row[1].cost, row[0].cost) for row in rows) * difference <= 0


def _difference(a: float, b: float) -> float:
    return 0.0 if a == b else a - b  # two infinite costs are alike


def _is_small(low: float, high: float, logarithms: bool) -> bool:
    if low == high:
        return True
    if logarithms:
        return high - low < math.log1p(TIE)
    small, large = sorted((abs(low), abs(high)))
    return low * high > 0 and large < small * (1 + TIE)


class Question:
    """The candidates, with the rows of each set that was asked for."""

    def __init__(self, candidates: Sequence[Sequence[TimedRun]]) -> None:
        self.candidates = candidates
        self.few = True  # whether few are judged
        self.medians = [median(run.cost for run in runs) if runs else math.inf for runs in candidates]
        self._rows: dict[Members, list[Row]] = {}
        self._even: dict[Members, bool] = {}
        rows = rows_of(candidates, range(len(candidates)))
        # where rows of all hold every run, those of a set are parts of them
        self._all = rows if all(len(runs) == len(rows) for runs in candidates) else []

    @property
    def _threshold(self) -> int:
        return WITHIN if self.few else WITHIN_MANY

    def rows(self, members: Members) -> list[Row]:
        if members not in self._rows:
            self._rows[members] = [tuple(row[who] for who in members) for row in self._all] or rows_of(
                self.candidates, members
            )
        return self._rows[members]

    def lacks(self, pair: tuple[int, int]) -> str:
        """Why no test of two is valid; empty where one is."""
        rows, both = self.rows(pair), [self.candidates[who] for who in pair]
        if len(rows) < FEWEST:
            fewest, unknown = min(map(len, both)), any(run.begin is None for runs in both for run in runs)
            if unknown:
                return FEW_REPEATS if fewest < FEWEST else NO_TIMES
            return FEW_REPEATS if 2 * len(rows) > fewest else APART_IN_TIME
        return WIDE_ROWS if not self._is_even(pair) and width(rows) > _HOUR else ""

    def _is_even(self, members: Members) -> bool:
        if members not in self._even:
            self._even[members] = is_even(self.rows(members))
        return self._even[members]

    def is_within(self, members: Members) -> bool:
        """Whether a test ranks within rows."""
        return len(self.rows(members)) >= self._threshold and self._is_even(members)

    def of_pair(self, pair: tuple[int, int]) -> float:
        """The probability that two are alike."""
        rows = self.rows(pair)
        if self.is_within(pair):
            return signed_ranks([_difference(b.cost, a.cost) for a, b in rows])
        a, b = self.compared_values(pair, rows)
        return rank_sum_and_welch(a, b)

    def of_sets(self, sets: npt.NDArray[np.int64]) -> Array | None:
        """The probability that the members of each set are alike; ``None`` where one has too few rows."""
        if not self._all:
            chances = [self._of_set(tuple(members)) for members in sets.tolist()]
            return None if None in chances else np.array(chances, dtype=float)
        costs = np.array([[run.cost for run in row] for row in self._all])
        rows = np.moveaxis(costs[:, sets], 0, 1)
        uneven = self._uneven[sets[:, :, None], sets[:, None, :]].sum(axis=(1, 2))
        m = sets.shape[1]
        within = (uneven <= EVEN * m * (m - 1)) & (len(costs) >= self._threshold)
        probabilities = np.empty(len(sets))
        probabilities[within] = aligned_ranks(rows[within])
        values = np.swapaxes(rows[~within], 1, 2).reshape(-1, m * len(costs))
        probabilities[~within] = plain_ranks(values, [len(costs)] * m)
        return probabilities

    def _of_set(self, members: Members) -> float | None:
        rows = self.rows(members)
        if len(rows) < FEWEST:
            return None
        if self.is_within(members):
            return float(aligned_ranks(np.array([[[run.cost for run in row] for row in rows]]))[0])
        groups = self.compared_values(members, rows)
        values = np.array([[cost for group in groups for cost in group]])
        return float(plain_ranks(values, [*map(len, groups)])[0])

    @cached_property
    def _uneven(self) -> Array:
        """For each two candidates, how unevenly they went first in their rows: 0 to 1."""
        k = len(self.candidates)
        uneven = np.zeros((k, k))
        for (a, b), share in firsts(self._all).items():
            uneven[a, b] = uneven[b, a] = abs(2 * share - 1)
        return uneven

    def compared_values(self, members: Members, rows: Sequence[Row]) -> list[list[float]]:
        """All costs of members whose runs nearly all stand in few rows, else those in rows."""
        runs = [self.candidates[who] for who in members]
        if len(rows) < self._threshold and all(
            len(rows) >= _IN_ROWS * len(candidate_runs) for candidate_runs in runs
        ):
            return [[run.cost for run in candidate_runs] for candidate_runs in runs]
        return [[row[place].cost for row in rows] for place in range(len(members))]

    def least(self, pair: tuple[int, int]) -> float:
        """The smallest probability that a test of two can have."""
        n = len(self.rows(pair))
        return 2.0 ** (1 - n) if self.is_within(pair) else 2 / math.comb(2 * n, n)


def _among_all(
    question: Question, judged: Members, known: Mapping[tuple[int, int], float]
) -> tuple[str, Mapping[tuple[int, int], float]]:
    """Which error is controlled, and the probability of each tested pair among all."""
    k = len(judged)
    if k <= 2:
        return FAMILY_WISE, known
    least = [question.least(pair) for pair in known]
    of_pairs = share_of_pairs(k, max(least), LEVEL)
    share = share_of_level(2, k, of_pairs)
    all_known = len(known) == math.comb(k, 2) and k <= MOST
    if all_known and _half(_scaled(np.array(least), share) <= LEVEL + _ROUNDING):
        by_sets = closed(question.of_sets, judged, known, of_pairs, LEVEL)
        if by_sets is not None:
            return FAMILY_WISE, by_sets
    if k <= MOST and _half(np.array(least) * len(known) <= LEVEL + _ROUNDING):
        return FAMILY_WISE, holm(known)
    return FALSE_SHARE, by_steps(known)


def _half(reach: npt.NDArray[np.bool_]) -> bool:
    """Whether complete separation would show at least half of the pairs."""
    return 2 * int(reach.sum()) >= len(reach)


def _scaled(p: Array, share: float) -> Array:
    """The level of all at which sets with these probabilities are not alike."""
    return np.asarray(1 - (1 - np.minimum(p, 1.0)) ** (1 / share))


def closed(
    of_sets: Callable[[npt.NDArray[np.int64]], Array | None],
    judged: Members,
    alone: Mapping[tuple[int, int], float],
    of_pairs: float | None,
    level: float,
) -> dict[tuple[int, int], float] | None:
    """The largest probability of the sets that hold each pair, each at its level; larger sets come first.

    ``of_sets``: the probability that the members of each set are alike; ``None`` where one has too few rows.
    ``of_pairs``: the share of the level that a pair has; ``None``: all sets hold one candidate, so that each
    has the whole level.

    Of more than `ALL_SETS` candidates sets that decide nothing are left out: probabilities above the level
    may be larger than what is returned. ``None`` where a set has too few rows.
    """
    k = len(judged)
    shares = {m: 1.0 if of_pairs is None else share_of_level(m, k, of_pairs) for m in range(2, k + 1)}
    scaled = _scaled(np.array([*alone.values()]), shares[2])
    largest = dict(zip(alone, scaled.tolist(), strict=True))
    for m in range(k, 2, -1):
        still = [pair for pair, p in largest.items() if p <= level + _ROUNDING or k <= ALL_SETS]
        open_pairs = np.zeros((max(judged) + 1,) * 2, dtype=bool)
        for pair in still:
            open_pairs[pair] = True
        sets = np.asarray(judged)[_sets(k, m)]
        sets = sets[open_pairs[sets[:, :, None], sets[:, None, :]].any(axis=(1, 2))]
        if not len(sets):
            continue
        chances = of_sets(sets)
        if chances is None:
            return None
        chances = _scaled(chances, shares[m])
        for a, b in still:
            both = (sets == a).any(axis=1) & (sets == b).any(axis=1)
            largest[a, b] = max(largest[a, b], float(chances[both].max()))
    return largest


@cache
def _sets(k: int, m: int) -> npt.NDArray[np.int64]:
    """The sets of m of k."""
    return np.array([*combinations(range(k), m)])
