"""The loop of a call: it hands over what is due by the results, and its work on a second core."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any, NoReturn

import build_records as make
import pytest
from build_campaigns import UNBOUND, write_trivial
from conftest import ProjectCopy, completed

from mpicampaign.base.background import in_background, on_cores
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import whole
from mpicampaign.base.records import DISTURBED, QUIET, Record
from mpicampaign.collect import runs
from mpicampaign.collect.campaign import collect_all
from mpicampaign.collect.runs import RunFolder
from mpicampaign.jobs.prepare import Prepared, write_plan
from mpicampaign.jobs.run import Run
from mpicampaign.run import loop, read_once
from mpicampaign.run.conditions import MachineWithResults, prepare_with_results
from mpicampaign.run.loop import Loop
from mpicampaign.run.progress import Progress

WAITED = """\
rank 0 start.host=n1
rank 0 start.clock_ns=0
rank 0 start.cpu_ns=0
rank 0 start.wait_ns=0
rank 0 start.allowed=0
rank 0 end.clock_ns=1000000000
rank 0 end.cpu_ns=500000000
rank 0 end.wait_ns={wait}
rank 0 end.busy_process=ended-long-ago (pid 4194305, uid 0) 1.0
job started=2026-01-02T10:00:00Z
job ended=2026-01-02T10:00:01Z
job exit_status={status}"""


class Makers:
    """Stands in for this machine: each run ends at once, as ``end`` leaves it."""

    def __init__(self, end: Callable[[Run], None]) -> None:
        self.end, self.made = end, list[Run]()

    def __call__(
        self, _: Progress, ended: Callable[[Run, int | None, str], None], died: Callable[[Exception], None]
    ) -> Makers:
        self.ended, self.died = ended, died
        self.due = list[Run]()
        return self

    def take(self, runs: list[Run]) -> None:
        """Also within an end."""
        self.due = sorted([*self.due, *runs], key=lambda run: run.place)

    def make_all(self, _: float) -> bool:
        while self.due:
            run = self.due.pop(0)
            self.made.append(run)
            self.end(run)
            self.ended(run, 0 if run.has_result else 1, "")
        return True

    def drop(self, runs: list[Run]) -> None:
        names = {run.job_name for run in runs}
        self.due = [run for run in self.due if run.job_name not in names]

    def stop(self) -> None:
        pass


def write_result(run: Run, wait: int = 0) -> None:
    """A whole output; its rank waited so long for a CPU (ns)."""
    make.write_result(run.result, WAITED.format(wait=wait, status=0))


def made_by(
    prepared: Prepared, end: Callable[[Run], None], patch: pytest.MonkeyPatch
) -> tuple[list[Run], loop.CallOutcome]:
    """The runs in the order in which they were made, and the outcome."""
    makers = Makers(end)
    patch.setattr(loop, "LocalRuns", makers)
    stream = io.StringIO()
    calls = Loop(prepared, Progress(stream))
    patch.setattr(calls._idle, "wait", makers.make_all)
    outcome = calls.run()
    print(stream.getvalue())
    return makers.made, outcome


def campaign(project: ProjectCopy, **changes: object) -> Prepared:
    return prepare_with_results(write_trivial(project, **changes), results=project.folder / "results")


WAITS = 500_000_000  # ns, of a disturbed run


def ten_placements(project: ProjectCopy, **changes: object) -> Prepared:
    placements = {f"P{number}": UNBOUND for number in range(10)}
    return campaign(project, placements=placements, repeats=6, **changes)


def disturbed_from(first: int, last: int) -> Callable[[Run], None]:
    """Makes the results; others disturb the runs from the first to the last of these, as they are made."""
    numbers = count(1)
    return lambda run: write_result(run, WAITS if first <= next(numbers) <= last else 0)


@pytest.mark.parametrize(("limit", "made"), [({}, 30), ({"time_when_busy": "1 s"}, 28)])
def test_a_machine_that_becomes_busy_later_is_noticed(
    project: ProjectCopy,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    limit: dict[str, object],
    made: int,
) -> None:
    """Of the last ten runs eight were disturbed; what others took the CPU is not there any more."""
    prepared = ten_placements(project, **limit)
    runs, outcome = made_by(prepared, disturbed_from(21, 1000), monkeypatch)
    assert len(runs) == made and max(run.repeat for run in runs) == 3 and not outcome.failed
    said = capsys.readouterr().out
    assert "this machine is busy: 8 of the last 10 runs were disturbed; disturbed runs are not" in said
    assert "not run since this machine is busy: " in said


def test_a_machine_that_becomes_quiet_again_makes_what_was_left_out(
    project: ProjectCopy, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, outcome = made_by(ten_placements(project), disturbed_from(1, 10), monkeypatch)
    assert Counter(run.repeat for run in runs) == dict.fromkeys(range(1, 8), 10)
    assert len({run.identity for run in runs}) == 70 and not outcome.prepared.pending
    said = capsys.readouterr().out
    assert "this machine is quiet again: 8 of the last 10 runs were" in said
    assert "not run since" not in said


@pytest.mark.parametrize(
    ("answer", "entry"), [("condition_of", {}), ("in_block", {"blocks": "reference", "repeats": 50})]
)
def test_a_run_that_counts_asks_for_no_other_result(
    project: ProjectCopy, monkeypatch: pytest.MonkeyPatch, answer: str, entry: dict[str, object]
) -> None:
    asked, answers = count(), getattr(MachineWithResults, answer)

    def counted(*what: object) -> object:
        next(asked)
        return answers(*what)

    monkeypatch.setattr(MachineWithResults, answer, counted)
    runs, _ = made_by(campaign(project, repeats=50, entry=entry), disturbed_from(20, 20), monkeypatch)
    assert len(runs) == 101 + bool(entry) and next(asked) < 20 * len(runs)
    assert not runs[-1].further  # what stands in for a run is made in its row


def names(runs: list[Run]) -> list[str]:
    return [f"{run.case.placement}{run.repeat}" for run in runs]


def test_the_call_ends_where_what_makes_the_runs_has_died(
    project: ProjectCopy, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Dying(Makers):
        def make_all(self, _: float) -> bool:
            self.died(RuntimeError("no more threads"))
            return True

    monkeypatch.setattr(f"{__name__}.Makers", Dying)
    runs, outcome = made_by(campaign(project), write_result, monkeypatch)
    assert not runs and outcome.failed
    assert "RuntimeError('no more threads')" in capsys.readouterr().out


def test_a_failure_is_raised_by_the_one_who_waits() -> None:
    def refused() -> NoReturn:
        raise UserError(Problem("no such file", "a.yaml"))

    result = in_background(refused)
    with pytest.raises(UserError, match=r"a\.yaml"):
        result()


def test_pieces_keep_their_order_and_those_of_a_killed_copy_are_done_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = os.getpid()
    monkeypatch.setattr("mpicampaign.base.background.sched_getaffinity", lambda _: range(3))

    def doubled(items: Sequence[int]) -> list[int]:
        if os.getpid() != here and 800 in items:
            os.kill(os.getpid(), signal.SIGKILL)
        return [2 * item for item in items]

    pieces = [*on_cores(doubled, range(2001), many=True)]
    assert list(chain.from_iterable(pieces)) == list(range(0, 4002, 2))
    assert len(pieces) > 2


def test_a_fault_ends_the_copies_of_a_process_and_no_file_is_left_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpicampaign.base.background.sched_getaffinity", lambda _: range(2))

    def work(items: Sequence[int]) -> None:
        if items[0] == 0:
            while not [*tmp_path.iterdir()]:
                time.sleep(0.01)
            raise OSError("full disk")
        with whole(tmp_path / "made.txt") as part:
            part.write_text("figure", encoding="utf-8")
            threading.Event().wait(60)

    results = on_cores(work, range(2001), many=True)
    with pytest.raises(OSError, match="full disk") as caught:
        next(results)
    assert caught.tb and not multiprocessing.active_children()
    assert [*tmp_path.iterdir()] == []


# The copy is handing its result over when the process that began it ends.
ENDING = """
import os, sys, time
from mpicampaign.base.background import in_background
from mpicampaign.base.interrupts import end_in_order

class Slow:
    def __reduce__(self):
        os.write(ready, b"1")
        time.sleep(60)

end_in_order()
read, ready = os.pipe()
result = in_background(Slow)
os.read(read, 1)
sys.exit("full disk")
"""


def test_the_copy_ends_with_its_process_without_a_word() -> None:
    done = completed([sys.executable, "-c", ENDING], timeout=30)
    assert (done.returncode, done.stderr) == (1, "full disk\n")


def test_each_result_is_parsed_once_by_a_call_and_its_report(
    project: ProjectCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed, read = Counter[str](), runs._read_result

    def counted(record: Record, files: Any, reading: Any) -> Record:
        parsed[files.place] += 1
        return read(record, files, reading)

    monkeypatch.setattr(runs, "_read_result", counted)
    prepared = campaign(project, repeats="until known", node_hours_cap=1)
    made_by(prepared, write_result, monkeypatch)
    write_plan(prepared)
    collect_all(prepared.folder)
    assert len(parsed) > 3 and {*parsed.values()} == {1}


def test_a_result_that_is_written_again_is_read_again(project: ProjectCopy) -> None:
    run = campaign(project, repeats=1).pending[0]
    folder = RunFolder(run.folder, run.repeat)
    conditions = []
    for wait in (0, 10**9):
        write_result(run, wait)
        os.utime(run.result, ns=(wait, wait))
        record, _ = read_once.read_once(run.kept, run.benchmark.suite, folder, run.draft.reading)
        conditions.append(record.condition)
    assert conditions == [QUIET, DISTURBED]
