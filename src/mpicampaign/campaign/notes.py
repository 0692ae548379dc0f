"""Collecting the errors in a campaign file, without those that only follow from other errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.errors import Problem
    from mpicampaign.yaml_lines import Document, Key


class Notes:
    """Errors by key path. ``doubts``: key paths of values already known to be wrong."""

    def __init__(self, document: Document, doubts: Sequence[Key]) -> None:
        self.document = document
        self._problems: dict[Problem, None] = {}  # in the order in which they were found, each once
        self._warnings: dict[Problem, None] = {}
        self._doubts = set(doubts)
        self._inside_doubt = {doubt[:length] for doubt in doubts for length in range(len(doubt))}

    def doubt(self, key: Key) -> None:
        """Note no more errors that only follow from the value at ``key``."""
        self._doubts.add(key)
        self._inside_doubt |= {key[:length] for length in range(len(key))}

    def add(self, key: Key, message: str, value: str = "", hint: str = "", reads: Sequence[Key] = ()) -> None:
        """Note an error at ``key``, unless its value or one of the values in ``reads`` is in doubt."""
        if self._in_doubt(key) or any(self._in_doubt(each) or each in self._inside_doubt for each in reads):
            return
        self._problems[self.document.problem(key, message, value, hint)] = None

    def warn(self, key: Key, message: str, value: str = "", hint: str = "") -> None:
        """Note what may be right all the same."""
        self._warnings[self.document.problem(key, message, value, hint)] = None

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """All warnings noted, in order."""
        return tuple(self._warnings)

    @property
    def problems(self) -> list[Problem]:
        """All errors noted, in order."""
        return list(self._problems)

    def _in_doubt(self, key: Key) -> bool:
        return any(key[:length] in self._doubts for length in range(1, len(key) + 1))
