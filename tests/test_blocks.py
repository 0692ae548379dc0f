"""Candidates in blocks: what is exact, and what simulated machines show."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from mpicampaign.base.expectation import fewest_blocks
from mpicampaign.verdicts.blocks import compare_blocks, ratio
from mpicampaign.verdicts.rank_tests import signed_ranks

Array = npt.NDArray[np.float64]
LEVEL = 0.05 + 1e-9


def machine(source: np.random.Generator, blocks: int, k: int) -> Array:
    """Logarithms: blocks that differ by 3 %, runs by 1 %."""
    nodes = 0.03 * source.standard_normal((blocks, 1))
    return np.asarray(nodes + 0.01 * source.standard_normal((blocks, k)))


def of_pairs(costs: Array, with_reference: bool = True) -> dict[tuple[int, int], float]:
    """The probability of each pair; 1 where it is not tested."""
    pairs = compare_blocks(costs, with_reference=with_reference).pairs
    return {both: 1.0 if pair.p is None else pair.p for both, pair in pairs.items()}


def test_blocks_that_can_show_something() -> None:
    assert [fewest_blocks(k, all_pairs=False) for k in (2, 4, 8, 16, 17)] == [6, 6, 6, 6, 10]
    assert [fewest_blocks(k, all_pairs=True) for k in (2, 3, 4, 6, 7, 8, 9)] == [6, 6, 7, 7, 8, 8, 8]
    slower = np.array([[0.0, 0.1, 0.2]] * 6) + np.arange(6)[:, None]
    assert max(of_pairs(slower).values()) <= LEVEL < min(of_pairs(slower[:5]).values())
    fourth = np.column_stack([slower, slower[:, :1] + 0.3])
    assert min(of_pairs(fourth, with_reference=False).values()) > LEVEL
    many = np.array([0.1 * np.arange(10)] * 8) + np.arange(8)[:, None]
    assert max(of_pairs(many, with_reference=False).values()) <= LEVEL


def test_a_time_out_is_the_worst_rank() -> None:
    costs = np.array([[0.0, 0.01, 0.0]] * 6) + 0.001 * np.arange(6)[:, None]
    costs[2, 1] = math.inf
    assert of_pairs(costs)[0, 1] <= LEVEL
    found = ratio(costs[:, :2])
    assert found.median == pytest.approx(math.exp(0.01))
    assert found.interval is not None and found.interval.high == math.inf
    costs[3] = math.inf  # alike
    assert of_pairs(costs[:, :2])[0, 1] == 2 / 2**5


@pytest.mark.parametrize("blocks", [6, 9, 24])
def test_the_interval_of_a_ratio_agrees_with_its_test(blocks: int) -> None:
    costs = machine(np.random.default_rng(1), blocks, 2)
    interval = ratio(costs).interval
    assert interval is not None and ratio(costs[:5]).interval is None
    for end in (interval.low, interval.high):
        for factor in (end * 0.9999, end * 1.0001):
            shifted = costs[:, 1] - costs[:, 0] - math.log(factor)
            inside = interval.low < factor < interval.high
            assert (signed_ranks(shifted.tolist()) > 1 - interval.coverage + 1e-9) == inside
