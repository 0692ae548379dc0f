"""Start-up and small campaigns beside ReFrame, and JUBE where its command is on the PATH: 10 and 100 runs.

Each tool makes the same trivial runs, one at a time without a scheduler, and a table of their latencies. Only
this project's runs record evidence and are judged by it. ReFrame gets an environment of its own.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import outputs
from common import (
    PROJECT,
    Cost,
    ProjectCopy,
    alternate,
    line,
    output_of,
    project_copies,
    ratio,
    title,
    usually,
)
from workloads import write_trivial

COUNTS = usually({10: 3, 100: 3}, smallest={10: 1})  # runs: rounds
LIMITS = {10: 1.1, 100: 5.7}  # CPU s of the whole call
ROUNDS_OF_START_UP = usually(7, smallest=1)
REFRAME = "reframe-hpc==4.10.4"
REFRAME_TEST = """\
import reframe
from reframe.utility import sanity


@reframe.simple_test
class Trivial(reframe.RunOnlyRegressionTest):
    number = parameter(range({runs}))
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "cat"
    executable_opts = ["{output}"]

    @sanity_function
    def has_values(self):
        return sanity.assert_found("#bytes", self.stdout)

    @performance_function("us")
    def latency(self):
        return sanity.extractsingle(r"^\\s+0\\s+\\d+\\s+(\\S+)", self.stdout, 1, float)
"""
JUBE_BENCHMARK = """\
name: trivial
outpath: benchmarks
parameterset: {{name: numbers, parameter: {{name: number, type: int, _: "{numbers}"}}}}
patternset: {{name: values, pattern: {{name: latency, type: float, _: "^ +0 +\\\\d+ +$jube_pat_fp"}}}}
step: {{name: run, use: numbers, do: cat {output}}}
analyser: {{name: analyse, use: values, analyse: {{step: run, file: stdout}}}}
result: {{use: analyse, table: {{name: result, style: csv, column: [number, latency]}}}}
"""


def main() -> None:
    with project_copies() as (project, *earlier), TemporaryDirectory() as temporary:
        folder = Path(temporary)
        reframe = usually(_reframe, smallest=str)()
        jube = shutil.which("jube") or ""
        start_up(project, {"ReFrame": reframe, "JUBE": jube})
        for runs, rounds in COUNTS.items():
            output = folder / "output.txt"
            output.write_text(outputs.pingpong(random.Random(1)), encoding="utf-8")
            others = {
                "ReFrame": reframe and partial(with_reframe, reframe, folder, output, runs),
                "JUBE": jube and partial(with_jube, jube, folder, output, runs),
                "its earlier state": earlier and partial(with_earlier, earlier[0], runs),
            }
            campaigns(project, runs, rounds, others)
    print("  Ramble: not measured, it has no workspace here (the `ramble` of PyPI is another program)")


def start_up(project: ProjectCopy, commands: dict[str, str]) -> None:
    title("Start-up: --version, whole processes")
    found = {name: command for name, command in commands.items() if command}
    calls = [lambda command=command: output_of(command, "--version") for command in found.values()]
    ours, *theirs = alternate(
        ROUNDS_OF_START_UP, lambda: project.call(*project.mpicampaign("--version")), *calls
    )
    line("mpicampaign", ours)
    for name, times in zip(found, theirs, strict=True):
        line(name, times)
        ratio("  times ours", ours, times)
    _say_missing(commands)


def campaigns(
    project: ProjectCopy, runs: int, rounds: int, others: dict[str, Callable[[], None] | str]
) -> None:
    title(f"Small campaigns: {runs} trivial runs, all included, in turn, ms per run")
    found = {name: call for name, call in others.items() if callable(call)}
    ours: list[Cost] = []
    again: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds):
        project.forget()
        file = write_trivial(project.folder, runs, outputs.pingpong(random.Random(1)))
        project.call(*project.mpicampaign("build", "--campaign", file))
        command = project.mpicampaign("run", "--campaign", file)
        ours.append(project.cost(*command))
        again.append(project.cost(*command).wall)
        for name, call in found.items():
            (times,) = alternate(1, call)
            theirs[name].append(1000 * times[0] / runs)
    walls = [1000 * cost.wall / runs for cost in ours]
    line("mpicampaign run, with verdicts, tables, figures and report", walls, unit="ms")
    line("  CPU time of the whole call", [cost.cpu for cost in ours], LIMITS.get(runs))
    for name, times in theirs.items():
        line(name, times, unit="ms")
        ratio("  times ours", walls, times)
    line("mpicampaign run with nothing to do (no other tool has this)", again)
    _say_missing(others)


def with_earlier(project: ProjectCopy, runs: int) -> None:
    """As ours; its kernels are built in the first round."""
    project.forget()
    file = write_trivial(project.folder, runs, outputs.pingpong(random.Random(1)))
    project.call(*project.mpicampaign("run", "--campaign", file))


def with_reframe(command: str, folder: Path, output: Path, runs: int) -> None:
    """One test at a time, as measurements need it; with its table of results."""
    test = folder / "trivial.py"
    test.write_text(REFRAME_TEST.format(runs=runs, output=output), encoding="utf-8")
    options = ("--exec-policy=serial", "--performance-report", f"--prefix={folder / 'reframe'}")
    printed = output_of(
        command, "-c", test, "-r", *options, cwd=folder, env={**os.environ, "TMPDIR": str(folder)}
    )
    _check("ReFrame", printed.count("0.29 │"), runs, printed)


def with_jube(command: str, folder: Path, output: Path, runs: int) -> None:
    """With its table of results."""
    shutil.rmtree(folder / "benchmarks", ignore_errors=True)
    file = folder / "trivial.yaml"
    numbers = ",".join(map(str, range(runs)))
    file.write_text(JUBE_BENCHMARK.format(numbers=numbers, output=output), encoding="utf-8")
    printed = output_of(command, "run", "--result", "--hide-animation", file, cwd=folder)
    _check("JUBE", printed.count(",0.29"), runs, printed)


def _check(tool: str, found: int, runs: int, printed: str) -> None:
    """Exits unless the tool's table has a value for each run."""
    if found != runs:
        raise SystemExit(f"{tool} has {found} values, not {runs}:\n{printed[-2000:]}")


def _say_missing(tools: dict[str, object]) -> None:
    for name, there in tools.items():
        if not there:
            print(f"  {name}: not measured")


def _reframe() -> str:
    """ReFrame's command in an environment of its own, made at the first call; empty if that fails."""
    folder = PROJECT / "build" / f"bench-{REFRAME.replace('==', '-')}"
    command = folder / "bin" / "reframe"
    if not command.exists():
        venv.create(folder, with_pip=True)
        install = [str(folder / "bin" / "pip"), "install", "--quiet", REFRAME]
        if subprocess.run(install, stdout=sys.stderr, check=False).returncode:
            return ""
    return str(command)


if __name__ == "__main__":
    main()
