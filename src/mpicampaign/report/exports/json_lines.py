"""JSON lines: one object for each value, for log collectors and programs that read line by line."""

from __future__ import annotations

import json

from mpicampaign.compare.tables import Comparison
from mpicampaign.report.data import long_data
from mpicampaign.report.exports import ExportWriter
from mpicampaign.show.document import plain


def json_lines(comparison: Comparison, campaign: str) -> str:
    """The columns of tables with the campaign's name and identities; ``null`` where there is no value.

    All of it is ASCII, since some readers take further characters for ends of lines.
    """
    data = long_data(comparison, with_identity=True)
    names = ("campaign", *map(plain, data.header))
    rows = (dict(zip(names, (campaign, *line), strict=True)) for line in data.values)
    return "".join(f"{json.dumps(row, allow_nan=False)}\n" for row in rows)


WRITER = ExportWriter(".jsonl", lambda comparison, campaign: json_lines(comparison, campaign).encode("utf-8"))
