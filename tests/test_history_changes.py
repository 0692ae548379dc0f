"""Changes in the curves of a history: their log, their causes, and those that belong together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from time_curves import curve, step, ticks

from mpicampaign.history.changes import analyse_curves, events, key_id
from mpicampaign.history.curves import ChangePoint, Curve
from mpicampaign.questions.history.say import event_text

VALUES = step(1, 50, 10)
OLD, NEW = {"kernel": "Linux 5.14.0-362", "governor": "performance"}, {"kernel": "Linux 5.14.0-427"}
NEW = OLD | NEW


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
    change = ChangePoint(at, at + 3, 1.0, ratio, 1e-6)
    return replace(curve([1.0] * 30, metric=metric, **key), changes=(change,))


def test_the_latest_change_comes_first() -> None:
    late, early = changed(20, "a"), changed(5, "b")
    assert [event.since for event in events([early, late])] == [late.points[20].time, early.points[5].time]


def test_a_time_that_is_unknown_is_not_shown_as_one() -> None:
    one = changed(10, "a")
    unknown = replace(one, points=tuple(point._replace(time="") for point in one.points))
    other = replace(changed(10, "b"), points=one.points)
    assert event_text(events([unknown])[0]).startswith("since an unknown date, ")
    assert event_text(events([unknown, other])[0], "2026").startswith("since 11 January, ")


def test_a_change_stays_where_its_curve_gets_another_key(log: Path) -> None:
    """As where the direction of a metric is corrected, or its pattern has left the identity."""
    before, now = curve(VALUES), curve(VALUES, metric="joined")
    found = changes([before], log)
    assert found and changes([now], log) == found
    text = log.read_bytes()
    assert changes([now], log) == found
    assert log.read_bytes() == text
