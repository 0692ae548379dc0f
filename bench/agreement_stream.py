"""The kernel stream compared with star STREAM of HPC Challenge: same Open MPI, binding and array size.

HPCC derives its arrays from the matrix of HPL: N^2 / (3 x ranks) elements per process. So N is chosen for the
kernel's own size, four times the caches, and the kernel gets the size that follows. HPCC's other parts run,
too: where the caches are huge, a run of it takes many minutes.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

from agreement_hpcc import Metrics, Place, input_file, place_for
from common import paired, title, usually

from mpicampaign.suites import parse

PAIRS = usually(10, smallest=1)  # a run of HPCC takes more than a minute
RANKS = 2
STEP = 48  # its multiples N give arrays of whole cache lines
BLOCK = 128
GB = 1e9

METRICS = {
    "stream_copy_star": "StarSTREAM_Copy",
    "stream_scale_star": "StarSTREAM_Scale",
    "stream_add_star": "StarSTREAM_Add",
    "stream_triad_star": "StarSTREAM_Triad",
}


def matrix_size(array: int) -> int:
    """The least N whose STREAM arrays, over all ranks, have at least so many bytes."""
    return math.ceil(math.sqrt(3 * array / 8) / STEP) * STEP


def elements(size: int) -> int:
    """Elements of one STREAM array of one process."""
    return size * size // (3 * RANKS)


def array_of(place: Place, program: Path) -> int | None:
    """Bytes of one array over all ranks that the kernel chooses; None, and a message, if it cannot."""
    output = place.launch(program, "--repetitions", "3")
    if lacking := re.search(r"^#@not_available=(.*)$", output, re.MULTILINE):
        print(f"  skipped: {lacking[1]}")
        return None
    return int(re.findall(r"^#@array_bytes=(\d+)$", output, re.MULTILINE)[0])


def ours(place: Place, program: Path, array: int) -> Metrics:
    columns = parse("kernel", place.launch(program, "--array", str(array))).series[0].columns
    return {name: float(columns[name][0] or 0) for name in METRICS}


def hpcc(place: Place, count: int) -> Metrics:
    found = place.hpcc()
    if found["STREAM_VectorSize"] != str(count):
        sys.exit(f"  HPCC's arrays have {found['STREAM_VectorSize']} elements per process, not {count}")
    return {name: float(found[theirs]) * GB for name, theirs in METRICS.items()}


def compare(place: Place, program: Path) -> None:
    array = array_of(place, program)
    if array is None:
        return
    size = matrix_size(usually(array, smallest=1 << 20))
    count = elements(size)
    (place.folder / "hpccinf.txt").write_text(input_file(size, BLOCK))
    print(f"  arrays of {count * 8 / 2**20:.0f} MiB per process, HPL with N = {size}", flush=True)
    pairs = [(ours(place, program, RANKS * count * 8), hpcc(place, count)) for _ in range(PAIRS)]
    mine, theirs = zip(*pairs, strict=True)
    for name in METRICS:
        values = ([found[name] for found in runs] for runs in (mine, theirs))
        paired(name.replace("_", " "), *values)


def main() -> None:
    title("stream compared with HPCC: ratio of each operation, two ranks, each bound to a core")
    with place_for("stream") as found:
        if found:
            compare(*found)


if __name__ == "__main__":
    main()
