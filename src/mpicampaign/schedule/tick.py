"""One tick of a scheduled campaign: what cron calls. After a kill the next tick goes on from the files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from mpicampaign.base.errors import BusyError, Problem, UserError
from mpicampaign.base.files import locked
from mpicampaign.base.identity import differences
from mpicampaign.base.records import RECORDS, REPEATS
from mpicampaign.campaign.file import read_with_includes
from mpicampaign.campaign.model import Schedule
from mpicampaign.collect.looks import FILE as LOOKS
from mpicampaign.collect.submissions import SUBMISSIONS
from mpicampaign.history.series import (
    NO_SERIES,
    OPEN,
    STAMP,
    OpenSeries,
    read_series,
    with_changes,
    write_series,
)
from mpicampaign.history.store import Store
from mpicampaign.history.ticks import BEGAN, BUSY, ENDED, TickLog
from mpicampaign.jobs.prepare import Prepared, check_runs, lock_campaign
from mpicampaign.run.new_runs import FILE as NEW_RUNS
from mpicampaign.schedule.textfile import write_textfile
from mpicampaign.schedule.times import is_due, missed

LOCK = "history/tick.lock"
REMOVED = "history/removed"  # runs of a finished series, while they are deleted
KEPT = "history/unpacked"  # runs of a finished series with files that its pack could not take
_NO_MEASUREMENT = ("schedule", "title")  # keys of the campaign file that change no run
_SIGNALLED = 128
_SECOND = timedelta(seconds=1)


class Work(NamedTuple):
    """How a tick does its work.

    ``run``: makes the runs that are due, with True one repeat of each case; returns the exit status.
    ``finish``: called after it, with the lock of the tick still held. ``say``: prints a line.
    """

    run: Callable[[bool], int]
    finish: Callable[[Prepared, Sequence[str]], None]
    say: Callable[[str], None]


def schedule_of(prepared: Prepared) -> Schedule:
    """The schedule of a campaign.

    Raises
    ------
    UserError
        when it has none.
    """
    schedule = prepared.campaign.schedule
    if schedule is None:
        hint = "add, for example, schedule: {every: 1 day, series: new}"
        raise UserError(Problem("this campaign has no schedule", prepared.campaign.file, hint=hint))
    return schedule


def tick(prepared: Prepared, work: Work, only_if_due: bool = False) -> int:
    """Make what one tick makes; the exit status. ``only_if_due``: nothing, if the last tick is too recent.

    Raises
    ------
    UserError
        when the campaign has no schedule, or this machine cannot run it.
    """
    schedule, folder = schedule_of(prepared), prepared.folder
    check_runs(prepared)
    log = TickLog(folder)
    if only_if_due and not is_due(schedule, _since(log)):
        return 0

    def write_file() -> None:
        for line in write_textfile(schedule.textfile, prepared.campaign.name, folder, log):
            work.say(line)

    if is_complete(prepared, log):
        write_file()  # it may be asked for since, or lost
        return 0
    (folder / LOCK).parent.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder / LOCK, Problem("another tick is running")):
            try:
                return _Tick(prepared, log, work).make()
            finally:
                write_file()  # a failed tick is what people want to be told of
    except BusyError as error:
        log.add(BUSY, read_series(folder).name, **_late(schedule, log))
        work.say(f"{error.problems[0].message}: this tick does nothing")
        return 0


def is_complete(prepared: Prepared, log: TickLog) -> bool:
    """Whether ticks that add a repeat have nothing to add."""
    if schedule_of(prepared).series != REPEATS or prepared.pending:
        return False
    series = read_series(prepared.folder)
    return series == NO_SERIES or log.has_ended(series.name)


def _since(log: TickLog) -> timedelta | None:
    return datetime.now(UTC) - log.last.time if log.last else None


def _late(schedule: Schedule, log: TickLog) -> dict[str, Any]:
    """For the log: how many ticks were missed, and a clock that went backwards (s)."""
    since = _since(log)
    if since is None:
        return {}
    if since < -_SECOND:
        return {"clock_went_back": round(-since.total_seconds())}
    count = missed(schedule, since)
    return {"missed": count} if count else {}


class _Tick:
    """A tick at work, with its lock held. Killed at any moment, the next one goes on from the files."""

    def __init__(self, prepared: Prepared, log: TickLog, work: Work) -> None:
        self.prepared, self.log, self.work = prepared, log, work
        self.folder, self.schedule = prepared.folder, schedule_of(prepared)
        self.store = Store(self.folder / "history")
        self.lines: list[str] = []

    def make(self) -> int:
        with lock_campaign(self.prepared):  # a call of `run` must not be at work
            series = self._series()
        late = _late(self.schedule, self.log)
        self._say_late(late)
        self.log.add(BEGAN, series.name, **late, **({"changed": series.changed} if series.changed else {}))
        status = self.work.run(self.schedule.series == REPEATS)
        if status < _SIGNALLED:
            self.work.finish(self.prepared, self.lines)
        self.log.add(ENDED, series.name, status=status)
        return status

    def _say(self, line: str) -> None:
        self.lines.append(line)
        self.work.say(line)

    def _say_late(self, late: Mapping[str, int]) -> None:
        if "missed" in late:
            count = late["missed"]
            self._say(f"{count} tick{'s were' if count > 1 else ' was'} missed before this one")
        if "clock_went_back" in late:
            self._say(f"this machine's clock went back by {late['clock_went_back']} s since the last tick")

    def _series(self) -> OpenSeries:
        """The series that this tick adds to: the open one, or a new one in its place."""
        series, present = read_series(self.folder), campaign_data(Path(self.prepared.campaign.file))
        if series == NO_SERIES:  # runs that were made before the first tick get a name, too
            series = self._begin(present, [])
            write_series(self.folder, series)
        changed = tuple(differences(_flat(series.campaign), _flat(present)))
        if changed:
            self._say("the campaign file has changed: " + "; ".join(changed))
        if self.schedule.series == REPEATS:
            series = replace(series, kind=REPEATS)
        elif self._is_finished(series):
            self._pack(series)
            series = self._begin(present, [series.name])
        series = with_changes(replace(series, campaign=present), changed)
        write_series(self.folder, series)
        return series

    def _begin(self, present: dict[str, Any], names: Sequence[str]) -> OpenSeries:
        now = datetime.now(UTC).replace(microsecond=0)
        name = new_name(now, [*self.store.names(), *names])
        return OpenSeries(name, now.isoformat(), self.schedule.series, present)

    def _is_finished(self, series: OpenSeries) -> bool:
        """Whether each run has a result, or the last tick of the series came to its end without it."""
        if not (self.folder / "runs").is_dir():
            return self._is_packed(series)  # a tick was killed after it had removed the runs
        return not self.prepared.pending or self.log.has_ended(series.name)

    def _pack(self, series: OpenSeries) -> None:
        """Pack the runs of a finished series; nothing is removed that is not in the pack."""
        if not self._is_packed(series):
            for line in self.store.add(series, self.folder, self.prepared.campaign.presentation):
                self._say(f"not packed: {line}")
            for line in self.store.problems:  # said now: what was set aside is not found again
                self._say(line)
        runs = self.folder / "runs"
        for of_series in (RECORDS, SUBMISSIONS, NEW_RUNS, LOOKS):
            (self.folder / of_series).unlink(missing_ok=True)
        if runs.is_dir():
            packed = {member.path for member in self.store.manifest(series.name)}
            away = self.folder / (REMOVED if _files(self.folder, runs) <= packed else KEPT) / series.name
            away.parent.mkdir(parents=True, exist_ok=True)
            runs.rename(away)
        shutil.rmtree(self.folder / REMOVED, ignore_errors=True)

    def _is_packed(self, series: OpenSeries) -> bool:
        return series.name in self.store.names()


def _files(folder: Path, part: Path) -> set[str]:
    """The paths of all files of a part of a folder, seen from the folder; links are files."""
    files = (Path(place) / name for place, _, names in os.walk(part) for name in names)
    links = (path for path in part.rglob("*") if path.is_symlink())
    return {path.relative_to(folder).as_posix() for path in (*files, *links)}


def new_name(now: datetime, names: Iterable[str]) -> str:
    """A name for a series that no other one has, at any site; later than all ``names`` of this store.

    Names are in the order of series even where the clock went backwards.
    """
    stamps = [name.partition("-")[0] for name in names if name != OPEN]
    times = (datetime.strptime(stamp, STAMP).replace(tzinfo=UTC) for stamp in stamps)
    latest = max(times, default=now - _SECOND)
    return f"{max(now, latest + _SECOND):{STAMP}}-{os.urandom(4).hex()}"


def campaign_data(file: Path) -> dict[str, Any]:
    """What a campaign file says of measurements, with what it includes."""
    data = read_with_includes(file).data
    return {key: value for key, value in data.items() if key not in _NO_MEASUREMENT}


def _flat(data: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """``systems.cluster.mpi``: values by the path of their keys."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        flat |= _flat(value, f"{above}{key}.") if isinstance(value, dict) else {f"{above}{key}": value}
    return flat
