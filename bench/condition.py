"""Quiet and disturbed launches: how often the rule of `mpicampaign.evidence.condition` errs.

bench/run_all condition [--quiet 630] [--beside 300]

Launches with nothing beside, and of each kind beside: one busy loop pinned to the CPU of a rank, one unpinned
busy loop per CPU. Half of the launches have bound ranks, half have unbound ones.
"""

import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from common import evidence_library, options, title, usually, wheel_mpi

from mpicampaign.base.records import DISTURBED, QUIET
from mpicampaign.evidence.condition import condition
from mpicampaign.evidence.evidence import HEADER, read_evidence

QUIET_ONES, BESIDE = usually((630, 300), smallest=(2, 2))
FAR = 0.25  # relative distance of a latency from the quiet median
LOOP = "while :; do :; done"
RANK = """
export MPICAMPAIGN_RANK=$PMI_RANK MPICAMPAIGN_EVIDENCE_FILE=$1/$PMI_RANK LD_PRELOAD=$2
shift 2
[[ $BOUND ]] || exec "$@"
exec numactl --physcpubind="$PMI_RANK" --localalloc -- "$@"
"""
# About 0.3 s between MPI_Init and MPI_Finalize.
COUNT = usually("100000", smallest="10")
PROGRAM = ("IMB-MPI1", "-iter", COUNT, "-iter_policy", "off", "-time", "20", "-msglog", "3:4", "PingPong")


class Launch(NamedTuple):
    """One launch: what the rule says of it, and its latency (us) at 8 B."""

    bound: bool
    condition: str
    reason: str
    latency: float


def main(arguments: Sequence[str] = ()) -> None:
    quiet, beside = vars(options(__doc__, arguments, quiet=QUIET_ONES, beside=BESIDE)).values()
    title(f"Condition of a run: {quiet} launches with nothing beside, {beside} beside loops of each kind")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        library = evidence_library(folder)
        kinds: dict[str, Callable[[], Iterator[None]]] = {
            "nothing": lambda: loops(),
            "one loop pinned to the CPU of rank 0": lambda: loops(0),
            "one unpinned loop per CPU": lambda: loops(*[None] * (os.cpu_count() or 1)),
        }
        counts = dict(zip(kinds, (quiet, beside, beside), strict=True))
        order = [kind for kind, count in counts.items() for _ in range(count)]
        random.Random(1).shuffle(order)  # a drift of the machine meets all kinds alike
        found: dict[str, list[Launch]] = {kind: [] for kind in kinds}
        for number, kind in enumerate(order):
            with contextmanager(kinds[kind])():
                found[kind].append(launch(folder / str(number), library, len(found[kind]) % 2 == 0))
    for bound in (True, False):
        chosen = {kind: [each for each in found[kind] if each.bound == bound] for kind in found}
        for kind, launches in chosen.items():
            usual = median(each.latency for each in chosen["nothing"])
            show(f"{'bound' if bound else 'unbound'} ranks beside {kind}", launches, usual)


def loops(*cpus: int | None) -> Iterator[None]:
    """Busy loops beside what is done meanwhile, each on its CPU or on any."""
    pins = [[] if cpu is None else ["taskset", "-c", str(cpu)] for cpu in cpus]
    running = [subprocess.Popen([*pin, "bash", "-c", LOOP]) for pin in pins]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def launch(folder: Path, library: Path, bound: bool) -> Launch:
    """Two ranks, on one CPU each or on any."""
    folder.mkdir()
    command = ["mpirun", "-n", "2", "bash", "-c", RANK, "rank", folder, library, *PROGRAM]
    environment = {**wheel_mpi(), "BOUND": "yes" * bound}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    lines = [file.read_text() for file in sorted(folder.iterdir())]
    evidence = read_evidence("\n".join([HEADER, *lines]))
    row = re.search(r"^ +8 +\d+ +(\S+)", done.stdout, re.MULTILINE)
    if row is None:
        sys.exit(f"IMB-MPI1 printed no row of 8 B:\n{done.stdout[-1000:]}")
    return Launch(bound, *condition(evidence), float(row[1]))


def show(kind: str, launches: Sequence[Launch], quiet: float) -> None:
    counts = Counter(each.condition for each in launches)
    called = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    print(f"  {kind}: {called}")
    off = sorted(abs(launched.latency / quiet - 1) for launched in launches if launched.condition == QUIET)
    if off:
        text = f"8 B of those called quiet, off the median of {quiet:.2f} us: median {median(off):.1%}"
        print(f"    {text}, largest {off[-1]:.1%}; {sum(part > FAR for part in off)} more than {FAR:.0%}")
    for launched in launches if kind.endswith("nothing") else ():
        if launched.condition == DISTURBED:
            print(f"      {launched.reason}; {launched.latency:.2f} us")
