"""Two bound ranks at 8 B and 2 MB, pairs of launches in turn: what the evidence library does to a benchmark.

IMB PingPong with the library and without it: a launch counts by the shortest of its rows, as launches of one
program differ by more than 1 %, the shortest of many rows least. Between the launches of some pairs a virtual
machine changes its state: those count nowhere. Beside it, how long the library probes the machine, and how
often a partner came too late.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from common import evidence_library, paired, title, usually, wheel_mpi

PAIRS = usually(60, smallest=1)
SIZES = {8: usually((40, 20_000), smallest=(10, 5000)), 2 << 20: usually((40, 100), smallest=(10, 20))}
LIMIT = 0.01
SHORT = 100  # us: a rank that does not copy
OTHER_STATE = 1.4  # times: states are at least 1.5 apart, launches within one never
RANK = """
export MPICAMPAIGN_RANK=$PMI_RANK MPICAMPAIGN_EVIDENCE_FILE=$1/$PMI_RANK
export MPICAMPAIGN_LOCAL_RANK=$PMI_RANK MPICAMPAIGN_LOCAL_RANKS=2
[ -z "$2" ] || export LD_PRELOAD=$2
shift 2
exec numactl --physcpubind="$PMI_RANK" --localalloc -- "$@"
"""
Measurement = Callable[[Path], float]


def launch(folder: Path, library: str, *program: object) -> str:
    folder.mkdir()
    command = ["mpirun", "-n", "2", "bash", "-c", RANK, "rank", folder, library, *map(str, program)]
    done = subprocess.run(command, env=wheel_mpi(), capture_output=True, text=True, check=True)
    if len(list(folder.iterdir())) != (2 if library else 0):
        sys.exit(f"{program[0]} left evidence of {len(list(folder.iterdir()))} ranks")
    return done.stdout


def seconds_of_imb(folder: Path, size: int, library: str) -> float:
    """us one way, of the shortest row; from its bandwidth, which has more digits than its time."""
    rows, iterations = SIZES[size]
    lengths = folder.parent / f"lengths-{size}"
    lengths.write_text(f"{size}\n" * rows)
    options = ("-msglen", lengths, "-iter", iterations, "-iter_policy", "off", "-time", 60, "PingPong")
    output = launch(folder, library, "IMB-MPI1", *options)
    printed = re.findall(rf"^ +{size} +{iterations} +\S+ +(\S+)", output, re.MULTILINE)
    if len(printed) != rows:
        sys.exit(f"IMB-MPI1 printed {len(printed)} rows of {size} B, not {rows}")
    return size / max(map(float, printed))


def compare(what: str, folder: Path, one: Measurement, other: Measurement) -> None:
    """The times of one divided by those of the other, launched in turn, now one first, now the other."""
    folder.mkdir()
    pairs = []
    for number in range(PAIRS):
        both = [(one, folder / f"{number}-one"), (other, folder / f"{number}-other")]
        took = {run: run(where) for run, where in both[:: -1 if number % 2 else 1]}
        pairs.append((took[one], took[other]))
    alike = [pair for pair in pairs if max(pair) < OTHER_STATE * min(pair)]
    print(f"{len(pairs) - len(alike)} of {len(pairs)} pairs are of two states")
    if alike:
        firsts, seconds = zip(*alike, strict=True)
        paired(what, firsts, seconds, LIMIT)


def print_probes(folder: Path) -> None:
    """How long each rank took for the round trips and for the copy, and how often it waited in vain."""
    text = "".join(path.read_text() for path in folder.glob("imb-*/*-one/[01]"))
    times = [(int(trips), int(copy)) for trips, copy in re.findall(r"probe_us=(\d+) \+ (\d+)", text)]
    trips, copies = (sorted(each) for each in zip(*times, strict=True))
    copies = [time for time in copies if time > SHORT] or [0]
    vain, all_of_them = text.count("round_trip_ns=not probed"), text.count("round_trip_ns=")
    for what, values in (("clock rate and round trips", trips), ("copy, by one rank of a domain", copies)):
        print(f"{what}: median {median(values):.0f} us, most {values[-1]} us of {len(values)}")
    print(f"not probed: {vain} of {all_of_them} round trips")


def main() -> None:
    title(f"Evidence library: {PAIRS} pairs of launches of each size, in turn")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        library = str(evidence_library(folder))
        for size in SIZES:
            imb = partial(seconds_of_imb, size=size)
            what = f"IMB PingPong, {size} B, with the library / without"
            compare(what, folder / f"imb-{size}", partial(imb, library=library), partial(imb, library=""))
        print_probes(folder)


if __name__ == "__main__":
    main()
