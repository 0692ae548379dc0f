"""latency_bandwidth and point_to_point compared with IMB-MPI1 and OSU: same Intel MPI and binding, in turn.

latency_bandwidth / PingPong: like HPCC, ours is the shortest of a few short loops (8 B: five of at least
10 us; 2 MB: two of one round trip), IMB's the mean over its iterations. To compare like with like, IMB gets
the same size many times, and the shortest of as many last rows as our repetitions counts. The rows before
replace our warm-up. At 8 B a row has as many iterations as our loops, at 2 MB 20: IMB fills its buffers
before each row, so that one iteration finds other contents in the caches than ours.

point_to_point / Uniband: one message and its acknowledgement of 1 B in both; medians over blocks and over
rows of as many calls, at 2 MiB of 20.

All times of IMB come from its bandwidth: times have two decimals, so 0.15 us is all from 0.145 to 0.155.

osu_latency is shown, too, if it is on the PATH: versions that read the clock around every round trip (7.4
does, 5.3 does not) take one and a half times as long at 8 B.

Times are for ranks 0 and 1, one way; of point_to_point for a message with its acknowledgement.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from common import build_kernel, paired, title, two_bound_ranks, usually, wheel_mpi

PAIRS = usually(20, smallest=1)
LARGE, LARGE_ITERATIONS = 2_000_000, 20
LIMIT = 0.02
LEAST = 0.005  # MB/s; on a busy machine IMB prints 0.00
SIZES = {8: 5, LARGE: 2}  # message size: repetitions of ours
ONE_WAY_SIZES = (8, 2 << 20)  # point_to_point doubles its sizes
WARMUP_ROWS, ROWS = usually((15, 15), smallest=(1, 1))  # ROWS: behind a median of Uniband
KERNEL_OPTIONS: tuple[str, ...] = usually((), smallest=("--budget", "0.1"))
BUDGET = usually("2", smallest="0.1")  # s

Times = dict[int, float]  # seconds by message size


def imb_rows(folder: Path, benchmark: str, size: int, rows: int, iterations: int) -> list[float]:
    """Seconds of a message by its bandwidth, in each of the last rows."""
    lengths = folder / "lengths"
    lengths.write_text(f"{size}\n" * (WARMUP_ROWS + rows))
    options = ("-msglen", lengths, "-iter", f"{iterations}", "-iter_policy", "off", "-time", "60")
    time = r" +\S+" if benchmark == "PingPong" else ""
    output = two_bound_ranks("IMB-MPI1", *options, "-window_size", "1", benchmark)
    found = re.findall(rf"^ +{size} +{iterations}{time} +(\S+)", output, re.M)
    if len(found) != WARMUP_ROWS + rows:
        sys.exit(f"IMB-MPI1 printed {len(found)} rows of {size} B, not {WARMUP_ROWS + rows}")
    return [size / (max(float(bandwidth), LEAST) * 1e6) for bandwidth in found[-rows:]]


def shortest_rows(folder: Path, iterations: Mapping[int, int]) -> Times:
    """PingPong: the shortest of as many rows as our repetitions."""
    return {
        size: min(imb_rows(folder, "PingPong", size, rows, iterations[size])) for size, rows in SIZES.items()
    }


@dataclass(frozen=True, slots=True)
class Ours:
    """One run of latency_bandwidth: one-way seconds and loops by message size."""

    times: Times
    loops: dict[int, int]


def run_ours(program: Path) -> Ours:
    rows = re.findall(r"^ping_pong 0 1 (\d+) (\d+) (\S+)$", two_bound_ranks(program, *KERNEL_OPTIONS), re.M)
    times = {int(size): float(seconds) / int(loops) / 2 for size, loops, seconds in rows}
    return Ours(times, {int(size): int(loops) for size, loops, _ in rows})


def run_point_to_point(program: Path, size: int) -> tuple[float, int]:
    """The median of a call's seconds over the samples, and the calls of a block."""
    options = ("--messages", "1", "--min-size", f"{size}", "--max-size", f"{size}", "--budget", BUDGET)
    output = two_bound_ranks(program, *options)
    rows = re.findall(rf"^samples point_to_point 1 {size} \d+ (\d+) (\S+)", output, re.M)
    return median(float(seconds) for _, seconds in rows), int(rows[0][0])


def run_osu() -> Times:
    """Means over OSU's own iterations; osu_bw keeps 64 messages in flight, so it is not a ping-pong."""
    output = two_bound_ranks("osu_latency")  # 5.3 has no size option
    rows = dict(re.findall(r"^(\d+) +(\S+)", output, re.M))
    return {8: float(rows["8"]) * 1e-6, LARGE: float(rows["2097152"]) * 1e-6 * LARGE / 2_097_152}


def show(what: str, ours: list[Times], theirs: list[Times], limit: float | None) -> None:
    """Two rows: the time of the smallest size and the bandwidth of the largest, ours / theirs."""
    print(f"  {what}")
    small, large = min(ours[0]), max(ours[0])
    paired(f"  time of {small} B", [run[small] for run in ours], [run[small] for run in theirs], limit)
    rates = ([1 / run[large] for run in runs] for runs in (ours, theirs))
    paired(f"  bandwidth at {large} B", *rates, limit)


def compare_ping_pong(folder: Path, program: Path) -> None:
    ours: list[Times] = []
    found: dict[str, list[Times]] = {}
    for _ in range(PAIRS):
        run = run_ours(program)
        ours.append(run.times)
        for name, action in others(folder, run).items():
            found.setdefault(name, []).append(action())
    for name, times in found.items():
        limit = LIMIT if name == SHORTEST else None
        show(f"latency_bandwidth / {name}", ours, times, limit)


SHORTEST = f"IMB PingPong, shortest of its last rows (2 MB: {LARGE_ITERATIONS} iterations)"


def others(folder: Path, run: Ours) -> dict[str, Callable[[], Times]]:
    """The other programs, by name in the output."""
    programs: dict[str, Callable[[], Times]] = {
        SHORTEST: lambda: shortest_rows(folder, {**run.loops, LARGE: LARGE_ITERATIONS}),
    }
    if shutil.which("osu_latency"):
        programs["osu_latency, mean over its iterations (2 MiB scaled to 2 MB)"] = run_osu
    return programs


def compare_one_way(folder: Path, program: Path) -> None:
    ours: list[Times] = []
    theirs: list[Times] = []
    for _ in range(PAIRS):
        found = {size: run_point_to_point(program, size) for size in ONE_WAY_SIZES}
        ours.append({size: seconds for size, (seconds, _) in found.items()})
        rows = {
            size: imb_rows(folder, "Uniband", size, ROWS, max(calls, LARGE_ITERATIONS))
            for size, (_, calls) in found.items()
        }
        theirs.append({size: median(seconds) for size, seconds in rows.items()})
    show("point_to_point of 1 message / IMB Uniband with a window of 1", ours, theirs, LIMIT)


def main() -> None:
    title("latency_bandwidth and point_to_point compared with IMB-MPI1, two bound ranks of Intel MPI")
    prefix = Path(sys.prefix)
    missing = [str(path) for path in (prefix / "bin/IMB-MPI1", prefix / "bin/mpicc") if not path.exists()]
    missing += [name for name in ("numactl", "make") if shutil.which(name) is None]
    if missing:
        print(f"  skipped: {', '.join(missing)} not installed")
        return
    if shutil.which("osu_latency") is None:
        print("  without OSU: osu_latency is not on the PATH")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        compare_ping_pong(folder, build_kernel("latency_bandwidth", "mpicc", folder, wheel_mpi()))
        compare_one_way(folder, build_kernel("point_to_point", "mpicc", folder, wheel_mpi()))


if __name__ == "__main__":
    main()
