"""Collecting the mistakes of a campaign file, without those that only follow from other mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.errors import Problem
    from mpicampaign.yaml_lines import Document, Key


class Notes:
    """``doubts`` are key paths whose values are known to be wrong already."""

    def __init__(self, document: Document, doubts: Sequence[Key]) -> None:
        self.document = document
        self._problems: dict[Problem, None] = {}  # in the order in which they were found, each once
        self._doubts = set(doubts)
        self._inside_doubt = {doubt[:length] for doubt in doubts for length in range(len(doubt))}

    def doubt(self, key: Key) -> None:
        """Note no more mistakes that only follow from what stands at ``key``."""
        self._doubts.add(key)
        self._inside_doubt |= {key[:length] for length in range(len(key))}

    def add(self, key: Key, message: str, value: str = "", hint: str = "", reads: Sequence[Key] = ()) -> None:
        """Note a mistake at ``key``, unless it or one of the values that led to it is in doubt."""
        if self._in_doubt(key) or any(self._in_doubt(each) or each in self._inside_doubt for each in reads):
            return
        self._problems[self.document.problem(key, message, value, hint)] = None

    @property
    def problems(self) -> list[Problem]:
        """What was noted."""
        return list(self._problems)

    def _in_doubt(self, key: Key) -> bool:
        return any(key[:length] in self._doubts for length in range(1, len(key) + 1))
