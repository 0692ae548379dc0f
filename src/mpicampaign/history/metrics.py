"""The metrics of a campaign's finished series: the SQLite database history/metrics.sqlite.

What a kill leaves half written, SQLite takes back when the database is opened next. Its journal is a file
beside it: a write-ahead log would need memory that the hosts of a network file system do not share. Rows have
checksums. Each function raises an error of `DAMAGED` where the database cannot be used.
"""

from __future__ import annotations

import sqlite3
import struct
from itertools import repeat
from operator import itemgetter
from pathlib import Path
from typing import Any
from zlib import crc32

from mpicampaign.history.rows import CASE, CURVE, OBSERVATION, OF_ROW, SeriesRows
from mpicampaign.history.series import DAMAGE

FILE = "metrics.sqlite"  # in history/
VERSION = 4
DAMAGED = (sqlite3.Error, struct.error, *DAMAGE)
_PATIENCE = 30  # s, while others write: a series takes them less

# The rows of a curve lie side by side, in the order of ticks: reading one skips all others.
_SCHEMA = f"""
PRAGMA user_version = {VERSION};
CREATE TABLE series (
    series_id INTEGER PRIMARY KEY, series, campaign, changed, began, runs, counted, number, crc);
CREATE TABLE ticks (tick_id INTEGER PRIMARY KEY, series_id, tick, crc);
CREATE TABLE curves (curve_id INTEGER PRIMARY KEY, {", ".join(CURVE)}, crc);
CREATE TABLE observations (observation_id INTEGER PRIMARY KEY, {", ".join(OBSERVATION)}, crc);
CREATE TABLE measured (curve_id, tick_id, place, observation_id, {", ".join(OF_ROW)}, crc,
    PRIMARY KEY (curve_id, tick_id, place)) WITHOUT ROWID;
CREATE VIEW metrics AS
    SELECT series, tick, campaign, changed, {", ".join((*CURVE, *OF_ROW, *OBSERVATION))}
    FROM curves CROSS JOIN measured USING (curve_id) JOIN observations USING (observation_id)
    JOIN ticks USING (tick_id) JOIN series USING (series_id)
"""
_COUNTED = "counts AND value IS NOT NULL"
_COUNT = f"SELECT count(*) FROM measured WHERE {_COUNTED} AND curve_id BETWEEN 1 AND ?"
_VALUES = f"""
SELECT tick_id, coalesce(started, ''), value, observation_id, crc FROM measured
WHERE curve_id = ? AND {_COUNTED} ORDER BY tick_id, place
"""
Value = tuple[int, str, float, int, int]  # as selected here
_case, _curve, _observation, _others = (itemgetter(*of) for of in (CASE, CURVE, OBSERVATION, OF_ROW))
_pack = struct.Struct("<qdq").pack


def connect(path: Path | None = None) -> sqlite3.Connection:
    """Open the database, or a new one in memory."""
    base = sqlite3.connect(path or ":memory:", timeout=_PATIENCE, isolation_level=None)
    for setting in ("page_size = 4096", "journal_mode = DELETE", "synchronous = FULL"):
        base.execute(f"PRAGMA {setting}")
    if not _version(base):
        with base:
            base.execute("BEGIN IMMEDIATE")
            if not _version(base):  # else another call has made it
                for statement in _SCHEMA.split(";"):
                    base.execute(statement)
    if _version(base) != VERSION:
        base.close()
        raise sqlite3.DatabaseError(f"it is not of version {VERSION} of this program")
    return base


def _version(base: sqlite3.Connection) -> int:
    return int(base.execute("PRAGMA user_version").fetchone()[0])


# ---- reading


def check(base: sqlite3.Connection) -> None:
    """See that no value that counts is lost."""
    [(number,)] = base.execute(_COUNT, (len(rows_in(base, "curves")),))
    if number != sum(row[-1] for row in rows_in(base, "series")):
        raise sqlite3.DatabaseError("a value is lost")


def names(base: sqlite3.Connection) -> set[str]:
    """The series in it."""
    return {row[1] for row in rows_in(base, "series")}


def rows_in(base: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    """The rows of a small table, each without its checksum."""
    rows = base.execute(f"SELECT * FROM {table}").fetchall()
    if any(row[-1] != _checksum(row[:-1]) for row in rows):
        raise sqlite3.DatabaseError(f"a row of {table} has changed")
    return [row[:-1] for row in rows]


def values_in(base: sqlite3.Connection, curve: int) -> list[Value]:
    """The values of a curve that count, in the order in which they were added."""
    values = base.execute(_VALUES, (curve,)).fetchall()
    *columns, checksums = zip(*values, strict=True) if values else ((), ())
    if tuple(map(_value_checksum, repeat(curve), *columns)) != checksums:
        raise sqlite3.DatabaseError("a value has changed")
    return values


def _checksum(row: tuple[Any, ...]) -> int:
    return crc32(repr([int(value) if isinstance(value, bool) else value for value in row]).encode())


def _value_checksum(curve: int, tick: int, started: str, value: float, observation: int) -> int:
    return crc32(_pack(tick, value, observation) + started.encode(), curve)


# ---- writing


def add(base: sqlite3.Connection, series: SeriesRows) -> None:
    """Add a series, unless it is there: all of it, or nothing."""
    with base:
        base.execute("BEGIN IMMEDIATE")
        if series.name not in names(base):
            _add(base, series)


def _add(base: sqlite3.Connection, series: SeriesRows) -> None:
    rows = sorted(series.rows, key=itemgetter("repeat"))
    runs = {(*_case(row), row["repeat"], row["identity"]): row for row in rows}.values()
    starts = [run["started"] for run in runs if run["started"]]
    made = min(starts, default=""), len(starts), sum(run["counts"] for run in runs)
    values = sum(row["counts"] and row["value"] is not None for row in rows)
    number = _Numbers(base, "series")[series.name, series.campaign, series.changed, *made, values]
    ticks, curves, observations = (_Numbers(base, of) for of in ("ticks", "curves", "observations"))
    for place, row in enumerate(rows):
        curve, tick, seen = curves[_curve(row)], ticks[number, row["tick"]], observations[_observation(row)]
        crc = _value_checksum(curve, tick, row["started"] or "", row["value"] or 0, seen)
        _insert(base, "measured", (curve, tick, place, seen, *_others(row), crc))


class _Numbers(dict[tuple[Any, ...], int]):
    """The number of each row of a table whose rows all differ; one that is missing is added."""

    def __init__(self, base: sqlite3.Connection, table: str) -> None:
        super().__init__((row[1:], row[0]) for row in rows_in(base, table))
        self.base, self.table = base, table

    def __missing__(self, row: tuple[Any, ...]) -> int:
        self[row] = number = len(self) + 1
        _insert(self.base, self.table, (number, *row, _checksum((number, *row))))
        return number


def _insert(base: sqlite3.Connection, table: str, row: tuple[Any, ...]) -> None:
    base.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
