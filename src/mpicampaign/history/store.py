"""The finished series of a campaign: results/CAMPAIGN/history.

``series/NAME.tar.gz`` has the raw outputs of a series, in the format of bundles: tar alone reads it, and its
manifest has a checksum of each file. ``metrics.sqlite`` has its values, and is made again from the packs
where it is lost. Packs are written whole, checked, and never changed. Damaged ones are moved to ``damaged/``.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import whole
from mpicampaign.base.plan_file import FILE as PLAN_FILE
from mpicampaign.base.plan_file import PlanFile, plan_from
from mpicampaign.base.presentation import Presentation
from mpicampaign.base.records import RECORDS, Header, Record, records_from, write_records
from mpicampaign.base.yaml_lines import printable
from mpicampaign.bundle.archive import CAMPAIGN_FILES, PARTS, BundledFile, BundleError
from mpicampaign.bundle.read import read_bundle, verify
from mpicampaign.bundle.write import write_bundle
from mpicampaign.collect.campaign import collect_own, plan_of
from mpicampaign.history import metrics
from mpicampaign.history.rows import rows_of
from mpicampaign.history.series import DAMAGE, OpenSeries, is_name, series_from, series_text
from mpicampaign.history.series import FILE as SERIES_FILE

T = TypeVar("T")

FOLDER = "history"
PACKS, DAMAGED = "series", "damaged"
_PACK = ".tar.gz"
_PACKED = tuple(part for part in PARTS if part != "imports")
# By which a pack shows that it is damaged; the last ones when it is added
_DAMAGE = (
    *(BundleError, UserError, OSError, NotImplementedError, *DAMAGE),
    *(OverflowError, sqlite3.DataError, sqlite3.InterfaceError, sqlite3.ProgrammingError),
)


class Store:
    """The finished series below ``folder``, results/CAMPAIGN/history.

    ``problems``: the damaged parts, one line each.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[str] = []
        self.database = folder / metrics.FILE

    def names(self) -> list[str]:
        """The finished series, in the order of time. A file with another name is not a series."""
        try:
            paths = [path for path in (self.folder / PACKS).iterdir() if path.name.endswith(_PACK)]
        except FileNotFoundError:
            return []
        names = [path.name.removesuffix(_PACK) for path in paths if not path.name.startswith(".")]
        for name in names:
            if not is_name(name):
                self._note(f"{name}{_PACK} is left out: this is not the name of a series")
        return sorted(filter(is_name, names))

    def pack(self, name: str) -> Path:
        """The pack of a series."""
        return self.folder / PACKS / f"{name}{_PACK}"

    # ---- writing

    def add(self, series: OpenSeries, campaign_folder: Path, shown: Presentation) -> tuple[str, ...]:
        """Pack the runs of a finished series, and add its metrics; what could not be packed, a line each.

        Nothing is removed. A series that is there stays as it is, so that a killed call can be repeated.

        Raises
        ------
        UserError
            when the pack cannot be written.
        """
        left_out: tuple[str, ...] = ()
        if not self.pack(series.name).exists():
            plan = plan_of(campaign_folder)
            records = collect_own(plan, campaign_folder)
            header = Header(plan.campaign, shown.title, shown.table_sizes)
            write_records(campaign_folder / RECORDS, header, records)
            files = {SERIES_FILE: series_text(series).encode()}
            self.pack(series.name).parent.mkdir(parents=True, exist_ok=True)
            self._sweep(series.name)
            with whole(self.pack(series.name)) as part:  # becomes the pack once it was read back
                bundled = write_bundle(part, campaign_folder, plan.campaign, records, files, _PACKED)
                left_out = bundled.left_out
                try:
                    verify(part)
                except BundleError as error:
                    message = f"the pack was written, but reads back wrong: {error}"
                    raise UserError(Problem(message, str(part))) from None
            _to_disk(self.folder / PACKS)
        self.read(metrics.names)
        return left_out

    def _sweep(self, name: str) -> None:
        """Remove what killed calls wrote of a pack."""
        for part in (self.folder / PACKS).glob(f".{name}{_PACK}*"):
            part.unlink()

    # ---- metrics

    def read(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """What is looked up in the metrics of all finished series: a copy, to which others may be added.

        Where the database cannot be used, the copy is made of the packs.
        """
        try:
            with closing(metrics.connect()) as copy:
                self._fill(copy)
                return look(copy)
        except metrics.DAMAGED as error:
            self._note_unusable(error)
        with closing(metrics.connect()) as made:
            self._complete(made)
            return look(made)

    def _fill(self, copy: sqlite3.Connection) -> None:
        """Copy the database, after the series that it lacks were added."""
        if not (self.database.exists() or self.names()):
            return  # no history yet, and perhaps no folder for it
        with closing(metrics.connect(self.database)) as base:
            try:
                self._complete(base)
            except sqlite3.OperationalError as error:  # such as a store that only others may write to
                self._note_unusable(error)
            base.backup(copy)
        metrics.check(copy)
        self._complete(copy)

    def _complete(self, base: sqlite3.Connection) -> None:
        """Add the series that are lacking, from their packs."""
        held = metrics.names(base)
        for name in self.names():
            if name not in held:
                self._add_pack(base, name)

    def _add_pack(self, base: sqlite3.Connection, name: str) -> None:
        """Add a series from its pack, whose files may say anything."""
        try:
            header, records, plan, series = self._unpacked(name)
            metrics.add(base, rows_of(records, plan, series, header))
        except _DAMAGE as error:
            self._leave_out(self.pack(name), error)

    def _note_unusable(self, error: Exception) -> None:
        locks = re.search("BUSY|LOCK", getattr(error, "sqlite_errorname", ""))
        why = "another call holds it, or its file system has no locks" if locks else error
        remedy = "the packs are read instead; if it is damaged, move it away, and it is made again"
        self._note(f"{self.database} cannot be used: {why}; {remedy}")

    # ---- packs

    def manifest(self, name: str) -> tuple[BundledFile, ...]:
        """The files in the pack of a series.

        Raises
        ------
        UserError
            when there is no such series, or its pack is damaged.
        """
        return self._checked(name, verify).members

    def records(self, name: str) -> list[Record]:
        """The records of a series.

        Raises
        ------
        UserError
            when there is no such series, or its pack is damaged.
        """
        return self.contents(name)[0]

    def contents(self, name: str) -> tuple[list[Record], PlanFile]:
        """The records of a series, and the plan that they are of; raises as `records`."""
        _, records, plan, _ = self._checked(name, lambda _: self._unpacked(name))
        return records, plan

    def _checked(self, name: str, look: Callable[[Path], T]) -> T:
        path = self.pack(name)
        if name not in self.names():  # a path that leads elsewhere is none of them
            known = ", ".join(self.names()[-3:]) or "none"
            raise UserError(Problem(f"no finished series {name!r}", hint=f"the last ones: {known}"))
        try:
            return look(path)
        except BundleError as error:
            self._set_aside(path, str(error))
            problem = Problem(f"this pack is damaged: {error}", str(path), hint=self.problems[-1])
            raise UserError(problem) from None

    def _unpacked(self, name: str) -> tuple[Header, list[Record], PlanFile, OpenSeries]:
        series_file = f"{CAMPAIGN_FILES}/{SERIES_FILE}"
        files = _members(self.pack(name), {RECORDS, PLAN_FILE, series_file})
        header, records = records_from(files[RECORDS], f"{name}: {RECORDS}")
        series = series_from(json.loads(files[series_file]))
        if series.name != name:
            raise BundleError(f"it holds the series {printable(series.name)}")
        return header, records, plan_from(json.loads(files[PLAN_FILE])), series

    def _leave_out(self, path: Path, error: Exception) -> None:
        """Set a damaged file aside. One that the system cannot read stays; one that is gone was merged."""
        if isinstance(error, FileNotFoundError):
            return
        if isinstance(error, OSError) and error.errno:
            self._note(f"{path.name} cannot be read: {os.strerror(error.errno)}")
        else:
            self._set_aside(path, str(error))

    def _note(self, line: str) -> None:
        """Keep a problem, once, in one line."""
        if (shown := printable(" ".join(line.split()))) not in self.problems:
            self.problems.append(shown)

    def _set_aside(self, path: Path, reason: str) -> None:
        where = self.folder / DAMAGED
        try:
            where.mkdir(exist_ok=True)
            path.rename(where / f"{path.name}-{os.urandom(2).hex()}")
            self._note(f"{path.name} is damaged ({reason}): moved to {where}")
        except OSError as error:
            self._note(f"{path} is damaged ({reason}), and cannot be moved: {error.strerror}")


def _to_disk(folder: Path) -> None:
    """What was renamed in a folder outlives a power cut: its runs are removed next."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _members(path: Path, wanted: set[str]) -> dict[str, bytes]:
    """Some files of a pack; the whole pack is checked."""
    files: dict[str, bytes] = {}

    def take(member: BundledFile, chunks: Iterator[bytes]) -> None:
        content = [chunk for chunk in chunks if member.path in wanted]
        if member.path in wanted:
            files[member.path] = b"".join(content)

    read_bundle(path, take)
    return files
