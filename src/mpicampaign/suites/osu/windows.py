"""osu_mbw_mr with varied window: bandwidth and message rate by size, one column for each window size."""

from __future__ import annotations

from dataclasses import dataclass, field

from mpicampaign.records import Series
from mpicampaign.suites.reading import (
    MEGABYTE,
    OutputError,
    check_column_count,
    decimal,
    integer,
    looks_like_row,
    out_of_step,
    row_tokens,
)

_BANDWIDTH = "# Uni-directional Bandwidth"
_RATE = "# Message Rate Profile"


@dataclass(slots=True)
class _Table:
    windows: tuple[int, ...] = ()
    sizes: list[int] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)


@dataclass(slots=True)
class WindowProfile:
    """Reads the lines below "window size: varied"."""

    title: str
    ranks: int
    tables: dict[str, _Table] = field(default_factory=dict)
    current: str = ""

    def read(self, number: int, line: str) -> bool:
        """Whether the line was a row of values."""
        if line.startswith((_BANDWIDTH, _RATE)):
            self._begin(number, "bandwidth" if line.startswith(_BANDWIDTH) else "message_rate")
        elif line.startswith("#") and self.current and not self.tables[self.current].windows:
            windows = tuple(integer(token, number, "window size") for token in row_tokens(line[1:], number))
            self.tables[self.current].windows = windows
        elif self.current and looks_like_row(line):
            self._row(self.tables[self.current], number, row_tokens(line, number))
            return True
        return False

    def series(self) -> list[Series]:
        """One series for each window size.

        Raises
        ------
        OutputError
            when one of the tables is missing, empty or shorter than the other.
        """
        bandwidth, rate = self.tables.get("bandwidth"), self.tables.get("message_rate")
        if not bandwidth or not bandwidth.rows:
            raise OutputError("no bandwidths below the header")
        if rate and (rate.sizes, rate.windows) != (bandwidth.sizes, bandwidth.windows):
            raise OutputError("bandwidths and message rates are of different sizes: rows are missing")
        return [self._one(k, window, bandwidth, rate) for k, window in enumerate(bandwidth.windows)]

    def _begin(self, number: int, name: str) -> None:
        if name in self.tables:
            raise OutputError(f"line {number}: a second table of one kind: two outputs in one file")
        self.tables[name] = _Table()
        self.current = name

    def _row(self, table: _Table, number: int, tokens: list[str]) -> None:
        check_column_count(tokens, ["Size", *map(str, table.windows)], number)
        size = integer(tokens[0], number, "Size")
        if table.sizes and size != (2 * table.sizes[-1] or 1):
            raise out_of_step(size, table.sizes[-1], number)
        table.sizes.append(size)
        table.rows.append([decimal(token, number, self.current) for token in tokens[1:]])

    def _one(self, k: int, window: int, bandwidth: _Table, rate: _Table | None) -> Series:
        columns: dict[str, list[float | None]] = {
            "size": list(bandwidth.sizes),
            "bandwidth": [row[k] * MEGABYTE for row in bandwidth.rows],
        }
        if rate:
            columns["message_rate"] = [row[k] for row in rate.rows]
        return Series(self.title, self.ranks, columns, {"window_size": str(window)})
