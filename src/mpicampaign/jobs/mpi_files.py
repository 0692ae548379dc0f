"""Which MPI library a program is linked to, and which library a file is. Reads files; executes nothing."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from mpicampaign.jobs.elf import dynamic
from mpicampaign.mpis import is_file_of, titles_of

# What the loader searches last, beside the folders of /etc/ld.so.conf.
_DEFAULT_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


@cache
def mpi_library_of(program: Path) -> str:
    """The name of the MPI library that a program needs, ``libmpi.so.40``; empty where none is seen."""
    section = dynamic(program)
    return next((name for name in (section.needed if section else ()) if titles_of(name)), "")


def is_of(name: str, file: Path) -> bool | None:
    """Whether a shared library is this MPI library; None where its file does not show it."""
    section = dynamic(file)
    return is_file_of(name, (section.soname if section else "") or file.name, lambda text: _holds(file, text))


@cache
def _holds(file: Path, text: str) -> bool:
    try:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(text.encode()) >= 0
    except (OSError, ValueError):
        return False


def library_in(folders: Iterable[Path], names: Iterable[str]) -> Path | None:
    """The MPI library that the linker would take for ``-lmpi`` from one of these folders."""
    names = tuple(names)
    for folder in folders:
        for name in names:
            for file in (folder / f"lib{name}.so", *sorted(folder.glob(f"lib{name}.so.*"))):
                # lib*.so may be a script of the linker
                if (section := dynamic(file)) and titles_of(section.soname):
                    return file.resolve()
    return None


def mapped(program: Path, soname: str, first: Iterable[Path], last: Iterable[Path]) -> Path | None:
    """The file that the loader maps for a library that a program needs; None where it finds none.

    ``first``: the folders of LD_LIBRARY_PATH; ``last``: further ones that a launcher may add to it.
    """
    section = dynamic(program)
    if section is None:
        return None
    own_runpath = section.runpath or ()
    origin = str(program.resolve().parent)

    def folders() -> Iterator[Path]:
        for folder in () if own_runpath else section.rpath:
            yield Path(_expanded(folder, origin))
        yield from first
        for folder in own_runpath:
            yield Path(_expanded(folder, origin))
        yield from last
        yield from _folders_of_loader()

    return next((folder / soname for folder in folders() if (folder / soname).is_file()), None)


def _expanded(folder: str, origin: str) -> str:
    return folder.replace("$ORIGIN", origin).replace("${ORIGIN}", origin)


@cache
def _folders_of_loader() -> tuple[Path, ...]:
    """The folders of /etc/ld.so.conf, then those that need no mention."""
    folders: list[str] = []
    for file in [Path("/etc/ld.so.conf"), *sorted(Path("/etc/ld.so.conf.d").glob("*.conf"))]:
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        folders += [line.strip() for line in lines if line.strip().startswith("/")]
    multiarch = [f"{folder}/{os.uname().machine}-linux-gnu" for folder in ("/lib", "/usr/lib")]
    return tuple(map(Path, (*folders, *multiarch, *_DEFAULT_FOLDERS)))
