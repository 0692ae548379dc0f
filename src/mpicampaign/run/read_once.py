"""Results that several ask for in a call: each is parsed once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mpicampaign.base.identity import canonical
from mpicampaign.base.records import Case, Record, sharing
from mpicampaign.base.run_files import written
from mpicampaign.collect.runs import RunFolder, read_run

parsed: dict[tuple[object, ...], Record] = {}
_shared: dict[object, Any] = {}


def forget() -> None:
    """Free them at the end of a call, as a report reads all itself."""
    parsed.clear()
    _shared.clear()


def read_once(
    case: Case, suite: str, folder: RunFolder, reading: Mapping[str, Any], *, keep: bool = True
) -> tuple[Record, bool]:
    """A run, and whether it has a result; ``keep``: for those who ask again."""
    if (time := written(folder.path)) is None:
        return read_run(case, suite, folder, reading=reading), False
    key = case, suite, str(folder.path), canonical(reading), time
    if (record := parsed.get(key)) is None:
        record = read_run(case, suite, folder, reading=reading)
        if keep:
            parsed[key] = record = sharing(record, _shared)
    return record, True
