"""A cache of the records of finished runs, so that a report after one new run does not read all others again.

An entry holds for all that its record follows from: the content of the run's files, what the plan says, and
the state of this program. The file may be removed at any time.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING

from mpicampaign.files import whole
from mpicampaign.program_state import program_state
from mpicampaign.records import FAILED, record_from_json, record_to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mpicampaign.records import Record

FILE = "records-read.jsonl"  # the state of the program, then a line for each record: key and record


class RecordsRead:
    """The records of a campaign's folder; ``used``: their JSON texts by key, which are kept."""

    def __init__(self, campaign_folder: Path) -> None:
        self._path = campaign_folder / FILE
        self._state = program_state()
        self._kept = self._read()
        self.used: dict[str, str] = {}

    @property
    def known(self) -> int:
        """How many records are in the cache."""
        return len(self._kept)

    def record(self, asked: str, contents: Mapping[str, bytes], read: Callable[[], Record]) -> Record:
        """The record of a finished run, from the cache or read now.

        Parameters
        ----------
        asked : what the record depends on beside them: what the plan says of the run
        contents : of its files
        """
        key = _key(asked, contents)
        with suppress(ValueError, KeyError, TypeError):
            record = record_from_json(json.loads(self._kept[key]))
            self.used[key] = self._kept[key]
            return record
        record = read()
        if record.status != FAILED:  # that may be the fault of grep, which searches outputs
            self.used[key] = json.dumps(record_to_json(record))
        return record

    def keep(self) -> None:
        """Write the entries that were used; in a folder without write permission nothing is cached."""
        if self.used == self._kept:
            return
        with suppress(OSError), whole(self._path) as part, part.open("w", encoding="utf-8") as file:
            file.write(f"{self._state}\n")
            file.writelines(f"{key} {text}\n" for key, text in self.used.items())

    def _read(self) -> dict[str, str]:
        try:
            with self._path.open(encoding="utf-8") as file:
                if file.readline() != f"{self._state}\n":
                    return {}
                pairs = (line.rstrip("\n").partition(" ") for line in file)
                return {key: text for key, _, text in pairs}
        except (OSError, ValueError):
            return {}


def _key(asked: str, contents: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(asked.encode("utf-8", "surrogatepass"))
    for name, content in contents.items():
        digest.update(f"\0{name} {len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
