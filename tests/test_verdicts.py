"""Verdicts follow from when the runs were made: whoever made them, and however often people add and edit."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from mpicampaign.verdicts.compare import APART_IN_TIME, FEW_REPEATS, NO_TIMES, compare
from mpicampaign.verdicts.rank_tests import aligned_ranks, midranks, plain_ranks, signed_ranks
from mpicampaign.verdicts.rows import TimedRun, rows_of

MINUTE, DAY = 60.0, 86400.0
Story = list[tuple[str, float]]  # name and begin of each run


def in_rows(*orders: str, begin: float = 0.0, step: float = MINUTE) -> Story:
    """``"AB", "BA"``: A, B, B, A, a step apart."""
    return [(who, begin + step * place) for place, who in enumerate("".join(orders))]


EVEN = ("AB", "BA", "BA", "AB", "AB", "BA", "AB", "BA")


def of(story: Story, costs: dict[str, list[float]] | None = None) -> list[list[TimedRun]]:
    names = sorted({who for who, _ in story})
    values = {who: iter((costs or {}).get(who, [0.0] * len(story))) for who in names}
    runs = {who: [TimedRun(at, next(values[who])) for name, at in story if name == who] for who in names}
    return [runs[who] for who in names]


def test_rows_of_dates_and_of_unknown_times() -> None:
    """One row a date; runs of the same second by the plan's order."""
    dates = [(who, DAY * day) for day in range(5) for who in "AABB"]
    assert len(rows_of(of(dates), (0, 1))) == 5
    ordered = [[TimedRun(0.0, 0.0, order=place) for place in places] for places in ((0, 3), (1, 2))]
    assert [[run.order for run in row] for row in rows_of(ordered, (0, 1))] == [[0, 1], [3, 2]]
    unknown = [[TimedRun(None, 1.0)] * 5, [TimedRun(1.0, 2.0)] * 5]
    assert compare(unknown).pairs[0, 1].reason == NO_TIMES


def test_reasons_and_who_is_judged() -> None:
    """C ran later, D has few repeats: neither leads nor is led."""
    story = [*in_rows(*EVEN), ("D", 1.0), *in_rows("C" * 8, begin=9 * DAY)]
    costs = {"A": [0.0] * 8, "B": [0.1] * 8, "C": [-1.0] * 8, "D": [-2.0]}
    verdict = compare(of(story, costs))
    assert verdict.judged == {0, 1} and verdict.may_be_best == (0,) and verdict.led_by == {1: 0}
    assert {verdict.pairs[0, 2].reason, verdict.pairs[1, 2].reason} == {APART_IN_TIME}
    assert verdict.pairs[0, 3].reason == FEW_REPEATS and verdict.why_not(2) == APART_IN_TIME
    assert verdict.why_not(3) == FEW_REPEATS and verdict.why_not(0) == ""


def test_signed_ranks_are_exact() -> None:
    """Against all signs, with equal sizes and a zero."""
    for differences in ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0, 8.0], [1.0, -1.0, 2.0, 2.0, 0.0, 3.0]):
        sizes = np.abs(differences)
        ranks = [(np.sum(sizes < each) + np.sum(sizes <= each) + 1) / 2 for each in sizes]
        ranks = [rank * (size > 0) for rank, size in zip(ranks, sizes, strict=True)]
        sums = [abs(np.dot(ranks, signs)) for signs in product((1, -1), repeat=len(ranks))]
        observed = abs(np.dot(ranks, np.sign(differences)))
        assert signed_ranks(differences) == pytest.approx(np.mean(np.array(sums) >= observed - 1e-9))
    assert signed_ranks([0.0] * 8) == 1.0 and signed_ranks([1.0] * 8) == 2 / 256
    far = signed_ranks([1.0 + place for place in range(101)])
    assert 0 < far < 1e-15  # the normal approximation


def test_rank_tests_of_several() -> None:
    """Hand-computed: Kruskal and Wallis' H, and the aligned ranks of rows in perfect agreement."""
    groups = [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]
    h = 12 / (12 * 13) * (10**2 + 26**2 + 42**2) / 4 - 3 * 13
    assert plain_ranks(np.array([[*groups[0], *groups[1], *groups[2]]]), [4, 4, 4])[0] == pytest.approx(
        math.exp(-h / 2)
    )
    rows = np.array([[[0.0, 1.0, 2.0]] * 8])
    ranks = midranks((rows - rows.mean(axis=2, keepdims=True)).reshape(1, -1)).reshape(8, 3)
    assert ranks[0].tolist() == [4.5, 12.5, 20.5]
    q = 2 * (64**2 + 64**2) / (8 * (8**2 + 8**2))
    assert aligned_ranks(rows)[0] == pytest.approx(math.exp(-q / 2))
    limit = np.array([[[0.0, 1.0, math.inf]] * 8])  # a met time limit is the worst rank
    assert aligned_ranks(limit)[0] == pytest.approx(aligned_ranks(rows)[0])
