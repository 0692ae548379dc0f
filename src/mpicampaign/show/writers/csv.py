"""Data as CSV: for programs and spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from mpicampaign.show.document import Grid, Value, plain
from mpicampaign.show.writer import DataWriter


class _Line:
    """A file of which a writer returns what it would write: the line."""

    @staticmethod
    def write(line: str) -> str:
        return line


def csv_lines(header: Iterable[str], lines: Iterable[Iterable[Value]]) -> Iterator[str]:
    """Header and lines, one after the other; numbers in full, empty where there is none."""
    writer = csv.writer(_Line(), lineterminator="\n")
    yield writer.writerow(map(_guarded, header))
    yield from (writer.writerow(map(_csv_cell, line)) for line in lines)


def data_to_csv(data: Grid) -> str:
    return "".join(csv_lines(map(plain, data.header), data.values))


def _csv_cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _guarded(value) if isinstance(value, str) else repr(value).removesuffix(".0")


def _guarded(text: str) -> str:
    """A spreadsheet takes a cell that begins so for a formula; an apostrophe makes it text."""
    return "'" + text if text.lstrip().startswith(("=", "+", "-", "@")) else text


WRITER = DataWriter(".csv", lambda data, _: data_to_csv(data).encode("utf-8"))
