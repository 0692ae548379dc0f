"""The files of a folder to import: what each of them is, and why some are refused.

An example in a document is no run, and what a document leaves out of it is not missing.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mpicampaign.schedulers import batch_schedulers
from mpicampaign.suites import OutputError, Part, above_banner, parse
from mpicampaign.suites.aborts import abort_in

MAX_BYTES = 64 * 1024 * 1024
SCRIPT, STDERR, OUTPUT = "job script", "standard error", "output"
_DOCUMENT = re.compile(
    r"(?:.*[-_. ])?readme(?![a-z]).*|.*\.(?:md|markdown|rst|html?|xhtml|adoc|tex|ipynb|org|wiki)",
    re.IGNORECASE,
)
_NOTES = re.compile(
    r"(?:.*[-_. ])?(?:notes?|how-?to|usage|install|manual|tutorial|guide|todo)(?![a-z]).*", re.IGNORECASE
)
# What marks the name of a copy: out.txt~, out.txt.bak, Copy of out.txt, out_old.txt, out (1).txt
_BACKUP = re.compile(
    r"^#|#$|~$|^copy of |^(?:old|bak|backup|copy)[-_. ]"
    r"|(?:[-_. (]+(?:bak|backup|orig|old|save|copy)(?:[ _-]?[0-9]+)?\)?| ?\([0-9]+\))(?=\.\w+$|$)",
    re.IGNORECASE,
)
# With the newline above: a search for that is many times as fast as one for the begin of a line.
_MARKUP = re.compile(r"\n[ \t]*(?i:```|~~~|\.\. [a-z-]+::|<!DOCTYPE|</?(?:html|pre|code)\b)")
_LEFT_OUT = re.compile(r"\n[ \t]*(?:\.\.\.|…|[\[<](?:\.\.\.|…|snip)[\]>])[ \t]*$", re.MULTILINE)
# What PBS and Grid Engine call the output and the standard error of a job: NAME.o123, NAME.e123, NAME.e123.4.
_OF_JOB = re.compile(r"\.[oe]([0-9]{1,18}(?:[-._][0-9]{1,9}|\[[0-9]{1,9}\])?)$")
EXCERPT = "a document: outputs in it are examples; import the output file itself, or give --quoted"


def is_document(name: str) -> bool:
    """Whether a file is a document, by its name."""
    return _DOCUMENT.fullmatch(name) is not None


def original_name(path: str) -> str:
    """The name of a file without what marks it as a copy of one beside it."""
    return _BACKUP.sub("", name_of(path))


def is_excerpt(name: str, text: str, outputs: Iterable[Part]) -> bool:
    """Whether a text looks like a document or notes, and none of its outputs can be read."""
    lines = f"\n{text}"
    left_out = _LEFT_OUT.search(lines) and _LEFT_OUT.search(lines, len(above_banner(text)))
    like = left_out or _NOTES.fullmatch(name) or _MARKUP.search(lines)
    return bool(like) and not abort_in(text) and all(map(fault_of, outputs))


def fault_of(output: Part) -> str:
    """Why an output cannot be read; empty where it can."""
    try:
        parse(output.suite, output.to_parse)
    except OutputError as error:
        return str(error)
    return ""


@dataclass(frozen=True, slots=True)
class ImportSource:
    """What to import, the path under which it is kept, and why it is refused, if it is."""

    file: Path
    path: str
    refused: str = ""
    content: bytes = b""  # made of a part of the file; else all of the file

    @property
    def role(self) -> str:
        """What the file is, by the ending of its name."""
        return role_of(self.path)


def role_of(path: str) -> str:
    """Job script or standard error by the ending of the name; anything else is an output."""
    match = _OF_JOB.search(path)
    return STDERR if match and match[0][1] == "e" else _roles().get(_ending(path).lower(), OUTPUT)


@cache
def _roles() -> dict[str, str]:
    endings = [ending for scheduler in batch_schedulers() for ending in scheduler.script_endings]
    return {".err": STDERR, **dict.fromkeys((".sh", ".job", *endings), SCRIPT)}


def stem_of(path: str) -> str:
    """The path without its ending, which an output and its companions share."""
    return path.removesuffix(_ending(path))


def _ending(path: str) -> str:
    """The last part of a file's name with its dot, as `Path.suffix` has it, which takes ten times as long."""
    name = name_of(path)
    dot = name.rfind(".")
    return name[dot:] if 0 < dot < len(name) - 1 else ""


class Companions:
    """The job script and standard error of each output: of the same name, else its folder's only script.

    The only script of a folder is a guess, which the caller checks against the output.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        known = list(paths)
        self._known = frozenset(known)
        of_name = (path for path in known if role_of(path) != STDERR or not _OF_JOB.search(path))
        self._named = {(stem_of(path), role_of(path)): path for path in of_name}
        stems = {stem for stem, role in self._named if role == OUTPUT}
        scripts: dict[str, list[str]] = {}
        for path in known:
            if role_of(path) == SCRIPT:
                scripts.setdefault(folder_of(path), []).append(path)
        only = {folder: beside[0] for folder, beside in scripts.items() if len(beside) == 1}
        self._only = {folder: path for folder, path in only.items() if stem_of(path) not in stems}

    def role(self, path: str) -> str:
        """What a file is: NAME.e123 without a NAME.o123 holds both, and is an output."""
        joined = _OF_JOB.search(path) and _OF_JOB.sub(r".o\1", path) not in self._known
        return OUTPUT if joined else role_of(path)

    def of(self, output: str, role: str) -> str | None:
        """The path of an output's companion; None where it has none."""
        if role == STDERR and _OF_JOB.search(output):
            error = _OF_JOB.sub(r".e\1", output)
            return error if error != output and error in self._known else None
        only = self._only.get(folder_of(output)) if role == SCRIPT else None
        return self._named.get((stem_of(output), role), only)


def folder_of(path: str) -> str:
    """The folder of a file."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """The name of a file in its folder."""
    return path.rpartition("/")[2]


def find_sources(folders: Iterable[Path]) -> list[ImportSource]:
    """All files below the folders, each once, in the order of their kept paths; a file for itself.

    A file is kept under the names of its folder and that folder's parent, so that a rule can distinguish
    ``Cloud_HPL/outputs`` from ``Cloud_IMB/outputs``.
    """
    sources: dict[Path, ImportSource] = {}
    for folder in folders:
        root = folder.resolve()
        is_file = root.is_file()
        top = "/".join(root.parts[1:][-3 if is_file else -2 :])
        for source in [ImportSource(root, top, _refusal(root))] if is_file else _walk(root, top):
            sources.setdefault(source.file, source)
    return sorted(sources.values(), key=lambda source: source.path)


def _walk(root: Path, top: str) -> Iterator[ImportSource]:
    unreadable: list[OSError] = []
    for folder, folders, files in os.walk(root, onerror=unreadable.append):
        inside = Path(folder).relative_to(root).as_posix()
        prefix = top if inside == "." else f"{top}/{inside}"
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in [*files, *links]:
            file = Path(folder, name)
            yield ImportSource(file, f"{prefix}/{name}", _refusal(file))
    for error in unreadable:
        file = Path(str(error.filename))
        inside = file.relative_to(root).as_posix()
        yield ImportSource(file, f"{top}/{inside}", f"this folder cannot be read: {error.strerror}")


def _refusal(file: Path) -> str:
    """Why a file is refused without opening it; empty where it is opened."""
    try:
        file.name.encode()
        os.fspath(file).encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    try:
        state = file.lstat()
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    if stat.S_ISLNK(state.st_mode):
        return "a symbolic link: import its target"
    if not stat.S_ISREG(state.st_mode):
        return "not a regular file"
    return EXCERPT if is_document(file.name) else ""


def read_source(source: ImportSource) -> bytes | str:
    """The file's content, or why it is refused."""
    if source.refused or source.content:
        return source.refused or source.content
    try:
        with source.file.open("rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_BYTES:
                return f"larger than {MAX_BYTES // 2**20} MiB"
            content = file.read()
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "text in UTF-16: convert it to UTF-8"
    if b"\0" in content:
        return "a binary file"
    if b"\r" in content and b"\n" not in content:
        return r"its lines end in CR alone: convert it (tr '\r' '\n')"
    return content


def text_of(content: bytes | str) -> str:
    """A file's text without byte order mark, invalid UTF-8 kept visible; empty for a refused file."""
    return content.decode("utf-8-sig", errors="replace") if isinstance(content, bytes) else ""
