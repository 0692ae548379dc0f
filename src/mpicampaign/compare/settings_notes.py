"""Rows that settings tell apart though nothing reads them, and what files of settings set in a row.

Rows of one MPI library on one host group are compared; evidence of earlier releases shows nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import (
    CHOSEN_TRANSPORT,
    MPI_LIBRARY,
    NO_SETTINGS,
    SETTINGS_FILES,
    UNREAD_SETTINGS,
)
from mpicampaign.compare.findings import BY_FILES, UNREAD_SETTING, Note, Recorded
from mpicampaign.compare.rows import Row

_EVIDENCE = (MPI_LIBRARY, CHOSEN_TRANSPORT, SETTINGS_FILES, "binding", "process")
_MOST = 3  # settings that a note shows of a file


def with_settings_notes(rows: Sequence[Row]) -> list[Row]:
    """The rows, with notes on those that only unread settings tell apart, or that files steer."""
    notes: dict[int, list[Note]] = {}
    for alike in grouped((row for row in rows if row.curves), _place).values():
        for row in alike:
            notes[id(row)] = [*_unread(row, alike), *_files(row, alike)]
    return [replace(row, notes=(*row.notes, *notes[id(row)])) if notes.get(id(row)) else row for row in rows]


def _place(row: Row) -> tuple[object, ...]:
    libraries = frozenset(run.metadata.get(MPI_LIBRARY, "") for run, _ in row.curves)
    return row.case.system, row.case.host_group, libraries, row.ranks


def _of(row: Row, key: str) -> set[str]:
    """What the row's runs recorded under a key, as tokens."""
    return {token for run, _ in row.curves for token in run.metadata.get(key, "").split()}


def _unread(row: Row, rows: Iterable[Row]) -> Iterator[Note]:
    """The settings without which it is the same as another row, if the evidence of the two is equal."""
    mine = _of(row, "settings")
    for other in rows:
        only, instead = mine - (theirs := _of(other, "settings")), theirs - mine
        names = _names(only)
        nothing_reads = names <= _never_read(row) and _names(instead) <= names & _never_read(other)
        if only and nothing_reads and _evidence(other) == _evidence(row):
            unread = f"{', '.join(sorted(only))}; nothing else differs from {other.case.placement}"
            yield Recorded(kind=UNREAD_SETTING, reason=unread)
            return


def _names(settings: Iterable[str]) -> set[str]:
    return {setting.partition("=")[0] for setting in settings}


def _never_read(row: Row) -> set[str]:
    return set.intersection(*(set(run.metadata.get(UNREAD_SETTINGS, "").split()) for run, _ in row.curves))


def _evidence(row: Row) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(run.metadata.get(key, "") for run, _ in row.curves) for key in _EVIDENCE)


def _files(row: Row, rows: Iterable[Row]) -> Iterator[Note]:
    """What files of settings set; first what not all rows have.

    Each transport has a file of tuning beside the library: no setting, unless it has two contents.
    """
    recorded = [_set_by_files(other) for other in rows]
    tuned = Counter(_file(token) for token in set().union(*recorded) if "=" not in token)
    mine = (token for token in _set_by_files(row) if "=" in token or tuned[_file(token)] > 1)
    if shown := sorted(mine, key=lambda token: (all(token in tokens for tokens in recorded), token)):
        more = f" and {len(shown) - _MOST} more" if len(shown) > _MOST else ""
        yield Recorded(kind=BY_FILES, reason=f"{', '.join(shown[:_MOST])}{more}")


def _file(token: str) -> str:
    return token.partition(":")[0]


def _set_by_files(row: Row) -> set[str]:
    return _of(row, SETTINGS_FILES) - {NO_SETTINGS}
