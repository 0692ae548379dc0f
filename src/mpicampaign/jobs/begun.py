"""Runs by the identity that they have now, from the folders of a case.

Before 0.2 the patterns for outputs were part of an identity, and so of a folder's name: each way of reading
made a run of its own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.files import text_or_nothing
from mpicampaign.base.identity import Declaration, identity, of_run

_DECLARED = re.compile(r"^claim declared=(.*)$", re.MULTILINE)
_STARTED = re.compile(r"^job started=(.*)$", re.MULTILINE)


class Begun(NamedTuple):
    """The folder of a run, and what the run was declared as when it was begun."""

    folder: Path
    declared: Declaration

    @property
    def has_result(self) -> bool:
        """Whether it ended well."""
        return (self.folder / "result/output.txt").exists()


def begun_runs(of_case: Path) -> dict[str, list[Begun]]:
    """The runs below the folder of a case. Of several with one identity the newest result is first."""
    runs_of: dict[str, list[Begun]] = {}
    for folder in of_case.glob("r*-*"):
        if declared := _declared(folder):
            runs_of.setdefault(identity(of_run(declared)), []).append(Begun(folder, declared))
    return {
        name: sorted(runs, key=_age, reverse=True) if len(runs) > 1 else runs
        for name, runs in runs_of.items()
    }


def _declared(folder: Path) -> Declaration:
    """The declaration in a run's claim; empty where the name of the folder is not made from it."""
    line = _DECLARED.search(text_or_nothing(folder / "claim"))
    try:
        declared = json.loads(line[1]) if line else {}
    except ValueError:
        return {}
    named = isinstance(declared, dict) and identity(declared) == folder.name.partition("-")[2]
    return declared if named else {}


def _age(run: Begun) -> tuple[bool, str, int, str]:
    """Results by their start, before runs without one by their claim."""
    started = _STARTED.search(text_or_nothing(run.folder / "result/evidence.txt"))
    claimed = (run.folder / "claim").stat().st_mtime_ns
    return run.has_result, started[1] if started else "", claimed, run.folder.name
