"""Whether the files behind a report or an import are unchanged: then nothing is read again.

Raw files count by name, size and time of change, as for make; everything else by its content. A full re-check
(``--recheck``) reads all of them. The notes may be removed at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from mpicampaign.base.files import write_whole
from mpicampaign.base.program_state import program_state
from mpicampaign.base.records import RECORDS
from mpicampaign.base.selection import RunSelection
from mpicampaign.base.waves import FILE as WAVES

REPORTED = "reported.json"
_TABLES = (RECORDS, "tables")  # made by imports, in the campaign's folder
_MADE = {REPORTED: (*_TABLES, "report.html", "figures")}
_RAW = ("runs", "imports", "merged")
_TOP = ("plan.json", "submissions.txt", WAVES)
SELECTED = "selected"  # in the campaign's folder: the last report of a selection


def report_folder(folder: Path, selection: RunSelection) -> Path:
    """Where the report of these runs is: one of a selection never replaces that of all runs."""
    return folder / SELECTED if selection else folder


def imported_file(name: str) -> str:
    """The note on the import of this name."""
    return f"imported-{name}.json"


def state_of(folder: Path, *settings: str) -> str:
    """A checksum of all that a report or the tables of an import are made from.

    Parameters
    ----------
    folder : of the campaign in results/
    settings : what else they depend on: the campaign file or the map, how results are presented
    """
    digest = hashlib.sha256("\0".join([program_state(), *settings]).encode())
    for name in _TOP:
        digest.update(f"\n{name} {_content(folder / name)}".encode())
    for name in _RAW:
        for line in _stats(os.fspath(folder / name)):
            digest.update(os.fsencode(line))
    return digest.hexdigest()


def state_of_sources(folders: Sequence[Path]) -> str:
    """A checksum of names, sizes and times of all files in the folders."""
    paths = [os.path.realpath(folder) for folder in folders]
    files = [Path(f"{path}{ending}") for path in paths for ending in ("", "-wal")]  # the log of a database
    stats = [f"\n{file} {_state(file.stat())}" for file in files if file.is_file()]
    lines = "".join([*stats, *(line for path in paths for line in _stats(path))])
    return hashlib.sha256(os.fsencode(lines)).hexdigest()


def unchanged(folder: Path, state: str, file: str = REPORTED) -> str:
    """The text printed last time, if the state and the files made then are the same now; else empty."""
    try:
        note = json.loads((folder / file).read_text(encoding="utf-8"))
        same = note["state"] == state and note["made"] == _made(folder, file)
        return str(note["said"]) if same else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def keep(folder: Path, state: str, printed: str, file: str = REPORTED) -> None:
    """Keep the state that a report or an import was made from, and the text printed."""
    note = {"state": state, "made": _made(folder, file), "said": printed}
    with suppress(OSError):
        write_whole(folder / file, json.dumps(note) + "\n")


def _made(folder: Path, file: str) -> str:
    paths = [folder / name for name in _MADE.get(file, _TABLES)]
    files = [file for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    lines = (f"{file.relative_to(folder)} {_content(file)}\n" for file in files)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _content(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return "missing"


def _stats(folder: str) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield f"\n{folder} {error.strerror}"
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield f"\n{entry.path}"
            yield from _stats(entry.path)
        else:
            yield f"\n{entry.path} {_stat(entry)}"


def _stat(entry: os.DirEntry[str]) -> str:
    try:
        about = entry.stat()
    except OSError as error:  # such as a link to nothing
        return error.strerror or ""
    return _state(about)


def _state(about: os.stat_result) -> str:
    return f"{about.st_size} {about.st_mtime_ns} {about.st_ino}"
