"""A cache of the records of finished runs, so that a report after one new run does not read all others again.

An entry holds for all that its record follows from: the content of the run's files, what the plan says, and
the state of this program. Its digest finds damage, not forgery: what other sites get is read from the runs
(`collect_all`). The file may be removed at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from mpicampaign.base.files import whole
from mpicampaign.base.program_state import program_state
from mpicampaign.base.records import FAILED, Record, record_from, record_line

# the state of the program, then a line for each record: digest of the rest, key, record
FILE = "records-read.jsonl"


class RecordsRead:
    """The records of a campaign's folder, as lines by key: ``kept`` by an earlier call, ``used`` now."""

    def __init__(self, campaign_folder: Path) -> None:
        self._path = campaign_folder / FILE
        self._state = program_state()
        self.kept = self._read()
        self.used: dict[str, bytes] = {}

    @property
    def known(self) -> int:
        """How many records are in the cache."""
        return len(self.kept)

    def record(self, asked: str, contents: Mapping[str, bytes], read: Callable[[], Record]) -> Record:
        """The record of a finished run, from the cache or read now.

        Parameters
        ----------
        asked : what the record depends on beside them: what the plan says of the run
        contents : of its files
        """
        key = _key(asked, contents)
        with suppress(ValueError, KeyError):
            record = record_from(self.kept[key])
            self.used[key] = self.kept[key]
            return record
        record = read()
        if record.status != FAILED:  # that may be the fault of grep, which searches outputs
            self.used[key] = record_line(record)
        return record

    def keep(self) -> None:
        """Write the entries that were used; in a folder without write permission nothing is cached."""
        if self.used == self.kept:
            return
        with suppress(OSError), whole(self._path) as part, part.open("wb") as file:
            file.write(f"{self._state}\n".encode())
            file.writelines(_line(key, record) for key, record in self.used.items())

    def _read(self) -> dict[str, bytes]:
        try:
            with self._path.open("rb") as file:
                if file.readline() != f"{self._state}\n".encode():
                    return {}
                return dict(filter(None, map(_entry, file)))
        except (OSError, ValueError):
            return {}


def _line(key: str, record: bytes) -> bytes:
    rest = b"%b %b" % (key.encode(), record)
    return b"%b %b\n" % (_digest(rest), rest)


def _entry(line: bytes) -> tuple[str, bytes] | None:
    """Key and record of a line; ``None`` where its digest is of another one."""
    digest, _, rest = line.rstrip(b"\n").partition(b" ")
    if digest != _digest(rest):
        return None
    key, _, record = rest.partition(b" ")
    return key.decode(), record


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _key(asked: str, contents: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(asked.encode("utf-8", "surrogatepass"))
    for name, content in contents.items():
        digest.update(f"\0{name} {len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
