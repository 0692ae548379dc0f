"""Results that several ask for in a call: each is parsed once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from mpicampaign.base.identity import canonical
from mpicampaign.base.records import Case, Record, sharing
from mpicampaign.base.run_files import written
from mpicampaign.collect.caches import RecordsRead
from mpicampaign.collect.runs import RunFolder, read_run

parsed: dict[tuple[object, ...], Record] = {}
_shared: dict[object, Any] = {}
_cache_of = cache(RecordsRead.of)


def forget() -> None:
    """Free them at the end of a call; a report takes them from the cache of records."""
    parsed.clear()
    _shared.clear()
    _cache_of.cache_clear()


def read_once(
    case: Case, suite: str, folder: RunFolder, reading: Mapping[str, Any], *, keep: bool = True
) -> tuple[Record, bool]:
    """A run, and whether it has a result; ``keep``: for those who ask again."""
    if (time := written(folder.path)) is None:
        return read_run(case, suite, folder, reading=reading), False
    key = case, suite, str(folder.path), canonical(reading), time
    if (record := parsed.get(key)) is None:
        before = _cache_of(folder.path.parents[4])  # of its campaign's folder
        record = read_run(case, suite, folder, reading=reading, before=before)
        if before and before.new:
            before.append()
        if keep:
            parsed[key] = record = sharing(record, _shared)
    return record, True
