"""Caches of what was read from runs: which outputs can be used, and the records of finished runs.

So a status call does not parse each output again, and a report after one new run does not read all others.
An entry holds for all that it follows from: the content of files, what the plan says, and the state of this
program: a changed parser parses again. The digest of a record finds damage, not forgery: what other sites get
is read from the runs (`collect_all`). The files may be removed at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mpicampaign.base.files import whole, write_whole
from mpicampaign.base.program_state import program_state
from mpicampaign.base.records import FAILED, Record, record_from, record_line

OUTPUTS_FILE = "outputs-read.json"
# the state of the program, then a line for each record: digest of the rest, key, record
RECORDS_FILE = "records-read.jsonl"


class OutputsRead:
    """Why outputs cannot be used (empty where they can), from the cache or found now."""

    def __init__(self, campaign_folder: Path) -> None:
        self._path = campaign_folder / OUTPUTS_FILE
        self._kept = {key: str(reason) for key, reason in kept_of_program(self._path, "outputs").items()}
        self._used: dict[str, str] = {}

    def reason(self, asked: str, output: bytes, find: Callable[[], str], lasting: Callable[[], bool]) -> str:
        """The reason for an output; ``asked``: what else it depends on; ``lasting``: whether to cache it."""
        key = hashlib.sha256(f"{asked}\0".encode() + output).hexdigest()
        if key in self._kept:
            self._used[key] = self._kept[key]
            return self._kept[key]
        reason = find()
        if lasting():
            self._used[key] = reason
        return reason

    def keep(self) -> None:
        """Write the entries that were used."""
        if self._used != self._kept and self._path.parent.is_dir():
            keep_of_program(self._path, "outputs", self._used)


def kept_of_program(path: Path, what: str) -> dict[str, Any]:
    """The entries of a cache by key; none where another state of the program wrote them."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return dict(data[what]) if data["program"] == program_state() else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def keep_of_program(path: Path, what: str, entries: Mapping[str, Any]) -> None:
    """Write the entries of a cache; in a folder without write permission nothing is cached."""
    with suppress(OSError):
        write_whole(path, json.dumps({"program": program_state(), what: entries}) + "\n")


class RecordsRead:
    """The records of a campaign's folder, as lines by key: ``kept`` by an earlier call, ``used`` now."""

    def __init__(self, campaign_folder: Path) -> None:
        self._path = campaign_folder / RECORDS_FILE
        self._state = program_state()
        self.kept = self._read()
        self.used: dict[str, bytes] = {}

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
        """Write the entries that were used, and forget them; without write permission nothing is cached."""
        if self.used != self.kept:
            with suppress(OSError), whole(self._path) as part, part.open("wb") as file:
                file.write(f"{self._state}\n".encode())
                file.writelines(_line(key, record) for key, record in self.used.items())
        self.used = self.kept = {}

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
