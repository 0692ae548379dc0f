"""Common to all benchmarks: measuring in turn, medians, ranges, ratios."""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mpicampaign.statistics.medians import Summary, summarise

PROJECT = Path(__file__).resolve().parents[1]
PARTS = (
    *("Snakefile", "workflow", "templates", "kernels", "reference", "src", "profiles", "cluster"),
    "campaign.yaml",
)
BOUND = 'exec numactl --physcpubind="$MPI_LOCALRANKID" --localalloc "$@"'

T = TypeVar("T")
# A checkout of an earlier state of the project, with which this one is compared
EARLIER = [Path(each) for each in [os.environ.get("MPICAMPAIGN_BENCH_EARLIER")] if each]
SMALLEST = bool(os.environ.get("MPICAMPAIGN_BENCH_SMALLEST"))


def usually(usual: T, *, smallest: T) -> T:
    """The usual number; the smallest one shows only that a benchmark still runs (tests/test_bench.py)."""
    return smallest if SMALLEST else usual


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a command: wall-clock seconds, and CPU seconds including all its children."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class ProjectCopy:
    """A copy of the project in a temporary folder, with its own results."""

    folder: Path

    def call(self, *command: str | Path) -> str:
        """The output of a command of this copy; exits if it fails."""
        return output_of(*command, cwd=self.folder, env=self.environment())

    def cost(self, *command: str | Path) -> Cost:
        """The cost of a command of this copy."""
        before, begin = _cpu_of_children(), time.perf_counter()
        self.call(*command)
        return Cost(time.perf_counter() - begin, _cpu_of_children() - before)

    def mpicampaign(self, *arguments: str | Path) -> list[str]:
        """The command line of this copy's mpicampaign."""
        return [sys.executable, "-m", "mpicampaign.cli", *map(str, arguments)]

    def snakemake(self, *arguments: str | Path) -> list[str]:
        """The command line of the environment's Snakemake."""
        return [sys.executable, "-m", "snakemake", *map(str, arguments)]

    def forget(self) -> None:
        """Remove all results and Snakemake's record of them; builds stay."""
        for name in ("results", ".snakemake"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        """That of its commands; as in an installation, modules are compiled once."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        changed = {"PYTHONPATH": str(self.folder / "src"), "PATH": path, "PYTHONDONTWRITEBYTECODE": ""}
        return {**os.environ, **changed}


@contextmanager
def project_copy(project: Path = PROJECT) -> Iterator[ProjectCopy]:
    """A copy of the project, removed afterwards."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "project"
        folder.mkdir()
        for part in PARTS:
            copy = shutil.copytree if (project / part).is_dir() else shutil.copy
            copy(project / part, folder / part)
        yield ProjectCopy(folder)


@contextmanager
def project_copies() -> Iterator[list[ProjectCopy]]:
    """A copy of the project, and of its earlier state where one is named: both are measured in turn."""
    with ExitStack() as stack:
        yield [stack.enter_context(project_copy(project)) for project in (PROJECT, *EARLIER)]


def beside_earlier(what: str, of_copies: Sequence[Sequence[float]]) -> None:
    """One row: cost of this project divided by that of its earlier state, where one is named."""
    for earlier in of_copies[1:]:
        ratio(f"{what}: times that of the earlier state", earlier, of_copies[0])


def wheel_mpi() -> dict[str, str]:
    """The environment for the wheel's mpicc, mpirun and IMB: unpinned, over shared memory."""
    settings = {"I_MPI_ROOT": sys.prefix, "LD_LIBRARY_PATH": f"{sys.prefix}/lib", "I_MPI_FABRICS": "shm"}
    path = f"{sys.prefix}/bin:{os.environ['PATH']}"
    return {**os.environ, **settings, "I_MPI_PIN": "off", "PATH": path}


def two_bound_ranks(*program: str | Path) -> str:
    """Standard output of two ranks of the wheel's MPI, each bound to a processor and its memory."""
    command = ["mpirun", "-n", "2", "bash", "-c", BOUND, "bound", *program]
    return subprocess.run(command, env=wheel_mpi(), capture_output=True, text=True, check=True).stdout


def output_of(*command: object, **options: Any) -> str:
    """The output of a command; exits if it fails."""
    tokens = [str(token) for token in command]
    done = subprocess.run(tokens, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(tokens)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(action: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def alternate(rounds: int, *actions: Callable[[], object]) -> list[list[float]]:
    """Seconds of each action, measured in turn (A B A B …) so that drift of the machine affects all."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds):
        for found, action in zip(times, actions, strict=True):
            found.append(seconds(action))
    return times


def title(text: str) -> None:
    """The heading of a benchmark."""
    print(f"\n{text}", flush=True)


def line(
    what: str,
    values: Sequence[float],
    limit: float | None = None,
    unit: str = "s",
    least: float | None = None,
) -> None:
    """One row: median and range over the rounds, and the limit: at most, or at least."""
    middle = statistics.median(values)
    text = f"  {what:<66} {middle:8.3f} {unit:<4} [{min(values):.3f}, {max(values):.3f}]"
    if limit is not None:
        text += f"  limit {limit:g} {unit}: {'reached' if middle <= limit else 'MISSED'}"
    if least is not None:
        text += f"  at least {least:g} {unit}: {'reached' if middle >= least else 'MISSED'}"
    print(text, flush=True)


def ratio(what: str, values: Sequence[float], other: Sequence[float]) -> None:
    """One row: cost of the alternative divided by ours, round by round."""
    ratios = [b / a for a, b in zip(values, other, strict=True)]
    line(what, ratios, unit="×")


def _agreement(found: Summary, limit: float) -> str:
    """Met only if the whole interval lies inside."""
    if abs(found.median - 1) > limit:
        return "MISSED"
    interval = found.interval
    shown = interval and 1 - limit <= interval.low and interval.high <= 1 + limit
    return "reached" if shown else "median inside, interval not: not shown"


def paired(what: str, ours: Sequence[float], theirs: Sequence[float], limit: float | None = None) -> None:
    """One row: ours / theirs, pair by pair: the median ratio, its order-statistic interval, the limit."""
    found = summarise([a / b for a, b in zip(ours, theirs, strict=True)])
    text = f"  {what:<58} {found.median:6.3f} ×"
    if found.interval:
        low, high, coverage = found.interval.low, found.interval.high, found.interval.coverage
        text += f"  [{low:.3f}, {high:.3f}] ({coverage:.1%} of {found.n} pairs)"
    if limit is not None:
        text += f"  limit ±{limit:.0%}: {_agreement(found, limit)}"
    print(text, flush=True)


def build_kernel(name: str, mpicc: str, folder: Path, environment: dict[str, str]) -> Path:
    """A bundled kernel, built with the compiler wrapper of an MPI library."""
    program = folder / name
    command = ["make", "-s", "-C", PROJECT / "kernels", f"MPICC={mpicc}", f"BUILD={folder}", program]
    subprocess.run(command, env=environment, check=True)
    return program
