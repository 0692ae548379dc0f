"""Common to all benchmarks: their options, launches, builds and printed rows."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from mpicampaign.statistics.medians import Summary, summarise

PROJECT = Path(__file__).resolve().parents[1]
BOUND = 'exec numactl --physcpubind="$MPI_LOCALRANKID" --localalloc "$@"'

T = TypeVar("T")
SMALLEST = bool(os.environ.get("MPICAMPAIGN_BENCH_SMALLEST"))


def usually(usual: T, *, smallest: T) -> T:
    """The usual number; the smallest one shows only that a benchmark still runs (tests/test_bench.py)."""
    return smallest if SMALLEST else usual


def options(text: str | None, arguments: Sequence[str], parts: Iterable[str] = (), **usual: int) -> Any:
    """What a call of a simulation gives in place of the usual numbers; ``parts``: the tables asked for."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in usual.items():
        parser.add_argument(f"--{name}", type=int, default=number, help="usually %(default)s")
    if names := list(parts):
        parser.add_argument("--parts", choices=names, nargs="+", default=names, help="only these tables")
    return parser.parse_args(arguments)


def wheel_mpi() -> dict[str, str]:
    """The environment for the wheel's mpicc, mpirun and IMB: unpinned, over shared memory."""
    settings = {"I_MPI_ROOT": sys.prefix, "LD_LIBRARY_PATH": f"{sys.prefix}/lib", "I_MPI_FABRICS": "shm"}
    path = f"{sys.prefix}/bin:{os.environ['PATH']}"
    return {**os.environ, **settings, "I_MPI_PIN": "off", "PATH": path}


def two_bound_ranks(*program: str | Path) -> str:
    """Standard output of two ranks of the wheel's MPI, each bound to a processor and its memory."""
    command = ["mpirun", "-n", "2", "bash", "-c", BOUND, "bound", *program]
    return subprocess.run(command, env=wheel_mpi(), capture_output=True, text=True, check=True).stdout


def title(text: str) -> None:
    """The heading of a benchmark."""
    print(f"\n{text}", flush=True)


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


def evidence_library(folder: Path) -> Path:
    """The library that records evidence, built in a folder."""
    library = folder / "evidence.so"
    subprocess.run(["make", "-s", "-C", PROJECT / "kernels", f"BUILD={folder}", library], check=True)
    return library


def build_kernel(name: str, mpicc: str, folder: Path, environment: dict[str, str]) -> Path:
    """A bundled kernel, built with the compiler wrapper of an MPI library."""
    program = folder / name
    command = ["make", "-s", "-C", PROJECT / "kernels", f"MPICC={mpicc}", f"BUILD={folder}", program]
    subprocess.run(command, env=environment, check=True)
    return program
