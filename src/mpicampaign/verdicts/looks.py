"""Repeats until it is decided which candidates may be the best: a few planned looks share the error.

Candidates run in rows, or blocks, in even order. What is decided is a *cell*: a metric, such as the time at a
message size. At each look those that another one leads leave a cell; who left all cells runs no more, so that
the others have more rows for the same time. A cell ends with one candidate, with candidates that are shown to
be within the tolerance, or with the last look.

With a reference, such as a library's own settings, the first candidate runs to the end, and those leave that
are shown not to be better by the tolerance than the reference, or than the best. Another one wins a cell if
it leads the reference by the tolerance, and at a level of the caller: where a single wrong winner among
many cells matters, these share the error. That candidates leave takes no part of it: they replace nothing.

Looks that were not planned would find what is not there: a test of 5 % that is read after each row errs in
18 %. How often this errs, and what it finds: ``bench/looks.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mpicampaign.base.expectation import LOOKS, looks_to_decide
from mpicampaign.base.planned_looks import Stage
from mpicampaign.statistics.comparisons import LEVEL, MOST, holm
from mpicampaign.statistics.distributions import Array
from mpicampaign.verdicts.compare import TIE, closed
from mpicampaign.verdicts.rank_tests import aligned_ranks, signed_ranks

OF_LOOK = LEVEL / len(LOOKS)
REFERENCE = 0

ONE, ALIKE, LAST_LOOK = "one is left", "all are within the tolerance", "last look"


class DecidedCell(NamedTuple):
    """``remaining``: the candidates that may be the best, and the reference; ``best``: of the lowest median.

    ``end``: why it needs no more rows; empty while it does. With a reference ``p`` is the probability,
    one-sided, that the best other candidate is like it, and ``wins`` whether that one replaces it.
    """

    remaining: tuple[int, ...]
    end: str = ""
    best: int = 0
    p: float = 1.0
    wins: bool = False


class Decision(NamedTuple):
    """``running``: the candidates of which there should be ``due`` rows; none at the end.

    ``rows``: those of the last look. ``left_after``: how many rows those had that left all cells.
    """

    cells: tuple[DecidedCell, ...]
    running: tuple[int, ...]
    rows: int
    due: int
    left_after: Mapping[int, int]


class LookRule(NamedTuple):
    """Smaller differences than ``tolerance`` do not matter.

    ``to_win``: the level at which one candidate must lead the first one, the reference, in one cell at one
    look; ``None``: there is no reference.
    """

    tolerance: float = TIE
    to_win: float | None = None


def level_to_win(candidates: int, cells: int, races: int = 1) -> float:
    """An equal part of the error for each look, candidate beside the reference, cell and race."""
    return LEVEL / (len(LOOKS) * (candidates - 1) * cells * races)


def decide(costs: Array, rule: LookRule = LookRule()) -> Decision:  # noqa: B008 (it cannot change)
    """Who may be the best by the rows so far, who runs on, and how many rows are due.

    Parameters
    ----------
    costs : rows x candidates x cells, logarithms of what should be low; NaN of those that ran no more
    """
    candidates = tuple(range(costs.shape[1]))
    cells = [DecidedCell(candidates)] * costs.shape[2]
    running, rows, left_after = candidates, 0, dict[int, int]()
    planned = looks_to_decide(len(candidates)) if rule.to_win is None else LOOKS
    for look in planned:
        if len(costs) < look:
            return Decision(tuple(cells), running, rows, look, left_after)
        rows, last = look, look == planned[-1]
        cells = [
            cell if cell.end else _look(costs[:look, :, place], cell.remaining, rule, last)
            for place, cell in enumerate(cells)
        ]
        anywhere = {who for cell in cells for who in cell.remaining}
        left_after |= {who: rows for who in candidates if who not in anywhere | left_after.keys()}
        running = tuple(sorted({who for cell in cells if not cell.end for who in cell.remaining}))
        if not running:
            break
    return Decision(tuple(cells), (), rows, rows, left_after)


class LookedAt(NamedTuple):
    """``costs``: of all rows so far, as in `decide`; what the looks at them decided, and their stages."""

    costs: Array
    decision: Decision
    stages: list[Stage]


def look_by_look(
    places: Sequence[int],
    cells: int,
    rows_behind: Callable[[list[int], int, int], tuple[Iterable[int], Array]],
    rule: LookRule = LookRule(),  # noqa: B008 (it cannot change)
) -> LookedAt:
    """Look after look, as far as the rows go: who has left is in no further row.

    Parameters
    ----------
    places : of the candidates, among all that were planned
    rows_behind : of those at some places that run on, behind a repeat, at most so many rows: the repeats that
        count, and rows x these x cells
    rule : with a level to win of 0, which is not known yet, there is no look
    """
    costs, stages, after = np.empty((0, len(places), cells)), list[Stage](), 0
    decision = decide(costs, rule)
    while decision.running:
        running, due = [places[who] for who in decision.running], decision.due - len(costs)
        repeats, rows = rows_behind(running, after, due)
        counted = frozenset(repeats)
        stages.append(Stage(frozenset(running), due, after, counted))
        after = max(counted, default=after)
        more = np.full((len(rows), len(places), cells), np.nan)
        more[:, decision.running] = rows
        costs = np.concatenate([costs, more])
        if len(costs) < decision.due or rule.to_win == 0:
            break
        decision = _decided(costs.tobytes(), costs.shape, rule)
    return LookedAt(costs, decision, stages)


@lru_cache(maxsize=64)
def _decided(costs: bytes, shape: tuple[int, ...], rule: LookRule) -> Decision:
    """Each planning asks the same of the rows so far."""
    return decide(np.frombuffer(costs).reshape(shape), rule)


def pairs_at_looks(costs: Array, decision: Decision) -> dict[tuple[int, int], float]:
    """The least probability of each pair of candidates at the looks so far, times their planned number.

    At most 5 % of campaigns with candidates that are alike have any of 5 % or less. Of one cell.
    """
    least: dict[tuple[int, int], float] = {}
    for look in (planned for planned in looks_to_decide(costs.shape[1]) if planned <= decision.rows):
        running = tuple(who for who in range(costs.shape[1]) if decision.left_after.get(who, look) >= look)
        for pair, p in among_all(costs[:look, :, 0], running, OF_LOOK).items():
            least[pair] = min(least.get(pair, 1.0), p * LEVEL / OF_LOOK)
    return least


def _look(costs: Array, candidates: tuple[int, ...], rule: LookRule, last: bool) -> DecidedCell:
    """A cell after one more look."""
    if rule.to_win is not None:
        return _beside_reference(costs, candidates, rule.tolerance, rule.to_win, last)
    among, limit = among_all(costs, candidates, OF_LOOK), math.log1p(rule.tolerance)
    led = {
        b if lead(costs, a, b) >= 0 else a
        for (a, b), p in among.items()
        if p <= OF_LOOK and not _are_alike(costs, (a, b), limit)
    }
    remaining = tuple(who for who in candidates if who not in led)
    end = ONE if len(remaining) == 1 else ALIKE if _are_alike(costs, remaining, limit) else ""
    return DecidedCell(remaining, end or LAST_LOOK * last, _best(costs, remaining))


def _beside_reference(
    costs: Array, candidates: tuple[int, ...], tolerance: float, to_win: float, last: bool
) -> DecidedCell:
    others = [who for who in candidates if who != REFERENCE]
    best, limit = _best(costs, others), math.log1p(tolerance)
    no_better = {
        who
        for who in others
        if _is_no_better(costs, who, REFERENCE, limit)
        or (who != best and _is_no_better(costs, who, best, limit))
    }
    remaining = tuple(who for who in candidates if who not in no_better)
    ahead = lead(costs, best, REFERENCE)
    p = signed_ranks(differences(costs[:, REFERENCE], costs[:, best])) / 2 if ahead > 0 else 1.0
    wins = p <= to_win and ahead >= limit
    ended = len(remaining) == 1 or (wins and len(remaining) == 2)
    return DecidedCell(
        remaining, ONE if ended else LAST_LOOK * last, best if ahead > 0 else REFERENCE, p, wins
    )


def among_all(
    costs: Array, candidates: tuple[int, ...], level: float, *, with_reference: bool = False
) -> dict[tuple[int, int], float]:
    """The probability of each pair among all, by ranks within rows: their order is planned to be even.

    ``with_reference``: of pairs that hold it alone.
    """
    k, share = len(candidates), None if with_reference else 2 / len(candidates)
    pairs = [(a, b) for a, b in combinations(candidates, 2) if a == REFERENCE or not with_reference]
    alone = {(a, b): signed_ranks(differences(costs[:, b], costs[:, a])) for a, b in pairs}
    if k <= 2:
        return alone
    if k > MOST:
        return holm(alone)

    def of_sets(sets: npt.NDArray[np.int64]) -> Array:
        return aligned_ranks(np.moveaxis(costs[:, sets], 0, 1))

    return closed(of_sets, candidates, alone, share, level) or {}


def _best(costs: Array, candidates: Sequence[int]) -> int:
    """The candidate with the lowest median cost within rows."""
    members = costs[:, candidates]
    with np.errstate(invalid="ignore"):  # all met their time limit
        above = np.nan_to_num(members - members.min(axis=1, keepdims=True), nan=0.0, posinf=math.inf)
    return candidates[int(np.argmin(np.median(above, axis=0)))]


def _are_alike(costs: Array, candidates: tuple[int, ...], limit: float) -> bool:
    """Whether all are shown to be within the limit: two one-sided tests of each pair."""
    pairs = combinations(candidates, 2)
    return all(_is_no_better(costs, a, b, limit) and _is_no_better(costs, b, a, limit) for a, b in pairs)


def _is_no_better(costs: Array, candidate: int, other: int, limit: float) -> bool:
    """Whether a candidate is shown not to lead another one by the limit."""
    values = differences(costs[:, other], costs[:, candidate])
    return _median(values) < limit and signed_ranks(values - limit) / 2 <= OF_LOOK


def lead(costs: Array, candidate: int, other: int) -> float:
    """By how much a candidate is better than another: the median of the differences within rows."""
    return _median(differences(costs[:, other], costs[:, candidate]))


def _median(values: Array) -> float:
    """The upper one of an even number where a run met its time limit: infinite ones have no mean."""
    return float(np.median(values) if np.isfinite(values).all() else np.sort(values)[len(values) // 2])


def differences(a: Array, b: Array) -> Array:
    """The differences of two in each row; two that met their time limit are alike."""
    return np.where(a == b, 0.0, a - np.where(np.isinf(a) & np.isinf(b), 0.0, b))
