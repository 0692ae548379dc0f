"""The finished series of a campaign: results/CAMPAIGN/history.

``series/NAME.tar.gz`` has the raw outputs of a series, in the format of bundles: tar alone reads it, and its
manifest has a checksum of each file. ``metrics/*.parquet`` has its values, and is rebuilt from the packs
where it is lost.
Files are written whole, checked, and never changed. Damaged ones are moved to ``damaged/``.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from mpicampaign.bundle.archive import CAMPAIGN_FILES, PARTS, BundleError, Member
from mpicampaign.bundle.read import read_bundle, verify
from mpicampaign.bundle.write import write_bundle
from mpicampaign.collect.campaign import collect_own, plan_of
from mpicampaign.errors import Problem, UserError
from mpicampaign.files import copy_whole, locked, whole
from mpicampaign.history.rows import FORMAT, VERSION, rows_of, schema
from mpicampaign.history.series import DAMAGE, OpenSeries, is_name, series_from, series_text
from mpicampaign.history.series import FILE as SERIES_FILE
from mpicampaign.plan_file import FILE as PLAN_FILE
from mpicampaign.plan_file import plan_from
from mpicampaign.records import RECORDS, Header, records_from, write_records
from mpicampaign.yaml_lines import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow

    from mpicampaign.presentation import Presentation
    from mpicampaign.records import Record

T = TypeVar("T")

FOLDER = "history"
PACKS, METRICS, DAMAGED = "series", "metrics", "damaged"
MAX_FILES = 20  # small ones, of metrics: more are merged into one
LARGE = 250_000  # rows: such a file stays as it is, as merging it would take much memory
_PACK, _PARQUET = ".tar.gz", ".parquet"
_PACKED = tuple(part for part in PARTS if part != "imports")
_HOLDS = b"holds"  # in the metadata of a file of metrics: the series in it
_ROW_GROUP = 50_000
_ATTEMPTS = 3  # to read the files of metrics while another call merges them
# Rows of one case lie side by side, so that reading it skips all others.
_ORDER = ("declared", "benchmark", "label", "metric", "size", "tick", "repeat")


class Store:
    """The finished series below ``folder``, results/CAMPAIGN/history.

    ``problems``: the damaged parts, one line each.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[str] = []
        self._unreadable: set[Path] = set()

    def names(self) -> list[str]:
        """The finished series, in the order of time. A file with another name is not a series."""
        names = [path.name.removesuffix(_PACK) for path in self._files(PACKS, _PACK)]
        for name in names:
            if not is_name(name):
                self._note(f"{name}{_PACK} is left out: this is not the name of a series")
        return sorted(filter(is_name, names))

    def _files(self, part: str, suffix: str) -> list[Path]:
        try:
            paths = list((self.folder / part).iterdir())
        except FileNotFoundError:
            return []
        return sorted(path for path in paths if path.name.endswith(suffix) and not path.name.startswith("."))

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
            when another call writes to the store, or the pack cannot be written.
        """
        left_out: tuple[str, ...] = ()
        with self._locked():
            self._sweep()
            if not self.pack(series.name).exists():
                plan = plan_of(campaign_folder)
                records = collect_own(plan, campaign_folder)
                header = Header(plan.campaign, shown.title, shown.table_sizes)
                write_records(campaign_folder / RECORDS, header, records)
                files = {SERIES_FILE: series_text(series).encode()}
                self.pack(series.name).parent.mkdir(parents=True, exist_ok=True)
                part = self.pack(f".{series.name}")  # becomes the pack once it was read back
                bundled = write_bundle(part, campaign_folder, plan.campaign, records, files, _PACKED)
                left_out = bundled.left_out
                try:
                    verify(part)
                except BundleError as error:
                    raise UserError(
                        Problem(f"the pack was written, but reads back wrong: {error}", str(part))
                    ) from None
                part.rename(self.pack(series.name))
                _to_disk(self.folder / PACKS)
            self._complete_metrics()
        return left_out

    def merge(self, other: Store) -> list[str]:
        """Copy the series that another store has and this one lacks; a line for each.

        A series of the same name with other content is refused. Names end in random digits, so that those of
        two sites never clash.
        """
        lines = []
        with self._locked():
            for name in other.names():
                lines.append(self._take(other.pack(name), name))
            self._complete_metrics()
        return lines

    def _take(self, source: Path, name: str) -> str:
        own = self.pack(name)
        if own.exists():
            same = _sha256(own) == _sha256(source)
            return f"{name}: {'here already' if same else 'refused: the series here has another content'}"
        try:
            verify(source)
        except BundleError as error:
            return f"{name}: refused: {error}"
        own.parent.mkdir(parents=True, exist_ok=True)
        copy_whole(source, own)
        _to_disk(own.parent)
        return f"{name}: merged"

    def _locked(self) -> Any:
        self.folder.mkdir(parents=True, exist_ok=True)
        held = Problem("another call writes to the history", str(self.folder), hint="try again")
        return locked(self.folder / "store.lock", held)

    def _sweep(self) -> None:
        """Remove what killed calls were writing; hidden files of a file system stay."""
        for part in (PACKS, METRICS):
            for path in (self.folder / part).glob(".*"):
                if path.name.endswith((_PACK, ".part")) and path.is_file():
                    path.unlink()

    # ---- metrics

    def table(self, columns: Sequence[str] | None = None, filters: Any = None) -> pyarrow.Table:
        """The rows of all finished series.

        Parameters
        ----------
        columns : of `mpicampaign.history.rows.COLUMNS`; all where none are named
        filters : as `pyarrow.parquet.read_table` takes them
        """
        import pyarrow as arrow

        for _ in range(_ATTEMPTS):
            files = self._complete_files()
            tables = [table for path in files if (table := self._read(path, columns, filters)) is not None]
            if len(tables) == len(files):
                break  # else one was damaged, or another call has merged it
        empty = schema().empty_table()
        return (
            arrow.concat_tables(tables, promote_options="default")
            if tables
            else empty.select(columns or empty.column_names)
        )

    def _complete_files(self) -> list[Path]:
        """The files of metrics that count; those of packs without any are made."""
        files, held = self._current_metrics()
        if set(self.names()) - held:
            self._try_to_complete()
            files, _ = self._current_metrics()
        return files

    def _try_to_complete(self) -> None:
        try:
            with self._locked():
                self._complete_metrics()
        except (UserError, OSError) as error:  # such as a store that only others may write to
            self._note(f"metrics are missing: {error}")

    def _read(self, path: Path, columns: Sequence[str] | None, filters: Any) -> pyarrow.Table | None:
        """The rows of one file, batch by batch: texts stay numbers of a dictionary, which saves memory."""
        import pyarrow as arrow
        from pyarrow import dataset, parquet

        arrow.set_memory_pool(arrow.system_memory_pool())  # other ones keep as much again as a table takes
        checked = dataset.ParquetFragmentScanOptions(page_checksum_verification=True)
        form = dataset.ParquetFileFormat(default_fragment_scan_options=checked)
        try:
            return dataset.dataset(path, format=form).to_table(
                columns=columns and list(columns),
                filter=filters and parquet.filters_to_expression(filters),
                batch_size=_ROW_GROUP,
                batch_readahead=1,
                fragment_readahead=1,
            )
        except (arrow.ArrowException, OSError) as error:
            self._leave_out(path, error)
            return None

    def _current_metrics(self) -> tuple[list[Path], set[str]]:
        """The files of metrics that count, and the series in them.

        A file whose series are all in a larger one is left from a merging that was killed.
        """
        files = [path for path in self._files(METRICS, _PARQUET) if path not in self._unreadable]
        held_by = {path: held for path in files if (held := self._held(path))}
        kept: list[Path] = []
        seen: set[str] = set()
        for path in sorted(held_by, key=lambda path: -len(held_by[path])):
            if not held_by[path] <= seen:
                kept.append(path)
                seen |= held_by[path]
        return kept, seen

    def _held(self, path: Path) -> set[str]:
        """The series in a file of metrics; empty, and set aside, where it is damaged."""
        import pyarrow as arrow
        from pyarrow import parquet

        try:
            footer = parquet.read_metadata(path)
            about = footer.metadata or {}
            if _is_earlier(about):
                return set()
            if (about.get(b"format"), about.get(b"version")) != (FORMAT.encode(), str(VERSION).encode()):
                raise ValueError(f"not metrics of version {VERSION} of this program")
            if not footer.schema.to_arrow_schema().equals(schema()):
                raise ValueError("it has other columns")
            held = json.loads(about[_HOLDS])
            if not isinstance(held, list) or not all(map(is_name, held)):
                raise ValueError("it does not name its series")
        except (arrow.ArrowException, OSError, *DAMAGE) as error:
            self._leave_out(path, error)
            return set()
        return set(held)

    def _complete_metrics(self) -> None:
        """Make the metrics that are missing from the packs; merge the files where they are many."""
        if not find_spec("pyarrow"):  # it has no wheel for every machine; the packs hold everything
            self._note("no metrics were made: the Python package pyarrow is not installed")
            return
        self._remove_earlier()
        _, held = self._current_metrics()
        for name in self.names():
            if name not in held and (rows := self._rows(name)) is not None:
                self._write(name, rows, [name])
        small = [path for path in self._current_metrics()[0] if _count_rows(path) < LARGE]
        if len(small) > MAX_FILES:
            self._merge_files(small)

    def _remove_earlier(self) -> None:
        """Remove metrics of an earlier version, which are made again from the packs."""
        import pyarrow as arrow
        from pyarrow import parquet

        for path in self._files(METRICS, _PARQUET):
            with suppress(arrow.ArrowException, OSError):
                if _is_earlier(parquet.read_metadata(path).metadata or {}):
                    path.unlink()

    def _rows(self, name: str) -> pyarrow.Table | None:
        """The rows of a series from its pack, whose files may say anything."""
        import pyarrow as arrow

        try:
            header, records, plan, series = self._unpacked(name)
            return rows_of(records, plan, series, header)
        except (BundleError, UserError, arrow.ArrowException, OverflowError, OSError, *DAMAGE) as error:
            self._leave_out(self.pack(name), error)
            return None

    def _merge_files(self, files: Sequence[Path]) -> None:
        import pyarrow as arrow

        held = sorted(set().union(*(self._held(path) for path in files)))
        tables = [table for path in files if (table := self._read(path, None, None)) is not None]
        if len(tables) < len(files):
            return  # one is damaged: the next call rebuilds it
        merged = self._write(f"to-{held[-1]}", arrow.concat_tables(tables), held)
        for path in files:
            if path != merged:  # an earlier one of this name was replaced
                path.unlink()

    def _write(self, name: str, table: pyarrow.Table, held: Sequence[str]) -> Path:
        from pyarrow import parquet

        path = self.folder / METRICS / f"{name}{_PARQUET}"
        path.parent.mkdir(parents=True, exist_ok=True)
        about = {**(schema().metadata or {}), _HOLDS: json.dumps(list(held)).encode()}
        table = _sorted(table).replace_schema_metadata(about)
        with whole(path) as part:
            parquet.write_table(table, part, row_group_size=_ROW_GROUP, write_page_checksum=True)
            with part.open("rb") as file:
                os.fsync(file.fileno())
        self._unreadable.discard(path)
        return path

    # ---- packs

    def manifest(self, name: str) -> tuple[Member, ...]:
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
        return self._checked(name, lambda _: self._unpacked(name)[1])

    def _checked(self, name: str, look: Callable[[Path], T]) -> T:
        path = self.pack(name)
        if name not in self.names():  # a path that leads elsewhere is none of them
            known = ", ".join(self.names()[-3:]) or "none"
            raise UserError(Problem(f"no finished series {name!r}", hint=f"the last ones: {known}"))
        try:
            return look(path)
        except BundleError as error:
            self._set_aside(path, str(error))
            raise UserError(
                Problem(f"this pack is damaged: {error}", str(path), hint=self.problems[-1])
            ) from None

    def _unpacked(self, name: str) -> tuple[Header, list[Record], Any, OpenSeries]:
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
        self._unreadable.add(path)
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


def _sorted(table: pyarrow.Table) -> pyarrow.Table:
    import pyarrow as arrow
    from pyarrow import compute

    def plain(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
        return column.cast(arrow.string()) if arrow.types.is_dictionary(column.type) else column

    keys = arrow.table({name: plain(table[name]) for name in _ORDER})
    return table.take(compute.sort_indices(keys, [(name, "ascending") for name in _ORDER]))


def _is_earlier(about: Mapping[bytes, bytes]) -> bool:
    """Whether metrics are of an earlier version of this program."""
    version = about.get(b"version", b"")
    return about.get(b"format") == FORMAT.encode() and version.isdigit() and int(version) < VERSION


def _count_rows(path: Path) -> int:
    from pyarrow import parquet

    return int(parquet.read_metadata(path).num_rows)


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

    def take(member: Member, chunks: Iterator[bytes]) -> None:
        content = [chunk for chunk in chunks if member.path in wanted]
        if member.path in wanted:
            files[member.path] = b"".join(content)

    read_bundle(path, take)
    return files


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
