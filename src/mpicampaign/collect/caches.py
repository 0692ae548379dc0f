"""Caches of what was read from runs: entries of a state of this program, and the records of finished runs.

So a report after one new run does not read all others. A record holds for all that it follows from: the
content of files, what the plan says, and the state of this program: a changed parser parses again. The
digest of a record finds damage, not forgery: what other sites get is read from the runs (`collect_all`). The
files may be removed at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from mpicampaign.base.files import whole, write_whole
from mpicampaign.base.program_state import program_state
from mpicampaign.base.records import FAILED, Record, record_from, record_line
from mpicampaign.base.registry import plugged_in

# the state of the program, then a line for each record: digest of the rest, key, record
RECORDS_FILE = "records-read.jsonl"
_MOST_IN_MEMORY = 1 << 20  # bytes


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
    """A folder's records, as lines of files: those ``kept`` by an earlier call, ``used`` now, and ``new``."""

    @classmethod
    def of(cls, campaign_folder: Path) -> RecordsRead | None:
        """None where a plug-in's parser may have changed unseen."""
        return None if plugged_in() else cls(campaign_folder)

    def __init__(self, campaign_folder: Path) -> None:
        self._path = campaign_folder / RECORDS_FILE
        self._header = f"{program_state()}\n".encode()
        self._old = self._opened()
        self._new = SpooledTemporaryFile(_MOST_IN_MEMORY, dir=str(campaign_folder))  # noqa: SIM115
        self.kept = dict(self._places())
        self.used: set[bytes] = set()
        self.new: list[bytes] = []

    def record(self, asked: str, contents: Mapping[str, bytes], read: Callable[[], Record]) -> Record:
        """The record of a finished run, from the cache or read now.

        Parameters
        ----------
        asked : what the record depends on beside them: what the plan says of the run
        contents : of its files
        """
        key = _key(asked, contents)
        with suppress(OSError, ValueError, KeyError):
            digest, rest = self._line(key)[:-1].split(b" ", 1)
            if digest == _digest(rest):
                record = record_from(rest[len(key) + 1 :])
                self.used.add(key)
                return record
        record = read()
        if record.status != FAILED:  # that may be the fault of grep, which searches outputs
            rest = b"%b %b" % (key, record_line(record))
            self.new.append(b"%b %b\n" % (_digest(rest), rest))
        return record

    def write(self, new: Iterable[bytes]) -> None:
        """Further lines; where the disk is full, the cache stays as it was."""
        with suppress(OSError):
            self._new.writelines(new)

    def append(self) -> None:
        """Add the new entries to the file; another call may replace it, and they are read again."""
        lines, self.new = b"".join(self.new), []
        with suppress(OSError), self._path.open("ab+", buffering=0) as file:
            file.seek(0)
            if file.readline() == self._header:
                file.write(lines)
            else:
                write_whole(self._path, self._header + lines)

    def keep(self) -> None:
        """Keep the entries that were used, and forget them; without write permission nothing is cached."""
        self.write(self.new)
        if self._new.tell() or self.used != self.kept.keys():
            with suppress(OSError), whole(self._path) as part, part.open("wb") as file:
                file.write(self._header)
                file.writelines(self._line(key) for key in self.kept if key in self.used)
                self._new.seek(0)
                shutil.copyfileobj(self._new, file)
        self.kept, self.used, self.new = {}, set(), []
        self._old.close()
        with suppress(OSError):  # what a full disk did not take
            self._new.close()

    def _opened(self) -> IO[bytes]:
        with suppress(OSError):
            return self._path.open("rb")
        return Path(os.devnull).open("rb")

    def _places(self) -> Iterator[tuple[bytes, tuple[int, int]]]:
        place = len(self._header)
        with suppress(OSError):
            for line in self._old if self._old.readline() == self._header else ():
                yield line.partition(b" ")[2].partition(b" ")[0], (place, len(line))
                place += len(line)

    def _line(self, key: bytes) -> bytes:
        place, length = self.kept[key]
        return os.pread(self._old.fileno(), length, place)  # several processes read the file


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _key(asked: str, contents: Mapping[str, bytes]) -> bytes:
    digest = hashlib.sha256(asked.encode("utf-8", "surrogatepass"))
    for name, content in contents.items():
        digest.update(f"\0{name} {len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest().encode()
