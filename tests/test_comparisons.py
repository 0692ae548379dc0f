"""Many comparisons in one ranking: corrected probabilities, and the rate of false differences."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from mpicampaign.statistics.comparisons import chi_squared_tail, corrected_differences, kruskal_wallis
from mpicampaign.statistics.medians import Difference, difference


def corrected(groups: list[list[float]]) -> dict[tuple[int, int], Difference]:
    pairs = combinations(range(len(groups)), 2)
    return corrected_differences(groups, {(a, b): difference(groups[a], groups[b]) for a, b in pairs})


def separated(count: int, repeats: int) -> list[list[float]]:
    return [[group * 100.0 + repeat for repeat in range(repeats)] for group in range(count)]


@pytest.mark.parametrize(
    ("x", "freedom", "p"),
    [(3.841, 1, 0.05), (5.991, 2, 0.05), (7.815, 3, 0.05), (16.812, 6, 0.01), (14.067, 7, 0.05)],
)
def test_chi_squared_against_the_tables(x: float, freedom: int, p: float) -> None:
    assert chi_squared_tail(x, freedom) == pytest.approx(p, rel=1e-3)
    assert chi_squared_tail(0.0, freedom) == 1.0


def test_kruskal_wallis_against_a_worked_example() -> None:
    """Three groups of five, ranks 1-5, 6-10, 11-15: H = 12.5 exactly; all tied: no difference."""
    assert kruskal_wallis(separated(3, 5)) == pytest.approx(chi_squared_tail(12.5, 2))
    assert kruskal_wallis([[1.0] * 5, [1.0] * 5, [1.0] * 5]) == 1.0


def test_two_groups_need_no_correction() -> None:
    found = corrected(separated(2, 5))[0, 1]
    assert (found.corrected, found.comparisons) == (found.p, 1)


@pytest.mark.parametrize(("groups", "least"), [(4, 0.0158), (5, 0.0197), (7, 0.0275)])
def test_five_repeats_can_tell_apart_the_placements_and_host_groups_of_the_report(
    groups: int, least: float
) -> None:
    for found in corrected(separated(groups, 5)).values():
        assert found.p == pytest.approx(2 / 252)
        assert found.corrected == pytest.approx(least, abs=1e-4)
        assert found.significant


def test_too_many_comparisons_are_noted() -> None:
    found = corrected(separated(4, 4))[0, 1]
    assert found.significant is None and found.p == pytest.approx(2 / 70)
    assert found.reason == "complete separation, but 6 comparisons are too many for 4 repeats"
    found = corrected(separated(9, 5))[0, 8]
    assert found.reason == "complete separation, but 36 comparisons are too many for 5 repeats"


def test_more_groups_take_holms_steps() -> None:
    groups = separated(9, 7)
    groups[1] = [value + 0.5 for value in groups[0]]
    found = corrected(groups)
    assert found[0, 2].corrected == pytest.approx(36 * found[0, 2].p)
    assert found[0, 1].corrected == pytest.approx(found[0, 1].p)  # the last step
    shown = corrected_differences(groups, {(0, 1): difference(groups[0], groups[1])})
    assert shown[0, 1].corrected == 1.0


def test_no_answer_stays_none() -> None:
    found = corrected([[1.0, 1.1], [2.0, 2.1], [3.0, 3.1]])
    assert {each.significant for each in found.values()} == {None}
    assert {each.corrected for each in found.values()} == {None}
    assert "cannot show a difference" in found[0, 1].reason


def test_a_pair_within_a_set_that_is_alike_is_not_distinguished() -> None:
    source = random.Random(5)
    alike = [[source.gauss(0, 1) for _ in range(6)] for _ in range(5)]
    assert not any(found.significant for found in corrected(alike).values())


def false_differences(shifts: list[float], repeats: int, samples: int) -> float:
    source = random.Random(repeats)
    wrong = 0
    for _ in range(samples):
        groups = [[shift + source.gauss(0, 1) for _ in range(repeats)] for shift in shifts]
        found = corrected(groups)
        wrong += any(each.significant for (a, b), each in found.items() if shifts[a] == shifts[b])
    return wrong / samples


def test_false_differences_briefly() -> None:
    assert false_differences([0, 0, 0, 0], 5, 200) <= 0.06


@pytest.mark.full
@pytest.mark.parametrize("repeats", [5, 6, 10])
@pytest.mark.parametrize(
    "shifts", [[0] * 4, [0] * 5, [0, 0, 99, 99, 999], [0] * 7, [0, 0, 99, 99, 999, 999, 999]]
)
def test_false_differences(shifts: list[float], repeats: int) -> None:
    rate = false_differences(shifts, repeats, 1500 if len(shifts) < 7 else 500)
    print(f"any false difference, {repeats} repeats, {shifts}: {rate:.1%}")
    assert rate <= 0.06
