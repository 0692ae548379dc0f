"""IMB PingPong at 8 B and 2 MB with and without the evidence library, pairs in turn; two bound ranks.

A launch counts by the shortest of its rows: launches of one program differ by more than 1 %, the shortest of
many rows least. Between the launches of some pairs a virtual machine changes its state: those count nowhere.
Beside it, how long the library probes the machine, and how often a partner came too late.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from common import PROJECT, paired, title, usually, wheel_mpi

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


def seconds(folder: Path, size: int, library: str) -> float:
    """us one way, of the shortest row; from its bandwidth, which has more digits than its time."""
    folder.mkdir()
    rows, iterations = SIZES[size]
    lengths = folder.parent / f"lengths-{size}"
    lengths.write_text(f"{size}\n" * rows)
    options = ("-msglen", lengths, "-iter", f"{iterations}", "-iter_policy", "off", "-time", "60", "PingPong")
    command = ["mpirun", "-n", "2", "bash", "-c", RANK, "rank", folder, library, "IMB-MPI1", *options]
    done = subprocess.run(command, env=wheel_mpi(), capture_output=True, text=True, check=True)
    printed = re.findall(rf"^ +{size} +{iterations} +\S+ +(\S+)", done.stdout, re.MULTILINE)
    if len(printed) != rows or len(list(folder.iterdir())) != (2 if library else 0):
        sys.exit(f"IMB-MPI1 printed {len(printed)} rows of {size} B, not {rows}, or left no evidence")
    return size / max(map(float, printed))


def pair(folder: Path, size: int, library: str, first: int) -> tuple[float, float]:
    """With the library, and without it; ``first``: which of them is launched first."""
    took = {}
    for used in (library, "")[:: -1 if first else 1]:
        took[used] = seconds(folder.with_name(f"{folder.name}-{'with' if used else 'without'}"), size, used)
    return took[library], took[""]


def print_probes(folder: Path) -> None:
    """How long each rank took for the round trips and for the copy, and how often it waited in vain."""
    text = "".join(path.read_text() for path in folder.glob("*-with/[01]"))
    times = [(int(trips), int(copy)) for trips, copy in re.findall(r"probe_us=(\d+) \+ (\d+)", text)]
    trips, copies = (sorted(each) for each in zip(*times, strict=True))
    copies = [time for time in copies if time > SHORT] or [0]
    vain, all_of_them = text.count("round_trip_ns=not probed"), text.count("round_trip_ns=")
    for what, values in (("clock rate and round trips", trips), ("copy, by one rank of a domain", copies)):
        print(f"{what}: median {median(values):.0f} us, most {values[-1]} us of {len(values)}")
    print(f"not probed: {vain} of {all_of_them} round trips")


def main() -> None:
    title(f"Evidence library: IMB PingPong with it / without, {PAIRS} pairs of each size, in turn")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        library = folder / "evidence.so"
        subprocess.run(["make", "-s", "-C", PROJECT / "kernels", f"BUILD={folder}", library], check=True)
        for size in SIZES:
            both = [pair(folder / f"{size}-{i}", size, str(library), first=i % 2) for i in range(PAIRS)]
            alike = [pair for pair in both if max(pair) < OTHER_STATE * min(pair)]
            print(f"{len(both) - len(alike)} of {len(both)} pairs are of two states")
            if alike:
                with_it, without = zip(*alike, strict=True)
                paired(f"{size} B, time of a message", with_it, without, LIMIT)
        print_probes(folder)


if __name__ == "__main__":
    main()
