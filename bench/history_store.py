"""A store of 10^6 rows: one case's history, and medians by group, beside DuckDB on the same files.

Its files are as the store makes them in the worst case: large ones, and as many small ones as it leaves.

DuckDB is not a dependency: "not measured" where the Python package duckdb is not installed.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from common import EARLIER, PROJECT, beside_earlier, line, usually

from mpicampaign.history.curves import NEEDED, curves_of
from mpicampaign.history.rows import schema
from mpicampaign.history.store import LARGE, MAX_FILES, METRICS, PACKS, Store

FIRST = date(2020, 1, 1)
SERIES, GROUPS, ROUNDS = usually((2000, 500, 5), smallest=(100, 8, 1))
_MEASURE, _MERGE, _CURVES = "--measure", "--merge", "--curves"


def make(folder: Path) -> None:
    """A store of series × groups rows; its packs are empty."""
    import pyarrow as arrow

    source = random.Random(1)
    store = Store(folder)
    names = [f"{FIRST + timedelta(days=number):%Y%m%d}T040000Z-{number:08x}" for number in range(SERIES)]
    (folder / PACKS).mkdir(parents=True)
    for name in names:
        store.pack(name).touch()
    count = SERIES * GROUPS
    series = [name for name in names for _ in range(GROUPS)]
    groups = list(range(GROUPS)) * SERIES
    same = {"campaign": "c", "system": "s", "benchmark": "PingPong", "label": "PingPong", "unit": "B/s"}
    same |= {"kernel": "Linux 5.14", "status": "ok", "verdict": "verified", "condition": "quiet"}
    columns: dict[str, Any] = {
        "series": series,
        "tick": series,
        "host_group": [f"group{each % 5}" for each in groups],
        "placement": [("SHM-1", "SHM-2", "TCP", "IBV")[each % 4] for each in groups],
        "metric": [f"bandwidth at {each} B" for each in groups],
        "declared": [f"{each:012x}" for each in groups],
        "identity": [f"{source.getrandbits(48):012x}" for _ in range(count)],
        "value": [source.gauss(1e9, 1e7) for _ in range(count)],
        "size": groups,
        "counts": [True] * count,
        **{name: [value] * count for name, value in same.items()},
    }
    empty: list[Any] = [None] * count
    made = {name: columns.get(name, empty) for name in schema().names}
    made["repeat"] = made["ranks"] = [1] * count
    table = arrow.table(made, schema=schema())
    small = len(names) - MAX_FILES
    step = LARGE // GROUPS + MAX_FILES  # as a merging leaves them
    starts = [*range(0, small, step), *range(small, len(names))]
    for start, end in pairwise([*starts, len(names)]):
        rows = table.slice(start * GROUPS, (end - start) * GROUPS)
        store._write(names[end - 1], rows, names[start:end])


def case_history(store: Store) -> int:
    """The rows of one case."""
    return int(store.table(NEEDED, [("declared", "==", f"{7:012x}")]).num_rows)


def medians(store: Store) -> int:
    """The median of each group."""
    import pyarrow.compute as compute

    table = store.table(["host_group", "placement", "metric", "value", "counts"])
    table = table.filter(compute.field("counts"))
    groups = table.unify_dictionaries().group_by(["host_group", "placement", "metric"])
    return int(groups.aggregate([("value", "approximate_median")]).num_rows)


def _seconds(work: Callable[[], object]) -> float:
    found = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def _duckdb(files: Path) -> tuple[float, float] | None:
    try:
        import duckdb  # type: ignore[import-not-found]
    except ImportError:
        return None
    case = f"SELECT * FROM '{files}' WHERE declared = '{7:012x}'"
    groups = f"SELECT host_group, placement, metric, median(value) FROM '{files}' WHERE counts GROUP BY ALL"
    return _seconds(lambda: duckdb.sql(case).fetchall()), _seconds(lambda: duckdb.sql(groups).fetchall())


def measured(folder: Path) -> dict[str, Any]:
    """Seconds, and peak memory of this process (B)."""
    store = Store(folder)
    found: dict[str, Any] = {"case": _seconds(lambda: case_history(store))}
    found["medians"] = _seconds(lambda: medians(store))
    found["peak"] = _peak()
    found["duckdb"] = _duckdb(folder / METRICS / "*.parquet")
    return found


def all_curves(folder: Path) -> dict[str, Any]:
    """CPU seconds, and peak memory of this process (B)."""
    begin = time.process_time()
    count = len(curves_of(Store(folder).table(NEEDED)))
    return {"curves": count, "cpu": time.process_time() - begin, "peak": _peak()}


def merging(folder: Path) -> tuple[float, int]:
    """A large file merged with all small ones, the most that a tick merges: seconds, peak memory (B)."""
    files = sorted((folder / METRICS).iterdir(), key=lambda path: -path.stat().st_size)
    begin = time.perf_counter()
    Store(folder)._merge_files([files[0], *files[-MAX_FILES:]])
    return time.perf_counter() - begin, _peak()


def _of_process(option: str, folder: Path, project: Path = PROJECT) -> Any:
    """What a process of its own prints, so that its peak memory is its own."""
    command = [sys.executable, __file__, option, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(project / "src")}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def _peak() -> int:
    """Of this process alone; what getrusage gives begins with the peak of the process that started it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "history"
        make(folder)
        sizes = [file.stat().st_size for file in (folder / METRICS).iterdir()]
        found = _of_process(_MEASURE, folder)
        rounds = [[_of_process(_CURVES, folder, each) for each in (PROJECT, *EARLIER)] for _ in range(ROUNDS)]
        of_copies = list(zip(*rounds, strict=True))
        merged, merged_peak = _of_process(_MERGE, folder)
    case, groups, peak = found["case"], found["medians"], found["peak"] / 1e6
    print(f"store of {SERIES * GROUPS:,} rows, {sum(sizes) / 1e6:.1f} MB of Parquet in {len(sizes)} files")
    print(f"  one case's history {case:.3f} s (limit 0.2), medians by group {groups:.3f} s (limit 1)")
    print(f"  peak memory {peak:.0f} MB (limit 500)")
    line(f"all {of_copies[0][0]['curves']} curves: CPU time", [each["cpu"] for each in of_copies[0]], 3.0)
    line("  peak memory", [each["peak"] / 1e6 for each in of_copies[0]], 400.0, "MB")
    for what in ("cpu", "peak"):
        beside_earlier(f"  {what}", [[each[what] for each in copy] for copy in of_copies])
    print(f"  merging small files {merged:.1f} s, peak memory {merged_peak / 1e6:.0f} MB (limit 500)")
    if found["duckdb"] is None:
        print("  DuckDB: not measured, the Python package duckdb is not installed")
    else:
        other = found["duckdb"]
        ratios = f"ratio {case / other[0]:.2f} and {groups / other[1]:.2f}"
        print(f"  DuckDB {other[0]:.3f} and {other[1]:.3f} s: {ratios}")


if __name__ == "__main__":
    work = {_MEASURE: measured, _MERGE: merging, _CURVES: all_curves}
    if len(sys.argv) == 3:
        print(json.dumps(work[sys.argv[1]](Path(sys.argv[2]))))
    else:
        main()
