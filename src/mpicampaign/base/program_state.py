"""The state of this program, on which whatever it derives from files depends: part of the keys of caches."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mpicampaign.base.places import shipped

_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def program_state() -> str:
    """A checksum that changes with every file of this program: sources, templates, publications."""
    folders = (_PACKAGE, shipped("templates"), shipped("reference"))
    lines = sorted(line for folder in folders for line in _files(os.fspath(folder)))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(entry.path) if entry.name != "__pycache__" else ()
            else:
                about = entry.stat()
                yield f"{entry.path} {about.st_size} {about.st_mtime_ns}"
