"""Whether the repeats are enough: stages, sentences, and the coverage after stopping."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pytest

from mpicampaign.compare.stopping import REPEAT_STAGES, STOPPED_COVERAGE, precision
from mpicampaign.questions.ranking.say_pairs import precision_text

if TYPE_CHECKING:
    from collections.abc import Callable


def near(n: int, reach: float) -> list[float]:
    """This many values around 1, with this range."""
    return [1 - reach, 1 + reach, *[1.0] * (n - 2)]


def test_six_close_repeats_are_enough() -> None:
    found = precision(near(6, 0.04))
    assert found.enough and found.next_stage == 10
    assert precision_text(found) == "6 repeats: the median is known to 4.0 % (confidence 96.9 %): enough"


def test_after_the_last_stage_no_more_are_planned() -> None:
    assert precision_text(precision([1.0 + index for index in range(20)])).endswith(
        ": more repeats are not planned"
    )


DRAWS: dict[str, tuple[Callable[[random.Random, float], float], Callable[[float], float]]] = {
    "normal": (lambda source, scatter: 1 + scatter * source.gauss(0, 1), lambda _: 1.0),
    "exponential": (
        lambda source, scatter: 1 + scatter * source.expovariate(1),
        lambda scatter: 1 + scatter * math.log(2),
    ),
    "log-normal": (lambda source, scatter: math.exp(scatter * source.gauss(0, 1)), lambda _: 1.0),
}


def coverage(family: str, scatter: float, cases: int) -> float:
    """The share of cases whose last interval holds the true median."""
    draw, truth = DRAWS[family]
    source = random.Random(7)
    held = 0
    for _ in range(cases):
        values: list[float] = []
        for count in REPEAT_STAGES:
            values += [draw(source, scatter) for _ in range(count - len(values))]
            found = precision(values)
            if found.enough:
                break
        assert found.interval is not None
        held += found.interval.low <= truth(scatter) <= found.interval.high
    return held / cases


def test_coverage_after_stopping_briefly() -> None:
    assert coverage("normal", 0.03, 300) >= STOPPED_COVERAGE - 0.03


@pytest.mark.full
@pytest.mark.parametrize("scatter", [0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.1, 0.3])
@pytest.mark.parametrize("family", DRAWS)
def test_coverage_after_stopping(family: str, scatter: float) -> None:
    found = coverage(family, scatter, 4000)
    print(f"{family}, scatter {scatter:.1%}: {found:.1%}")
    assert found >= STOPPED_COVERAGE
