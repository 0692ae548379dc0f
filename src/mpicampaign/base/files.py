"""Writing files so that a reader never sees a partial one."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shlex
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from mpicampaign.base.errors import BusyError, Problem

T = TypeVar("T")

OTHERS_WRITE = 0o022  # mode: the group and all others may write


def keep_others_out() -> None:
    """Let nobody but the user and the group write what this process and its children make."""
    os.umask(os.umask(0o077) | stat.S_IWOTH)


def refuse_changeable(file: Path, top: Path) -> None:
    """Refuse to execute a file that others can change, or replace in its folders below and including ``top``.

    A folder that its group may write is accepted, since projects share folders so; a file is not.

    Raises
    ------
    PermissionError
        with the command that mends it.
    """
    folders = [folder for folder in file.parents if folder.is_relative_to(top)]
    for path, refused in ((file, OTHERS_WRITE), *((folder, stat.S_IWOTH) for folder in folders)):
        mode = path.stat().st_mode
        if mode & refused and not mode & stat.S_ISVTX:
            mend = f"chmod {'go' if path == file else 'o'}-w {shlex.quote(str(path))}"
            why = f"others can write it, so that nothing is run from it; '{mend}' mends that"
            raise PermissionError(errno.EPERM, why, str(path))


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file completely or not at all, even when two processes write it at once.

    Raises
    ------
    OSError
        with the file's name, such as for a full disk.
    """
    with whole(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def copy_whole(source: Path, path: Path) -> None:
    """Copy a file completely or not at all."""
    with whole(path) as part:
        shutil.copyfile(source, part)


def write_output(path: Path, content: bytes) -> None:
    """Write a file that a user named: completely or not at all, unless it is a device, a pipe or a link."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        with naming(path):
            path.write_bytes(content)
    else:
        write_whole(path, content)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file beside the path, which takes its place at the end unless something fails.

    Nobody else can write it, whatever the umask: it may be executed, or read as evidence.
    """
    part = path.with_name(f".{path.name}.{os.urandom(8).hex()}.part")
    try:
        with naming(path, part):
            yield part
            if (mode := part.stat().st_mode) & OTHERS_WRITE:
                part.chmod(mode & ~OTHERS_WRITE)
            part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def naming(path: Path, *others: Path) -> Iterator[None]:
    """Name a file in errors of the system without a name, such as those of writing to an open file.

    ``others`` are replaced by it, such as the name of a temporary file.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, *map(str, others), *others):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def system_error_text(error: OSError) -> str:
    """The file and what is wrong: a full disk, a read-only file system, no permission.

    All files that are written have their names in errors, so that a full one without a name is the output.
    """
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    name = error.filename or ("standard output" if full else "")
    return f"{name}: {error.strerror}" if name else error.strerror or str(error)


def append_lines(path: Path, lines: Iterable[str]) -> None:
    """Append lines to a log, down to the disk. After a line that a full disk cut off they begin a new one.

    Raises
    ------
    OSError
        when not all of it could be written, with the file's name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path), path.open("ab+", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        torn = end and os.pread(file.fileno(), 1, end - 1) != b"\n"
        text = b"\n" * bool(torn) + "".join(f"{line}\n" for line in lines).encode()
        if file.write(text) != len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())


def read_log(path: Path, made_of: Callable[[Any], T]) -> list[T]:
    """What is made of each line, which is JSON; without those that a full disk cut off."""
    try:
        lines = path.read_bytes().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    made: list[T] = []
    for line in lines:
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            made.append(made_of(json.loads(line)))
    return made


def text_or_nothing(path: Path) -> str:
    """A file's text, with invalid UTF-8 kept visible; empty where there is no such file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""


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
