"""The metrics as earlier versions kept them, in history/metrics/*.parquet: they are read once, and stay."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from mpicampaign.base.extras import imports_of
from mpicampaign.history.rows import SeriesRows, utc_text
from mpicampaign.history.series import NAME

_ABOUT = {b"format": b"mpicampaign-history", b"version": b"3"}


def earlier_files(folder: Path) -> list[Path]:
    """The files in a folder history/."""
    return sorted((folder / "metrics").glob("[!.]*.parquet"))


def names_in(path: Path) -> set[str]:
    """The series in a file, which its footer names; none of what is no such file."""
    try:
        with path.open("rb") as file:
            file.seek(-8, os.SEEK_END)
            size = int.from_bytes(file.read(4), "little")
            file.seek(-8 - size, os.SEEK_END)
            return set(NAME.findall(file.read(size).decode("latin-1")))
    except OSError:
        return set()


def read_earlier(path: Path, names: Collection[str]) -> Iterator[SeriesRows]:
    """Some series of a file.

    Raises
    ------
    UserError, OSError, ValueError, TypeError, KeyError
        when the package that reads it is missing, or it is damaged.
    """
    if not names:
        return
    with imports_of("parquet", "Parquet"):
        from pyarrow import compute, parquet
    table = parquet.read_table(path, page_checksum_verification=True)
    if not _ABOUT.items() <= (table.schema.metadata or {}).items():
        raise ValueError("it is of another version")
    for name in sorted(names):
        rows = table.filter(compute.equal(table["series"], name)).to_pylist()
        for row in rows:
            row.update(started=utc_text(str(row["started"])), round_trips=row["round_trips"] or "")
        if rows:
            yield SeriesRows(name, rows[0]["campaign"], rows[0]["changed"], rows)
