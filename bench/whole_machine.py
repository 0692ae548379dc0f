"""Every node of 1,024 and every pair of 64: planned, run in one job a look, collected, answered.

The scheduler is a stand-in (``stand_in_scheduler.py``): no node exists, one of them is slow. All pairs of a
large machine alone: ``bench/run_all whole_machine --node 0 --pair 5000``
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from common import PROJECT, options, title, usually
from stand_in_scheduler import COMMANDS, SLOW

NODES, IN_PAIRS = usually((1024, 64), smallest=(0, 8))
PARTS = ("workflow", "templates", "kernels", "reference", "src", "profiles")
PLAN, PAGE = 3.0, 3.0  # s, MB
CAMPAIGN = """\
campaign: machine
time_limit: 30 s
busy_machine: rank
mpis: {{none: {{launcher: hydra, command: {program}, transports: {{}}}}}}
systems: {{cluster: {{scheduler: slurm, mpi: none, evidence: off}}}}
host_groups: {{all: {{system: cluster, hosts: '{hosts}', cores: 8, exclusive: true}}}}
placements:
  node: &any {{nodes: 1, ranks_per_node: 2, transport: any, binding: none}}
  pair: {{<<: *any, nodes: 2, ranks_per_node: 1}}
benchmarks:
  latency: {{suite: osu, program: program, provider: {{kind: path, location: {program}}}}}
matrix:
  - {{host_groups: all, benchmarks: latency, placements: {unit}, each: {unit}}}
"""


def main(arguments: Sequence[str] = ()) -> None:
    """Prints a line for each stage."""
    for unit, count in vars(options(__doc__, arguments, node=NODES, pair=IN_PAIRS)).items():
        if count:
            measure(f"{'pairs of ' if unit == 'pair' else ''}{count} nodes", f"n[0001-{count:04}]", unit)


def measure(what: str, hosts: str, unit: str) -> None:
    title(f"The whole machine: {what}, from the campaign file to the page")
    with tempfile.TemporaryDirectory() as temporary:
        project = Path(temporary).resolve() / "project"
        for part in PARTS:
            shutil.copytree(PROJECT / part, project / part)
        file = write_campaign(project, hosts, unit)
        stage(project, "plan", "plan", file, PLAN)
        text = stage(project, "run, to the answer", "run", file)
        jobs = "".join(times.read_text(encoding="utf-8") for times in project.glob("bin/times-*"))
        used = (60 * int(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", jobs))
        line("  beside it, the stand-in's jobs", sum(used), "s")
        stage(project, "plan, with results", "plan", file, PLAN)
        stage(project, "report, nothing has changed", "report", file)
        check(text)
        page = file.parent / "results/machine/report.html"
        line("page", page.stat().st_size / 1e6, "MB", PAGE)


def line(what: str, value: float, unit: str, limit: float | None = None) -> None:
    verdict = f"  limit {limit:g} {unit}: {'reached' if value <= limit else 'MISSED'}" if limit else ""
    print(f"  {what:<40} {value:8.3f} {unit}{verdict}", flush=True)


def check(text: str) -> None:
    """Exits unless the slow node alone is named."""
    answer = next((answer for answer in text.splitlines() if " slow: " in answer), "")
    print(f"  {answer}; {text.count('runs: ')} submissions")
    if f"is slow: {next(iter(SLOW))} " not in text:
        raise SystemExit(f"the slow node is not named: {text[:500]}")


def write_campaign(folder: Path, hosts: str, unit: str) -> Path:
    """A campaign, and the stand-in under the names of Slurm's commands."""
    commands = folder / "bin"
    commands.mkdir()
    for name in COMMANDS:
        (commands / name).symlink_to(Path(__file__).with_name("stand_in_scheduler.py"))
    program = commands / "program"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    file = folder / "machine.yaml"
    file.write_text(CAMPAIGN.format(program=program, hosts=hosts, unit=unit), encoding="utf-8")
    return file


def stage(project: Path, what: str, command: str, file: Path, limit: float | None = None) -> str:
    """What a command prints; its line: CPU seconds with all that it started, and the largest process."""
    path = f"{project}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    settings = {"PYTHONPATH": str(project / "src"), "PATH": path, "MPICAMPAIGN_STATES": "off"}
    call = [sys.executable, "-m", "mpicampaign.cli", command, "--campaign", str(file)]
    printed = project / "printed.txt"
    with printed.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            call, cwd=project, env={**os.environ, **settings}, stdout=output, stderr=output
        )
        _, status, used = os.wait4(process.pid, 0)
    text = printed.read_text(encoding="utf-8")
    if status:
        raise SystemExit(f"mpicampaign {command} failed:\n{text[-3000:]}")
    line(what, used.ru_utime + used.ru_stime, "s", limit)
    line("  largest process", used.ru_maxrss / 1024, "MB")
    return text


if __name__ == "__main__":
    main(sys.argv[1:])
