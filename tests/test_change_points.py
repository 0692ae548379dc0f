"""Change points: the tests behind them, false alarms, and the changes in the curves of a history."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import change_points as bench
import pytest
from change_points import change_points
from time_curves import curve, step, ticks

from mpicampaign.history.changes import analyse_curves, events, key_id
from mpicampaign.history.curves import ChangePoint, Curve
from mpicampaign.questions.history.say import event_text
from mpicampaign.statistics.change_points import (
    ALTERNATING,
    CORRELATED,
    LASTING,
    NOT_POSITIVE,
    REFERENCE,
    false_discoveries_controlled,
    latest_change,
    smallest_change,
    why_not_judged,
)


def noise(seed: int, count: int, level: float = 100.0) -> list[float]:
    source = random.Random(seed)
    return [source.gauss(level, level / 100) for _ in range(count)]


# ---- steps


def test_a_constant_series_has_no_change_and_one_that_steps_has_one() -> None:
    assert change_points([5.0] * 150) == []
    ((end, found),) = change_points([5.0] * 50 + [5.5] * 10)
    assert (found.first, end) == (50, 52)  # by the third point: a smaller window proves nothing


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("place", [2, 49])
def test_values_that_are_not_positive_and_finite_are_refused(value: float, place: int) -> None:
    values = noise(1, 50)
    values[place] = value
    with pytest.raises(ValueError, match="positive and finite"):
        latest_change(values)
    assert why_not_judged(values) == NOT_POSITIVE


# ---- what is not judged


def test_noise_that_drifts_by_itself_is_not_judged_over_100_points() -> None:
    source, level, walk = random.Random(3), 100.0, []
    for _ in range(REFERENCE):
        level += source.gauss(0, 0.1)
        walk.append(level)
    assert why_not_judged(walk) == CORRELATED
    assert why_not_judged(walk[1:]) == ""  # too few to know
    assert why_not_judged(noise(1, 50) + walk, [50]) == CORRELATED
    assert why_not_judged([*walk, *noise(1, 100, walk[-1])]) == ""  # the last 100 count
    assert why_not_judged([5.0] * REFERENCE) == ""


def test_the_same_two_levels_a_third_time_are_not_judged() -> None:
    a, b = noise(1, 20), noise(2, 20, 110)
    assert why_not_judged(a + b + a, [20, 40]) == ""
    assert why_not_judged(a + b + a + b, [20, 40, 60]) == ALTERNATING
    assert why_not_judged(a + b + a + noise(3, 20, 120), [20, 40, 60]) == ""
    assert why_not_judged(a + b + noise(3, 20, 121) + noise(4, 20, 133), [20, 40, 60]) == ""


# ---- many series


def test_the_control_over_many_series_is_that_of_benjamini_and_yekutieli() -> None:
    """By hand for three tests: limits of rank · 0.05 / (4 · 3 · (1 + 1/2 + 1/3))."""
    one = 0.05 / (4 * 3 * (1 + 1 / 2 + 1 / 3))
    assert false_discoveries_controlled([one * 0.999], 3) == [True]
    assert false_discoveries_controlled([one * 1.001], 3) == [False]
    assert false_discoveries_controlled([one * 1.9, one * 1.8], 3) == [True, True]  # a step-up procedure
    assert false_discoveries_controlled([one * 2.9, one * 0.5, one * 2.1], 3) == [True, True, True]
    assert false_discoveries_controlled([one * 3.1, one * 0.5, one * 2.1], 3) == [False, True, False]


# ---- the table of docs/statistics.md, small


@pytest.mark.full
@pytest.mark.parametrize("name", bench.KINDS)
def test_at_most_one_false_alarm_per_1000_stationary_points(name: str) -> None:
    """4,000 points: up to 4 are allowed, of 2 expected of the worst kind."""
    alarms, refused = bench.false_alarms(name, 20, seed=11)
    assert alarms <= 4
    assert refused <= 4


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("5 % step after 48 points", 57),
        ("2 % step after 100 points", 54),
        ("5 % drift over 50 points", 60),
        ("5 % step after 20 points", 45),
    ],
)
def test_changes_are_found_in_time(name: str, least: int) -> None:
    """Of 60 trials; the limits are 90 % by the 5th point, 95 % by the 12th, all by the end of the drift."""
    found = [bench.delays(name, trial, seed=11) for trial in range(60)]
    assert sum(each is not None for each in found) >= least


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("points", [20, pytest.param(40, marks=pytest.mark.full), 100])
def test_the_smallest_change_that_is_told_is_found_in_about_8_of_10_cases(
    points: int, correlation: float
) -> None:
    """By simulation; of changes half as large far fewer are, but where few points may be correlated more."""
    drawn, found = random.Random(points), {1.0: 0, 0.5: 0}
    for _ in range(60):
        deviations, last = [], 0.0
        for _ in range(points + LASTING):
            last = correlation * last + math.sqrt(1 - correlation**2) * drawn.gauss(0, 0.01)
            deviations.append(last)
        values = [100 * math.exp(deviation) for deviation in deviations]
        smallest = smallest_change(values[:points], 1)
        assert smallest and smallest < (smallest_change(values[:points], 100) or 0)
        for part in found:
            then = [value * (1 + part * smallest) for value in values[points:]]
            changed = [values[:points] + then[:after] for after in range(3, LASTING + 1)]
            found[part] += any(map(latest_change, changed))
    assert found[1.0] >= 0.75 * 60, found
    assert found[0.5] <= 0.4 * 60 or (correlation and points < 100), found


VALUES = step(1, 50, 10)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Of a campaign that has none yet."""
    return tmp_path / "history" / "changes.jsonl"


def changes(curves: list[Curve], log: Path) -> list[tuple[int, int]]:
    """The places of the first curve's changes: of the first point after it, and of the one that proved it."""
    return [(each.index, each.reported) for each in analyse_curves(curves, log).curves[0].changes]


# ---- faults


HOSTILE = {
    "before": ["0", "-1", "NaN", "Infinity", "1" + "0" * 400, '"x"', "null", "[]"],
    "after": ["0", "1e308"],
    "p": ["2", "NaN"],
}


@pytest.mark.parametrize(
    "line",
    [
        "",
        "7",
        "[]",
        "null",
        "[" * 100_000,
        '{"tick": "t", "tested": Infinity, "changes": []}',
        '{"tick": "t", "tested": 0, "changes": {"a": 1}}',
        '{"tick": "t", "tested": 0}',
        *(
            f'{{"tick": "t", "tested": 1, "changes": [{{"curve": "{key_id(curve([1.0]).key)}", '
            + ", ".join(
                f'"{n}": {value if n == name else default}'
                for n, default in {
                    "first": f'"{ticks(60)[20]}"',
                    "tick": f'"{ticks(60)[30]}"',
                    "before": "1e-300",
                    "after": "1e-300",
                    "p": "0",
                }.items()
            )
            + "}]}"
            for name, values in HOSTILE.items()
            for value in values
        ),
    ],
    ids=lambda line: line[-90:][:60],
)
def test_a_hostile_line_is_named_and_the_rest_is_read(log: Path, line: str) -> None:
    expected = changes([curve(VALUES)], log)
    log.write_text(line + "\n" + log.read_text())
    analysis = analyse_curves([curve(VALUES)], log)
    assert [problem.partition(": ")[0] for problem in analysis.problems] == [f"{log}:1"]
    assert [(each.index, each.reported) for each in analysis.curves[0].changes] == expected
    assert event_text(events(analysis.curves)[0])


# ---- events


def changed(at: int, metric: str, ratio: float = 1.1, **key: object) -> Curve:
    """A curve of 30 points with a change that needs no search."""
    change = ChangePoint(at, at + 3, 1.0, ratio)
    return replace(curve([1.0] * 30, metric=metric, **key), changes=(change,))


def test_a_time_that_is_unknown_is_not_shown_as_one() -> None:
    one = changed(10, "a")
    unknown = replace(one, points=tuple(point._replace(time="") for point in one.points))
    other = replace(changed(10, "b"), points=one.points)
    assert event_text(events([unknown])[0]).startswith("since an unknown date, ")
    assert event_text(events([unknown, other])[0], "2026").startswith("since 11 January, ")
