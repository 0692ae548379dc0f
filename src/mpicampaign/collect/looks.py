"""Looks at results: looks.jsonl has a line for each report on cases whose runs had ended, with these runs.

Who reads such a report and then asks for more repeats has seen a test: see `mpicampaign.verdicts.compare`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.files import append_lines, read_log
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import EACH, IMPORTED_FROM, MERGED_FROM, MISSING, OK, Record

FILE = "looks.jsonl"
_OF_OTHERS = {EACH, IMPORTED_FROM, MERGED_FROM}  # members are searched at planned looks


class ReportRead(NamedTuple):
    """When it was (UTC), and the identities of the runs that the cases had then."""

    time: str
    runs: frozenset[str]

    def was_at(self, runs: Iterable[Record]) -> bool:
        """Whether it saw any of these results of a case: they may have been made again since."""
        return any(run.identity in self.runs and run.started <= self.time for run in runs)


def read_looks(campaign_folder: Path) -> list[ReportRead]:
    """All that there were, in order."""
    return read_log(
        campaign_folder / FILE, lambda look: ReportRead(str(look["time"]), frozenset(map(str, look["runs"])))
    )


def after_looks(looks: Sequence[ReportRead], runs: Sequence[Record]) -> Iterator[Record]:
    """The runs of a case, each with the number of looks before it was planned."""
    of_case = [(number, look.runs) for number, look in enumerate(looks) if look.was_at(runs)]
    for run in runs:
        number = next((number for number, seen in of_case if run.identity in seen), len(looks))
        yield replace(run, looks=number) if number and run.identity else run


def note_look(campaign_folder: Path, records: Iterable[Record]) -> None:
    """Note the cases that have ended with other runs than at any look before; nothing without permission."""
    looks, new = read_looks(campaign_folder), list[str]()
    made_here = (record for record in records if not _OF_OTHERS & record.metadata.keys())
    for runs in grouped(made_here, lambda record: record.case).values():
        identities, states = {run.identity for run in runs}, {run.status for run in runs}
        known = any(identities <= look.runs and look.was_at(runs) for look in looks)
        if OK in states and MISSING not in states and not known:
            new += sorted(identities)
    if new:
        line = {"time": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "runs": new}
        with suppress(OSError):
            append_lines(campaign_folder / FILE, [json.dumps(line)])
