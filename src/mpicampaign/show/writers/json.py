"""Data as JSON: for programs."""

from __future__ import annotations

import json

from mpicampaign.show.document import Grid, plain
from mpicampaign.show.writer import DataWriter

JSON_FORMAT = "mpicampaign-table"
JSON_VERSION = 2


def data_to_json(data: Grid, campaign: str) -> str:
    """One object for each line, ``null`` where there is no value; format in docs/formats.md."""
    names = list(map(plain, data.header))
    rows = [dict(zip(names, line, strict=True)) for line in data.values]
    about = {"format": JSON_FORMAT, "version": JSON_VERSION, "table": plain(data.title)}
    header = {**about, "campaign": campaign, "columns": names}
    return json.dumps({**header, "rows": rows}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


WRITER = DataWriter(".json", lambda data, campaign: data_to_json(data, campaign).encode("utf-8"))
