"""Writing files so that a reader never sees a partial one."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mpicampaign.errors import BusyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from mpicampaign.errors import Problem


def write_whole(path: Path, text: str) -> None:
    """Write a file completely or not at all, even when two processes write it at once."""
    with _whole(path) as part:
        part.write_text(text, encoding="utf-8")


def copy_whole(source: Path, path: Path) -> None:
    """Copy a file completely or not at all."""
    with _whole(path) as part:
        shutil.copyfile(source, part)


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A file beside the path, which takes its place at the end unless something fails."""
    part = path.with_name(f".{path.name}.{os.urandom(8).hex()}.part")
    try:
        yield part
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def append_lines(path: Path, lines: Iterable[str]) -> None:
    """Append lines to a log, down to the disk. After a line that a full disk cut off they begin a new one.

    Raises
    ------
    OSError
        when not all of it could be written, with the file's name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        torn = end and os.pread(file.fileno(), 1, end - 1) != b"\n"
        text = b"\n" * bool(torn) + "".join(f"{line}\n" for line in lines).encode()
        if file.write(text) != len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        os.fsync(file.fileno())


def same_text(path: Path, text: str) -> bool:
    """Whether the file exists and holds exactly this text."""
    try:
        return path.read_bytes() == text.encode("utf-8")
    except FileNotFoundError:
        return False


@contextmanager
def locked(lock: Path, held: Problem) -> Iterator[None]:
    """Hold a lock file.

    Raises
    ------
    BusyError
        with the problem ``held``, when another process holds it.
    """
    with lock.open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(held) from None
        yield
