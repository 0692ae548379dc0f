"""Candidates in blocks, and races of settings: what is exact, and what simulated machines show."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import numpy.typing as npt
import pytest

from mpicampaign.expectation import fewest_blocks
from mpicampaign.statistics.blocks import (
    against_reference,
    aligned_ranks,
    all_pairs,
    probability,
    ratio,
)
from mpicampaign.statistics.race import DEFAULT, LOOKS, confirmed, fresh_blocks, race, winners

Array = npt.NDArray[np.float64]
LEVEL = 0.05 + 1e-9


def machine(source: np.random.Generator, blocks: int, k: int, cells: int = 1) -> Array:
    """Logarithms: blocks that differ by 3 %, runs by 1 %."""
    nodes = 0.03 * source.standard_normal((blocks, 1, 1))
    return np.asarray(nodes + 0.01 * source.standard_normal((blocks, k, cells)))


def test_all_exchanges_of_few_blocks() -> None:
    costs = np.log([[1.0, 1.2, 1.1], [2.0, 2.1, 2.3], [1.5, 1.7, 1.4]])
    scores = aligned_ranks(costs)

    def apart(rows: tuple[tuple[float, ...], ...]) -> float:
        return sum(sum(column) ** 2 for column in zip(*rows, strict=True))

    every = [apart(rows) for rows in product(*(permutations(row) for row in scores.tolist()))]
    expected = sum(each >= apart(tuple(map(tuple, scores.tolist()))) - 1e-9 for each in every) / len(every)
    assert probability(scores) == pytest.approx(expected)


def test_blocks_that_can_show_something() -> None:
    assert [fewest_blocks(k) for k in (2, 4, 8, 9)] == [6, 6, 6, 9]
    assert [fewest_blocks(k, all_pairs=True) for k in (2, 3, 4, 6, 7, 8)] == [6, 6, 7, 7, 8, 8]
    slower = np.array([[0.0, 0.1, 0.2]] * 6) + np.arange(6)[:, None]
    assert max(against_reference(slower).values()) <= LEVEL < min(against_reference(slower[:5]).values())
    fourth = np.column_stack([slower, slower[:, :1] + 0.3])
    assert min(all_pairs(fourth).values()) > LEVEL


def test_a_reference_between_a_better_and_a_worse_one_differs_from_both() -> None:
    source = np.random.default_rng(5)
    shown = [against_reference(machine(source, 8, 3)[:, :, 0] + [0, 0.02, -0.02]) for _ in range(40)]
    assert (
        sum(max(each.values()) <= LEVEL for each in shown) >= 30
    )  # the largest distance finds both in a tenth


def test_a_time_out_is_the_worst_rank() -> None:
    costs = np.array([[0.0, 0.01, 0.0]] * 6) + 0.001 * np.arange(6)[:, None]
    costs[2, 1] = math.inf
    assert against_reference(costs)[0, 1] <= LEVEL
    found = ratio(costs[:, :2])
    assert found.median == pytest.approx(math.exp(0.01))
    assert found.interval is not None and found.interval.high == math.inf


def test_the_interval_of_a_ratio_agrees_with_its_test() -> None:
    costs = machine(np.random.default_rng(1), 9, 2)[:, :, 0]
    interval = ratio(costs).interval
    assert interval is not None
    for factor in (
        interval.low * 0.9999,
        interval.low * 1.0001,
        interval.high * 0.9999,
        interval.high * 1.0001,
    ):
        inside = interval.low < factor < interval.high
        shifted = np.column_stack([costs[:, 0] + math.log(factor), costs[:, 1]])
        assert (against_reference(shifted)[0, 1] > 1 - interval.coverage + 1e-9) == inside


def outcome(
    source: np.random.Generator, k: int, effects: dict[tuple[int, int], float], cells: int
) -> dict[int, int]:
    """The candidates that replaced the default, by cell."""

    def draw(blocks: int) -> Array:
        costs = machine(source, blocks, k, cells)
        for (candidate, cell), effect in effects.items():
            costs[:, candidate, cell] += effect
        return costs

    costs, made = draw(LOOKS[-1]), 0
    state = race(costs[:0])
    while state.due:
        made = state.blocks
        state = race(costs[:made])
    found = winners(state, costs[:made])
    proved = confirmed(draw(fresh_blocks(len(found))), found)
    return {cell: found[cell] for cell, p in proved.items() if p <= LEVEL}


def test_races() -> None:
    source = np.random.default_rng(7)
    equal = [outcome(source, 4, {}, cells=2) for _ in range(60)]
    assert sum(map(bool, equal)) <= 3
    best = [outcome(source, 5, {(2, 1): -0.05, (3, 0): 0.2}, cells=2) for _ in range(30)]
    assert sum(each == {1: 2} for each in best) >= 28


def test_what_is_much_slower_leaves_at_the_first_look() -> None:
    costs = 3 * machine(np.random.default_rng(2), 8, 6)
    costs[:, 4] += 0.4
    state = race(costs)
    assert state.due == {0, 1, 2, 3, 5} and state.blocks == LOOKS[1] and DEFAULT in state.cells[0].left
