"""Probe jobs: one short job for each host group, with a limit on the wait; none stays in the queue."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from mpicampaign.base.commands import call
from mpicampaign.base.errors import UnreadableError
from mpicampaign.base.host_lists import short
from mpicampaign.base.places import shipped
from mpicampaign.base.units import format_duration
from mpicampaign.base.yaml_lines import printable
from mpicampaign.run.scheduler_calls import Query, caller
from mpicampaign.schedulers import BatchScheduler
from mpicampaign.schedulers.listings import IN_THE_QUEUE, RUNNING, QueuedJob
from mpicampaign.site.facts import NodeGroup
from mpicampaign.site.probe import read_probe

SCRIPT = shipped("templates/doctor/probe.sh")
SECONDS_FOR_SHARED_FILES = 5.0  # a file written on a node may appear late on the login node
SECONDS_BETWEEN_LOOKS = (0.2, 5.0)  # the first and the longest


@dataclass(slots=True)
class _Job:
    number: str
    output: Path
    log: Path
    queued: QueuedJob | None = None  # as the scheduler last listed it
    ended: float | None = None  # since when the scheduler says so
    cancelled: bool = False


def probe_here(group: NodeGroup) -> NodeGroup:
    """The group of this machine, with what it offers."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "probe.txt"
        answer = call(["bash", *_arguments(output)])
        return _with_output(group, output, answer.failure)


def probe_groups(
    groups: Sequence[NodeGroup], scheduler: BatchScheduler, near: Path, seconds: float
) -> list[NodeGroup]:
    """The groups with what their nodes offer, or why that is not known.

    Jobs write to a temporary folder in ``near``, which nodes must see. Those without an answer after so many
    seconds are cancelled.
    """
    folder = Path(tempfile.mkdtemp(prefix=".doctor-", dir=near.resolve()))
    probes = _Probes(scheduler, folder)
    try:
        for group in groups:
            probes.submit(group)
        probes.wait(seconds)
        probes.cancel()
        return [probes.result(group, seconds) for group in groups]
    finally:
        with _no_second_ctrl_c():
            probes.cancel()
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _no_second_ctrl_c() -> Iterator[None]:
    """A second Ctrl-C must not leave jobs in the queue."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Probes:
    def __init__(self, scheduler: BatchScheduler, folder: Path) -> None:
        self.scheduler, self.call = scheduler, caller(scheduler)
        self.query = Query(scheduler, self.call)
        self.folder = folder
        self.jobs: dict[str, _Job] = {}
        self.refused: dict[str, str] = {}

    def submit(self, group: NodeGroup) -> None:
        if not group.nodes.usable:
            self.refused[group.name] = "none of its nodes can be used now"
            return
        output, log = self.folder / f"{group.name}.txt", self.folder / f"{group.name}.log"
        name = f"mpicampaign-doctor-{group.name}"
        answer = self.call(self.scheduler.probe(group.nodes, name, str(log), _arguments(output)))
        number = "" if answer.failure else self.scheduler.read_submitted(answer.out)
        if number:
            self.jobs[group.name] = _Job(number, output, log)
        else:
            printed = printable(answer.out.strip())[:200]
            self.refused[group.name] = answer.failure or f"{answer.name} printed no job number: {printed!r}"

    @property
    def open(self) -> list[_Job]:
        """The jobs that may still answer."""
        now = time.monotonic()
        return [
            job
            for job in self.jobs.values()
            if not job.output.exists() and (job.ended is None or now - job.ended < SECONDS_FOR_SHARED_FILES)
        ]

    def wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        pause, longest = SECONDS_BETWEEN_LOOKS
        while self.open and time.monotonic() < deadline:
            time.sleep(min(pause, max(deadline - time.monotonic(), 0)))
            pause = min(pause * 1.5, longest)
            self._look()

    def _look(self) -> None:
        """Note which jobs have ended; where the scheduler does not answer, nothing changes."""
        list(self.folder.iterdir())  # makes network file systems refresh
        waiting = [job for job in self.open if job.ended is None]
        if not waiting:
            return
        jobs, _ = self.query.jobs()
        queue = {job.id: job for job in jobs}
        for job in waiting:
            job.queued = queue.get(job.number, job.queued)
            if job.queued and job.queued.state not in IN_THE_QUEUE:
                job.ended = time.monotonic()

    def cancel(self) -> None:
        """Cancel each of our jobs that has not ended, once, by its number."""
        for job in self.jobs.values():
            if job.ended is None and not job.cancelled and not job.output.exists():
                job.cancelled = True
                self.call([self.scheduler.cancel, job.number])

    def result(self, group: NodeGroup, seconds: float) -> NodeGroup:
        if group.name in self.refused:
            return replace(group, unknown=self.refused[group.name])
        job = self.jobs[group.name]
        return _with_output(group, job.output, self._absence(job, seconds))

    def _absence(self, job: _Job, seconds: float) -> str:
        """Why a job left no output."""
        states = [job.queued.native_state, job.queued.reason] if job.queued else ["unknown"]
        state = printable(", ".join(filter(None, states)))
        if job.ended is None:
            verb = "ended" if job.queued and job.queued.state == RUNNING else "started"
            limit = format_duration(seconds)
            return f"probe job {job.number} had not {verb} after {limit} ({state}) and was cancelled"
        ended = f"probe job {job.number} ended ({state})"
        if job.log.exists():
            lines = job.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            return f"{ended} without output: {printable(lines[-1])[:200] if lines else 'its log is empty'}"
        folder = printable(str(self.folder.parent))
        return f"{ended}, and its output is not seen in {folder}: is that folder shared with the nodes?"


def _with_output(group: NodeGroup, output: Path, absence: str) -> NodeGroup:
    try:
        probe = read_probe(output.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return replace(group, unknown=absence)
    except (OSError, UnreadableError) as error:
        return replace(group, unknown=str(error))
    # another node of the queue; a host may have other names than the scheduler's
    nodes = group.nodes
    if short(probe.host) in {short(node.name) for node in nodes.others} - set(map(short, nodes.names)):
        return replace(group, unknown=f"the probe job ran on {probe.host}, which is not one of these nodes")
    return replace(group, probe=probe, seen_on=(probe.host,))


def _arguments(output: Path) -> list[str]:
    return [str(SCRIPT), str(output), str(Path(sys.prefix) / "bin" / "mpirun")]
