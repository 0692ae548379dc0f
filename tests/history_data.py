"""Made-up histories: curves, records of series, and stores of them."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import build_records as make

from mpicampaign.base.grouping import grouped
from mpicampaign.base.identity import identity, run_path
from mpicampaign.base.plan_file import FILE, CaseEntry, PlanFile, RunEntry, plan_json
from mpicampaign.base.presentation import Presentation
from mpicampaign.base.records import NEW_SERIES, REPEATS, Case
from mpicampaign.history.curves import Curve, CurveKey, Point
from mpicampaign.history.metrics import add, connect
from mpicampaign.history.rows import CURVE, OBSERVATION, OF_ROW, SeriesRows
from mpicampaign.history.series import OpenSeries, write_series
from mpicampaign.history.store import FOLDER, Store

FIRST = datetime(2026, 1, 20, 4, tzinfo=UTC)
OLD, NEW = {"kernel": "Linux 5.14.0-362", "host": "n1"}, {"kernel": "Linux 5.14.0-427", "host": "n1"}
DECLARED = {"suite": "osu", "benchmark": "latency"}


def key(placement: str = "TCP", metric: str = "bandwidth at 1 KiB", group: str = "blue") -> CurveKey:
    transport = {"TCP": "tcp", "IBV": "ibv"}.get(placement, "shm")
    names = ("cluster", group, placement, transport, "PingPong", "PingPong", 2, metric)
    return CurveKey("d", *names, 1024, "bandwidth", "B/s", lower_is_better=False)


def name_of(number: int) -> str:
    """The tick of a day."""
    return f"{FIRST + timedelta(days=number):%Y%m%dT%H%M%SZ}-{number:08x}"


def curve(values: list[float], of: CurveKey | None = None, cut: int | None = None) -> Curve:
    """A point each day; from ``cut`` on with another kernel."""
    points = [
        Point(
            name_of(number),
            f"{FIRST + timedelta(days=number):%Y-%m-%dT%H:%M:%SZ}",
            value,
            1,
            NEW if cut is not None and number >= cut else OLD,
        )
        for number, value in enumerate(values)
    ]
    return Curve(of or key(), tuple(points))


def noise(count: int, step: float = 1.0, cut: int = 0, seed: int = 1, level: float = 1e9) -> list[float]:
    """Noise of 1 %; from ``cut`` on multiplied by ``step``."""
    source = random.Random(seed)
    return [level * source.gauss(1, 0.01) * (step if number >= cut else 1) for number in range(count)]


def series_of(number: int) -> OpenSeries:
    return OpenSeries(name_of(number), f"{FIRST + timedelta(days=number)}", NEW_SERIES, {"campaign": "c"})


def write_runs(folder: Path, number: int, latency: float = 1.5, placement: str = "TCP") -> OpenSeries:
    """The open series of a campaign's folder: the runs of one case, with a plan."""
    return _write(folder, series_of(number), [latency + 0.01, latency + 0.02], [number] * 2, placement)


def write_ticks(folder: Path, latencies: Sequence[float]) -> OpenSeries:
    """A series to which each day has added a repeat."""
    return _write(folder, replace(series_of(0), kind=REPEATS), latencies, range(len(latencies)))


def _write(
    folder: Path, series: OpenSeries, latencies: Sequence[float], days: Sequence[int], placement: str = "TCP"
) -> OpenSeries:
    case = Case("here", "blue", "TCP", "latency")
    entries = []
    for repeat, (latency, number) in enumerate(zip(latencies, days, strict=True), start=1):
        named = identity({**DECLARED, "repeat": repeat})
        entries.append(RunEntry(repeat, named, repeat))
        started = f"{FIRST + timedelta(days=number):%Y-%m-%dT%H:%M:%SZ}"
        kernel = NEW["kernel"] if number else OLD["kernel"]
        lines = [f"job started={started}", "job exit_status=0", f"node n1 kernel={kernel}"]
        output = make.OSU_OUTPUT.replace("0.50", f"{latency:.2f}")
        result = folder / run_path(case, repeat, named) / "result.txt"
        make.write_result(result, *lines, "node n1 microcode=0x2b", output=output)
    plan = PlanFile("c", ("here",), cases=(CaseEntry(case, "osu", "", None, None, DECLARED, tuple(entries)),))
    named_now = replace(case, placement=placement)
    plan = replace(plan, cases=(replace(plan.cases[0], case=named_now, kept_as=case),))
    (folder / FILE).write_text(plan_json(plan))
    write_series(folder, series)
    return series


def store_of(folder: Path, days: int, first: int = 0) -> Store:
    """A campaign's folder whose store has a series for each day."""
    store = Store(folder / FOLDER)
    for number in range(first, first + days):
        series = write_runs(folder, number, 1.5 + number / 10)
        store.add(series, folder, Presentation())
        shutil.rmtree(folder / "runs")
    return store


def row(tick: str, value: float | None, **others: Any) -> dict[str, Any]:
    """A row of a series: of one curve, unless other columns say so."""
    texts = {**dict.fromkeys((*CURVE, *OBSERVATION, *OF_ROW), "text"), "tick": tick, "round_trips": ""}
    numbers = {"ranks": 2, "size": 0, "lower_is_better": True, "repeat": 1, "counts": True, "value": value}
    return {**texts, **numbers, "started": None, **others}


def metrics_of(*rows: dict[str, Any]) -> sqlite3.Connection:
    """The metrics of series that are named as the ticks of their rows."""
    base = connect()
    for tick, of_tick in grouped(rows, lambda row: row["tick"]).items():
        add(base, SeriesRows(tick, "c", False, of_tick))
    return base


def open_again(store: Store) -> Store:
    return Store(store.folder)
