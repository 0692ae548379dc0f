"""A history of 10^6 rows: one case's rows and medians by group, as SQL; all curves, as `mpicampaign history`
reads them; the size of the database, and how long the last series takes to add.

Each run has one metric, the worst case for the size.
"""

from __future__ import annotations

import gc
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any

from common import line, usually

from mpicampaign.history import metrics
from mpicampaign.history.curves import curves_of
from mpicampaign.history.rows import CURVE, OBSERVATION, OF_ROW, SeriesRows
from mpicampaign.history.store import Store

FIRST = date(2020, 1, 1)
SERIES, GROUPS, ROUNDS = usually((2000, 500, 5), smallest=(20, 8, 1))
CASE = "SELECT * FROM metrics WHERE declared = ?"
COUNTED = "SELECT curve_id, value FROM measured WHERE counts AND value IS NOT NULL ORDER BY curve_id"


def series(number: int, source: random.Random) -> SeriesRows:
    """A row for each group."""
    name = f"{FIRST + timedelta(days=number):%Y%m%d}T040000Z-{number:08x}"
    same = {
        "system": "s",
        "benchmark": "PingPong",
        "label": "PingPong",
        "unit": "B/s",
        "counts": True,
        "ranks": 2,
    }
    same |= {"kernel": "Linux 5.14", "status": "ok", "verdict": "verified", "condition": "quiet", "repeat": 1}
    same |= {"tick": name, "started": f"{FIRST + timedelta(days=number)}T04:00:00Z", "round_trips": ""}
    return SeriesRows(
        name,
        "c",
        False,
        [
            {
                **dict.fromkeys((*CURVE, *OBSERVATION, *OF_ROW)),
                **same,
                "host_group": f"group{group % 5}",
                "placement": ("SHM-1", "SHM-2", "TCP", "IBV")[group % 4],
                "metric": f"bandwidth at {group} B",
                "size": group,
                "declared": f"{group:012x}",
                "identity": f"{source.getrandbits(48):012x}",
                "value": source.gauss(1e9, 1e7),
            }
            for group in range(GROUPS)
        ],
    )


def make(file: Path) -> float:
    """A database of series × groups rows; the seconds that its last series took."""
    source, base = random.Random(1), metrics.connect(file)
    base.execute("PRAGMA synchronous = OFF")
    for number in range(SERIES - 1):
        metrics.add(base, series(number, source))
    base.execute("PRAGMA synchronous = FULL")
    last, begin = series(SERIES - 1, source), time.perf_counter()
    metrics.add(base, last)
    return time.perf_counter() - begin


def case_history(file: Path) -> int:
    """The rows of one case."""
    return len(sqlite3.connect(file).execute(CASE, (f"{7:012x}",)).fetchall())


def medians(file: Path) -> int:
    """The median of each curve."""
    by_curve = groupby(sqlite3.connect(file).execute(COUNTED), itemgetter(0))
    return len({curve: median(value for _, value in values) for curve, values in by_curve})


def all_curves(file: Path) -> int:
    """Every point of every curve, with what the runs observed."""
    gc.set_threshold(1_000_000)  # as the command does
    return len(Store(file.parent).read(curves_of))


WORK: dict[str, tuple[Callable[[Path], int], float]] = {
    "one case": (case_history, 0.2),
    "medians by group": (medians, 1.0),
    "all curves": (all_curves, 3.0),
}


def measured(name: str, file: Path) -> dict[str, float]:
    """CPU seconds and peak memory (MB) of a process that does nothing else."""
    begin = time.process_time()
    count = WORK[name][0](file)
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(int(each.split()[1]) for each in lines if each.startswith("VmHWM"))
    return {"count": count, "cpu": time.process_time() - begin, "peak": peak * 1024 / 1e6}


def _of_process(name: str, file: Path) -> Any:
    command = [sys.executable, __file__, name, str(file)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ})
    return json.loads(done.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / metrics.FILE
        last = make(file)
        print(f"history of {SERIES * GROUPS:,} rows: {file.stat().st_size / 1e6:.1f} MB")
        print(f"  the last series of {GROUPS} rows took {last:.2f} s")
        for name, (_, limit) in WORK.items():
            found = [_of_process(name, file) for _ in range(ROUNDS)]
            line(f"{name}: CPU time", [each["cpu"] for each in found], limit)
            line("  peak memory", [each["peak"] for each in found], 400.0, "MB")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measured(sys.argv[1], Path(sys.argv[2]))))
    else:
        main()
