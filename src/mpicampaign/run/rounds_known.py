"""A cache of the rounds that results ask for, so that no plan reads thousands of results again.

An entry holds for the results as they are and the state of this program. The file may be removed at any time.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING

from mpicampaign.base.files import write_whole
from mpicampaign.base.program_state import program_state

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Rounds = Mapping[int, tuple[str, ...]]

FILE = "rounds-known.json"


class RoundsKnown:
    """The members of rounds by what they follow from."""

    def __init__(self, campaign_folder: Path) -> None:
        self._path = campaign_folder / FILE
        self._state = program_state()
        self._kept = self._read()

    def rounds(self, results: str, find: Callable[[], Rounds]) -> Rounds:
        """From the cache, or found and kept; in a folder without write permission nothing is kept."""
        key = hashlib.sha256(results.encode()).hexdigest()
        if key not in self._kept:
            self._kept[key] = find()
            with suppress(OSError):
                write_whole(self._path, json.dumps({"program": self._state, "rounds": self._kept}) + "\n")
        return self._kept[key]

    def _read(self) -> dict[str, Rounds]:
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            kept = data["rounds"].items() if data["program"] == self._state else ()
            return {
                str(key): {int(number): tuple(map(str, members)) for number, members in rounds.items()}
                for key, rounds in kept
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
