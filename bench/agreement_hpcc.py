"""latency_bandwidth compared with HPC Challenge (Debian's hpcc), with the same Open MPI and binding.

HPCC does not write its send buffers of 2 MB before it sends them. Linux then reads one page of zeros, which
stays in the nearest cache, instead of 2 MB. So HPCC runs twice: as it is, and with MALLOC_PERTURB_, which
makes the C library write what it allocates. Bandwidth is compared with the latter; latency, which every
allocation affects, with the former.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from common import build_kernel, paired, title, usually

from mpicampaign.suites import parse

PAIRS = usually(20, smallest=1)
KERNEL_OPTIONS: tuple[str, ...] = usually((), smallest=("--budget", "0.1"))
LIMIT = 0.1  # of rings
NEEDED = ("hpcc", "mpicc.openmpi", "mpirun.openmpi", "make")
LAUNCH = ("mpirun.openmpi", "-n", "2", "--map-by", "core", "--bind-to", "core")
WRITTEN = "85"  # any value but 0

# Our column: HPCC's name, and its unit in s or B/s.
METRICS = {
    "natural_ring_latency": ("NaturallyOrderedRingLatency_usec", 1e-6),
    "random_ring_latency": ("RandomlyOrderedRingLatency_usec", 1e-6),
    "natural_ring_bandwidth": ("NaturallyOrderedRingBandwidth_GBytes", 1e9),
    "random_ring_bandwidth": ("RandomlyOrderedRingBandwidth_GBytes", 1e9),
}

Metrics = dict[str, float]


def input_file(size: int, block: int) -> str:
    """HPCC's input: HPL's with a matrix of this size, then that of PTRANS."""
    lines = [
        *("HPLinpack benchmark input file", "here", "HPL.out", "8 device", "1 sizes", f"{size} N", "1"),
        *(f"{block} NB", "0 mapping", "1 grids", "1 P", "2 Q", "16.0 threshold", "1", "2 PFACTs", "1"),
        *("4 NBMINs", "1", "2 NDIVs", "1", "1 RFACTs", "1", "1 BCASTs", "1", "1 DEPTHs", "2 SWAP", "64"),
        *("0 L1", "0 U", "1 equilibration", "8 alignment", "separator", "0 further sizes of PTRANS"),
        *(f"{size}", "0 further NB", f"{block}"),
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Place:
    """Folder and environment in which the programs start."""

    folder: Path
    environment: dict[str, str]

    def launch(self, program: str | Path, *arguments: str, **settings: str) -> str:
        """Standard output of two ranks."""
        options = [token for name in settings for token in ("-x", name)]
        done = subprocess.run(
            [*LAUNCH, *options, program, *arguments],
            cwd=self.folder,
            env=self.environment | settings,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def hpcc(self, **settings: str) -> dict[str, str]:
        """The summary of a run of HPCC; exits if one of its checks failed."""
        output = self.folder / "hpccoutf.txt"
        output.unlink(missing_ok=True)  # hpcc appends
        self.launch("hpcc", **settings)
        found = dict(re.findall(r"^(\w+)=(\S+)$", output.read_text(), re.MULTILINE))
        if found.get("Success") != "1":
            sys.exit("  a check of HPCC failed, or its summary is missing: its values do not count")
        return found


def ours(place: Place, program: Path) -> Metrics:
    columns = parse("kernel", place.launch(program, *KERNEL_OPTIONS)).series[0].columns
    return {name: float(columns[name][0] or 0) for name in METRICS}


def hpcc(place: Place, **settings: str) -> Metrics:
    found = place.hpcc(**settings)
    return {name: float(found[theirs]) * unit for name, (theirs, unit) in METRICS.items()}


def show(heading: str, kind: str, first: list[Metrics], second: list[Metrics]) -> None:
    print(f"  {heading}")
    for name in METRICS:
        if name.endswith(kind):
            values = ([found[name] for found in runs] for runs in (first, second))
            paired("  " + name.replace("_", " "), *values, LIMIT)


def compare(place: Place, program: Path) -> None:
    runs: dict[str, Callable[[], Metrics]] = {
        "ours": lambda: ours(place, program),
        "written": lambda: hpcc(place, MALLOC_PERTURB_=WRITTEN),
        "as it is": lambda: hpcc(place),
    }
    found: dict[str, list[Metrics]] = {name: [] for name in runs}
    for _ in range(PAIRS):
        for name, run in runs.items():
            found[name].append(run())
    mine, written, plain = (found[name] for name in runs)
    show("latency_bandwidth / HPCC", "latency", mine, plain)
    show("latency_bandwidth / HPCC with written buffers", "bandwidth", mine, written)


@contextmanager
def place_for(kernel: str) -> Iterator[tuple[Place, Path] | None]:
    """A place, removed afterwards, and the kernel built in it; None, and a message, without HPCC."""
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        print(f"  skipped: {', '.join(missing)} not installed (Debian: hpcc openmpi-bin libopenmpi-dev make)")
        yield None
        return
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment |= {"OMP_NUM_THREADS": "1"}  # each rank has one core
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        yield Place(folder, environment), build_kernel(kernel, "mpicc.openmpi", folder / "build", environment)


def main() -> None:
    title("latency_bandwidth compared with HPCC: ratio of each metric, two ranks, each bound to a core")
    with place_for("latency_bandwidth") as found:
        if found:
            place, program = found
            # The smallest problems that HPCC accepts: its other parts end in a second.
            (place.folder / "hpccinf.txt").write_text(input_file(size=64, block=32))
            compare(place, program)


if __name__ == "__main__":
    main()
