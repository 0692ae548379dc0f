"""Every node of 1,024 and every pair of 64: planned, run in one job a look, collected, answered.

The scheduler is a stand-in (``stand_in_scheduler.py``): no node exists, one of them is slow. Beside it the
same nodes as a host group each, which is what a user has without ``each``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import NamedTuple

from common import PROJECT, ProjectCopy, line, project_copy, title, usually
from stand_in_scheduler import COMMANDS, SLOW, finish

sys.path.insert(0, str(PROJECT / "tests"))
from machine_records import Nodes, Pairs

from mpicampaign.compare.compare import compare
from mpicampaign.records import Record
from mpicampaign.show.machine import machine_items
from mpicampaign.show.summary import summary

NODES, IN_PAIRS = usually((1024, 64), smallest=(30, 8))
MEASURED = usually({"node": NODES, "pair": IN_PAIRS}, smallest={"pair": IN_PAIRS})
BESIDE = usually(256, smallest=8)
ROUNDS, SWEEPS = 20, 8  # of records
PLAN, ANALYSIS, PAGE = 3.0, 10.0, 3.0  # s, s, MB
CAMPAIGN = """\
campaign: machine
time_limit: 30 s
busy_machine: rank
mpis: {{none: {{launcher: hydra, command: {program}, transports: {{}}}}}}
systems: {{cluster: {{scheduler: slurm, mpi: none, evidence: off}}}}
host_groups:
{groups}
placements:
  node: &any {{nodes: 1, ranks_per_node: 2, transport: any, binding: none}}
  pair: {{<<: *any, nodes: 2, ranks_per_node: 1}}
benchmarks:
  latency: {{suite: osu, program: program, provider: {{kind: path, location: {program}}}}}
matrix:
  - {{host_groups: [{names}], benchmarks: latency, placements: {placement}, {further}}}
"""
GROUP = "  {}: {{system: cluster, hosts: '{}', cores: 8, exclusive: true}}"


class Used(NamedTuple):
    """CPU seconds, with all that was started and ended, and megabytes of the largest process."""

    cpu: float
    peak: float


def main() -> None:
    """Prints a line for each stage."""
    _of_records(f"{NODES} nodes x {ROUNDS} rounds", _rounds_of_nodes())
    _of_records(f"{IN_PAIRS * (IN_PAIRS - 1) // 2} pairs x {SWEEPS} sweeps", _sweeps_of_pairs())
    for unit, count in MEASURED.items():
        _whole(f"{'all pairs of ' if unit == 'pair' else ''}{count} nodes", _range(count), unit)
    _beside()


# Records to text


def _rounds_of_nodes() -> list[Record]:
    machine = Nodes(_names(NODES), SLOW)
    return [run for number in range(1, ROUNDS + 1) for run in machine.round(number, machine.nodes)]


def _sweeps_of_pairs() -> list[Record]:
    machine = Pairs(_names(IN_PAIRS), SLOW)
    return [run for sweep in range(SWEEPS) for run in machine.sweep(1 + sweep * (IN_PAIRS - 1))]


def _of_records(what: str, records: Sequence[Record]) -> None:
    title(f"The whole machine: {what}, records to text")
    begin = process_time()
    comparison = compare(records)
    lead = summary(comparison).lead
    said = [text for machine in comparison.machines for text in machine_items(machine)]
    line("CPU time", [process_time() - begin], ANALYSIS)
    _check(lead, f"{len(said)} sentences")


# The whole way


def _whole(what: str, hosts: str, unit: str) -> None:
    title(f"The whole machine: {what}, from the campaign file to the page")
    with project_copy() as project:
        file = _write(project.folder, {"all": hosts}, unit, f"each: {unit}")
        _stage(project, "plan", "plan", file, limit=PLAN)
        text = _stage(project, "run, to the answer", "run", file, "--profile", "cluster")[1]
        _stage(project, "plan, with results", "plan", file, limit=PLAN)
        _stage(project, "report, nothing has changed", "report", file)
        _check(text, f"{_answer(text)}; {text.count('runs: ')} submissions")
        page = file.parent / "results/machine/report.html"
        line("page", [page.stat().st_size / 1e6], PAGE, "MB")


def _beside() -> None:
    """The screen of some nodes, planned and reported; as a host group each, too."""
    names = _names(BESIDE)
    title(f"The whole machine: {BESIDE} nodes, two runs each")
    found = []
    for what, groups, further in (
        ("each: node", {"all": _range(BESIDE)}, "each: node"),
        ("host groups", {f"g{name}": name for name in names}, "repeats: 2"),
    ):
        with project_copy() as project:
            file = _write(project.folder, groups, "node", further)
            _measured(project, project.mpicampaign("render", "--campaign", file))
            for claim in project.folder.glob("results/machine/runs/*/*/*/*/claim"):
                finish(claim.parent, [claim.parts[-5].removeprefix("g")], datetime.now(UTC))
            planned = _stage(project, f"plan, {what}", "plan", file)[0]
            reported = _stage(project, f"report, {what}", "report", file)[0]
            page = project.folder / "results/machine/report.html"
            line("  page", [page.stat().st_size / 1e6], unit="MB")
            found.append(planned.cpu + reported.cpu)
    line("plan and report: times ours", [found[1] / found[0]], unit="x")


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


def _write(folder: Path, groups: dict[str, str], placement: str, further: str) -> Path:
    """A campaign, and the stand-in under the names of Slurm's commands."""
    commands = folder / "bin"
    commands.mkdir()
    for name in COMMANDS:
        (commands / name).symlink_to(Path(__file__).with_name("stand_in_scheduler.py"))
    program = commands / "program"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    listed = "\n".join(GROUP.format(*each) for each in groups.items())
    values = {"program": program, "names": ", ".join(groups), "placement": placement, "further": further}
    file = folder / "machine.yaml"
    file.write_text(CAMPAIGN.format(groups=listed, **values), encoding="utf-8")
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


def _names(count: int) -> list[str]:
    return [f"n{number:04}" for number in range(1, count + 1)]


def _range(count: int) -> str:
    return f"n[0001-{count:04}]"


if __name__ == "__main__":
    main()
