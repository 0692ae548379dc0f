"""States of a machine, found in the probes of runs, on synthetic runs with known states."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import build_campaigns
import build_records as make
import plain_screen
import pytest
from history_data import FIRST, metrics_of, name_of, row

from mpicampaign.base.errors import UserError
from mpicampaign.base.expectation import Limit
from mpicampaign.base.records import (
    BLOCK,
    CLOCK_RATE,
    COMPARED,
    COPY,
    DISTURBED,
    ROUND_TRIP,
    STATE,
    TO_REFERENCE,
    Case,
    Record,
)
from mpicampaign.compare.compare import compare
from mpicampaign.compare.findings import SLOW_CLOCK, SLOW_MEMORY
from mpicampaign.compare.states import NOT_PROBED, SWITCH, UNKNOWN, find_states
from mpicampaign.history.changes import NAMES
from mpicampaign.history.curves import Curve, curves_of
from mpicampaign.history.rows import OBSERVED, round_trips_text
from mpicampaign.jobs.plan_text import further_text
from mpicampaign.questions.limits.find import PASSED, judge
from mpicampaign.questions.two_sides.find import Side, two_sides
from mpicampaign.report.make import to_csv, to_terminal
from mpicampaign.report.summary import summary
from mpicampaign.run.conditions import MachineWithResults
from mpicampaign.schemes.unit import CaseInStates
from mpicampaign.show.sentences import note_text

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.fixture(autouse=True)
def with_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH)


PLACE = "node1, same socket"
NEAR, FAR = (60e-9, 64e-9), (300e-9, 310e-9)


def run(
    number: int, values: tuple[float, ...], placement: str = "SHM", time: float = 1e-6, seconds: int = 5
) -> Record:
    return make.run(
        make.case(placement, group="local", system="here"),
        number,
        make.series("PingPong", size=0.0, time=time, bandwidth=None),
        started=f"2026-11-25T00:{number:02d}:00Z",
        ended=f"2026-11-25T00:{number:02d}:{seconds:02d}Z",
        probes={ROUND_TRIP: {PLACE: list(values)}} if values else {},
    )


def runs(states: str, placement: str = "SHM") -> list[Record]:
    """``n``: near, ``f``: far, ``x``: changed within, ``-``: not probed, ``?``: between the states."""
    values = {"n": NEAR, "f": FAR, "x": (NEAR[0], FAR[0]), "-": (), "?": (130e-9, 131e-9)}
    times = {"f": 2e-6}
    return [
        run(number, values[state], placement, times.get(state, 1e-6) * (1 + number / 1000))
        for number, state in enumerate(states, 1)
    ]


def test_values_of_several_states_are_never_together() -> None:
    mixed = runs("nfnfnfnnnx-") + runs("fnfnnnnf", "SHM-1")
    comparison = compare(mixed)
    states = comparison.states
    assert (states.names, states.headline) == (("60 ns apart", "300 ns apart"), "60 ns apart")
    assert [states.name_of(run) for run in mixed[9:12]] == [UNKNOWN, NOT_PROBED, "300 ns apart"]
    [table] = comparison.tables
    rows = {row.case.placement: row for row in table.rows}
    assert {name: row.counted for name, row in rows.items()} == {
        **{"SHM": 6, "SHM (300 ns apart)": 3, "SHM (distance changed)": 1, "SHM (not probed)": 1},
        **{"SHM-1 (300 ns apart)": 3, "SHM-1": 5},
    }
    assert [name for name, row in rows.items() if row.ranked] == ["SHM", "SHM-1"]
    assert {one.name for ranking in table.rankings for one in ranking.contestants} == {"SHM", "SHM-1"}
    limit = Limit("PingPong", "time at 0 B", at_most="1.5 us")
    [judged] = judge([limit], comparison, [mixed[0].case], None, "c.yaml")
    assert (judged.outcome, judged.n) == (PASSED, 6)
    assert to_terminal(comparison).count("Without a state in the name: CPUs 60 ns apart.") == 1
    header, *lines = csv.reader(to_csv(comparison).splitlines())
    named = {line[header.index("placement")]: line[header.index("state")] for line in lines}
    assert named["SHM"] == named["SHM-1"] == "60 ns apart" and named["SHM (300 ns apart)"] == "300 ns apart"
    said = " ".join(summary(comparison).notices)
    assert "60 to 64 ns (60 ns apart) and 300 to 310 ns (300 ns apart)" in said
    answers = "The answers use 11 of 19 runs: those whose CPUs were 60 ns apart. The others stand in rows"
    assert answers in said and "both ends only" not in said
    busy = [replace(one, condition=DISTURBED) for one in mixed]
    assert answers in " ".join(summary(compare(busy)).notices)
    long = [run(30 + number, NEAR, seconds=12) for number in range(2)]
    assert "2 of those with CPUs 60 ns apart took 10 s or more and were probed at both ends only" in " ".join(
        summary(compare(mixed + long)).notices
    )


def test_runs_without_a_reading_do_not_count_as_near() -> None:
    """Cases that no run probed, or in which all CPUs moved, are ranked, and said to be so."""
    mixed = runs("nfnfnfnnnx-") + runs("-----", "TCP") + runs("xxx", "SHM-2")
    elsewhere = [
        replace(run, probes={ROUND_TRIP: {"node2, same socket": [9e-8]}}) for run in runs("--", "NET")
    ]
    comparison = compare([*mixed, *elsewhere])
    [text] = [text for text in summary(comparison).notices if text.startswith("The answers")]
    assert text.startswith(
        "The answers use 16 of 21 runs: 6 whose CPUs were 60 ns apart, 5 without a reading of that distance, "
        "3 whose CPUs moved and 2 on hosts whose CPUs did not move. The others stand"
    )
    plain_screen.hold(comparison, summary(comparison))


@pytest.mark.parametrize(
    ("states", "apart"), [("nnnnnf", 1), ("nfnnfn", 2), ("nnnnnx", 1), ("nnn?nn", 1), ("nnnnn-", 0)]
)
def test_a_single_run_in_another_state_never_counts_with_the_rest(states: str, apart: int) -> None:
    comparison = compare(runs(states) + runs("nnnnnn", "SHM-1"))
    rows = {row.case.placement: row for row in comparison.tables[0].rows}
    counted = {name: row.counted for name, row in rows.items()}
    assert counted == {"SHM": 6 - apart, "SHM-1": 6, **({"SHM (distance changed)": apart} if apart else {})}
    assert [name for name, row in rows.items() if row.ranked] == ["SHM", "SHM-1"]
    said = " ".join(summary(comparison).notices)
    assert (f"in {apart} of 12 runs: these stand in rows of their own" in said) == (apart > 0)


# ---- two sides


def placements_of(before: Sequence[Record], after: Sequence[Record]) -> dict[str, float | None]:
    found = two_sides(Side("A", before), Side("B", after), (), OBSERVED, NAMES)
    return {one.row.case.placement: one.ratio for one in found.both}


def moved(records: Sequence[Record], factor: float = 1.2, system: str = "here") -> list[Record]:
    """As another day found them: a little further apart, and a third slower."""
    return [
        replace(
            one,
            case=replace(one.case, system=system),
            probes={ROUND_TRIP: {PLACE: [value * factor for value in one.probes[ROUND_TRIP][PLACE]]}},
            series=(replace(one.series[0], columns={**one.series[0].columns, "time": [value * 1.3]}),),
        )
        for one in records
        for value in one.series[0].columns["time"]
        if value is not None
    ]


def test_two_sides_are_compared_in_each_state_whatever_its_middle() -> None:
    ratio = pytest.approx(1.3, rel=0.02)
    both = placements_of(runs("nfnfnfnfnn"), moved(runs("nfnfnfnfnn")))
    assert both == {"SHM": ratio, "SHM (300 ns apart)": ratio}
    assert placements_of(runs("nfnfnfnnnx"), moved(runs("nnnnnn"))) == {"SHM": ratio}
    elsewhere = Side("B", moved(runs("nnnnnn"), 4, "there"))
    found = two_sides(Side("A", runs("nfnfnfnnnn")), elsewhere, (), OBSERVED, NAMES)
    assert {one.row.case.placement: one.ratio for one in found.both} == {"SHM": ratio}
    assert (STATE, "60 ns apart", "one") in found.recorded


def test_a_switch_that_is_neither_on_nor_off_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "no")
    with pytest.raises(UserError, match="takes on or off"):
        find_states(runs("nfnfnf"))


def test_a_slow_clock_and_a_neighbour_on_the_memory_stand_beside_the_values() -> None:
    clocks = [[3.7e9, 3.7e9], [3.7e9, 3.69e9], [3.7e9, 3.1e9], [3.0e9, 3.0e9], [3.7e9, 3.7e9]]
    copies = [[12e9, 5e9], [12e9, 12e9], [12e9, 11e9], [12e9, 12e9], [8e9, 7e9]]
    probed = [
        replace(one, probes={**one.probes, CLOCK_RATE: {"node1": clock}, COPY: {"node1": copy}})
        for one, clock, copy in zip(runs("nnnnn"), clocks, copies, strict=True)
    ]
    [table] = compare(probed).tables
    [row] = table.rows
    said = {note.kind: (note.repeats, note_text(note)) for note in row.notes}
    assert row.counted == 5, "nothing is left out"
    assert (
        said[SLOW_MEMORY][0] == (5,) and "8.0 GB/s on node1, 12.0 GB/s in other runs" in said[SLOW_MEMORY][1]
    )
    slow = [(note.repeats, note_text(note)) for note in row.notes if note.kind == SLOW_CLOCK]
    assert [repeats for repeats, _ in slow] == [(3,), (4,)]
    assert "3.10 GHz on node1, 3.70 GHz at its begin" in slow[0][1]
    assert "3.00 GHz on node1, 3.70 GHz in other runs" in slow[1][1]


# ---- further repeats


class Results:
    """Results on disk: of each case the states of its repeats, ``.`` where there is none."""

    def __init__(self, folder: Path, **states: str) -> None:
        self.machine = MachineWithResults(folder)
        cases = [Case("here", "local", name, "PingPong") for name in states]
        self.cases = [CaseInStates(case, case, 6, 12, str) for case in cases]
        for (case, *_), found in zip(self.cases, states.values(), strict=True):
            for repeat, state in enumerate(found, 1):
                if state != ".":
                    self._write(case, repeat, state)

    def _write(self, case: Case, repeat: int, state: str) -> None:
        result = self.machine.run_folder(case, repeat, str(repeat)) / "result.txt"
        ns = {"n": "62.0", "f": "305.0", "-": ""}[state]
        ranks = "".join(
            f"rank {rank} start.{key}={rank * (key == 'core')}\n"
            for rank in (0, 1)
            for key in ("socket", "core")
        )
        evidence = f"job started=2026-11-25T00:{repeat:02d}:00Z\nrank 0 start.host=node1\n{ranks}"
        probe = "".join(
            f"rank 0 {moment}.round_trip_ns={ns} to rank 1\n" for moment in ("start", "end") if ns
        )
        make.write_result(result, evidence + probe, output="")

    @property
    def blocks(self) -> int:
        return max(self.machine.blocks(self.cases).values(), default=0)


@pytest.mark.parametrize(
    ("states", "blocks"),
    [
        ({"A": "nnnnnn", "B": "nnnnnn"}, 0),  # one state
        ({"A": "nnnfff", "B": "nnnfff"}, 1),  # a lasting change
        ({"A": "nfnffn", "B": "nfnff."}, 0),  # not all planned runs are made
        ({"A": "nfnffn", "B": "nfnffn"}, 1),
        ({"A": "nfnffn", "B": "nfnffn", "C": "......"}, 1),  # of C no run succeeds
        ({"A": "nfnffnnnn", "B": "nfnffnnnn", "C": "------"}, 3),  # C was never probed, as where it is n/a
        ({"A": "nfnffnn", "B": "nfnffn."}, 1),  # a block is not complete
        ({"A": "nfnffnn", "B": "nfnffnf"}, 2),
        ({"A": "nfnffnnnn", "B": "nfnffnnnn"}, 3),  # six near ones each: complete
        ({"A": "nfnffnnnn", "B": "nfnffnnnf"}, 4),
        ({"A": "nf" * 9, "B": "nff" * 6}, 12),  # the limit
    ],
)
def test_whole_blocks_until_all_cases_are_complete_in_one_state(
    tmp_path: Path, states: dict[str, str], blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpicampaign.run.conditions.MANY", 14)  # these are read ahead, on all cores
    assert Results(tmp_path, **states).blocks == blocks


def test_a_plan_has_whole_blocks_behind_all_others() -> None:
    made = build_campaigns.plan(
        build_campaigns.campaign(repeats=2),
        build_campaigns.AnyMachine(blocks=lambda cases: {one.case: 3 for one in cases}),
    )
    cases = len(made.cases)
    assert [run.repeat for run in made.runs] == [n for n in range(1, 6) for _ in range(cases)]
    assert {run.identity for run in made.runs if run.further} == {
        entry.identity for case in made.cases for entry in case.runs if entry.further
    }
    assert "of every case, since the machine moves between states" in further_text(made)


# ---- histories


def history(states: str, probed: Sequence[tuple[float, float]] = ()) -> list[Curve]:
    """The curves of one run a day; ``probed``: round trips of further days."""
    days = [*runs(states), *(run(number, ends) for number, ends in enumerate(probed, len(states) + 1))]
    return curves_of(metrics_of(*rows_of_days(days)))


def rows_of_days(days: Sequence[Record]) -> list[dict[str, object]]:
    return [
        row(
            name_of(day),
            run.series[0].columns["time"][0],
            placement="SHM",
            started=f"{FIRST + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}",
            round_trips=round_trips_text(run.probes),
        )
        for day, run in enumerate(days)
    ]


def test_states_that_alternate_have_curves_of_their_own() -> None:
    points = {curve.key.placement: len(curve.points) for curve in history("nfnffnnx-f")}
    assert points == {
        "SHM (60 ns apart)": 4,
        "SHM (300 ns apart)": 4,
        "SHM (distance changed)": 1,
        "SHM (not probed)": 1,
    }


def test_blocks_count_in_each_state_of_the_machine() -> None:
    """Candidates that stand beside each other share it: their rows are split, their blocks are not."""
    records = []
    for block in range(1, 9):
        values, slow = (NEAR, 1) if block % 2 else (FAR, 2)
        for placement, time in (("A", 1e-6), ("B", 1.05e-6 + block * 1e-10)):
            record = run(block, values, placement, time * slow)
            records.append(replace(record, metadata={BLOCK: "A, B", COMPARED: TO_REFERENCE}))
    comparison = compare(records)
    assert comparison.states.names and len(comparison.tables[0].rows) == 4
    [found] = comparison.blocks
    assert len(found.blocks) == 8 and found.verdicts[0].word == "worse"
    assert "B takes 5 % longer than A [5.0, 5.1 %]" in summary(comparison).answers[0].said[0]
