"""Files of ReFrame: results databases, run reports, performance logs. Each test case becomes an output.

The same test case in several files, or in a file that has grown, has the same path and counts once. Nothing
is written or locked: a database is read in a copy.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from mpicampaign.base.host_lists import expand, short
from mpicampaign.imports.files import MAX_BYTES, OUTPUT, ImportSource, read_source, text_of
from mpicampaign.suites.reframe import TestCase, Variable, label

_DATABASE, _REPORT = b"SQLite format 3\0", b'"session_info"'
_SCHEMA, _DATA = "1.0", "4"  # versions that are known: of the database, of its sessions
_LOCAL = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_SESSIONS = """
SELECT uuid, size, CASE WHEN size <= ? THEN CAST(json_blob AS TEXT) END FROM
(SELECT *, length(CAST(json_blob AS BLOB)) AS size FROM sessions) ORDER BY session_start_unix, uuid
"""
_NO_VARIABLES = "it has no performance variables"

_TIMES = ("job_completion_time_unix", "job_completion_time", "asctime")
_NAMES = ("name", "display_name", "unique_name", "short_name")
_SAME = (*_TIMES[:2], "jobid", "name", "system", "partition", "environ")  # in all lines of a run
_OF_VARIABLE = ("value", "ref", "lower_thres", "upper_thres", "unit")  # in the order of the database

_Data = Mapping[str, Any]
_Reader = Callable[[ImportSource], Iterator["_RawCase"]]


class _UnusableError(Exception):
    """Why a file or a part of it gives no test cases."""


class _RawCase(NamedTuple):
    """A test case in ReFrame's own names, or why it is none; ``place``: its line, or its session."""

    place: str
    data: _Data = MappingProxyType({})
    session: str = ""  # when it began
    reason: str = ""


def with_test_cases(sources: Sequence[ImportSource]) -> list[ImportSource]:
    """The sources, ReFrame's files among them replaced by the test cases in them.

    Databases come first, since they hold most: the first of several equal test cases is kept.
    """
    readers = {id(source): _reader(source) for source in sources}
    cases: dict[str, ImportSource] = {}
    for reader in _READERS:
        for source in (source for source in sources if readers[id(source)] is reader):
            for case in _cases_of(reader, source):
                cases.setdefault(case.path, case)
    return [*(source for source in sources if readers[id(source)] is None), *cases.values()]


def _reader(source: ImportSource) -> _Reader | None:
    """What reads a file of ReFrame; None for other files."""
    if source.role != OUTPUT or source.refused:
        return None
    try:
        with source.file.open("rb") as file:
            begin = file.read(8192)
    except OSError:
        return None
    if begin.startswith(_DATABASE):
        return _database
    if begin.lstrip().startswith(b"{") and _REPORT in begin:
        return _report
    first = begin.partition(b"\n")[0]
    if b"time" not in first and b"reframe" not in first:  # no log lacks both
        return None
    return _log if _LogFormat.of(first.decode("utf-8", "replace").rstrip("\r")) else None


def _cases_of(reader: _Reader, source: ImportSource) -> Iterator[ImportSource]:
    """The test cases of a file; a refused source for each part that is none."""
    raw = None
    try:
        for raw in reader(source):
            try:
                yield _as_output(source, raw)
            except _UnusableError as error:
                yield replace(source, path=f"{source.path}:{raw.place}", refused=str(error))
        if raw is None:
            yield replace(source, refused="a file of ReFrame without any test case")
    except _UnusableError as error:
        yield replace(source, refused=str(error))
    except OSError as error:
        yield replace(source, refused=f"it cannot be read: {error.strerror}")


def _as_output(source: ImportSource, raw: _RawCase) -> ImportSource:
    """A test case as an output. Its path is the same in all files: time, and values or else the job."""
    case = _case(raw)
    names = (case.system, case.partition, case.environ, case.test)
    values = {name: variable.value for name, variable in case.variables.items() if variable.value is not None}
    printed = str(raw.data.get("job_completion_time") or "")[:19].replace(" ", "T")  # local, in all files
    time = printed if _LOCAL.fullmatch(printed) else case.completed
    content = sorted(values.items()) or case.job or raw.data.get("uuid") or raw.place
    key = hashlib.sha256(json.dumps([*names, time, content]).encode()).hexdigest()[:12]
    path = "/".join(["reframe", *map(label, names), f"{re.sub('[^0-9T]', '', time)[:15]}-{key}.json"])
    if not case.variables and case.result == "pass":
        return replace(source, path=path, refused=_NO_VARIABLES)
    return replace(source, path=path, content=case.text.encode())


# ---- from ReFrame's names


def _case(raw: _RawCase) -> TestCase:
    data = raw.data
    if raw.reason:
        raise _UnusableError(raw.reason)
    texts = {name: data.get(name) for name in ("name", "system", "partition", "environ", "result")}
    if wrong := [name for name, text in texts.items() if not isinstance(text, str) or not text]:
        raise _UnusableError(f"it has no {' and no '.join(wrong)}")
    completed = _moment(data)
    if not (completed or raw.session):
        raise _UnusableError("its time cannot be read")
    reason = ": ".join(str(data[name]) for name in ("fail_phase", "fail_reason") if data.get(name))
    variables = data.get("perfvalues")
    return TestCase(
        test=str(texts["name"]),
        system=str(texts["system"]),
        partition=str(texts["partition"]),
        environ=str(texts["environ"]),
        result=str(texts["result"]),
        reason=reason[:2000],
        completed=completed or raw.session,
        session=raw.session,
        job=str(data.get("jobid") or "").strip(),
        hosts=_hosts(data.get("job_nodelist")),
        variables=_variables(variables if isinstance(variables, Mapping) else {}),
    )


def _variables(values: _Data) -> dict[str, Variable]:
    """The variables by name, without the system in front of it."""
    variables = {}
    for name, entries in values.items():
        *numbers, unit = (*entries, *5 * [None])[:5] if isinstance(entries, list) else 5 * [None]
        value, reference, lower, upper = map(_number, numbers)
        if lower is upper is None and not reference:  # what ReFrame writes where no reference is given
            reference = None
        variables[name.rpartition(":")[2]] = Variable(
            value, "" if unit is None else str(unit), reference, lower, upper, str(numbers[0])[:40]
        )
    return variables


def _number(value: object) -> float | None:
    """A finite number, or a text of one."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _moment(data: _Data) -> str:
    """When the job was completed; in UTC where the file says how."""
    unix = _number(data.get("job_completion_time_unix"))
    text = str(data.get("job_completion_time") or data.get("asctime") or "")
    try:
        time = datetime.fromtimestamp(unix, UTC) if unix is not None else datetime.fromisoformat(text)
        return (time.astimezone(UTC) if time.tzinfo else time).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


def _hosts(value: object) -> tuple[str, ...]:
    """The hosts of a list, or of a text such as ``nid[01-02],login``."""
    texts = value if isinstance(value, list) else str(value or "").split()
    try:
        hosts = [short(name) for text in texts for name in expand(str(text).strip())]
    except ValueError:
        return ()
    named = (name for name in hosts if re.fullmatch(r"[\w.-]+", name) and name != "none")
    return tuple(dict.fromkeys(named))


# ---- results databases and run reports


def _database(source: ImportSource) -> Iterator[_RawCase]:
    """The test cases of a results database, session by session."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with closing(sqlite3.connect(_copied(source.file, Path(folder)))) as opened:
                opened.text_factory = lambda text: text.decode("utf-8", "replace")
                _check_schema(opened)
                for uuid, size, text in opened.execute(_SESSIONS, (MAX_BYTES,)):
                    yield from _stored(f"session {str(uuid)[:40]}", size, text)
        except sqlite3.Error as error:
            raise _UnusableError(f"a database that cannot be read any further: {error}") from None


def _stored(place: str, size: int | None, text: str | None) -> Iterator[_RawCase]:
    if text is not None:
        yield from _session(text, place)
        return
    yield _RawCase(
        place, reason=f"larger than {MAX_BYTES // 2**20} MiB" if size else "its json_blob is empty"
    )


def _copied(file: Path, folder: Path) -> Path:
    """A copy with the log of what is not in the file yet; the original is neither locked nor changed."""
    for _ in range(3):
        before = _states(file)
        for ending in before:
            shutil.copyfile(f"{file}{ending}", folder / f"copy.db{ending}")
        if _states(file) == before:
            return folder / "copy.db"
    raise _UnusableError("ReFrame is writing to it: import it again")


def _states(file: Path) -> dict[str, tuple[int, int]]:
    states = {ending: Path(f"{file}{ending}") for ending in ("", "-wal", "-journal")}
    files = {ending: path.stat() for ending, path in states.items() if path.is_file()}
    return {ending: (about.st_size, about.st_mtime_ns) for ending, about in files.items()}


def _check_schema(opened: sqlite3.Connection) -> None:
    tables = {str(name) for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"sessions", "testcases"} <= tables:
        raise _UnusableError("an SQLite database without the tables of ReFrame: sessions, testcases")
    for (version,) in opened.execute("SELECT schema_version FROM metadata") if "metadata" in tables else ():
        if version != _SCHEMA:
            given = str(version)[:20]
            raise _UnusableError(f"ReFrame's results database of schema {given!r}; known: {_SCHEMA}")


def _report(source: ImportSource) -> Iterator[_RawCase]:
    content = read_source(source)
    if isinstance(content, str):
        raise _UnusableError(content)
    return _session(text_of(content), "session")


def _session(text: str, place: str) -> Iterator[_RawCase]:
    """The test cases of a session, which may be of any shape."""
    try:
        report = json.loads(text)
        about = report["session_info"]
        version = str(about.get("data_version"))
        if version.partition(".")[0] != _DATA:
            reason = f"a run report of version {version[:20]}; known: {_DATA}.x, of ReFrame 4.7 and later"
            yield _RawCase(place, reason=reason)
            return
        began = _moment({"job_completion_time_unix": about.get("time_start_unix")})
        of_runs = enumerate(run["testcases"] for run in report["runs"])
        cases = [(run, number, case) for run, cases in of_runs for number, case in enumerate(cases)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        yield _RawCase(place, reason=f"not a complete run report of ReFrame: {error!r:.200}")
        return
    for run, number, case in cases:
        where = f"{place}, run {run}, case {number}"
        is_mapping = isinstance(case, dict)
        yield _RawCase(where, case, began) if is_mapping else _RawCase(where, reason="not a mapping")


# ---- performance logs


class _LogFormat(NamedTuple):
    """The columns of a log, by its header."""

    delimiter: str
    columns: tuple[str, ...]

    @classmethod
    def of(cls, header: str) -> _LogFormat | None:
        """The format of a log by its first line; None where it is no log of ReFrame."""
        delimiter = re.match(r"[\w ]*([^\w ])", header)
        columns = header.split(delimiter[1]) if delimiter else [header]
        names = any(_is_value(column) or column in (*_NAMES, "info") for column in columns)
        is_log = names and not {*_TIMES}.isdisjoint(columns)
        return cls(delimiter[1] if delimiter else "|", tuple(columns)) if is_log else None

    @property
    def variables(self) -> list[str]:
        """The performance variables that have columns; ``perf`` where lines name theirs."""
        variables = [column.removesuffix("_value") for column in self.columns if _is_value(column)]
        return [variable for variable in variables if f"{variable}_unit" in self.columns]

    @property
    def lacks(self) -> list[str]:
        """What a test case needs and no column holds."""
        needed = ("system", "partition", "environ")
        missing = [] if {*_NAMES} & {*self.columns} else ["check_name"]
        return missing + [f"check_{name}" for name in needed if name not in self.columns]


def _is_value(name: str) -> bool:
    return name.endswith("_value")


def _log(source: ImportSource) -> Iterator[_RawCase]:
    """The test cases of a performance log."""
    content = read_source(source)
    if isinstance(content, str):
        raise _UnusableError(content)
    lines = text_of(content).split("\n")
    form = _LogFormat.of(lines[0].rstrip("\r"))
    if form is None:
        raise _UnusableError("ReFrame is writing to it: import it again")
    if form.lacks:
        names = ", ".join(form.lacks)
        raise _UnusableError(f"ReFrame's log without {names}: add it to the handler's format")
    if not form.variables:
        wanted = "performance variables (columns NAME_value, NAME_unit)"
        raise _UnusableError(f"ReFrame's log of a test without {wanted}")
    return _together(_rows(form, lines))


def _rows(form: _LogFormat, lines: Sequence[str]) -> Iterator[_RawCase]:
    """Each line below the header; the last is empty, or was cut."""
    for number, line in enumerate(lines[1:], start=2):
        cells = line.rstrip("\r").split(form.delimiter)
        place = str(number)
        if number == len(lines) and line:
            yield _RawCase(place, reason="an incomplete line: it was cut, or ReFrame is writing it")
        elif len(cells) != len(form.columns):
            if line.strip():
                counts = f"{len(cells)} cells, {len(form.columns)} in the header"
                yield _RawCase(place, reason=f"{counts}: cut, or {form.delimiter!r} in a name")
        else:
            yield _RawCase(place, _of_row(form.variables, zip(form.columns, cells, strict=True)))


def _of_row(variables: Iterable[str], cells: Iterable[tuple[str, str]]) -> _Data:
    """A line in the names of the database."""
    data = {name: text for name, text in cells if text not in ("None", "null", "")}
    names = {variable: data.get("perf_var") if variable == "perf" else variable for variable in variables}
    values = {
        name: [data.get(f"{variable}_{part}") for part in _OF_VARIABLE]
        for variable, name in names.items()
        if name
    }
    has_numbers = any(_number(value) is not None for value, *_ in values.values())
    name = next((data[name] for name in _NAMES if name in data), None)
    return {"result": "pass" if has_numbers else "fail", **data, "name": name, "perfvalues": values}


def _together(rows: Iterable[_RawCase]) -> Iterator[_RawCase]:
    """One test case of lines that hold a variable each."""
    last: _RawCase | None = None
    for row in rows:
        if last and _is_same(last.data, row.data):
            values = {**last.data["perfvalues"], **row.data["perfvalues"]}
            last = last._replace(data={**last.data, "perfvalues": values})
        else:
            yield from [last] if last else []
            last = row
    yield from [last] if last else []


def _is_same(one: _Data, other: _Data) -> bool:
    """Whether two lines hold different variables of one run."""
    if not one or not other or one["perfvalues"].keys() & other["perfvalues"].keys():
        return False
    return all(one.get(name) == other.get(name) for name in _SAME)


_READERS = (_database, _report, _log)
