"""The ledger of an import, import.json: each file that an import read, and what happened to it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpicampaign.errors import UserError
from mpicampaign.imports.files import OUTPUT, place_of
from mpicampaign.program_state import program_state
from mpicampaign.records import plain_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from mpicampaign.suites import Part

FORMAT = "mpicampaign-import"
VERSION = 3
# The first version had no parts of files, the second did not say what facts follow from.
_READ = (1, 2, VERSION)
LEDGER, MAP, FILES = "import.json", "map.yaml", "files"
REFUSED = "refused"
_LEAST = 500  # B; shorter outputs may be alike by chance


@dataclass(slots=True)
class LedgerEntry:
    """One file, or one of several outputs in it.

    ``role``: output, job script, standard error, or refused; ``path``: of the file, below files/; ``sha256``,
    ``size``: of the file. Where its file holds several outputs, ``lines``: of this one, such as 12-40, and
    ``content``: see `content_of`.

    ``label`` and ``facts`` are from the time of the import, for readers; the analysis derives them again, but
    where ``found`` (see `found_in`) is the same now.
    """

    path: str
    role: str
    source: str = ""
    sha256: str = ""
    size: int = 0
    reason: str = ""
    kept: bool = False
    label: dict[str, Any] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    lines: str = ""
    content: str = ""
    found: str = ""

    @property
    def place(self) -> str:
        """Its name: the file, with the lines."""
        return place_of(self.path, self.lines)

    @property
    def whole(self) -> str:
        """What is the same for copies of the output."""
        return self.content or self.sha256

    @property
    def job(self) -> str:
        """The number of its job; empty where it is unknown."""
        return str(self.label.get("job") or self.facts.get("job", ""))


def found_in(facts: Sequence[Mapping[str, str]], output: str, script: str, stderr: str) -> str:
    """A checksum of the facts of a file's outputs, and of the texts and the program that they follow from."""
    digest = hashlib.sha256(program_state().encode())
    for text in (json.dumps([*map(dict, facts)], sort_keys=True), output, script, stderr):
        encoded = text.encode("utf-8", errors="surrogatepass")
        digest.update(f"\0{len(encoded)}\0".encode())
        digest.update(encoded)
    return digest.hexdigest()


def content_of(part: Part, sha256: str) -> str:
    """The checksum of an output in a file with several: the SHA-256 of its text.

    Copies share it, so an output that was also imported alone counts once. Short outputs may be alike by
    chance: theirs is the checksum of the file, with their lines.
    """
    text = part.text.encode("utf-8", errors="surrogatepass")
    return hashlib.sha256(text).hexdigest() if len(text) >= _LEAST else f"{sha256}:{part.lines}"


def read_ledger(folder: Path) -> list[LedgerEntry]:
    """The entries of an import's folder.

    Raises
    ------
    UserError
        when the import was not finished, or its ledger is damaged.
    """
    path = folder / LEDGER
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"the import in {folder} was not finished: repeat 'mpicampaign import'") from error
    except ValueError as error:
        raise UserError(f"{path} is damaged: {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") not in _READ:
        raise UserError(f"{path} is not an import ledger of version 1 to {VERSION}")
    try:
        entries = [LedgerEntry(**entry) for entry in data["files"]]
    except (KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged: {error}") from error
    outside = [entry.path for entry in entries if entry.kept and _leads_out(entry.path)]
    if outside:
        raise UserError(f"{path} is damaged: {outside[0]!r} is not inside its folder")
    return entries


def runs_elsewhere(folder: Path) -> Runs:
    """The runs of the campaign's other imports.

    A run in two imports, as of early versions, belongs to the first import by name.
    """
    own, elsewhere = Runs(), Runs()
    others = sorted(path.parent for path in folder.parent.glob(f"*/{LEDGER}") if path.parent != folder)
    for entry in _runs(folder) if others else ():
        own.add(entry.whole, entry.job, entry.place)
    for other in others:
        for entry in _runs(other):
            if other < folder or not own.same(entry.whole, entry.job):
                elsewhere.add(entry.whole, entry.job, f"{entry.place} of import {other.name}")
    return elsewhere


class Runs:
    """Places of runs, by the content of their outputs and the number of their job, empty where unknown.

    The content of a run again is a copy where the job is the same, or one of the two has no number.
    """

    def __init__(self) -> None:
        self._places: dict[str, dict[str, str]] = {}

    def add(self, content: str, job: str, place: str) -> None:
        """Remember a run, unless there is one of the content and job."""
        self._places.setdefault(content, {}).setdefault(job, place)

    def same(self, content: str, job: str) -> str:
        """The place of the run of which this is a copy; empty where it is none."""
        places = self._places.get(content, {})
        return places.get(job) or places.get("") or ("" if job else next(iter(places.values()), ""))


def _runs(folder: Path) -> list[LedgerEntry]:
    entries = read_ledger(folder) if (folder / LEDGER).exists() else []
    return [entry for entry in entries if entry.kept and entry.role == OUTPUT]


def _leads_out(path: str) -> bool:
    return path.startswith("/") or ".." in path.split("/") or "\0" in path


def ledger_text(entries: Iterable[LedgerEntry]) -> str:
    """The ledger as JSON, which escapes whatever a file name holds."""
    data = {"format": FORMAT, "version": VERSION, "files": [plain_fields(entry) for entry in entries]}
    return json.dumps(data) + "\n"
