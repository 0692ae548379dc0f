"""Little-endian 64-bit ELF files: build-id, name, and the libraries that they need. Nothing is executed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

# As in the ELF specification and binutils.
_PT_LOAD, _PT_DYNAMIC, _PT_NOTE = 1, 2, 4
_DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_SONAME, _DT_RPATH, _DT_RUNPATH = 1, 5, 10, 14, 15, 29
_NT_GNU_BUILD_ID = 3
_LONGEST = 1 << 24  # bytes of a table that is read


class Dynamic(NamedTuple):
    """What the dynamic loader reads: the libraries that a file needs, its own name, and where to look first.

    ``rpath`` comes before LD_LIBRARY_PATH, ``runpath`` after it. A file has one of them.
    """

    needed: tuple[str, ...] = ()
    soname: str = ""
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()


class _Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


def build_id(path: Path) -> str:
    """The build-id in the notes of a file; empty where there is none."""
    try:
        with path.open("rb") as file:
            for segment in _segments(file):
                if segment.kind == _PT_NOTE and (identity := _build_id_note(_bytes(file, segment))):
                    return identity
    except (OSError, struct.error, ValueError):
        pass
    return ""


def dynamic(path: Path) -> Dynamic | None:
    """The dynamic section of a file; None where there is none, or where it cannot be read."""
    try:
        with path.open("rb") as file:
            return _dynamic(file)
    except (OSError, struct.error, ValueError):
        return None


def _segments(file: BinaryIO) -> Iterator[_Segment]:
    head = file.read(64)
    if head[:6] != b"\x7fELF\x02\x01":
        return
    offset, size, count = *struct.unpack_from("<Q", head, 32), *struct.unpack_from("<HH", head, 54)
    for number in range(count):
        file.seek(offset + number * size)
        kind, _, start, address, _, length = struct.unpack("<IIQQQQ", file.read(40))
        yield _Segment(kind, start, address, length)


def _bytes(file: BinaryIO, segment: _Segment) -> bytes:
    file.seek(segment.offset)
    return file.read(min(segment.size, _LONGEST))


def _build_id_note(notes: bytes) -> str:
    at = 0
    while at + 12 <= len(notes):
        name, length, kind = struct.unpack_from("<III", notes, at)
        start = at + 12 + (name + 3 & ~3)
        if kind == _NT_GNU_BUILD_ID and notes[at + 12 : at + 16] == b"GNU\0":
            return notes[start : start + length].hex()
        at = start + (length + 3 & ~3)
    return ""


def _dynamic(file: BinaryIO) -> Dynamic | None:
    segments = list(_segments(file))
    table = next((_bytes(file, segment) for segment in segments if segment.kind == _PT_DYNAMIC), b"")
    entries = list(struct.iter_unpack("<QQ", table[: len(table) // 16 * 16]))
    first = dict(reversed(entries))
    if _DT_STRTAB not in first:
        return None
    file.seek(_offset(segments, first[_DT_STRTAB]))
    strings = file.read(min(first.get(_DT_STRSZ, 0), _LONGEST))

    def texts(tag: int) -> Iterator[str]:
        for entry, value in entries:
            if entry == tag:
                yield strings[value : strings.index(b"\0", value)].decode(errors="replace")

    def folders(tag: int) -> tuple[str, ...]:
        return tuple(folder for text in texts(tag) for folder in text.split(":") if folder)

    return Dynamic(
        tuple(texts(_DT_NEEDED)), next(texts(_DT_SONAME), ""), folders(_DT_RPATH), folders(_DT_RUNPATH)
    )


def _offset(segments: list[_Segment], address: int) -> int:
    """Where the byte of an address lies in the file."""
    for segment in segments:
        if segment.kind == _PT_LOAD and segment.address <= address < segment.address + segment.size:
            return segment.offset + address - segment.address
    raise ValueError("no segment holds this address")
