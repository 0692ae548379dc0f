"""The ledger of an import, import.json: each file that an import read, and what happened to it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpicampaign.errors import UserError
from mpicampaign.imports.files import OUTPUT
from mpicampaign.records import plain_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

FORMAT = "mpicampaign-import"
VERSION = 1
LEDGER, MAP, FILES = "import.json", "map.yaml", "files"
REFUSED = "refused"


@dataclass(slots=True)
class LedgerEntry:
    """One file. ``role``: output, job script, standard error, or refused; ``path``: below files/.

    ``label`` and ``facts`` are from the time of the import, for people; the analysis derives them again.
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
    if not isinstance(data, dict) or (data.get("format"), data.get("version")) != (FORMAT, VERSION):
        raise UserError(f"{path} is not an import of version {VERSION} of this program")
    try:
        entries = [LedgerEntry(**entry) for entry in data["files"]]
    except (KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged: {error}") from error
    outside = [entry.path for entry in entries if entry.kept and _leads_out(entry.path)]
    if outside:
        raise UserError(f"{path} is damaged: {outside[0]!r} is not inside its folder")
    return entries


def runs_elsewhere(folder: Path) -> dict[str, str]:
    """The runs of the campaign's other imports: SHA-256 to path and import.

    A run in two imports, as of early versions, belongs to the first import by name.
    """
    own = {entry.sha256 for entry in _runs(folder)}
    found: dict[str, str] = {}
    for other in sorted(path.parent for path in folder.parent.glob(f"*/{LEDGER}") if path.parent != folder):
        for entry in _runs(other):
            if other < folder or entry.sha256 not in own:
                found.setdefault(entry.sha256, f"{entry.path} of import {other.name}")
    return found


def _runs(folder: Path) -> list[LedgerEntry]:
    entries = read_ledger(folder) if (folder / LEDGER).exists() else []
    return [entry for entry in entries if entry.kept and entry.role == OUTPUT]


def _leads_out(path: str) -> bool:
    return path.startswith("/") or ".." in path.split("/") or "\0" in path


def ledger_text(entries: Iterable[LedgerEntry]) -> str:
    """The ledger as JSON, which escapes whatever a file name holds."""
    data = {"format": FORMAT, "version": VERSION, "files": [plain_fields(entry) for entry in entries]}
    return json.dumps(data) + "\n"
