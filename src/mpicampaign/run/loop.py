"""The loop: hands the runs that are due to this machine or the scheduler, and asks again as they end.

Which runs are due follows from the results alone (`schemes`), so that the same call goes on after a kill.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from mpicampaign.base.expectation import UNTIL_KNOWN
from mpicampaign.base.files import system_error_text
from mpicampaign.base.grouping import grouped
from mpicampaign.base.interrupts import signalled
from mpicampaign.base.records import DISTURBED, FAILED, MISSING, OK, RANKED, Case, Record, defined_name
from mpicampaign.base.run_files import result_in
from mpicampaign.base.waves import ROUNDS
from mpicampaign.collect.campaign import Reported
from mpicampaign.collect.runs import RunFolder, evidence_in
from mpicampaign.evidence.condition import busy_process
from mpicampaign.jobs.prepare import Prepared, lock_campaign, write_scripts, write_scripts_of
from mpicampaign.jobs.run import Run
from mpicampaign.run.batches import ABSENT, GIVEN_UP
from mpicampaign.run.build import build_missing
from mpicampaign.run.busy import LAST, LATER, Busyness, fitting, is_left_out, left_out_text, still_running
from mpicampaign.run.conditions import met_limit
from mpicampaign.run.makers import ClusterRuns, LocalRuns
from mpicampaign.run.progress import Progress
from mpicampaign.run.read_once import forget, read_once
from mpicampaign.run.scheduler_calls import ignored_lines
from mpicampaign.run.set_aside import set_aside
from mpicampaign.run.waves import LateNodes
from mpicampaign.schedulers import SCHEDULERS, batch_scheduler
from mpicampaign.schemes.block import LEFT_BEHIND
from mpicampaign.schemes.due import is_repeated

# Blocks that are made anew in a call: where every allocation is lost, it ends.
MOST_LOST = 20
# s: a signal that comes just as a wait begins is handled when the wait ends
LONGEST_DEAF = 1.0


class CallOutcome(NamedTuple):
    """``prepared``: the campaign with the plan by the results now. ``failed``: whether anything has."""

    prepared: Prepared
    failed: bool


def measure(prepared: Prepared, *, once: bool = False, verbose: bool = False) -> CallOutcome:
    """Build what is missing, write the job scripts and make the runs; no other call may do so meanwhile.

    ``once``: one repeat of each case. ``verbose``: the output of compilers is shown even if all goes well.

    Raises
    ------
    BusyError
        when another call is making runs of the campaign.
    """
    with lock_campaign(prepared):
        write_scripts(prepared)
        if build_missing(prepared, verbose=verbose):
            return CallOutcome(prepared, failed=True)
        return Loop(prepared, once=once).run()


class Loop:
    """The runs of one call. It remembers what it tried and how that ended; the files say what is there."""

    def __init__(self, prepared: Prepared, progress: Progress | None = None, *, once: bool = False) -> None:
        self._prepared, self._once = prepared, once
        self._progress = progress or Progress()
        self._makers: dict[str, LocalRuns | ClusterRuns] = {}  # by scheduler
        self._here: LocalRuns | None = None  # the one of them without a scheduler
        self._ending = threading.Lock()  # each maker has a thread of its own
        self._idle = threading.Event()
        self._tried: set[str] = set()  # identities
        self._failed_once: set[str] = set()  # of runs that are made again
        self._in_flight: dict[str, Run] = {}
        self._open: Counter[int] = Counter()  # of them, by what is decided together
        self._asked: set[int] = set()  # what follows, since the machine became busy or quiet
        self._failed = False
        self._failed_in: set[tuple[str, str]] = set()  # benchmarks of block designs
        self._failed_members: list[Run] = []  # of `each`
        self._measured_groups: set[Case | None] = set()  # of `each`, with a value
        self._lost_blocks: set[tuple[str, ...]] = set()
        self._messages: set[str] = set()  # that are said once
        self._reported = Reported(prepared.folder)
        self._late = LateNodes(prepared, self._say_once)
        self._busyness = Busyness()
        self._neighbours = deque[str](maxlen=LAST)  # what took the CPU, as disturbed runs name it
        self._left_out: list[Run] = []  # runs on this machine, as long as it is busy
        self._for_a_later_call: list[Run] = []  # others left them too little time
        self._began = time.monotonic()

    def run(self) -> CallOutcome:
        """Make all runs that are due, and those that follow from their results.

        A signal ends the present run on this machine and leaves jobs with the scheduler; see `interrupts`.
        """
        new = list(self._prepared.one_repeat if self._once else self._prepared.pending)
        try:
            while new:
                with self._ending:
                    self._take(new)
                while not self._idle.wait(LONGEST_DEAF):
                    if signalled():
                        raise KeyboardInterrupt
                new = []
                with self._failing(self._prepared.campaign.name):
                    new = [] if self._once else self._due_by_all_results() or self._further_wave()
        finally:
            for maker in self._makers.values():
                maker.stop()
            self._progress.close()
        del self._reported
        if self._once:
            self._prepared = self._prepared.planned_again()
        forget()
        self._say_what_is_left_out()
        groups = self._measured_groups
        failed = self._failed or any(run.draft.whole not in groups for run in self._failed_members)
        return CallOutcome(self._prepared, failed)

    # ---- what is due

    def _due_by_all_results(self) -> list[Run]:
        """What follows from the results of all cases, such as of a machine that moves between states."""
        self._prepared = self._prepared.planned_again()
        new = self._new(self._prepared.pending)
        write_scripts_of(new)
        return new

    def _further_wave(self) -> list[Run]:
        """The runs of late nodes and their controls, as soon as others do not use them any more."""
        if not self._late.take(self._prepared):
            return []
        self._prepared = self._prepared.planned_again()
        self._tried -= {run.identity for run in self._prepared.pending if run.round > ROUNDS}
        return self._due_by_all_results()

    def _due_beside(self, run: Run) -> list[Run]:
        """What follows from the end of a run for its case, its block or its host group."""
        if self._once or (self._open[self._unit(run)] and self._nothing_follows(run)):
            return []
        self._asked.add(self._unit(run))
        new = self._new(self._prepared.due_beside(run, self._tried))
        write_scripts_of(new)
        return new

    def _nothing_follows(self, run: Run) -> bool:
        """Whether nothing does before others have ended: else each of 1,000 repeats asks for all of them."""
        unit, results = self._prepared.unit_of(run), self._prepared.so_far
        if unit.is_decided_whole or unit.decided_with or results is None:
            return unit.is_decided_whole
        asked = self._unit(run) in self._asked and run.identity in self._tried
        counts = asked and not is_repeated(unit.part_of(run.case), run.repeat, results)
        return counts or self._busyness.is_busy

    def _unit(self, run: Run) -> int:
        return id(self._prepared.unit_of(run))

    def _new(self, due: Sequence[Run]) -> list[Run]:
        """The due runs that this call has not tried yet.

        On a busy machine, and when its time is over, none is repeated that was disturbed; nor is a block in
        which a run has failed.
        """
        new = [
            run for run in due if run.identity not in self._tried and _benchmark(run) not in self._failed_in
        ]
        if len(self._lost_blocks) > MOST_LOST:
            new = [run for run in new if not run.block]
        if self._busyness.is_busy:
            return [run for run in new if run.each]
        instead = [run for run in new if self._stands_in(run)]
        return new if self._has_time(instead) else [run for run in new if not self._stands_in(run)]

    def _stands_in(self, run: Run) -> bool:
        """Whether it is a further repeat for a disturbed run or a state, not the next of planned stages."""
        entry = self._prepared.unit_of(run).entry
        return run.further and not (run.each or entry.race or entry.repeats <= UNTIL_KNOWN)

    def _has_time(self, further_runs: Sequence[Run]) -> bool:
        """Whether further repeats on this machine end before its time for a busy machine does."""
        limit = self._prepared.campaign.time_when_busy if self._prepared.runs_here else 0
        needed = sum(map(self._progress.left.expected, further_runs))
        if not further_runs or not limit or time.monotonic() + needed <= self._began + limit:
            return True
        self._say_once(LATER)
        return False

    def _take(self, runs: Sequence[Run]) -> None:
        """Hand runs to those that make them."""
        self._tried |= {run.identity for run in runs}
        runs = self._late.without(runs)
        self._progress.expect(runs)
        self._progress.repeats_more |= any(run.further for run in runs)
        self._in_flight |= {run.job_name: run for run in runs}
        self._open.update(map(self._unit, runs))
        self._idle.clear() if self._in_flight else self._idle.set()
        for name, several in grouped(runs, lambda run: run.job.system.scheduler).items():
            if name not in self._makers:
                self._makers[name] = self._new_maker(several[0])
            self._makers[name].take(several)

    def _new_maker(self, first: Run) -> LocalRuns | ClusterRuns:
        name = first.job.system.scheduler
        for line in ignored_lines(SCHEDULERS[name]):
            self._progress.say(line)
        scheduler = batch_scheduler(name)
        if scheduler is None:
            self._here = LocalRuns(self._progress, self._ended, self._died)
            return self._here
        return ClusterRuns(self._progress, self._ended, self._died, scheduler, first.submitting_lock)

    # ---- the end of a run

    def _ended(self, run: Run, status: int | None, problem: str) -> None:
        """Take up the end of a run; whatever goes wrong here must not keep the call from its own end."""
        with self._ending, self._failing(run.label):
            self._take_up(run, status, problem)
        with self._ending:
            self._in_flight.pop(run.job_name, None)
            self._open[self._unit(run)] -= 1
            with self._failing(run.label):
                self._take(self._due_beside(run))
            with self._failing(run.label):
                self._leave_out()
            if not self._in_flight:
                self._idle.set()

    @contextmanager
    def _failing(self, label: str) -> Iterator[None]:
        """Let an error fail the call and no more; such as a full disk, or results that can't be read."""
        try:
            yield
        except Exception as error:
            why = system_error_text(error) if isinstance(error, OSError) else repr(error)
            self._progress.say(f"{label}: its result cannot be used: {why}")
            self._failed = True

    def _died(self, error: Exception) -> None:
        """End the call where what makes the runs has failed; jobs on a scheduler go on."""
        with self._ending, self._failing("the runs that have not ended"):
            self._once = True  # nothing more is handed over
            raise error
        self._idle.set()

    def _take_up(self, run: Run, status: int | None, problem: str) -> None:
        """Say how a run ended, from its files."""
        folder, job = RunFolder(run.folder, run.repeat), run.job
        record, _ = read_once(run.kept, run.benchmark.suite, folder, run.draft.reading)
        if record.status == OK:
            record = replace(record, line_rate=job.line_rate, attributes=dict(job.group.attributes))
            record = self._reported.judged(record)
        if record.status == FAILED and run.has_result and not record.unread:
            set_aside(run)  # its exit status was 0, but its output says nothing
        if problem == GIVEN_UP:
            self._progress.left_out([run])
            self._tried.discard(run.identity)
        elif problem.startswith(ABSENT):
            self._progress.left_out([run])
            self._say_once(problem)
        elif _block_was_left(run):
            self._progress.left_out([run])
            self._progress.say(f"{run.label}: {problem}; another block stands in for it")
        else:
            self._progress.finished(run.label, record, status, problem)
            self._count(run, record)
        self._count_lost(run)
        if not self._once and not run.each:
            self._look_for_others(run, record.condition)

    def _count(self, run: Run, record: Record) -> None:
        """Count a run as failed, unless its end is an answer, or others left it too little time."""
        if run.has_result and (record.unread or record.status not in (FAILED, MISSING)):
            self._measured_groups |= {run.draft.whole} if run.each else set()
        elif record.status == FAILED and record.condition == DISTURBED:
            self._for_a_later_call.append(run)
        elif run.each:
            self._failed_members.append(run)
        elif met_limit(record, run.time_limit):
            self._failed |= not run.block
        elif not self._is_made_again(run):
            self._failed = True
            self._failed_in |= {_benchmark(run)} if run.block else set()

    def _is_made_again(self, run: Run) -> bool:
        """Whether a run that failed is made again in its row: once, where its case has a result.

        The next call would make it behind all others, where it has no neighbours to be compared with.
        """
        if self._once or not run.job.system.local or run.identity in self._failed_once:
            return False
        if not any(map(result_in, run.folder.parent.glob("r*"))):
            return False
        self._failed_once.add(run.identity)
        self._tried.discard(run.identity)
        return True

    def _count_lost(self, run: Run) -> None:
        if _block_was_left(run):
            self._lost_blocks.add(run.part)
        if len(self._lost_blocks) > MOST_LOST:
            self._say_once("too many blocks were left unfinished: the same command goes on")
            self._failed = True

    def _say_once(self, message: str) -> None:
        if message not in self._messages:
            self._progress.say(message)
        self._messages.add(message)

    # ---- a busy machine

    def _look_for_others(self, run: Run, condition: str) -> None:
        """Find out whether the machine has become busy, or quiet again."""
        if self._prepared.campaign.busy_machine == RANKED:
            return
        was_busy = self._busyness.is_busy
        self._busyness.add(condition)
        if condition == DISTURBED and run.has_result:
            evidence = evidence_in(run.result)
            self._neighbours.append(busy_process(evidence))
        if self._busyness.is_busy != was_busy:
            self._asked.clear()
            self._progress.repeats_more = False
            self._progress.say(self._busyness.text(self._where, still_running(self._neighbours)))

    @property
    def _where(self) -> str:
        return "this machine is" if self._prepared.runs_here else "the nodes are"

    def _leave_out(self) -> None:
        """Leave out what a busy machine does not make now, of the runs that have not begun.

        What fits after all, since others ended early or the machine is quiet again, is handed over again.
        """
        here = self._here
        if here is None or not (self._busyness.is_busy or self._left_out):
            return
        now = self._made_now([*here.due, *self._left_out])
        later = [run for run in here.due if run.job_name not in now]
        again = [run for run in self._left_out if run.job_name in now]
        self._left_out = [run for run in self._left_out if run.job_name not in now]
        self._left_out += [run for run in later if not run.further]
        self._progress.left_out(later)
        here.drop(later)
        for run in later:
            self._in_flight.pop(run.job_name, None)
            self._open[self._unit(run)] -= 1
        self._tried -= {run.identity for run in later if run.further}  # the results ask for them again
        self._take(again)

    def _made_now(self, waiting: Sequence[Run]) -> set[str]:
        """The jobs of the runs that this machine makes: of a busy one what fits into its time."""
        if not self._busyness.is_busy:
            return {run.job_name for run in waiting}
        limit = self._prepared.campaign.time_when_busy
        seconds = self._began + limit - time.monotonic() if limit else math.inf
        planned = (run for run in waiting if not is_left_out(run))
        return fitting(planned, self._progress.left.expected, seconds)

    def _say_what_is_left_out(self) -> None:
        if not self._busyness.is_busy:
            return
        postponed = [run for run in self._for_a_later_call if not run.further] + self._left_out
        postponed += [run for run in self._prepared.pending if run.further]
        if postponed:
            self._progress.say(left_out_text(postponed, self._where))


def _benchmark(run: Run) -> tuple[str, str]:
    """The candidates of a block design that are repeated together."""
    return run.block, defined_name(run.case.benchmark)


def _block_was_left(run: Run) -> bool:
    """Whether the block of a run was left, and the run with it."""
    return bool(run.block) and not run.has_result and (run.folder / LEFT_BEHIND).exists()
