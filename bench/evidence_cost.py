"""IMB PingPong at 8 B with and without the evidence library, pairs in turn; two bound ranks of Intel MPI.

A launch counts by the shortest of its rows: launches of one program differ by more than 1 %, the shortest of
many rows least.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from common import PROJECT, paired, title, usually, wheel_mpi

PAIRS = usually(40, smallest=1)
ROWS, ITERATIONS = usually((40, 20_000), smallest=(10, 5000))
LIMIT = 0.01
RANK = """
export MPICAMPAIGN_RANK=$PMI_RANK MPICAMPAIGN_EVIDENCE_FILE=$1/$PMI_RANK
[ -z "$2" ] || export LD_PRELOAD=$2
shift 2
exec numactl --physcpubind="$PMI_RANK" --localalloc -- "$@"
"""


def latency(folder: Path, lengths: Path, library: str) -> float:
    """us one way, of the shortest row; from its bandwidth, which has more digits than its time."""
    folder.mkdir()
    options = ("-msglen", lengths, "-iter", f"{ITERATIONS}", "-iter_policy", "off", "-time", "60", "PingPong")
    command = ["mpirun", "-n", "2", "bash", "-c", RANK, "rank", folder, library, "IMB-MPI1", *options]
    done = subprocess.run(command, env=wheel_mpi(), capture_output=True, text=True, check=True)
    rows = re.findall(rf"^ +8 +{ITERATIONS} +\S+ +(\S+)", done.stdout, re.MULTILINE)
    if len(rows) != ROWS or len(list(folder.iterdir())) != (2 if library else 0):
        sys.exit(f"IMB-MPI1 printed {len(rows)} rows of 8 B, not {ROWS}, or left no evidence")
    return 8 / max(map(float, rows))


def main() -> None:
    title(f"Evidence library: IMB PingPong at 8 B with it / without, {PAIRS} pairs, in turn")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        library = folder / "evidence.so"
        subprocess.run(["make", "-s", "-C", PROJECT / "kernels", f"BUILD={folder}", library], check=True)
        lengths = folder / "lengths"
        lengths.write_text("8\n" * ROWS)
        both = [
            (latency(folder / f"{i}", lengths, str(library)), latency(folder / f"{i}-", lengths, ""))
            for i in range(PAIRS)
        ]
    with_it, without = zip(*both, strict=True)
    paired("8 B latency", with_it, without, LIMIT)


if __name__ == "__main__":
    main()
