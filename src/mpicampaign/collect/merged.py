"""Records of merged bundles added to a campaign's own: each run once, none of another campaign file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mpicampaign.base.errors import UserError
from mpicampaign.base.plan_file import PlanFile
from mpicampaign.base.records import FAILED, MERGED_FROM, MISSING, OK, Case, Record, Series

MERGED = "merged"
NOTE = "merge.json"  # in each merged bundle's folder: how it was merged
FORMER_SYSTEM = "system named in its bundle"
_RESULTS = (OK, FAILED)
_Alike = dict[tuple[object, ...], list[Sequence[Series]]]  # what runs printed, by all else that they are


def with_merged(
    records: list[Record], plan: PlanFile, merged: Mapping[Path, Iterable[Record]]
) -> list[Record]:
    """The records with those of merged bundles, given by their folders.

    A run that is already present is not added again; a different run with the same number gets the next free
    number. If the plan has the case, runs of another campaign file are left out, as on the system itself.
    """
    if not merged:
        return records
    taken = _Taken()
    taken.add_all(records)
    planned = {entry.case: {entry.identity(run.repeat) for run in entry.runs} for entry in plan.cases}
    for folder, of_bundle in merged.items():
        renamed = read_note(folder)["renamed"]
        taken.add_all(_named(_as_planned(record, planned, renamed), folder, renamed) for record in of_bundle)
    return taken.records()


def merged_folders(campaign_folder: Path) -> list[Path]:
    """The folders of merged bundles, without the hidden ones of killed merges."""
    paths = (campaign_folder / MERGED).glob("*")
    return sorted(path for path in paths if path.is_dir() and not path.name.startswith("."))


def read_note(folder: Path) -> dict[str, Any]:
    """How a bundle was merged: ``renamed`` (systems, old to new), ``bundle`` (its file's name).

    Raises
    ------
    UserError
        when the note is damaged.
    """
    path = folder / NOTE
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        return {"renamed": dict(note["renamed"]), "bundle": str(note["bundle"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged: {error}; remove {folder} and merge its bundle again") from error


def _as_planned(record: Record, planned: dict[Case, set[str]], renamed: dict[str, str]) -> Record:
    """The record; a missing one where the plan describes its case differently."""
    system = renamed.get(record.case.system, record.case.system)
    wanted = planned.get(replace(record.case, system=system))
    if wanted is None or record.status not in _RESULTS or not record.identity or record.identity in wanted:
        return record
    reason = "only results of another campaign file were merged"
    missing = Record(record.case, record.suite, record.repeat, MISSING, reason, line_rate=record.line_rate)
    return replace(missing, attributes=record.attributes)


def _named(record: Record, folder: Path, renamed: dict[str, str]) -> Record:
    metadata = {**record.metadata, MERGED_FROM: folder.name}
    old = record.case.system
    if old in renamed:
        metadata[FORMER_SYSTEM] = old
    case = replace(record.case, system=renamed.get(old, old))
    return replace(record, case=case, metadata=metadata)


@dataclass(slots=True)
class _Taken:
    """Records by case and repeat; results replace records without a result."""

    taken: dict[tuple[Case, int], Record] = field(default_factory=dict)
    seen: _Alike = field(default_factory=dict)
    last: Counter[Case] = field(default_factory=Counter)

    def add_all(self, records: Iterable[Record]) -> None:
        """Add the runs of one site, which counted each once: its equal ones are repeats."""
        before = {run: [*alike] for run, alike in self.seen.items()}
        for record in records:
            self._add(record, before)

    def _add(self, record: Record, before: _Alike) -> None:
        key = (record.case, record.repeat)
        other = self.taken.get(key)
        if self._is_known(record, before) if record.status in _RESULTS else other:
            return
        if other is not None and other.status in _RESULTS and not _supersedes(record, other):
            record = replace(record, repeat=self.last[record.case] + 1)
        self._put(record)

    def _put(self, record: Record) -> None:
        self.taken[record.case, record.repeat] = record
        self.last[record.case] = max(self.last[record.case], record.repeat)

    def _is_known(self, record: Record, before: _Alike) -> bool:
        """Whether exactly this run came from an earlier bundle or the system itself; each stands for one."""
        run = (record.case, record.identity, record.hosts, record.job_id, record.started, record.ended)
        key = (*run, record.status)
        if record.series in (alike := before.get(key, [])):
            alike.remove(record.series)
            return True
        self.seen.setdefault(key, []).append(record.series)
        return False

    def records(self) -> list[Record]:
        """The records by case, in the order of first appearance, then by repeat."""
        cases = list(dict.fromkeys(case for case, _ in self.taken))
        order = {case: number for number, case in enumerate(cases)}
        return sorted(self.taken.values(), key=lambda record: (order[record.case], record.repeat))


def _supersedes(record: Record, other: Record) -> bool:
    """Whether it is the success of a run whose failure came with an earlier bundle."""
    return (record.status, other.status) == (OK, FAILED) and record.identity == other.identity != ""
