"""Batches: several runs in one submission, as a job array, in shared allocations (packs, blocks), or both.

A batch is two files in the campaign's folder ``batches``: NAME.sh, which is submitted, and NAME.runs, with a
line for each task of the array and on it the folders of its runs. NAME is the job's name in the queue, so
that any later call finds the runs of a job. Each task starts the runs' own, unchanged job scripts. Runs of
`each` are measured side by side in one task; NAME.rounds has the part of each node.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mpicampaign.base.errors import UnreadableError
from mpicampaign.base.files import text_or_nothing, write_whole
from mpicampaign.base.grouping import grouped
from mpicampaign.jobs.render import batch_text, minutes, rounds_lines, rounds_text, run_folder, widest
from mpicampaign.jobs.run import Run, job_name_of
from mpicampaign.schedulers import BatchScheduler, Scheduler
from mpicampaign.schedulers.listings import MANY, QueuedJob
from mpicampaign.schedulers.node_states import states_path

FOLDER = "batches"
ABSENT = "not measured"  # begins the reason of a run of `each` of which a node cannot be had
GIVEN_UP = "waits for nodes"  # begins that of one whose nodes are asked for again
_NAME = re.compile(r"batch-[0-9a-f]{12}-(?P<token>[0-9a-f]+)")

Task = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs alike in request; a task is one job of the array, which makes its runs one after the other."""

    tasks: tuple[Task, ...]
    rounds: bool = False

    @property
    def runs(self) -> list[Run]:
        """The runs of all tasks, in order."""
        return [run for task in self.tasks for run in task]

    @property
    def can_be_split(self) -> bool:
        """Whether its runs may be submitted apart: of a block none is."""
        fixed = self.rounds or self.runs[0].block
        return len(self.tasks) > 1 or (len(self.runs) > 1 and not fixed)

    @property
    def least_minutes(self) -> int:
        """What a job asks for at least: a pack is cut to what is allowed, as are rounds; a block is not."""
        if self.rounds:
            return 0
        limits = ([run.time_limit for run in task] for task in self.tasks)
        return max(minutes(sum(of if self.runs[0].block else [max(of)])) for of in limits)

    def write(self, longest: int = MANY) -> Path:
        """Write its files, unless it is a single run; returns the script to submit.

        ``longest``: how many minutes a job may have.
        """
        first = self.tasks[0][0]
        if len(self.runs) == 1 and not self.rounds:
            return first.path
        folder = first.campaign_folder / FOLDER
        folder.mkdir(exist_ok=True)
        name = f"batch-{uuid.uuid4().hex[:12]}-{first.draft.token}"
        runs, script = folder / f"{name}.runs", folder / f"{name}.sh"
        lines = ("\t".join(map(run_folder, task)) for task in self.tasks)
        write_whole(runs, "".join(f"{line}\n" for line in lines))
        if not self.rounds:
            write_whole(script, batch_text(self.tasks, runs, longest))
            return script
        steps, parts = steps_of(self.runs), runs.with_suffix(".rounds")
        write_whole(parts, "".join(f"{line}\n" for line in rounds_lines(steps)))
        write_whole(script, rounds_text(steps, parts, states_file(first), longest))
        return script

    def ids(self, number: str) -> dict[str, str]:
        """The job's id by the name of each run's job; ``number``: of the submission."""
        tasks = enumerate(self.tasks, start=1)
        array = len(self.tasks) > 1
        return {
            run.job_name: f"{number}_{index}" if array else number for index, task in tasks for run in task
        }


def batches_of(
    runs: Iterable[Run],
    scheduler: BatchScheduler,
    places: Counter[str],
    alone: Collection[str] = (),
    pack: Callable[[Run], int] = lambda run: run.job.system.pack,
    largest: int = MANY,
) -> list[Batch]:
    """The runs in as few submissions as their requests allow, in their order.

    Repeats of a case stay independent: they share an allocation only where another one would have the same
    nodes. A block is a task of its own.

    Parameters
    ----------
    places : how many jobs the queue takes, by system; runs without a place are left out
    alone : names of jobs that are submitted by themselves
    pack, largest : how many runs may be one job, and tasks one array
    """
    alike: dict[object, list[list[Run]]] = {}  # packs by request
    by_shape = grouped(runs, lambda run: shares_steps(run, scheduler))
    together = grouped(
        by_shape.get(False, []), lambda run: (run.block, run.repeat if run.block else run.identity)
    )
    for block in together.values():
        system, is_alone = block[0].job.system, any(run.job_name in alone for run in block)
        packs = alike.setdefault(block[0].job_name if is_alone else request(block), [])
        if (shared := _fitting(packs, block[0], pack(block[0]))) is not None:
            shared += block
        elif places[system.defined] > 0:
            places[system.defined] -= 1
            packs.append(block)
    batches: list[Batch] = []
    for packs in alike.values():
        tasks = tuple(map(tuple, packs))
        size = largest if scheduler.task else 1
        batches += [Batch(tasks[first : first + size]) for first in range(0, len(tasks), size)]
    return batches + rounds_of(by_shape.get(True, []), places)


def shares_steps(run: Run, scheduler: Scheduler) -> bool:
    """Whether a run is measured beside others in a step of a job."""
    return run.each is not None and not run.each.alone and scheduler.rounds is not None


def whole_group(run: Run) -> tuple[str, str]:
    """The system and the host group that a run of `each` is about, with whichever MPI library."""
    assert run.draft.whole is not None
    return run.draft.whole.machine


def states_file(run: Run) -> Path:
    """The file with the scheduler's states of the nodes of a run's whole host group."""
    return states_path(run.campaign_folder, whole_group(run), run.job.system.scheduler)


def rounds_of(runs: Iterable[Run], places: Counter[str]) -> list[Batch]:
    """A job for the rounds of each host group that are due; more where it would have too many nodes."""
    batches = []
    of_groups = grouped(runs, lambda run: (*whole_group(run), run.each and run.each.nodes_per_job))
    for several in of_groups.values():
        system, members = several[0].job.system.defined, several[0].each
        for part in _slices(several, members.nodes_per_job if members else None):
            if places[system] > 0:
                places[system] -= 1
                batches.append(Batch((tuple(part),), rounds=True))
    return batches


def steps_of(runs: Iterable[Run]) -> list[list[Run]]:
    """The runs that are started at once, in the order of the rounds: no more than the campaign allows."""
    steps = []
    in_order = sorted(runs, key=lambda run: (run.round, run.place))
    of_rounds = grouped(in_order, lambda run: (run.round, run.draft.whole))
    for several in of_rounds.values():
        at_once = (several[0].each and several[0].each.at_once) or len(several)
        count = -(-len(several) // at_once)
        steps += [several[number::count] for number in range(count)]
    return steps


def _slices(runs: Sequence[Run], most: int | None) -> list[list[Run]]:
    """The runs by jobs of at most so many nodes: of nodes all rounds, of pairs a round or a part of it."""
    if most is None:
        return [list(runs)]
    members = grouped(runs, lambda run: (run.round if run.job.placement.nodes > 1 else 0, run.job.hosts))
    slices: list[list[Run]] = []
    for of_round in grouped(members, lambda member: member[0]).values():
        count = -(-len(of_round) * len(of_round[0][1]) // most)
        slices += [[run for member in of_round[n::count] for run in members[member]] for n in range(count)]
    return slices


def _fitting(packs: Iterable[list[Run]], run: Run, size: int) -> list[Run] | None:
    if run.block or size == 1:
        return None
    same_nodes, case = run.job.keeps_nodes, run.case
    free = (pack for pack in packs if len(pack) < size)
    return next((pack for pack in free if same_nodes or all(run.case != case for run in pack)), None)


def request(block: Sequence[Run]) -> tuple[object, ...]:
    """What the job of a run or a block asks for; a system and a host group have the same directives for all.

    The MPI libraries of a system share blocks, and no packs.
    """
    run, shared = block[0], len(block) if block[0].block else 0
    names = run.case.machine if shared else (run.job.system.name, run.job.group.name)
    asked = (run.job.hosts, shared, run.job.placement.nodes, *widest(block), minutes(run.time_limit))
    return (*names, *asked)


def runs_in_queue(jobs: Iterable[QueuedJob], campaign_folder: Path) -> list[QueuedJob]:
    """The jobs by run: a job of a batch once for each of its runs, by the name that the run's own job has.

    Raises
    ------
    UnreadableError
        where a task has no number, so that the runs in the queue are unknown.
    """
    tasks: dict[str, list[list[str]]] = {}
    by_run: list[QueuedJob] = []
    for job in jobs:
        match = _NAME.fullmatch(job.name)
        if match is None:
            by_run.append(job)
            continue
        if job.name not in tasks:
            tasks[job.name] = _tasks(campaign_folder / FOLDER / f"{job.name}.runs", match["token"])
        by_run += [job._replace(name=name) for name in _of_task(job, tasks[job.name])]
    return by_run


def _tasks(file: Path, token: str) -> list[list[str]]:
    """The names of the runs' jobs by task; none where the batch is of another campaign."""
    lines = text_or_nothing(file).splitlines()
    return [[job_name_of(Path(path), token) for path in line.split("\t")] for line in lines]


def _of_task(job: QueuedJob, tasks: Sequence[list[str]]) -> list[str]:
    if not tasks:
        return [job.name]
    _, array, index = job.id.partition("_")
    if array and not (index.isdecimal() and 1 <= int(index) <= len(tasks)):
        raise UnreadableError(f"job {job.id} is not a single task of its array")
    return tasks[int(index) - 1] if array else [name for task in tasks for name in task]
