"""Ping-pong of latency_bandwidth compared with IMB-MPI1 and OSU, same Intel MPI and binding, in turn.

Like HPCC, latency_bandwidth reports the shortest of a few short loops (8 B: five of at least 10 us; 2 MB: two
of one round trip), IMB the mean over its iterations. To compare like with like, IMB gets the same size many
times, and the shortest of as many last rows as our repetitions counts. The rows before replace our warm-up.
At 8 B a row has as many iterations as our loops; at 2 MB it has 20: IMB fills its buffers before each row, so
its first iterations find them in no cache, while ours have made one round trip. IMB's usual mean over many
iterations is shown beside it, and osu_latency if it is on the PATH: versions that read the clock around every
round trip (7.4 does, 5.3 does not) take one and a half times as long at 8 B.

Times are for ranks 0 and 1, one way.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from common import build_kernel, paired, title, two_bound_ranks, wheel_mpi

PAIRS = 20
LARGE, LARGE_ITERATIONS = 2_000_000, 20
LIMIT = 0.05
SIZES = {8: 5, LARGE: 2}  # message size: repetitions of ours
WARMUP_ROWS = 15
USUAL_ITERATIONS = {8: 1000, LARGE: 100}

Times = dict[int, float]  # one-way seconds by message size


def run_imb(folder: Path, size: int, rows: int, iterations: int) -> float:
    """The shortest of the last rows of PingPong, each a mean over the iterations."""
    lengths = folder / "lengths"
    lengths.write_text(f"{size}\n" * (WARMUP_ROWS + rows))
    options = ("-msglen", lengths, "-iter", f"{iterations}", "-iter_policy", "off", "-time", "60")
    found = re.findall(
        rf"^ +{size} +{iterations} +(\S+)", two_bound_ranks("IMB-MPI1", *options, "PingPong"), re.M
    )
    if len(found) != WARMUP_ROWS + rows:
        sys.exit(f"IMB-MPI1 printed {len(found)} rows of {size} B, not {WARMUP_ROWS + rows}")
    return min(map(float, found[-rows:])) * 1e-6


@dataclass(frozen=True, slots=True)
class Ours:
    """One run of ours: one-way seconds and loops by message size."""

    times: Times
    loops: dict[int, int]


def run_ours(program: Path) -> Ours:
    rows = re.findall(r"^ping_pong 0 1 (\d+) (\d+) (\S+)$", two_bound_ranks(program), re.M)
    times = {int(size): float(seconds) / int(loops) / 2 for size, loops, seconds in rows}
    return Ours(times, {int(size): int(loops) for size, loops, _ in rows})


def run_osu() -> Times:
    """Means over OSU's own iterations; osu_bw keeps 64 messages in flight, so it is no ping-pong."""
    output = two_bound_ranks("osu_latency")  # 5.3 has no size option
    rows = dict(re.findall(r"^(\d+) +(\S+)", output, re.M))
    return {8: float(rows["8"]) * 1e-6, LARGE: float(rows["2097152"]) * 1e-6 * LARGE / 2_097_152}


def compare(folder: Path, program: Path) -> None:
    ours: list[Times] = []
    found: dict[str, list[Times]] = {}
    for _ in range(PAIRS):
        run = run_ours(program)
        ours.append(run.times)
        for name, action in others(folder, run).items():
            found.setdefault(name, []).append(action())
    for name, times in found.items():
        limit = LIMIT if name.startswith("IMB, shortest") else None
        print(f"  latency_bandwidth / {name}")
        paired("  8 B latency", [run[8] for run in ours], [run[8] for run in times], limit)
        big = ([1 / run[LARGE] for run in runs] for runs in (ours, times))
        paired("  2 MB bandwidth", *big, limit)


def others(folder: Path, run: Ours) -> dict[str, Callable[[], Times]]:
    """The other programs, by name in the output."""
    programs: dict[str, Callable[[], Times]] = {
        "IMB, shortest of its last rows": lambda: {
            size: run_imb(folder, size, rows, LARGE_ITERATIONS if size == LARGE else run.loops[size])
            for size, rows in SIZES.items()
        },
        "IMB, mean over 1000 (8 B) and 100 (2 MB) iterations": lambda: {
            size: run_imb(folder, size, 1, iterations) for size, iterations in USUAL_ITERATIONS.items()
        },
    }
    if shutil.which("osu_latency"):
        programs["osu_latency, mean over its iterations (2 MiB scaled to 2 MB)"] = run_osu
    return programs


def main() -> None:
    title("ping-pong of latency_bandwidth compared with IMB-MPI1 and OSU, two bound ranks of Intel MPI")
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
        compare(folder, build_kernel("latency_bandwidth", "mpicc", folder, wheel_mpi()))


if __name__ == "__main__":
    main()
