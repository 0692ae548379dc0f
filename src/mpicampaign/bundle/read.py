"""Reading a bundle from another site: every byte is checked, and only files in the manifest are accepted.

The reader of the tarfile module is not used: it accepts links, devices and headers of any size.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from mpicampaign.base.files import naming
from mpicampaign.base.plan_file import FILE, plan_from
from mpicampaign.base.records import (
    ALL_PAIRS,
    STRONG,
    TO_DECIDE,
    TO_REFERENCE,
    WEAK,
    plain_fields,
    race_rules,
)
from mpicampaign.bundle.archive import (
    MANIFEST,
    MAX_MANIFEST,
    MODE,
    NAME,
    BundledFile,
    BundleError,
    Manifest,
    check_path,
    is_shown_name,
    read_manifest,
)

_File = gzip.GzipFile
_BLOCK = 512
_CHUNK = 1 << 20
_MAX_EXTENDED = 1 << 16  # B of a header that only holds a long path
_MAX_PLAN = 64 * 2**20
_KINDS = {
    **dict.fromkeys((tarfile.SYMTYPE, tarfile.LNKTYPE), "a link"),
    **dict.fromkeys((tarfile.CHRTYPE, tarfile.BLKTYPE), "a device"),
    **{tarfile.DIRTYPE: "a folder", tarfile.FIFOTYPE: "a pipe"},
}
_COMPARED = ("", TO_REFERENCE, ALL_PAIRS, TO_DECIDE)
_MAX_REPEATS = 10_000  # as the campaign file allows


def verify(path: Path) -> Manifest:
    """Check a whole bundle without writing anything.

    Raises
    ------
    BundleError
        with the reason why it is refused.
    """
    plan: list[bytes] = []

    def look(member: BundledFile, chunks: Iterator[bytes]) -> None:
        keep = member.path == FILE
        if keep and member.size > _MAX_PLAN:
            raise BundleError(f"plan.json: larger than {_MAX_PLAN // 2**20} MiB")
        for chunk in chunks:
            if keep:
                plan.append(chunk)

    manifest = read_bundle(path, look)
    if plan:
        _check_plan(b"".join(plan), manifest)
    return manifest


def is_bundle(path: Path) -> bool:
    """Whether the file begins like a bundle; its end may be damaged or missing."""
    try:
        with path.open("rb") as raw, gzip.GzipFile(fileobj=raw, mode="rb") as file:
            _first(file)
    except (BundleError, EOFError, zlib.error, gzip.BadGzipFile):
        return False
    return True


def read_bundle(path: Path, take: Callable[[BundledFile, Iterator[bytes]], None]) -> Manifest:
    """Pass each member's content to a function, in pieces; the manifest.

    Raises
    ------
    BundleError
        when anything differs from the manifest; content that was passed before must not be used then.
    """
    try:
        with path.open("rb") as raw, gzip.GzipFile(fileobj=raw, mode="rb") as file:
            manifest = _first(file)
            for member in manifest.members:
                _read_member(file, member, take)
            _check_end(file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BundleError(f"damaged or cut off: {error}") from error
    return manifest


def unpack(path: Path, folder: Path) -> Manifest:
    """Write the files of a bundle into an empty folder, as `read_bundle` passes them."""

    def write(member: BundledFile, chunks: Iterator[bytes]) -> None:
        file = folder / member.path
        file.parent.mkdir(parents=True, exist_ok=True)
        with naming(file), file.open("xb") as out:
            out.writelines(chunks)

    return read_bundle(path, write)


def _first(file: _File) -> Manifest:
    name, size = _header(file, "the manifest")
    if name != MANIFEST:
        raise BundleError(f"not a bundle of mpicampaign: it begins with {name!r:.100}, not {MANIFEST}")
    if size > MAX_MANIFEST:
        raise BundleError(f"{MANIFEST} is larger than {MAX_MANIFEST // 2**20} MiB")
    return read_manifest(b"".join(_content(file, size, MANIFEST)))


def _read_member(
    file: _File, member: BundledFile, take: Callable[[BundledFile, Iterator[bytes]], None]
) -> None:
    name, size = _header(file, member.path)
    if name != member.path:
        raise BundleError(f"found {name!r:.200} where the manifest lists {member.path!r:.200}")
    if size != member.size:
        raise BundleError(f"{name}: {size} bytes, {member.size} in the manifest")
    digest = hashlib.sha256()

    def hashed() -> Iterator[bytes]:
        for chunk in _content(file, size, name):
            digest.update(chunk)
            yield chunk

    take(member, hashed())
    if digest.hexdigest() != member.sha256:
        raise BundleError(f"{name}: damaged: its SHA-256 differs from the manifest")


def _header(file: _File, expected: str) -> tuple[str, int]:
    """The path and size (B) of the next member; anything but a regular file is refused."""
    header = _parsed(_exactly(file, _BLOCK, expected), expected)
    long_path = None
    if header.type == tarfile.XHDTYPE:
        long_path = _long_path(file, header.size, expected)
        header = _parsed(_exactly(file, _BLOCK, expected), expected)
    name = long_path or header.name
    if header.type != tarfile.REGTYPE:
        kind = _KINDS.get(header.type, "not a regular file")
        raise BundleError(f"{name!r:.200}: {kind}; a bundle has only regular files")
    if header.mode & ~MODE:
        mode = f"its mode is {header.mode:o}; files of a bundle have {MODE:o}, or less"
        raise BundleError(f"{name!r:.200}: {mode}")
    if name != MANIFEST:
        check_path(name)
    return name, header.size


def _parsed(block: bytes, expected: str) -> tarfile.TarInfo:
    if not block.strip(b"\0"):
        raise BundleError(f"{expected!r:.200} is missing, but it is in the manifest")
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise BundleError(f"damaged at the beginning of {expected!r:.200}: {error}") from error


def _long_path(file: _File, size: int, expected: str) -> str:
    """The path in an extended header; a header with anything else is refused."""
    if not 0 < size <= _MAX_EXTENDED:
        raise BundleError(f"{expected!r:.200}: its header has {size} bytes")
    text = b"".join(_content(file, size, expected))
    length, _, rest = text.partition(b" ")
    key, _, value = rest.partition(b"=")
    if not length.isdigit() or int(length) != len(text) or key != b"path" or not value.endswith(b"\n"):
        raise BundleError(f"{expected!r:.200}: its header has more than a path")
    return value[:-1].decode("utf-8", "surrogateescape")


def _content(file: _File, size: int, name: str) -> Iterator[bytes]:
    remaining = size
    while remaining > 0:
        chunk = _exactly(file, min(remaining, _CHUNK), name)
        remaining -= len(chunk)
        yield chunk
    _exactly(file, -size % _BLOCK, name)


def _exactly(file: _File, size: int, name: str) -> bytes:
    data = file.read(size) if size else b""
    if len(data) != size:
        raise BundleError(f"cut off in or before {name!r:.200}")
    return data


def _check_end(file: _File) -> None:
    """Refuse anything but the empty blocks that end an archive."""
    blocks = 0
    while block := file.read(_BLOCK):
        if block.strip(b"\0"):
            name = _parsed(block, "the end").name
            raise BundleError(f"{name!r:.200} is not in the manifest")
        blocks += 1
        if blocks > 2 * tarfile.RECORDSIZE // _BLOCK:
            raise BundleError("there is data after its end")
    if blocks < 2:
        raise BundleError("cut off at its end")


def _check_plan(text: bytes, manifest: Manifest) -> None:
    """Refuse a plan whose names could lead out of the folder: they name files that are read later."""
    try:
        plan = json.loads(text)
        if plan["version"] == 1:
            raise BundleError("plan.json: version 1, in which runs had other identities")
        planned = plan_from(plan)
        runs = [run for entry in planned.cases for run in entry.runs]
        names = [name for entry in planned.cases for name in plain_fields(entry.kept).values()]
        names += [run.identity for run in runs]
        shown = [name for entry in planned.cases for name in plain_fields(entry.case).values()]
        right = planned.campaign == manifest.campaign
        right = right and all(map(NAME.fullmatch, names))
        right = right and all(map(is_shown_name, shown))
        right = right and all(0 < run.repeat <= _MAX_REPEATS for run in runs)
        for entry in planned.cases:
            right = right and (entry.block + entry.decided_with).isprintable()
            right = right and (entry.compared in _COMPARED or race_rules(entry.compared) is not None)
            right = right and entry.scaling in ("", STRONG, WEAK)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BundleError(f"plan.json: damaged: {type(error).__name__} {error}") from error
    if not right:
        raise BundleError("plan.json: of another campaign, or with names or numbers that are not valid")
