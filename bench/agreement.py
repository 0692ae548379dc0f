"""The kernels compared with HPC Challenge, IMB-MPI1 and OSU: same MPI library and binding, launched in turn.

bench/run_all agreement [--parts rings stream imb collectives]

**Rings and STREAM of HPCC**, under Open MPI. HPCC does not write its send buffers of 2 MB: Linux then reads
one page of zeros, which stays in the nearest cache. So HPCC runs twice: as it is (latency), and with
MALLOC_PERTURB_, which writes what it allocates (bandwidth). The arrays of star STREAM follow from the matrix
of HPL: N is chosen for the kernel's own size, four times the caches. Where the caches are huge, a run of HPCC
takes many minutes.

**latency_bandwidth / PingPong of IMB**, under Intel MPI: ours is the shortest of a few loops, IMB's the mean
over its iterations. So IMB gets the same size many times, and the shortest of as many last rows as our
repetitions counts. At 8 B a row has as many iterations as our loops, at 2 MB 20: IMB fills its buffers before
each row.

**point_to_point / Uniband**: one message and its acknowledgement of 1 B in both; medians over blocks and over
rows of as many calls, at 2 MiB of 20. All times of IMB come from its bandwidth, since times have two
decimals; they are of a message one way, of point_to_point with its acknowledgement.

**collectives** beside the slowest rank of IMB and OSU, which start by a barrier: a ratio is what that start
adds or hides, and no disagreement.

osu_latency is shown, too, if it is on the PATH: versions that read the clock around every round trip (7.4
does, 5.3 does not) take one and a half times as long at 8 B.
"""

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median

from common import build_kernel, options, paired, title, two_bound_ranks, usually, wheel_mpi

from mpicampaign.suites import parse

PAIRS = usually(20, smallest=1)
KERNEL_OPTIONS: tuple[str, ...] = usually((), smallest=("--budget", "0.1"))
Metrics = dict[str, float]  # in s, B/s

# ---- rings and STREAM of HPCC

PAIRS_OF_STREAM = usually(10, smallest=1)  # a run of HPCC takes more than a minute
RING_LIMIT = 0.1
NEEDED = ("hpcc", "mpicc.openmpi", "mpirun.openmpi", "make")
LAUNCH = ("mpirun.openmpi", "-n", "2", "--map-by", "core", "--bind-to", "core")
WRITTEN = {"MALLOC_PERTURB_": "85"}  # any value but 0
RANKS = 2
STEP = 48  # its multiples N give arrays of whole cache lines

# Our column: HPCC's name, and its unit in s or B/s.
RINGS = {
    "natural_ring_latency": ("NaturallyOrderedRingLatency_usec", 1e-6),
    "random_ring_latency": ("RandomlyOrderedRingLatency_usec", 1e-6),
    "natural_ring_bandwidth": ("NaturallyOrderedRingBandwidth_GBytes", 1e9),
    "random_ring_bandwidth": ("RandomlyOrderedRingBandwidth_GBytes", 1e9),
}
STREAM = {
    f"stream_{operation}_star": (f"StarSTREAM_{operation.capitalize()}", 1e9)
    for operation in ("copy", "scale", "add", "triad")
}


@dataclass(frozen=True, slots=True)
class Hpcc:
    """Folder and environment in which HPCC and a kernel start."""

    folder: Path
    environment: dict[str, str]

    def launch(self, program: str | Path, *arguments: str, **settings: str) -> str:
        """Standard output of two ranks."""
        exported = [token for name in settings for token in ("-x", name)]
        done = subprocess.run(
            [*LAUNCH, *exported, program, *arguments],
            cwd=self.folder,
            env=self.environment | settings,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def build(self, kernel: str) -> Path:
        return build_kernel(kernel, "mpicc.openmpi", self.folder / "build", self.environment)

    def write_input(self, size: int, block: int) -> None:
        """HPL's with a matrix of this size, then that of PTRANS."""
        lines = [
            *("HPLinpack benchmark input file", "here", "HPL.out", "8 device", "1 sizes", f"{size} N", "1"),
            *(f"{block} NB", "0 mapping", "1 grids", "1 P", "2 Q", "16.0 threshold", "1", "2 PFACTs", "1"),
            *("4 NBMINs", "1", "2 NDIVs", "1", "1 RFACTs", "1", "1 BCASTs", "1", "1 DEPTHs", "2 SWAP", "64"),
            *("0 L1", "0 U", "1 equilibration", "8 alignment", "separator", "0 further sizes of PTRANS"),
            *(f"{size}", "0 further NB", f"{block}"),
        ]
        (self.folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")

    def kernel(self, names: Mapping[str, object], program: Path, *arguments: str) -> Metrics:
        columns = parse("kernel", self.launch(program, *arguments)).series[0].columns
        return {name: float(columns[name][0] or 0) for name in names}

    def hpcc(self, metrics: Mapping[str, tuple[str, float]], elements: int = 0, **settings: str) -> Metrics:
        """Of its summary; exits if one of its checks failed, or its arrays are of another size."""
        output = self.folder / "hpccoutf.txt"
        output.unlink(missing_ok=True)  # hpcc appends
        self.launch("hpcc", **settings)
        summary = dict(re.findall(r"^(\w+)=(\S+)$", output.read_text(), re.MULTILINE))
        if summary.get("Success") != "1":
            sys.exit("  a check of HPCC failed, or its summary is missing: its values do not count")
        if elements and summary["STREAM_VectorSize"] != str(elements):
            sys.exit(
                f"  HPCC's arrays have {summary['STREAM_VectorSize']} elements per process, not {elements}"
            )
        return {name: float(summary[theirs]) * unit for name, (theirs, unit) in metrics.items()}


def show_metrics(
    names: Sequence[str], ours: Sequence[Metrics], theirs: Sequence[Metrics], limit: float | None = None
) -> None:
    for name in names:
        values = ([metrics[name] for metrics in launches] for launches in (ours, theirs))
        paired("  " + name.replace("_", " "), *values, limit)


def compare_rings(hpcc: Hpcc) -> None:
    title("latency_bandwidth compared with HPCC: ratio of each metric, two ranks, each bound to a core")
    program = hpcc.build("latency_bandwidth")
    hpcc.write_input(size=64, block=32)  # the smallest problems it accepts: its other parts end in a second
    launches = [
        (hpcc.kernel(RINGS, program, *KERNEL_OPTIONS), hpcc.hpcc(RINGS, **WRITTEN), hpcc.hpcc(RINGS))
        for _ in range(PAIRS)
    ]
    ours, written, plain = zip(*launches, strict=True)
    for theirs, kind in ((plain, "latency"), (written, "bandwidth")):
        print(f"  latency_bandwidth / HPCC{' with written buffers' if theirs is written else ''}")
        show_metrics([name for name in RINGS if name.endswith(kind)], ours, theirs, RING_LIMIT)


def compare_stream(hpcc: Hpcc) -> None:
    title("stream compared with HPCC: ratio of each operation, two ranks, each bound to a core")
    program = hpcc.build("stream")
    output = hpcc.launch(program, "--repetitions", "3")
    if lacking := re.search(r"^#@not_available=(.*)$", output, re.MULTILINE):
        print(f"  skipped: {lacking[1]}")
        return
    array = usually(int(re.findall(r"^#@array_bytes=(\d+)$", output, re.M)[0]), smallest=1 << 20)
    # the least N whose STREAM arrays, over all ranks, have at least so many bytes
    size = math.ceil(math.sqrt(3 * array / 8) / STEP) * STEP
    count = size * size // (3 * RANKS)
    hpcc.write_input(size, block=128)
    print(f"  arrays of {count * 8 / 2**20:.0f} MiB per process, HPL with N = {size}", flush=True)
    launches = [
        (hpcc.kernel(STREAM, program, "--array", str(RANKS * count * 8)), hpcc.hpcc(STREAM, count))
        for _ in range(PAIRS_OF_STREAM)
    ]
    show_metrics(list(STREAM), *zip(*launches, strict=True))


def with_hpcc(compare: Callable[[Hpcc], None]) -> None:
    """In a folder that is removed afterwards; a message without HPCC."""
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        print(f"  skipped: {', '.join(missing)} not installed (Debian: hpcc openmpi-bin libopenmpi-dev make)")
        return
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment |= {"OMP_NUM_THREADS": "1"}  # each rank has one core
    with tempfile.TemporaryDirectory() as temporary:
        compare(Hpcc(Path(temporary), environment))


# ---- IMB and OSU

LARGE, LARGE_ITERATIONS = 2_000_000, 20
IMB_LIMIT = 0.02
LEAST = 0.005  # MB/s; on a busy machine IMB prints 0.00
SIZES = {8: 5, LARGE: 2}  # message size: repetitions of ours
ONE_WAY_SIZES = (8, 2 << 20)  # point_to_point doubles its sizes
WARMUP_ROWS, ROWS = usually((15, 15), smallest=(1, 1))  # ROWS: behind a median of Uniband
BUDGET = usually("2", smallest="0.1")  # s

Times = dict[int, float]  # seconds by message size


def imb_rows(folder: Path, benchmark: str, size: int, rows: int, iterations: int) -> list[float]:
    """Seconds of a message by its bandwidth, in each of the last rows."""
    lengths = folder / "lengths"
    lengths.write_text(f"{size}\n" * (WARMUP_ROWS + rows))
    arguments = ("-msglen", lengths, "-iter", f"{iterations}", "-iter_policy", "off", "-time", "60")
    time = r" +\S+" if benchmark == "PingPong" else ""
    output = two_bound_ranks("IMB-MPI1", *arguments, "-window_size", "1", benchmark)
    printed = re.findall(rf"^ +{size} +{iterations}{time} +(\S+)", output, re.M)
    if len(printed) != WARMUP_ROWS + rows:
        sys.exit(f"IMB-MPI1 printed {len(printed)} rows of {size} B, not {WARMUP_ROWS + rows}")
    return [size / (max(float(bandwidth), LEAST) * 1e6) for bandwidth in printed[-rows:]]


def run_latency_bandwidth(program: Path) -> tuple[Times, dict[int, int]]:
    """One-way seconds and loops by message size."""
    rows = re.findall(r"^ping_pong 0 1 (\d+) (\d+) (\S+)$", two_bound_ranks(program, *KERNEL_OPTIONS), re.M)
    times = {int(size): float(seconds) / int(loops) / 2 for size, loops, seconds in rows}
    return times, {int(size): int(loops) for size, loops, _ in rows}


def run_point_to_point(program: Path, size: int) -> tuple[float, int]:
    """The median of a call's seconds over the samples, and the calls of a block."""
    arguments = ("--messages", "1", "--min-size", f"{size}", "--max-size", f"{size}", "--budget", BUDGET)
    output = two_bound_ranks(program, *arguments)
    rows = re.findall(rf"^samples point_to_point 1 {size} \d+ (\d+) (\S+)", output, re.M)
    return median(float(seconds) for _, seconds in rows), int(rows[0][0])


def run_osu() -> Times:
    """Means over OSU's own iterations; osu_bw keeps 64 messages in flight, so it is not a ping-pong."""
    rows = dict(re.findall(r"^(\d+) +(\S+)", two_bound_ranks("osu_latency"), re.M))  # 5.3 has no size option
    return {8: float(rows["8"]) * 1e-6, LARGE: float(rows["2097152"]) * 1e-6 * LARGE / 2_097_152}


def show_times(what: str, ours: list[Times], theirs: list[Times], limit: float | None) -> None:
    """Two rows: the time of the smallest size and the bandwidth of the largest, ours / theirs."""
    print(f"  {what}")
    small, large = min(ours[0]), max(ours[0])
    paired(
        f"  time of {small} B", [times[small] for times in ours], [times[small] for times in theirs], limit
    )
    rates = ([1 / times[large] for times in launches] for launches in (ours, theirs))
    paired(f"  bandwidth at {large} B", *rates, limit)


def with_imb(compare: Callable[[Path], None]) -> None:
    """In a folder that is removed afterwards; a message without IMB."""
    prefix = Path(sys.prefix)
    missing = [str(path) for path in (prefix / "bin/IMB-MPI1", prefix / "bin/mpicc") if not path.exists()]
    missing += [name for name in ("numactl", "make") if shutil.which(name) is None]
    if missing:
        print(f"  skipped: {', '.join(missing)} not installed")
        return
    if shutil.which("osu_latency") is None:
        print("  without OSU: osu_latency is not on the PATH")
    with tempfile.TemporaryDirectory() as temporary:
        compare(Path(temporary))


def compare_ping_pong(folder: Path, program: Path) -> None:
    ours, of_imb, of_osu = list[Times](), list[Times](), list[Times]()
    for _ in range(PAIRS):
        times, loops = run_latency_bandwidth(program)
        ours.append(times)
        iterations = {**loops, LARGE: LARGE_ITERATIONS}
        shortest = {
            size: min(imb_rows(folder, "PingPong", size, rows, iterations[size]))
            for size, rows in SIZES.items()
        }
        of_imb.append(shortest)
        of_osu += [run_osu()] if shutil.which("osu_latency") else []
    imb = f"IMB PingPong, shortest of its last rows (2 MB: {LARGE_ITERATIONS} iterations)"
    show_times(f"latency_bandwidth / {imb}", ours, of_imb, IMB_LIMIT)
    if of_osu:
        osu = "osu_latency, mean over its iterations (2 MiB scaled to 2 MB)"
        show_times(f"latency_bandwidth / {osu}", ours, of_osu, None)


def compare_one_way(folder: Path, program: Path) -> None:
    ours, theirs = list[Times](), list[Times]()
    for _ in range(PAIRS):
        launched = {size: run_point_to_point(program, size) for size in ONE_WAY_SIZES}
        ours.append({size: seconds for size, (seconds, _) in launched.items()})
        rows = {
            size: imb_rows(folder, "Uniband", size, ROWS, max(calls, LARGE_ITERATIONS))
            for size, (_, calls) in launched.items()
        }
        theirs.append({size: median(seconds) for size, seconds in rows.items()})
    show_times("point_to_point of 1 message / IMB Uniband with a window of 1", ours, theirs, IMB_LIMIT)


def compare_with_imb(folder: Path) -> None:
    title("latency_bandwidth and point_to_point compared with IMB-MPI1, two bound ranks of Intel MPI")
    compare_ping_pong(folder, build_kernel("latency_bandwidth", "mpicc", folder, wheel_mpi()))
    compare_one_way(folder, build_kernel("point_to_point", "mpicc", folder, wheel_mpi()))


def slowest(suite: str, *program: str | Path) -> dict[str, Times]:
    """Of each series of an output the time of the slowest rank, by size."""
    found, column = {}, "time_p50" if suite == "kernel" else "time_max"
    for series in parse(suite, two_bound_ranks(*program)).series:
        sizes, times = series.columns.get("size", [0]), series.columns[column]
        found[series.label] = {int(size or 0): time or 0 for size, time in zip(sizes, times, strict=True)}
    return found


def compare_collectives(folder: Path) -> None:
    title("collectives / the slowest rank of IMB and OSU, two bound ranks of Intel MPI")
    program = build_kernel("collectives", "mpicc", folder, wheel_mpi())
    for name, sizes in {"Bcast": (8, 65536), "Allreduce": (8, 65536), "Barrier": (0,)}.items():
        osu, sized = f"osu_{name.lower()}", name != "Barrier"
        others = {"IMB": ("imb", "IMB-MPI1", *("-msglog", "3:16") * sized, name)}
        others |= {"OSU": ("osu", osu, "-f", *("-m", "8:65536") * sized)} if shutil.which(osu) else {}
        arguments = ("--operations", name, "--after-barrier", "--max-size", "64KiB", "--budget", BUDGET)
        pairs: dict[str, list[tuple[float, float]]] = {}
        for _ in range(PAIRS):
            ours = slowest("kernel", program, *arguments)
            theirs = {of: next(iter(slowest(*call).values())) for of, call in others.items()}
            for of, size, (label, own) in product(theirs, sizes, ours.items()):
                both = [(own[size], theirs[of][size])] if size in own else []
                pairs.setdefault(f"  {label} {size} B / {of}", []).extend(both)
        for what, found in pairs.items():
            if found:
                paired(what, *zip(*found, strict=True))


PARTS: dict[str, Callable[[], None]] = {
    "rings": lambda: with_hpcc(compare_rings),
    "stream": lambda: with_hpcc(compare_stream),
    "imb": lambda: with_imb(compare_with_imb),
    "collectives": lambda: with_imb(compare_collectives),
}


def main(arguments: Sequence[str] = ()) -> None:
    for part in options(__doc__, arguments, PARTS).parts:
        PARTS[part]()
