"""Every node of 1,024 and every pair of 64: planned, run in one job a look, collected, answered.

The scheduler is a stand-in (``stand_in_scheduler.py``): no node exists, one of them is slow.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from common import ProjectCopy, line, project_copy, title, usually
from stand_in_scheduler import COMMANDS, SLOW

NODES, IN_PAIRS = usually((1024, 64), smallest=(30, 8))
MEASURED = usually({"node": NODES, "pair": IN_PAIRS}, smallest={"pair": IN_PAIRS})
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


class Used(NamedTuple):
    """CPU seconds, with all that was started and ended, and megabytes of the largest process."""

    cpu: float
    peak: float


def main() -> None:
    """Prints a line for each stage."""
    for unit, count in MEASURED.items():
        _whole(f"{'all pairs of ' if unit == 'pair' else ''}{count} nodes", f"n[0001-{count:04}]", unit)


def _whole(what: str, hosts: str, unit: str) -> None:
    title(f"The whole machine: {what}, from the campaign file to the page")
    with project_copy() as project:
        file = _write(project.folder, hosts, unit)
        _stage(project, "plan", "plan", file, limit=PLAN)
        text = _stage(project, "run, to the answer", "run", file)[1]
        _stage(project, "plan, with results", "plan", file, limit=PLAN)
        _stage(project, "report, nothing has changed", "report", file)
        _check(text, f"{_answer(text)}; {text.count('runs: ')} submissions")
        page = file.parent / "results/machine/report.html"
        line("page", [page.stat().st_size / 1e6], PAGE, "MB")


def _stage(
    project: ProjectCopy, name: str, command: str, file: Path, *options: str, limit: float | None = None
) -> tuple[Used, str]:
    used, text = _measured(project, project.mpicampaign(command, "--campaign", file, *options))
    line(name, [used.cpu], limit)
    line("  largest process", [used.peak], unit="MB")
    return used, text


def _answer(text: str) -> str:
    return next((said for said in text.splitlines() if " slow: " in said), "")


def _check(text: str, shown: str) -> None:
    """Exits unless the slow node alone is named."""
    print(f"  {shown}")
    if f"is slow: {next(iter(SLOW))} " not in text:
        raise SystemExit(f"the slow node is not named: {text[:500]}")


def _write(folder: Path, hosts: str, unit: str) -> Path:
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


def _measured(project: ProjectCopy, command: list[str]) -> tuple[Used, str]:
    path = f"{project.folder}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    own = {"PYTHONPATH": str(project.folder / "src"), "PATH": path, "MPICAMPAIGN_STATES": "off"}
    printed = project.folder / "printed.txt"
    with printed.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            command, cwd=project.folder, env={**os.environ, **own}, stdout=file, stderr=file
        )
        _, status, used = os.wait4(process.pid, 0)
    text = printed.read_text(encoding="utf-8")
    if status:
        raise SystemExit(f"{' '.join(command)} failed:\n{text[-3000:]}")
    return Used(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024), text


if __name__ == "__main__":
    main()
