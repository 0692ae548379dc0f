"""Data as CSV: for programs and spreadsheets."""

from __future__ import annotations

import csv
import io

from mpicampaign.show.document import Grid, Value, plain
from mpicampaign.show.writer import DataWriter


def data_to_csv(data: Grid) -> str:
    """Header and lines; numbers in full, empty where there is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_guarded(name) for name in map(plain, data.header))
    writer.writerows([_csv_cell(value) for value in line] for line in data.values)
    return text.getvalue()


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
