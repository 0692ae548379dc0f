"""Looks that were planned for candidates: what follows from them, and when that was planned.

The latter is a line of the campaign's ``planned-looks.jsonl``, written before the first run, so that a
report can tell planned looks from those that followed results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.expectation import looks_to_decide
from mpicampaign.base.files import append_lines, read_log
from mpicampaign.base.grouping import grouped
from mpicampaign.base.plan_file import PlanFile
from mpicampaign.base.records import Case

FILE = "planned-looks.jsonl"


class Decided(NamedTuple):
    """``rows``: how many each candidate should have; ``lacking``: how many more those ``running`` need."""

    rows: Mapping[Case, int]
    running: frozenset[Case]
    lacking: int


NOTHING_DECIDED = Decided({}, frozenset(), 0)


class Stage(NamedTuple):
    """So many blocks of these candidates, by their places, behind the repeat ``after``.

    ``counted``: the repeats that count so far; ``None``: all that are whole.
    """

    running: frozenset[int]
    blocks: int
    after: int
    counted: frozenset[int] | None = None


def looks_planned(campaign_folder: Path, plan: PlanFile) -> dict[str, str]:
    """When the looks at candidates were first planned, by what the cases of the plan are decided with."""
    lines = read_log(
        campaign_folder / FILE, lambda line: (tuple(map(str, line["candidates"])), str(line["planned"]))
    )
    planned = dict(reversed(lines))  # the first of all counts
    return {name: planned[cases] for name, cases in _candidates(plan).items() if cases in planned}


def note_looks(campaign_folder: Path, plan: PlanFile) -> None:
    """Keep the looks of candidates that are new."""
    known, now = looks_planned(campaign_folder, plan), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    lines = [
        {"planned": now, "candidates": cases, "looks": looks_to_decide(len(cases))}
        for name, cases in _candidates(plan).items()
        if name not in known
    ]
    if lines:
        append_lines(campaign_folder / FILE, [json.dumps(line, ensure_ascii=False) for line in lines])


def _candidates(plan: PlanFile) -> Mapping[str, tuple[str, ...]]:
    decided = (entry for entry in plan.cases if entry.decided_with)
    of_names = grouped(decided, lambda entry: entry.decided_with)
    return {name: tuple(str(entry.case) for entry in entries) for name, entries in of_names.items()}
