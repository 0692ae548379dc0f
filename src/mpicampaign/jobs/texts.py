"""Texts of runs, such as scripts, made once for all repeats of a case."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from mpicampaign.base.records import Case
from mpicampaign.jobs.run import Run

# Stand in for a repeat's number and its identity: a name in a campaign cannot be one of them but by chance.
_REPEAT = 1 << 62 | int.from_bytes(os.urandom(7))
_IDENTITY = os.urandom(16).hex()


class TextOfRepeats:
    """A text of runs that is made anew only where more than a repeat's number and its identity differ."""

    def __init__(self, text_of: Callable[[Run], str]) -> None:
        self._text_of = text_of
        self._made: dict[Case, tuple[Run, str]] = {}

    def __call__(self, run: Run) -> str:
        """The text of a run."""
        alike, text = self._made.get(run.kept, (None, ""))
        if (any_repeat := _without_repeat(run)) != alike:
            text = self._text_of(any_repeat)
            self._made[run.kept] = any_repeat, text
        text = text.replace(f"r{_REPEAT}-", f"r{run.repeat:02d}-")  # in the name of its folder
        return text.replace(str(_REPEAT), str(run.repeat)).replace(_IDENTITY, run.identity)


def _without_repeat(run: Run) -> Run:
    return replace(run, repeat=_REPEAT, identity=_IDENTITY, order=0, further=False, part=())
