"""All records of a campaign's folder: its own runs, its imports, and merged bundles of other sites."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from mpicampaign.base.grouping import grouped
from mpicampaign.base.plan_file import FILE, PlanFile, read_plan
from mpicampaign.base.records import (
    COUNTS,
    IMPORTED_FROM,
    OK,
    RECORDS,
    Header,
    Record,
    contradicted,
    read_records,
)
from mpicampaign.collect.caches import RecordsRead
from mpicampaign.collect.common_settings import PROCESS
from mpicampaign.collect.merged import merged_folders, with_merged
from mpicampaign.collect.observed_software import mark_earlier
from mpicampaign.collect.runs import collect
from mpicampaign.evidence.machine_state import Hosts, add_distances, mark_distances, too_far
from mpicampaign.evidence.plausible import with_doubts


def collect_all(campaign_folder: Path, plan: PlanFile | None = None, *, cached: bool = True) -> list[Record]:
    """The records of everything in a campaign's folder, merged bundles included.

    ``plan``: in place of its plan.json. ``cached``: those of runs that were read before may come from the
    cache, for what stays on this machine.
    """
    plan = plan or plan_of(campaign_folder)
    merged = {
        folder: collect_own(_read_as_here(plan_of(folder), plan), folder)
        for folder in merged_folders(campaign_folder)
    }
    before = RecordsRead.of(campaign_folder) if cached else None
    records = collect_own(plan, campaign_folder, before)
    return mark_earlier(mark_distances(mark_copies(with_merged(records, plan, merged))))


class Reported:
    """The runs in a campaign's folder as its report judges them, to which those of a call are added."""

    def __init__(self, campaign_folder: Path) -> None:
        self._folder = campaign_folder
        self._alike: dict[tuple[object, ...], list[Record]] | None = None  # by their numbers
        self._beside: dict[tuple[str, str], list[Record]] = {}  # by host group, whose machines they share
        self._hosts: Hosts = {}

    def judged(self, record: Record) -> Record:
        """A run that has ended, as `collect_all` will have it: a copy of another is contradicted."""
        record = with_doubts(record)
        if self._alike is None:
            there = collect_all(self._folder) if (self._folder / FILE).exists() else []
            there = [run for run in there if run.identity != record.identity]
            self._alike = grouped(there, _numbers)
            self._beside = grouped(there, lambda run: run.case.machine)
            for run in there:
                add_distances(self._hosts, run)
        alike = self._alike.setdefault(_numbers(record), [])
        beside = self._beside.setdefault(record.case.machine, [])
        alike.append(record)
        beside.append(mark_copies(alike)[-1])
        add_distances(self._hosts, record)
        # all runs are looked at for few of the hundred thousand that a call may make
        return mark_distances(beside)[-1] if too_far(record, self._hosts) else beside[-1]


def _read_as_here(theirs: PlanFile, plan: PlanFile) -> PlanFile:
    """The plan of a merged bundle, whose outputs are read as the campaign file here says."""
    here = {entry.case.benchmark: entry for entry in plan.cases}
    read = [(entry, here.get(entry.case.benchmark, entry)) for entry in theirs.cases]
    cases = (replace(entry, reading=own.reading, scaling=own.scaling) for entry, own in read)
    return replace(theirs, cases=tuple(cases))


def records_in(place: Path) -> tuple[Header, list[Record]]:
    """From the last report, or from the results themselves if there is none, or bundles were merged since.

    Parameters
    ----------
    place : a campaign's folder, or a file of records
    """
    path = place / RECORDS if place.is_dir() else place
    made = path.stat().st_mtime if path.is_file() else 0.0
    if place.is_file() or (made and not any(each.stat().st_mtime > made for each in merged_folders(place))):
        return read_records(path)
    header = read_records(path)[0] if made else Header(plan_of(place).campaign)
    return header, collect_all(place)


def collect_own(plan: PlanFile, campaign_folder: Path, before: RecordsRead | None = None) -> list[Record]:
    """The records of the runs and imports in a folder: a campaign's, or a merged bundle's.

    ``before``: the cache of records; that of a bundle would be anybody's.
    """
    records = collect(plan, campaign_folder, before)
    if (campaign_folder / "imports").is_dir():
        from mpicampaign.collect.imports import collect_imports  # most campaigns have none

        records = collect_imports(campaign_folder, records)
    return [with_doubts(record) for record in records]


def plan_of(campaign_folder: Path) -> PlanFile:
    """The plan of a campaign's folder; without cases where nothing was planned.

    Raises
    ------
    UserError
        when there is neither a plan nor anything to collect, or the plan is damaged.
    """
    path = campaign_folder / FILE
    if path.exists() or not holds_results(campaign_folder):
        return read_plan(path)
    return PlanFile(campaign_folder.name)


def holds_results(campaign_folder: Path) -> bool:
    """Whether there is anything to collect: a plan, imports or merged bundles."""
    has_results = (campaign_folder / FILE).exists() or (campaign_folder / "imports").is_dir()
    return has_results or bool(merged_folders(campaign_folder))


# ---- runs with the numbers of an earlier run

# On a quiet machine the first three digits of a value may be alike by chance; each further one is so once in
# ten times.
USUAL_DIGITS, CERTAIN = 3, 10
_SHOWN = 6  # digits of a value
_SAME = ("time_min", "time_max", "bandwidth_wire", "message_rate")  # nearly the time, or made of it


def mark_copies(records: Iterable[Record]) -> list[Record]:
    """The records; runs with the numbers of one that began before them are contradicted.

    Runs of releases that did not record how their ranks started are left as they are.
    """
    records = list(records)
    first_of: dict[int, Record] = {}
    measured = (record for record in records if record.status == OK and IMPORTED_FROM not in record.metadata)
    for runs in grouped(measured, _numbers).values():
        if len(runs) > 1 and _further_digits(runs[0]) >= CERTAIN:
            first, *later = sorted(runs, key=lambda run: (run.started, run.order or 0))
            first_of |= {id(run): first for run in later if PROCESS in run.metadata}
    return [_copied(record, first_of[id(record)]) if id(record) in first_of else record for record in records]


def _numbers(record: Record) -> tuple[object, ...]:
    """What a run measured, by table and column."""
    return tuple(
        (series.label, name, *series.columns[name])
        for series in record.series
        for name in sorted(series.columns)
        if name not in COUNTS
    )


def _further_digits(record: Record) -> int:
    """How many digits of a run's values are no chance; a time and the bandwidth made of it count once."""
    digits = 0
    for series in record.series:
        others = (*COUNTS, *_SAME, "time") if "bandwidth" in series.columns else (*COUNTS, *_SAME)
        for name in series.columns.keys() - {*others}:
            digits += sum(max(0, _digits(value) - USUAL_DIGITS) for value in series.columns[name] if value)
    return digits


def _digits(value: float) -> int:
    """The digits of a value up to its last that is not zero."""
    return len(f"{abs(value):.{_SHOWN - 1}e}".partition("e")[0].replace(".", "").rstrip("0"))


def _copied(record: Record, first: Record) -> Record:
    where = f"repeat {first.repeat}" if first.case == record.case else f"{first.case}, repeat {first.repeat}"
    reason = f"output: its numbers are those of {where}, to the last digit: one of them is a copy"
    return contradicted(record, reason)
