"""Probe jobs: one short job for each host group, waited for within a bound, and never left behind."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mpicampaign.doctor.calls import call
from mpicampaign.places import shipped
from mpicampaign.site import lsf, slurm
from mpicampaign.site.facts import Group, NodeClass, NodeProbe, UnreadableError
from mpicampaign.site.probe import read_probe
from mpicampaign.units import format_duration
from mpicampaign.yaml_lines import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SCRIPT = shipped("templates/doctor/probe.sh")
SECONDS_FOR_SHARED_FILES = 5.0  # a file written on a node may show on the login node only later
SECONDS_BETWEEN_LOOKS = (0.2, 5.0)  # the first and the longest


class Scheduler(Protocol):
    """The part of slurm and lsf that probes need."""

    @property
    def WAITING(self) -> tuple[str, ...]: ...  # noqa: N802
    @property
    def RUNNING(self) -> tuple[str, ...]: ...  # noqa: N802

    def submit_command(
        self, nodes: NodeClass, job_name: str, log: str, script: Sequence[str]
    ) -> list[str]: ...
    def job_id(self, output: str) -> str: ...
    def states_command(self, jobs: Sequence[str]) -> list[str]: ...
    def read_states(self, output: str) -> dict[str, tuple[str, str]]: ...
    def cancel_command(self, job: str) -> list[str]: ...


SCHEDULERS: dict[str, Scheduler] = {"slurm": slurm, "lsf": lsf}


@dataclass(slots=True)
class _Job:
    number: str
    output: Path
    log: Path
    state: str = ""
    reason: str = ""
    ended: float | None = None  # since when the scheduler says so
    cancelled: bool = False


def probe_here(group: Group) -> Group:
    """The group that is this very machine, with what it offers."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "probe.txt"
        answer = call(["bash", *_arguments(output)])
        return _with_output(group, output, answer.failure)


def probe_groups(groups: Sequence[Group], scheduler: str, near: Path, seconds: float) -> list[Group]:
    """The groups with what their nodes offer, or the reason why that is not known.

    Jobs leave their outputs in a folder of their own in ``near``, which nodes must see; it is removed.
    Those that have not answered after so many seconds are cancelled.
    """
    folder = Path(tempfile.mkdtemp(prefix=".doctor-", dir=near.resolve()))
    probes = _Probes(SCHEDULERS[scheduler], folder)
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
    """An impatient second Ctrl-C must not leave jobs in the queue that nobody would cancel."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Probes:
    def __init__(self, scheduler: Scheduler, folder: Path) -> None:
        self.scheduler = scheduler
        self.folder = folder
        self.jobs: dict[str, _Job] = {}
        self.refused: dict[str, str] = {}

    def submit(self, group: Group) -> None:
        if not group.nodes.usable:
            self.refused[group.name] = "none of its nodes can be used now"
            return
        output, log = self.folder / f"{group.name}.txt", self.folder / f"{group.name}.log"
        name = f"mpicampaign-doctor-{group.name}"
        answer = call(self.scheduler.submit_command(group.nodes, name, str(log), _arguments(output)))
        try:
            if answer.failure:
                raise UnreadableError(answer.failure)
            self.jobs[group.name] = _Job(self.scheduler.job_id(answer.output), output, log)
        except UnreadableError as error:
            self.refused[group.name] = str(error)

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
        """What the scheduler says of the jobs; where it does not answer, all stays as it was."""
        list(self.folder.iterdir())  # network file systems look anew
        waiting = [job for job in self.open if job.ended is None]
        if not waiting:
            return
        answer = call(self.scheduler.states_command([job.number for job in waiting]))
        states = {} if answer.failure else self.scheduler.read_states(answer.output)
        for job in waiting:
            if job.number in states:
                job.state, job.reason = states[job.number]
                if job.state not in (*self.scheduler.WAITING, *self.scheduler.RUNNING):
                    job.ended = time.monotonic()

    def cancel(self) -> None:
        """Our own jobs that have not ended, each by its number, and once."""
        for job in self.jobs.values():
            if job.ended is None and not job.cancelled and not job.output.exists():
                job.cancelled = True
                call(self.scheduler.cancel_command(job.number))

    def result(self, group: Group, seconds: float) -> Group:
        if group.name in self.refused:
            return replace(group, unknown=self.refused[group.name])
        job = self.jobs[group.name]
        return _with_output(group, job.output, self._absence(job, seconds))

    def _absence(self, job: _Job, seconds: float) -> str:
        """Why a job has left no output."""
        reason = f", {printable(job.reason)}" if job.reason and job.reason != "None" else ""
        state = f"{printable(job.state) or 'unknown'}{reason}"
        if job.ended is None:
            verb = "ended" if job.state in self.scheduler.RUNNING else "started"
            limit = format_duration(seconds)
            return f"probe job {job.number} had not {verb} after {limit} ({state}) and was cancelled"
        ended = f"probe job {job.number} ended ({state})"
        if job.log.exists():
            return f"{ended} without output: {_last_line(job.log)}"
        folder = printable(str(self.folder.parent))
        return f"{ended}, and its output is not seen in {folder}: is that folder shared with the nodes?"


def _with_output(group: Group, output: Path, absence: str) -> Group:
    try:
        return replace(group, probe=_read(output))
    except FileNotFoundError:
        return replace(group, unknown=absence)
    except (OSError, UnreadableError) as error:
        return replace(group, unknown=str(error))


def _read(output: Path) -> NodeProbe:
    return read_probe(output.read_text(encoding="utf-8", errors="replace"))


def _arguments(output: Path) -> list[str]:
    return [str(SCRIPT), str(output), str(Path(sys.prefix) / "bin" / "mpirun")]


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return printable(lines[-1])[:200] if lines else "its log is empty"
