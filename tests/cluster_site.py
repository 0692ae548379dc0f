"""A user's clone on the test cluster, with a campaign of trivial jobs that follow a test's instructions."""

from __future__ import annotations

import re
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from build_campaigns import write_jobs
from conftest import ProjectCopy, copy_project, executable
from minicluster import USER_PATH, MiniCluster

from mpicampaign.base.records import Record

OUTPUT = r"# OSU MPI Latency Test v7.4\n# Size Latency (us)\n1 0.50\n"
# The program stands for a benchmark: rank 0 prints a table after a while, or does what the test asks.
PROGRAM = f"""#!/bin/bash
[ "$SLURM_PROCID" = 0 ] || exit 0
{{body}}
printf '{OUTPUT}'
"""
# One rank only, past Slurm.
LAUNCH = '#!/bin/bash\nshift 4\nexport PMI_RANK=0 MPI_LOCALRANKID=0 SLURM_PROCID=0\nexec "$@"\n'
# How long a call waits between two looks at the queue, and for files of ended jobs or a full disk: a real
# site's patience would be most of a test's time.
PATIENCE = {
    "run/cluster.py": {
        "FIRST_WAIT, LONGEST_WAIT, BACK_OFF = 2.0, 60.0, 1.5": (
            "FIRST_WAIT, LONGEST_WAIT, BACK_OFF = 0.5, 4.0, 1.5"
        )
    },
    "run/cluster_jobs.py": {
        "GRACE_SECONDS = 30.0": "GRACE_SECONDS = 5.0",
        "CUT_SECONDS = 180.0": "CUT_SECONDS = 20.0",
    },
    "run/faults.py": {"SECONDS_BETWEEN_WRITES = 10.0": "SECONDS_BETWEEN_WRITES = 2.0"},
}
# Whoever starts pytest may ignore signals that a test sends to a call.
DEFAULT_SIGNALS = ("env", "--default-signal=INT,QUIT")
# SIGNAL ACTION COUNT COMMAND...: sends the signal to the command and its children when submissions.txt has
# COUNT more lines with this action ("" for any), or there are so many more results (action "result"), however
# long its start takes.
KILLER = """
import os, pathlib, signal, subprocess, sys, time
number, action, more, *command = sys.argv[1:]
folder = pathlib.Path("results/jobs")
log = folder / "submissions.txt"
lines = lambda: log.read_text().count(f" {action} " if action else "\\n") if log.exists() else 0
results = lambda: len([*folder.glob("runs/*/*/*/*/result.txt")])
count = results if action == "result" else lines
before = count()
process = subprocess.Popen(command, start_new_session=True)
while process.poll() is None and count() < before + int(more):
    before = min(before, count())  # a tick that begins a series begins a log
    time.sleep(0.01)
try:
    os.killpg(process.pid, int(number))
except ProcessLookupError:
    pass  # it has ended
sys.exit(process.wait())
"""


def killed_after(action: str, number: signal.Signals, count: int = 1) -> tuple[str, ...]:
    """Prefix of a call to be killed when ``count`` were ``submitted``, ``adopted``, or had a ``result``."""
    return (sys.executable, "-c", KILLER, str(int(number)), action, str(count))


class Site:
    """A user's clone on the cluster's shared file system, and how the user calls it."""

    def __init__(self, cluster: MiniCluster, name: str = "project") -> None:
        self.cluster = cluster
        self.project: ProjectCopy = copy_project(cluster.folder / name)
        self.folder = self.project.folder
        for module, changes in PATIENCE.items():
            shorten_waits(self.folder / "src/mpicampaign" / module, changes)
        self.commands = self.folder / "bin"
        self.environment: Mapping[str, str] = {}
        self.done = CompletedProcess[str]([], -1)

    def write(self, body: str = "", **changes: Any) -> None:
        """Write jobs.yaml and its programs; ``changes``: as `build_campaigns.write_campaign` takes them."""
        executable(self.folder / "program", PROGRAM.format(body=body))
        executable(self.folder / "launch", LAUNCH)
        keys = {"system": {"launcher": "srun"}, **changes}
        write_jobs(self.folder, **{**keys, "system": {"scheduler": "slurm", **keys["system"]}})
        self.cluster.give(self.folder)

    def replace(self, command: str, text: str) -> None:
        """Put a shell script before the scheduler's command of that name, to count or to disturb."""
        executable(self.commands / command, f"#!/bin/bash\n{text}\n")
        self.cluster.give(self.folder)

    def call(
        self, *arguments: str, before: tuple[str, ...] = (), timeout: float = 300
    ) -> CompletedProcess[str]:
        return self.command(*arguments, "--campaign", "jobs.yaml", before=before, timeout=timeout)

    def tick(self, before: tuple[str, ...] = ()) -> CompletedProcess[str]:
        return self.command("tick", "jobs.yaml", before=before)

    def command(
        self, *arguments: str, before: tuple[str, ...] = (), timeout: float = 300
    ) -> CompletedProcess[str]:
        command = [*DEFAULT_SIGNALS, *before, sys.executable, "-m", "mpicampaign.cli", *arguments]
        environment = {**self.environment, "PYTHONPATH": str(self.folder / "src")}
        environment["PATH"] = f"{self.commands}:{USER_PATH}"
        return self.cluster.call(command, cwd=self.folder, timeout=timeout, env=environment)

    def run(self, before: tuple[str, ...] = (), timeout: float = 300) -> CompletedProcess[str]:
        return self.call("run", before=before, timeout=timeout)

    def scripts(self) -> list[Path]:
        return [Path(line) for line in self.call("render").stdout.splitlines()]

    def records(self, campaign: str = "jobs") -> list[Record]:
        return self.project.records(campaign)

    def submissions(self) -> Counter[str]:
        """How often a job of each name was submitted, from the scheduler's log of ended jobs."""
        scripts = self.folder.glob("results/jobs/runs/*/*/*/*/job.sh")
        names = {name_of_job(script) for script in scripts}
        jobs = {job["JobId"]: job for job in self.cluster.completed_jobs()}
        return Counter(name for job in jobs.values() for name in self.runs_of(job) if name in names)

    def runs_of(self, job: Mapping[str, str]) -> list[str]:
        """The names of the runs' own jobs for a job in Slurm's log of ended jobs, which may be of a batch.

        Only the controller's log says which task of which array the job was.
        """
        batch = self.folder / f"results/jobs/batches/{job['Name']}.runs"
        if not batch.exists():
            return [job["Name"]]
        tasks = [line.split("\t") for line in batch.read_text().splitlines()]
        index = 1
        if len(tasks) > 1:
            found = re.search(rf"JobId=\d+_(\d+)\({job['JobId']}\)", self.cluster.controller_log())
            assert found, job
            index = int(found[1])
        return [name_of_job(self.folder / "results/jobs" / path / "job.sh") for path in tasks[index - 1]]

    def submitted_while_alive(self) -> list[str]:
        """Jobs that were submitted though an earlier one of the run was alive or had succeeded.

        From the scheduler's log of ended jobs: of a run each job but the last must have failed before the
        next one was submitted.
        """
        jobs = {int(job["JobId"]): job for job in self.cluster.completed_jobs()}
        by_name: dict[str, list[dict[str, str]]] = {}
        for number in sorted(jobs):
            for name in self.runs_of(jobs[number]):
                by_name.setdefault(name, []).append(jobs[number])
        pairs = (pair for several in by_name.values() for pair in pairwise(several))
        return [
            f"{later['JobId']} after {job['JobId']} {job['JobState']}"
            for job, later in pairs
            if job["JobState"] == "COMPLETED" or job["EndTime"] > later["SubmitTime"]
        ]

    def submit(self, script: Path, *options: str) -> str:
        """Submit a script by hand; the job's id."""
        done = self.cluster.call(["sbatch", "--parsable", *options, str(script)], cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def start_now(self, number: str) -> None:
        """Start a job that waits for a time."""
        self.cluster.administer(["scontrol", "update", f"JobId={number}", "StartTime=now"])

    def states(self) -> dict[str, str]:
        return self.cluster.queue()


def shorten_waits(module: Path, changes: Mapping[str, str]) -> None:
    text = module.read_text()
    for long, short in changes.items():
        assert text.count(f"\n{long}") == 1, long
        text = text.replace(f"\n{long}", f"\n{short}")
    module.write_text(text)


def name_of_job(script: Path) -> str:
    """The job name in a script's directive."""
    found = re.search(r"^#SBATCH --job-name=(\S+)$", script.read_text(), re.MULTILINE)
    assert found
    return found[1]
