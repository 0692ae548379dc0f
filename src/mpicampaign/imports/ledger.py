"""The ledger of an import, ledger.jsonl: what became of each file, or of each output in it, in a line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mpicampaign.base.errors import UserError
from mpicampaign.base.files import same_text, write_whole
from mpicampaign.base.records import plain_fields
from mpicampaign.imports.facts import time_in_name
from mpicampaign.imports.files import OUTPUT, folder_of, name_of, original_name, role_of, stem_of

FORMAT, VERSION = "mpicampaign-import", 4
LEDGER, MAP, FILES = "ledger.jsonl", "map.yaml", "files"
_EARLIER = "import.json"  # versions 1 to 3: one object
REFUSED = "refused"
_TEXTS = ("source", "sha256", "reason", "content")


@dataclass(frozen=True, slots=True)
class Label:
    """The labels of a run.

    ``requested``: the host group by the rules, where the hosts belong to another group.
    ``actual``: whether the host group comes from the map's host lists.
    ``asked``: the part of the command line that decided the placement.
    ``rules``: the numbers of the map's rules that gave them.
    """

    system: str
    host_group: str
    placement: str
    benchmark: str
    repeat: int | None = None
    requested: str = ""
    actual: bool = False
    asked: str = ""
    job: str = ""
    rules: tuple[int, ...] = ()

    @property
    def case(self) -> tuple[str, str, str, str]:
        """The names of the case."""
        return (self.system, self.host_group, self.placement, self.benchmark)


@dataclass(slots=True)
class Entry:
    """One file, or one of several outputs in it: then ``facts`` have its lines, such as 12-40.

    ``path``: of the file, below files/; ``kept``: whether it was copied there; ``source``: where it was;
    ``sha256``: of the file; ``content``: what is the same for copies of the output, with a colon where it is
    short; ``reason``: why it is refused.

    ``label`` and ``facts`` are from the time of the import, for readers: the analysis derives them again.
    """

    path: str
    source: str = ""
    sha256: str = ""
    kept: bool = False
    reason: str = ""
    content: str = ""
    label: Label | None = None
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def role(self) -> str:
        """Output, job script, standard error, or refused."""
        return REFUSED if self.reason else OUTPUT if self.is_output else role_of(self.path)

    @property
    def is_output(self) -> bool:
        """Whether it is an output, refused or not: a standard error that holds it, too, has facts."""
        return bool(self.facts) or role_of(self.path) == OUTPUT

    @property
    def place(self) -> str:
        """The name of the file, with the lines."""
        lines = self.facts.get("lines")
        return f"{self.path}:{lines}" if lines else self.path

    @property
    def order(self) -> tuple[str, int]:
        """Its file and its first line there, 0 where it is the whole file: sorts as outputs do."""
        first = self.facts.get("lines", "").partition("-")[0][:9]
        return self.path, int(first) if first.isdecimal() else 0

    @property
    def is_short(self) -> bool:
        """Whether others may have printed the same by chance."""
        return ":" in self.content

    @property
    def job(self) -> str:
        """The number of its job; empty where it is unknown."""
        return self.label.job if self.label else self.facts.get("job", "")


def ledger_in(folder: Path) -> Path | None:
    """The ledger of an import's folder; None where no import was finished."""
    return next((path for name in (LEDGER, _EARLIER) if (path := folder / name).exists()), None)


def read_ledger(folder: Path) -> list[Entry]:
    """The entries of an import's folder.

    Raises
    ------
    UserError
        when the import was not finished, or its ledger is damaged.
    """
    path = ledger_in(folder)
    if path is None:
        raise UserError(f"the import in {folder} was not finished: repeat 'mpicampaign import'")
    try:
        text = path.read_text(encoding="utf-8")
        head, *lines = _earlier(text) if path.name == _EARLIER else map(json.loads, text.splitlines())
        if head["format"] != FORMAT or head["version"] not in range(1, VERSION + 1):
            raise UserError(f"{path} is not an import ledger of version 1 to {VERSION}")
        if head["entries"] != len(lines):
            raise ValueError(f"{len(lines)} lines, not {head['entries']}")
        entries = [*map(_entry, lines)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is damaged: {error}") from error
    for name in (entry.path for entry in entries if entry.kept):
        if name.startswith("/") or ".." in name.split("/") or "\0" in name:
            raise UserError(f"{path} is damaged: {name!r} is not inside its folder")
    return entries


def is_imported_from(folder: Path, source: Path) -> bool:
    """Whether an import took files of this folder or file."""
    entries = read_ledger(folder) if ledger_in(folder) else []
    return any(Path(entry.source).is_relative_to(source) for entry in entries)


class Runs:
    """The runs that count, by the content of their outputs."""

    def __init__(self) -> None:
        self._runs: dict[str, list[tuple[Entry, str]]] = {}

    def add(self, run: Entry, place: str) -> None:
        """Remember a run, and how it is named."""
        for key in run.content.rstrip(":").split():
            self._runs.setdefault(key, []).append((run, place))

    def same(self, entry: Entry) -> str:
        """The place of the run of which this is a copy; empty where it is none."""
        alike = (self._runs.get(key, ()) for key in entry.content.rstrip(":").split())
        return next((place for runs in alike for run, place in runs if _is_copy(entry, run)), "")


def _is_copy(entry: Entry, run: Entry) -> bool:
    """Whether an output with the content of a run is that run again.

    A single value is often equal by chance; a start to the second never is, nor a long output in a log and
    beside it. So another job is another run; so is, without a start, another number in a name of the same
    folder, a short output elsewhere in a folder of another number or of another case, and what has nothing
    else in common.
    """
    if entry.job and run.job and entry.job != run.job:
        return False
    paths, started = (entry.path, run.path), entry.facts.get("started", "")
    dated = started == run.facts.get("started") and started not in ("", *map(time_in_name, paths))
    same_job = entry.job == run.job != ""
    other_name = name_of(entry.path) != name_of(run.path)
    numbered = entry.path != run.path and len({re.sub("[0-9]+", "0", path) for path in paths}) == 1
    is_long = not (entry.is_short or run.is_short)
    is_file = not any(fact in of.facts for of in (entry, run) for fact in ("lines", "quoted"))
    if dated:
        return True
    if other_name and is_file and folder_of(entry.path) == folder_of(run.path):
        names = map(stem_of, paths) if is_long else map(original_name, paths)
        return not numbered and (same_job or len(set(names)) == 1)
    if is_long:
        return True
    same_case = not (entry.label and run.label) or entry.label.case == run.label.case
    return not numbered and (same_job or (same_case and not other_name))


def runs_elsewhere(folder: Path) -> Runs:
    """The runs of the campaign's other imports.

    A run in two imports, as of early versions, belongs to the first import by name.
    """
    here, elsewhere = Runs(), Runs()
    others = sorted(path for path in folder.parent.iterdir() if path != folder and ledger_in(path))
    for entry in _runs(folder) if others else ():
        here.add(entry, entry.place)
    for other in others:
        for entry in _runs(other):
            if other < folder or not here.same(entry):
                elsewhere.add(entry, f"{entry.place} of import {other.name}")
    return elsewhere


def _runs(folder: Path) -> list[Entry]:
    return [entry for entry in read_ledger(folder) if entry.label] if ledger_in(folder) else []


def write_ledger(folder: Path, entries: Sequence[Entry]) -> None:
    """Write the ledger, as JSON, which escapes whatever a file name holds."""
    head = {"format": FORMAT, "version": VERSION, "entries": len(entries)}
    text = "".join(f"{json.dumps(line)}\n" for line in (head, *map(_line, entries)))
    if not same_text(folder / LEDGER, text):
        write_whole(folder / LEDGER, text)
    (folder / _EARLIER).unlink(missing_ok=True)


def _earlier(text: str) -> list[dict[str, Any]]:
    """Header and lines of import.json: the role follows from the rest, and ``lines`` are facts."""
    data = json.loads(text)
    lines = [
        {
            **line,
            "content": line.get("content") or line.get("sha256", ""),
            "facts": {**line.get("facts", {}), **({"lines": line["lines"]} if line.get("lines") else {})},
        }
        for line in data["files"]
    ]
    return [{**data, "entries": len(lines)}, *lines]


def _line(entry: Entry) -> dict[str, Any]:
    """An entry without what is empty."""
    label = plain_fields(entry.label) if entry.label else {}
    fields = {"role": entry.role, **plain_fields(entry), "label": label}
    return {name: value for name, value in fields.items() if value}


def _entry(line: dict[str, Any]) -> Entry:
    """A line's entry, whose texts are texts: the ledger of a bundle may hold anything."""
    path, label, facts = str(line["path"]), line.get("label"), line.get("facts", {})
    source, sha256, reason, content = (str(line.get(name, "")) for name in _TEXTS)
    known = Label(**{**label, "job": str(label.get("job", ""))}) if label else None
    texts = {str(name): str(value) for name, value in facts.items()}
    return Entry(path, source, sha256, bool(line.get("kept")), reason, content, known, texts)
