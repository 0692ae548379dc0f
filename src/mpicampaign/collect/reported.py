"""Whether a report is still that of the files from which it was made: then nothing is read again.

Files of runs and imports count by name, size and time of change, as for make; everything else by its content.
A full re-check (``--recheck``) reads all of them. The note may be removed at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from mpicampaign.collect.outputs_read import program_state
from mpicampaign.files import write_whole
from mpicampaign.records import RECORDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE = "reported.json"
_MADE = (RECORDS, "report.html", "tables", "figures")  # by the report, in the campaign's folder
_RAW = ("runs", "imports", "merged")
_TOP = ("plan.json", "submissions.txt")


def state_of(folder: Path, *settings: str) -> str:
    """A checksum of all that a report is made from.

    Parameters
    ----------
    folder : of the campaign in results/
    settings : what else it depends on: the campaign file, how it is presented
    """
    found = hashlib.sha256("\0".join([program_state(), *settings]).encode())
    for name in _TOP:
        found.update(f"\n{name} {_content(folder / name)}".encode())
    for name in _RAW:
        for line in _stats(os.fspath(folder / name)):
            found.update(os.fsencode(line))
    return found.hexdigest()


def unchanged(folder: Path, state: str) -> str:
    """What the last report said, if it was made in this state and its files are still there; else empty."""
    try:
        note = json.loads((folder / FILE).read_text(encoding="utf-8"))
        same = note["state"] == state and note["made"] == _made(folder)
        return str(note["said"]) if same else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def keep(folder: Path, state: str, said: str) -> None:
    """Note what a report was made from, and what it said."""
    note = {"state": state, "made": _made(folder), "said": said}
    with suppress(OSError):
        write_whole(folder / FILE, json.dumps(note) + "\n")


def _made(folder: Path) -> str:
    paths = [folder / name for name in _MADE]
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
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield f"\n{entry.path}"
            yield from _stats(entry.path)
        else:
            about = entry.stat()
            yield f"\n{entry.path} {about.st_size} {about.st_mtime_ns} {about.st_ino}"
