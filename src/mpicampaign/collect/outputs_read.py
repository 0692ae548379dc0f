"""A cache of outputs that were parsed, so that a status call does not parse each of them again.

An entry holds for an output's content and the state of this program: a changed parser parses again. The file
may be removed at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mpicampaign.base.files import write_whole
from mpicampaign.base.program_state import program_state

FILE = "outputs-read.json"


class OutputsRead:
    """Why outputs cannot be used (empty where they can), from the cache or found now."""

    def __init__(self, campaign_folder: Path) -> None:
        self._path = campaign_folder / FILE
        self._state = program_state()
        self._kept = self._read()
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
        """Write the entries that were used; in a folder without write permission nothing is cached."""
        if self._used != self._kept and self._path.parent.is_dir():
            with suppress(OSError):
                write_whole(self._path, json.dumps({"program": self._state, "outputs": self._used}) + "\n")

    def _read(self) -> dict[str, str]:
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            same = data["program"] == self._state
            return {str(key): str(reason) for key, reason in data["outputs"].items()} if same else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
