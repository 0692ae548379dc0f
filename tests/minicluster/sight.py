"""Which folders of the machine the cluster sees, and which it covers."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
# Each node has its own of these, so nothing shared can lie in them; /media holds the shared folders.
TAKEN = tuple(Path(name) for name in ("/run", "/media", "/dev", "/proc", "/sys", "/etc"))


def visible_folders(shared: Path, more: Iterable[Path] = ()) -> list[Path]:
    """The shared file system first, then what is read only: the project and the Python that runs it."""
    candidates = [PROJECT, Path(sys.prefix), Path(sys.base_prefix), *more]
    programs = [path for path in dict.fromkeys(candidates) if not path.is_relative_to("/usr")]
    for path in (shared, *programs):
        if any(path.is_relative_to(taken) for taken in TAKEN):
            raise ValueError(f"{path}: the test cluster has its own {path.parts[1]}; use another folder")
    return [shared, *programs]


def hidden_folders(visible: Iterable[Path]) -> list[Path]:
    """/tmp, which is private to each node, and folders that would stop the ordinary user, like /root."""
    hidden = [Path("/tmp")]
    for path in visible:
        for ancestor in reversed(path.parents):
            if any(ancestor.is_relative_to(above) for above in hidden):
                break
            if not ancestor.stat().st_mode & 0o001:
                hidden.append(ancestor)
    return hidden
