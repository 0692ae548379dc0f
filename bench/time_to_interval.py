"""Time of a sweep until the median of each size is known to 2 %, compared with IMB PingPong.

point_to_point stops by itself; IMB makes 1,000 iterations at each size (-iter_policy off). Two bound ranks of
Intel MPI, the same sizes, whole launches in turn; the time of an empty launch is subtracted from both. A
message of point_to_point goes one way, with an acknowledgement of one byte; IMB's goes there and back.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from common import build_kernel, line, title, two_bound_ranks, usually, wheel_mpi

from mpicampaign.suites import parse

LAUNCHES = usually(10, smallest=1)
LIMIT = 0.2
BUDGET = usually("600", smallest="0.5")  # s
SIZES = 23  # 1 B to 4 MiB
OURS = ("--pairs", "1", "--messages", "1", "--min-size", "1", "--max-size", "4MiB", "--budget", BUDGET)
ITERATIONS = usually("1000", smallest="10")
IMB = ("-iter", ITERATIONS, "-iter_policy", "off", "-time", "600", "-msglog", "0:22", "PingPong")


def main() -> None:
    title("Time to an interval of 2 % at 23 sizes, two bound ranks, in turn")
    with tempfile.TemporaryDirectory() as folder:
        kernel = build_kernel("point_to_point", "mpicc", Path(folder), wheel_mpi())
        ours, theirs, unfinished = [], [], 0
        for _ in range(LAUNCHES):
            empty = launch(str(kernel), "--help")[0]
            seconds, output = launch(str(kernel), *OURS)
            ours.append(seconds - empty)
            theirs.append(launch("IMB-MPI1", *IMB)[0] - empty)
            unfinished += not_converged(output)
    line("point_to_point, until each size has converged", ours)
    line("IMB-MPI1 PingPong, 1,000 iterations per size", theirs)
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    line("  ratio", ratios, LIMIT, "×")
    print(f"  sizes that had not converged: {unfinished} of {LAUNCHES * SIZES}; ", end="")
    print(f"ratio of the medians {statistics.median(ours) / statistics.median(theirs):.3f}")


def launch(*program: str) -> tuple[float, str]:
    """Seconds of a launch of two bound ranks, and its output."""
    begin = time.perf_counter()
    output = two_bound_ranks(*program)
    return time.perf_counter() - begin, output


def not_converged(output: str) -> int:
    columns = parse("kernel", output).series[0].columns
    assert len(columns["size"]) == SIZES
    return sum(not converged for converged in columns["converged"])


if __name__ == "__main__":
    main()
