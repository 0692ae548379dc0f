"""Data as CSV and as JSON: for programs and spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from mpicampaign.show.data import COLUMNS, long_data
from mpicampaign.show.form import View

if TYPE_CHECKING:
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.show.data import Data, Value

CSV_COLUMNS = tuple(column.name for column in COLUMNS)
JSON_FORMAT = "mpicampaign-table"
JSON_VERSION = 1


def to_csv(comparison: Comparison, unit: str = "MB/s") -> str:
    """One line for each row and metric, in SI units; ``unit``: of bandwidths in notes."""
    return data_to_csv(long_data(comparison, view=View(unit)))


def data_to_csv(data: Data) -> str:
    """Header and lines; numbers in full, empty where there is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_guarded(name) for name in data.names)
    writer.writerows([_csv_cell(value) for value in line] for line in data.lines)
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


def data_to_json(data: Data, campaign: str) -> str:
    """One object for each line, ``null`` where there is no figure; format in docs/formats.md."""
    rows = [dict(zip(data.names, line, strict=True)) for line in data.lines]
    header = {"format": JSON_FORMAT, "version": JSON_VERSION, "campaign": campaign, "columns": data.names}
    return json.dumps({**header, "rows": rows}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
