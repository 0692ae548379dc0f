"""Data as JSON lines: one object in a line, for programs that read line by line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mpicampaign.show.document import plain
from mpicampaign.show.writer import DataWriter

if TYPE_CHECKING:
    from mpicampaign.show.document import Grid


def data_to_json_lines(data: Grid, campaign: str) -> str:
    """One object for each line with the campaign's name, ``null`` where there is no value."""
    names = ("campaign", *map(plain, data.header))
    rows = (dict(zip(names, (campaign, *line), strict=True)) for line in data.values)
    return "".join(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in rows)


WRITER = DataWriter(".jsonl", lambda data, campaign: data_to_json_lines(data, campaign).encode("utf-8"))
