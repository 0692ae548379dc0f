"""Budget and real time of each kernel that is bundled, quiet and beside one busy loop per CPU.

    python bench/budget.py [ROUNDS]

Real time is what a kernel says it took after MPI's start (`spent_seconds`); MPI's own start, 0.5 s and more
on a busy machine, is not part of a budget.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common import build_kernel, line, title, two_bound_ranks, usually, wheel_mpi
from condition import loops

LIMIT = 1.25
# Of the defaults: b_eff defines many measurements, so it needs the most.
CALLS: dict[str, tuple[str, ...]] = usually(
    {
        "point_to_point": ("--budget", "4"),
        "tree_gather": ("--budget", "8"),
        "tree_merge": ("--budget", "8"),
        "latency_bandwidth": ("--budget", "10"),
        "core_pairs": ("--budget", "4"),
        "b_eff": ("--budget", "40", "--lmax", "1MiB"),
    },
    smallest={"core_pairs": ("--budget", "0.1")},
)


def main(rounds: int = usually(5, smallest=1)) -> None:
    title(f"Real time of the kernels / budget, two bound ranks, {rounds} rounds")
    with tempfile.TemporaryDirectory() as temporary:
        for name, arguments in CALLS.items():
            program = build_kernel(name, "mpicc", Path(temporary), wheel_mpi())
            quiet, beside = [], []
            for _ in range(rounds):
                quiet.append(spent(program, arguments))
                with contextmanager(busy)():
                    beside.append(spent(program, arguments))
            line(f"{name} {' '.join(arguments)}, quiet", quiet, LIMIT, "×")
            line("  beside one busy loop per CPU", beside, LIMIT, "×")


def busy() -> Iterator[None]:
    yield from loops(*[None] * (os.cpu_count() or 1))


def spent(program: Path, arguments: tuple[str, ...]) -> float:
    """Real time of one launch / its budget."""
    output = two_bound_ranks(program, *arguments)
    found = [re.search(rf"^#@{key}_seconds=(\S+)$", output, re.MULTILINE) for key in ("spent", "budget")]
    if None in found:
        sys.exit(f"{program.name} did not say what it took:\n{output[-1000:]}")
    taken, budget = (float(each[1]) for each in found if each)
    return taken / budget


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
