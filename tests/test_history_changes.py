"""Changes in the curves of a history: their log, their causes, and those that belong together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from time_curves import curve, step, ticks

from mpicampaign.history.changes import analyse_curves, events, key_id
from mpicampaign.history.curves import Cause, ChangePoint, Curve
from mpicampaign.history.series import tick_order
from mpicampaign.show.history import NO_CAUSE, event_text, not_judged_text
from mpicampaign.statistics.change_points import ALTERNATING, CORRELATED, NOT_POSITIVE, SHORT

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


def up_to(whole: Curve, end: int) -> Curve:
    return replace(whole, points=whole.points[:end])


# ---- tick by tick


def test_a_change_is_reported_once_and_stays(log: Path) -> None:
    whole, reported = curve(VALUES), []
    for end in range(45, 61):
        analysis = analyse_curves([up_to(whole, end)], log)
        reported += [(end, number, change.index) for number, change in analysis.new]
    ((end, number, index),) = reported
    assert (number, index) == (0, 50)
    assert 53 <= end <= 55
    assert changes([whole], log) == [(50, end - 1)]
    assert len(log.read_text().splitlines()) == 60  # one line for each tick


def test_tick_by_tick_and_all_at_once_are_the_same(tmp_path: Path) -> None:
    curves = [curve(step(seed, 30 + seed, 25), metric=f"m{seed}") for seed in range(4)]
    longest = max(len(each.points) for each in curves)
    for end in range(1, longest + 1):
        tick_by_tick = analyse_curves([up_to(each, end) for each in curves], tmp_path / "a")
    at_once = analyse_curves(curves, tmp_path / "b")
    assert tick_by_tick.curves == at_once.curves
    assert all(each.changes for each in at_once.curves)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()


def test_the_same_call_twice_changes_nothing(log: Path) -> None:
    first = analyse_curves([curve(VALUES)], log)
    text = log.read_bytes()
    second = analyse_curves([curve(VALUES)], log)
    assert log.read_bytes() == text
    assert first.new and not second.new
    assert (first.curves, first.tested) == (second.curves, second.tested)


def test_looking_writes_nothing(log: Path) -> None:
    looked = analyse_curves([curve(VALUES)], log, write=False)
    assert not log.parent.exists()
    assert [change.index for _, change in looked.new] == [50]
    assert analyse_curves([curve(VALUES)], log).new == looked.new  # still new


def test_what_was_reported_stays_when_later_points_would_not_show_it(log: Path) -> None:
    """The medians of the two sides, too, are those of the report."""
    seen = analyse_curves([up_to(curve(VALUES), 55)], log).curves[0].changes
    back = VALUES[:55] + step(9, 60, 0)
    assert analyse_curves([curve(back)], log).curves[0].changes[0] == seen[0]
    assert seen[0].ratio == pytest.approx(1.05, abs=0.02)


def test_a_change_among_many_curves_waits_until_it_is_certain(log: Path) -> None:
    """Of 400 curves one that changes needs more points than alone; a later tick reports it."""
    flat = [curve([1e-6] * 22, ticks(60)[38:], metric=f"m{number}") for number in range(400)]
    alone = changes([curve(VALUES)], log.with_name("alone"))
    among = changes([curve(VALUES), *flat], log)
    assert alone[0][0] == among[0][0] == 50
    assert alone[0][1] < among[0][1]


def test_how_many_curves_were_tested_is_reported(log: Path) -> None:
    curves = [
        curve(VALUES),
        curve(VALUES[:20], metric="ended"),
        curve([1.0] * 3, ticks(60)[57:], metric="new"),
    ]
    analysis = analyse_curves(curves, log)
    assert analysis.tested == 1  # at the last tick one has ended, and one is too short
    assert [each.not_judged for each in analysis.curves] == ["", "", SHORT]
    assert analyse_curves(curves, log).tested == 1


def test_a_curve_that_cannot_be_judged_leaves_the_others_alone(log: Path) -> None:
    bad = [0.0, *VALUES[1:]]
    analysis = analyse_curves([curve(bad, metric="errors"), curve(VALUES)], log)
    assert [each.not_judged for each in analysis.curves] == [NOT_POSITIVE, ""]
    assert [len(each.changes) for each in analysis.curves] == [0, 1]


@pytest.mark.parametrize("reason", [SHORT, NOT_POSITIVE, CORRELATED, ALTERNATING])
def test_each_reason_is_a_sentence(reason: str) -> None:
    assert len(not_judged_text(reason)) > len("not judged: ") + 10


# ---- faults


def test_a_torn_last_line_is_named_and_its_tick_analysed_again(log: Path) -> None:
    expected = changes([curve(VALUES)], log)
    text = log.read_bytes()
    log.write_bytes(text[:-20])
    analysis = analyse_curves([curve(VALUES)], log)
    (problem,) = analysis.problems
    assert f"{log}:60: damaged line" in problem
    assert log.read_bytes() == text[:-20] + b"\n" + text.splitlines(keepends=True)[-1]
    assert changes([curve(VALUES)], log) == expected


def test_a_log_that_was_cut_off_anywhere_is_completed(log: Path) -> None:
    """As after a kill or on a full disk: several ticks are appended at once."""
    expected = changes([curve(VALUES)], log)
    text = log.read_bytes()
    for end in range(0, len(text), 211):
        log.write_bytes(text[:end])
        assert changes([curve(VALUES)], log) == expected
        assert set(text.splitlines()) <= set(log.read_bytes().splitlines())


def test_a_damaged_line_with_a_change_is_named_and_the_change_found_again(log: Path) -> None:
    ((index, reported),) = changes([curve(VALUES)], log)
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:reported], b'{"tick": "\xff\n', *lines[reported + 1 :]]))
    analysis = analyse_curves([curve(VALUES)], log)
    assert len(analysis.problems) == 1
    assert f"{log}:{reported + 1}:" in analysis.problems[0]
    assert [(each.index, each.reported) for each in analysis.curves[0].changes] == [(index, reported)]
    assert changes([curve(VALUES)], log) == [(index, reported)]


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


def test_a_line_that_is_there_twice_counts_once(log: Path) -> None:
    """As when two calls append at once."""
    expected = changes([curve(VALUES)], log)
    log.write_bytes(log.read_bytes() * 2)
    assert changes([curve([*VALUES, VALUES[-1]])], log) == expected


def test_the_first_report_of_a_change_stays(log: Path) -> None:
    expected = analyse_curves([curve(VALUES)], log).curves[0].changes
    number = expected[0].reported
    line = json.loads(log.read_text().splitlines()[number])
    line["changes"][0] |= {"before": 7.0, "tick": ticks(60)[59]}
    with log.open("a") as file:
        file.write(json.dumps(line) + "\n")
    assert analyse_curves([curve(VALUES)], log).curves[0].changes == expected


def test_a_full_disk_is_an_error_and_the_next_call_goes_on(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", lambda file: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space"):
            analyse_curves([curve(VALUES)], log)
    assert [index for index, _ in changes([curve(VALUES)], log)] == [50]


def test_points_that_were_set_aside_take_their_changes_with_them(log: Path) -> None:
    """A damaged pack is set aside: its points are missing, until it is repaired."""
    whole = curve(VALUES)
    expected = changes([whole], log)
    for start in (10, 50, 52, 58):  # before the change; from it on; the proof only; neither
        part = replace(whole, points=whole.points[start:])
        found = changes([part], log)
        assert found == ([(40, expected[0][1] - 10)] if start == 10 else [])
    assert changes([whole], log) == expected


def test_a_tick_that_comes_late_is_analysed_among_those_before_it(log: Path) -> None:
    """As when a run was still in a queue: nothing is reported twice, nothing is lost."""
    whole = curve(VALUES)
    late = {3, 40, 50, 51}
    expected = changes(
        [replace(whole, points=tuple(p for n, p in enumerate(whole.points) if n not in late))], log
    )
    assert len(expected) == 1
    seen = log.read_text()
    (change,) = analyse_curves([whole], log).curves[0].changes
    assert log.read_text().startswith(seen)
    assert len(log.read_text().splitlines()) == 60
    assert whole.points[change.index].tick == ticks(60)[52]  # as reported
    assert analyse_curves([whole], log).new == ()


def test_repeats_are_in_their_order_also_beyond_99(log: Path) -> None:
    names = ticks(120)
    assert sorted(sorted(names), key=tick_order) == names != sorted(names)
    assert tick_order("20260102T000000Z-00000000") > tick_order(names[-1])
    analyse_curves([curve(step(3, 98, 22), names)], log)
    assert [json.loads(line)["tick"] for line in log.read_text().splitlines()] == names


def test_a_curve_that_missed_a_tick_does_not_disturb_the_order(log: Path) -> None:
    """An old curve has more points than a new one, but not the last tick."""
    old, last = ticks(30), "20260201T000000Z-00000000"
    newer = ticks(3, last)
    analyse_curves([curve(VALUES[:32], [*old, *newer[:2]]), curve(VALUES[:3], newer, metric="new")], log)
    assert [json.loads(line)["tick"] for line in log.read_text().splitlines()] == [*old, *newer]


def test_a_clock_that_went_back_does_not_change_the_order(log: Path) -> None:
    """The order is that of the ticks; times are only shown."""
    whole = curve(VALUES)
    back = replace(
        whole, points=tuple(replace(p, time=whole.points[-1 - n].time) for n, p in enumerate(whole.points))
    )
    assert changes([back], log) == changes([whole], log.with_name("other"))
    (event,) = events(analyse_curves([back], log).curves)
    assert event.since == back.points[50].time


# ---- causes


def test_the_cause_is_what_the_runs_before_and_after_observed(tmp_path: Path) -> None:
    seen = {0: OLD, 48: OLD | {"microcode": "0x1"}, 50: NEW | {"microcode": "0x2"}, 55: NEW | {"mpi": "5"}}
    log = tmp_path / "changes.jsonl"
    (change,) = analyse_curves([curve(VALUES, observed=seen)], log, write=False).curves[0].changes
    assert change.causes == (
        Cause("kernel", "Linux 5.14.0-362", "Linux 5.14.0-427"),
        Cause("microcode", "0x1", "0x2"),
    )


def test_a_small_step_is_dated_by_what_changed_close_to_it(log: Path) -> None:
    """The values alone cannot say to the point when a step of 2 sigma was."""
    dated = {}
    for observed in ({0: OLD}, {0: OLD, 60: NEW}):
        curves = [
            curve(step(seed, 60, 30, 1.02), observed=observed, metric=f"{seed}") for seed in range(30, 42)
        ]
        found = analyse_curves(curves, log, write=False).curves
        dated[len(observed)] = sum(60 in [change.index for change in each.changes] for each in found)
    assert dated[1] <= 8
    assert dated[2] >= 11


def test_an_observation_far_from_the_change_is_not_a_cause(log: Path) -> None:
    for place in (44, 55):
        found = analyse_curves([curve(VALUES, observed={0: OLD, place: NEW})], log, write=False)
        (change,) = found.curves[0].changes
        assert (change.index, change.causes) == (50, ())


def test_what_was_not_recorded_on_one_side_is_not_a_cause(log: Path) -> None:
    found = analyse_curves([curve(VALUES, observed={0: {}, 50: NEW})], log, write=False)
    assert found.curves[0].changes[0].causes == ()


# ---- events


def tcp_and_shared_memory(observed: dict[int, dict[str, str]]) -> list[Curve]:
    """9 metrics over TCP that change after 61 days, on 3 March, and 4 in shared memory that do not."""
    tcp = [
        curve(
            step(seed, 61, 25, 1.05 if seed % 3 else 1.02),
            observed=observed,
            metric=f"m{seed}",
            transport="tcp",
        )
        for seed in range(20, 29)
    ]
    flat = [
        curve(step(seed, 86, 0), observed=observed, metric=f"m{seed}", transport="shm", placement="SHM-1")
        for seed in range(4)
    ]
    return tcp + flat


def test_the_sentence_of_an_event(log: Path) -> None:
    found = events(analyse_curves(tcp_and_shared_memory({0: OLD, 61: NEW}), log).curves)
    (event,) = found
    assert event_text(event, "2026").startswith(
        "since 3 March, with kernel 5.14.0-427, in 9 of 9 metrics over TCP, none in shared memory: worse by "
    )
    assert (event.tick, event.worse, event.better) == (ticks(86)[61], 9, 0)
    assert 1.03 < event.ratio < 1.06


def test_where_nothing_that_was_recorded_changed(log: Path) -> None:
    """The small steps are dated a tick earlier or later, and yet belong to the same event."""
    found = events(analyse_curves(tcp_and_shared_memory({0: OLD}), log).curves)
    main = max(found, key=lambda event: event.worse)
    assert event_text(main, "2026").startswith(f"since 3 March, {NO_CAUSE}, in ")
    assert main.worse >= 8


def changed(at: int, metric: str, ratio: float = 1.1, **key: object) -> Curve:
    """A curve of 30 points with a change that needs no search."""
    change = ChangePoint(at, at + 3, 1.0, ratio, 1e-6)
    return replace(curve([1.0] * 30, metric=metric, **key), changes=(change,))


def test_changes_at_neighbouring_ticks_are_one_event_at_the_tick_of_most() -> None:
    curves = [changed(at, f"m{n}") for n, at in enumerate((10, 11, 11, 12, 13, 20))]
    found = [(event.tick, event.worse) for event in events(curves)]
    assert found == [(ticks(30)[20], 1), (ticks(30)[13], 1), (ticks(30)[11], 4)]  # the latest first


def test_better_and_worse_depend_on_the_metric() -> None:
    curves = [
        changed(10, "latency", 2.0),
        changed(10, "bandwidth", 0.5, lower_is_better=False),
        changed(10, "flop rate", 0.25, lower_is_better=False),
        changed(10, "message rate", 4.0, lower_is_better=False),
    ]
    (event,) = events(curves)
    assert (event.worse, event.better) == (3, 1)
    assert event.ratio == pytest.approx(3.0)  # the median of 2, 2, 4 and 4


def test_curves_without_a_point_at_the_tick_are_not_counted() -> None:
    there, ended = changed(20, "a"), curve([1.0] * 15, metric="ended")
    (event,) = events([there, ended, curve([1.0] * 30, metric="flat", transport="", placement="X")])
    assert [tuple(share) for share in event.shares] == [("tcp", 1, 1), ("X", 0, 1)]


def test_the_latest_event_is_first_also_beyond_99_repeats() -> None:
    long = [replace(changed(at, f"m{at}"), points=curve([1.0] * 120).points) for at in (98, 105)]
    assert [event.tick for event in events(long)] == [ticks(120)[105], ticks(120)[98]]


def test_a_time_that_is_unknown_is_not_shown_as_one() -> None:
    one = changed(10, "a")
    unknown = replace(one, points=tuple(replace(point, time="") for point in one.points))
    other = replace(changed(10, "b"), points=one.points)
    assert event_text(events([unknown])[0]).startswith("since an unknown date, ")
    assert event_text(events([unknown, other])[0], "2026").startswith("since 11 January, ")
