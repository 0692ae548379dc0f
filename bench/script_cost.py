"""One local job script with an empty launch, compared with the bare launch in a shell; and its processes."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import outputs
from common import line, seconds, title, usually
from workloads import write_trivial

from mpicampaign.jobs.launchers import command_tokens
from mpicampaign.jobs.prepare import prepare, write_scripts
from mpicampaign.jobs.run import Run

PAIRS = usually(60, smallest=5)
COUNTED = 5  # runs whose processes are counted
BARE = '"${@:2}" >"$1/output.txt" 2>"$1/stderr.txt"'
FORK = re.compile(r"\b(?:clone3?|v?fork)\b.* = [1-9][0-9]*$", re.MULTILINE)
PROGRAM = re.compile(r"\bexecve\b.* = 0$", re.MULTILINE)


def main() -> None:
    title(f"Job script: one local run beyond its launch, {PAIRS} pairs, in turn")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        runs = -(-(PAIRS + COUNTED) // 10) * 10  # equally many of each of the ten cases
        file = write_trivial(folder, runs, outputs.pingpong(random.Random(1)))
        prepared = prepare(file, results=folder / "results")
        write_scripts(prepared)
        measured, counted = prepared.runs[:PAIRS], prepared.runs[PAIRS : PAIRS + COUNTED]
        bare = folder / "bare"
        bare.mkdir()
        pairs = [(seconds(partial(run, each)), seconds(partial(launch, each, bare))) for each in measured]
        show(*zip(*pairs, strict=True))
        print_processes(counted, folder / "trace")


def run(script: Run, *before: str) -> None:
    """Exits unless the run has a result."""
    subprocess.run([*before, "bash", script.path], check=True, stdout=subprocess.DEVNULL)
    if not script.output.stat().st_size:
        raise SystemExit(f"{script.folder} has no output")


def launch(script: Run, folder: Path) -> None:
    """The launch of the job script, and nothing else."""
    tokens = [*command_tokens(script.job), script.program, *script.benchmark.arguments]
    subprocess.run(["bash", "-c", BARE, "bash", folder, *tokens], check=True)


def show(ours: Sequence[float], bare: Sequence[float]) -> None:
    line("one job script", [1000 * time for time in ours], unit="ms")
    line("the bare launch: bash -c", [1000 * time for time in bare], unit="ms")
    line("  beyond the launch", [1000 * (a - b) for a, b in zip(ours, bare, strict=True)], unit="ms")


def print_processes(scripts: Sequence[Run], trace: Path) -> None:
    """These include the launch itself: bash for the script, `timeout`, the launcher."""
    if shutil.which("strace") is None:
        started = [forks_meanwhile(script) for script in scripts]
        print(f"  processes of a run, from the kernel's count of all: at most {min(started)}")
        return
    follow = ("strace", "-f", "-qq", "-e", "trace=execve,clone,clone3,fork,vfork", "-o", str(trace))
    forks, programs = set(), set()
    for script in scripts:
        run(script, *follow)
        found = trace.read_text(encoding="utf-8", errors="replace")
        forks.add(len(FORK.findall(found)))
        programs.add(len(PROGRAM.findall(found)))
    print(f"  processes forked by a run: {spread(forks)}; programs started: {spread(programs)}")


def spread(counts: set[int]) -> str:
    return " to ".join(str(count) for count in sorted({min(counts), max(counts)}))


def forks_meanwhile(script: Run) -> int:
    """Processes started by anyone on this machine while the script ran, including the script."""
    before = forks_of_all()
    run(script)
    return forks_of_all() - before


def forks_of_all() -> int:
    found = re.search(r"^processes ([0-9]+)", Path("/proc/stat").read_text(encoding="utf-8"), re.MULTILINE)
    return int(found[1]) if found else 0


if __name__ == "__main__":
    main()
