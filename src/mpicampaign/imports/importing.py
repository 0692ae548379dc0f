"""Import: raw outputs of other origin are copied, labelled and accounted for.

Files are written once, by a rename, and never changed. The ledger is written last: a killed call leaves
copies without a ledger, and the same call again completes the import.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from mpicampaign.background import on_two_cores
from mpicampaign.errors import Problem, UserError
from mpicampaign.files import locked, naming, same_text, write_whole
from mpicampaign.grouping import grouped
from mpicampaign.imports.account import Account
from mpicampaign.imports.documents import EXCERPT, is_excerpt
from mpicampaign.imports.facts import SCRIPT_BEGIN, belongs, facts_of_outputs, why_no_output
from mpicampaign.imports.files import (
    MANY,
    OUTPUT,
    SCRIPT,
    STDERR,
    Companions,
    find_sources,
    name_of,
    read_source,
    role_of,
    text_of,
)
from mpicampaign.imports.labels import Label, Output, groups_without_runs, label_all, misnamed_facts
from mpicampaign.imports.ledger import (
    FILES,
    LEDGER,
    MAP,
    REFUSED,
    LedgerEntry,
    content_of,
    found_in,
    ledger_text,
    read_ledger,
    runs_elsewhere,
)
from mpicampaign.imports.reframe import with_test_cases
from mpicampaign.records import plain_fields
from mpicampaign.suites import OutputError, parts, without_labels
from mpicampaign.yaml_lines import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mpicampaign.imports.files import Source
    from mpicampaign.imports.map_file import ImportMap
    from mpicampaign.suites import Part

_PARTS = "parts"
_NOW = " (as it is now)"  # in the ledger, after the name of a file that differs from its imported copy


def import_folders(folders: Sequence[Path], chosen: ImportMap, campaign_folder: Path) -> Account:
    """Copy and label the files (or those in the folders); without folders, label the earlier imports again.

    Raises
    ------
    UserError
        when a folder does not exist, or another call is importing.
    """
    if missing := [folder for folder in folders if not folder.exists()]:
        raise UserError([Problem("no such folder or file", printable(str(path))) for path in missing])
    folder = campaign_folder / "imports" / chosen.name
    if not folders and not (folder / LEDGER).exists():
        raise UserError(Problem("there is no earlier import", hint="name the folders with the raw outputs"))
    with _locked(folder):
        return _Import(folder, chosen).run(with_test_cases(find_sources(folders)) if folders else None)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the import against other calls; remove partial files of a killed one."""
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "lock", Problem(f"another call is importing into {folder}", hint="wait for it")):
        shutil.rmtree(folder / _PARTS, ignore_errors=True)
        (folder / _PARTS).mkdir()
        yield
        shutil.rmtree(folder / _PARTS, ignore_errors=True)


class _Import:
    def __init__(self, folder: Path, chosen: ImportMap) -> None:
        self.folder = folder
        self.files, self.parts = folder / FILES, folder / _PARTS
        self.chosen = chosen
        self.entries: dict[str, list[LedgerEntry]] = {}  # by path: a file may hold several outputs
        self.new: list[Path] = []  # copies that this call made
        self.beside: dict[str, Source] = {}

    def run(self, chosen: Sequence[Source] | None) -> Account:
        sources = chosen or []
        if (self.folder / LEDGER).exists():
            for entry in read_ledger(self.folder):
                self.entries.setdefault(entry.path, []).append(entry)
        had_runs = any(entry.role == OUTPUT for entry in self._all_entries())
        beside = [source for source in sources if source.role != OUTPUT]
        companions = Companions(source.path for source in sources)
        self.beside = {source.path: source for source in beside}
        wanted: set[str] = set()
        outputs = [
            *grouped((each for each in sources if each.role == OUTPUT), lambda each: each.path).values()
        ]
        find = partial(self._outputs, companions)
        for paths, entries, new in on_two_cores(find, outputs, len(outputs) >= MANY):
            wanted |= paths
            self.entries |= entries
            self.new += new
        for source in beside:
            self._companion(source, source.path in wanted)
        self._label()
        account = self._account(None if chosen is None else frozenset(source.path for source in chosen))
        if had_runs and account.found_no_run:
            return self._undone(account)
        self._write_ledger(account.entries)
        return account

    def _all_entries(self) -> list[LedgerEntry]:
        return list(chain.from_iterable(self.entries.values()))

    def _outputs(
        self, companions: Companions, sources: Sequence[Sequence[Source]]
    ) -> tuple[set[str], dict[str, list[LedgerEntry]], list[Path]]:
        """Import outputs, those of one path together: their companions' paths, entries, and new copies."""
        part = copy(self)
        part.new = []
        wanted: set[str] = set()
        for of_path in sources:
            for source in of_path:
                wanted |= part._output(source, companions)
        paths = {f"{of_path[0].path}{now}" for of_path in sources for now in ("", _NOW)}
        return wanted, {path: part.entries[path] for path in paths & part.entries.keys()}, part.new

    def _output(self, source: Source, companions: Companions) -> set[str]:
        """Import an output; the paths of its companions."""
        content = read_source(source)
        if isinstance(content, str):
            self._refuse(source, content)
            return set()
        if source.content and self._is_kept(source.path):  # the same test case of another file
            return set()
        beside = [companions.of(source.path, role) for role in (SCRIPT, STDERR)]
        script, stderr = (text_of(read_source(self.beside[path])) if path else "" for path in beside)
        try:
            text = without_labels(text_of(content))
            cut = parts(text)
            if not belongs(beside[0], script, source.path, {part.suite for part in cut}):
                script, beside[0] = "", None
            facts = facts_of_outputs(source.path, text, cut, script, stderr)
            known = cut[0].suite or ("suite" in facts[0] and not text.startswith(SCRIPT_BEGIN))
            reason = "" if known else why_no_output(text, stderr)
            if not reason and is_excerpt(name_of(source.path), text, cut):
                reason = EXCERPT
        except OutputError as error:
            reason = str(error)
        if reason:
            self._refuse(source, reason, content)
        elif self._kept(source, content):
            file = self.entries[source.path][0]
            file.found = found_in(facts, text, script, stderr)
            self.entries[source.path] = _of_outputs(file, cut, facts)
            return {path for path in beside if path}
        return set()

    def _companion(self, source: Source, wanted: bool) -> None:
        content = read_source(source)
        if isinstance(content, str):
            self._refuse(source, content)
        elif wanted:
            self._kept(source, content)
        else:
            self._refuse(source, "it belongs to no imported output", content)

    def _refuse(self, source: Source, reason: str, content: bytes = b"") -> None:
        entry, before = _entry(source, content, REFUSED, reason), self.entries.get(source.path)
        if before and before[0].kept:  # the copy stays; this is another file of the same name
            entry.path += _NOW
        self.entries[entry.path] = [entry]

    def _is_kept(self, path: str) -> bool:
        return any(entry.kept for entry in self.entries.get(path, ())) and (self.files / path).exists()

    def _kept(self, source: Source, content: bytes) -> bool:
        """Write a file once; whether there is now a copy with exactly this content."""
        target = self.files / source.path
        try:
            if target.exists():
                if target.read_bytes() != content:
                    self._refuse(source, self._why_not(source, content), content)
                    return False
            else:
                self._write(target, content)
                self.new.append(target)
        except OSError as error:
            self._refuse(source, f"it cannot be copied: {error.strerror}", content)
            return False
        self.entries.pop(source.path + _NOW, None)
        self.entries[source.path] = [_entry(source, content, source.role, "", kept=True)]
        return True

    def _why_not(self, source: Source, content: bytes) -> str:
        """Why a file is refused whose name has a different copy."""
        before = self.entries.get(source.path)
        if before and before[0].sha256 == hashlib.sha256(content).hexdigest():
            return "its imported copy was changed; remove the copy, then import this file again"
        return "the imported copy is kept: this file's content differs"

    def _write(self, target: Path, content: bytes) -> None:
        part = self.parts / os.urandom(8).hex()
        with naming(target, part):
            part.write_bytes(content)
        if not target.parent.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
        part.rename(target)

    def _label(self) -> None:
        """Label every kept output, also of earlier calls."""
        kept = [entry for entry in self._all_entries() if entry.kept and role_of(entry.path) == OUTPUT]
        outputs = [Output(entry.path, entry.whole, entry.facts) for entry in kept]
        labels = label_all(outputs, self.chosen, runs_elsewhere(self.folder))
        for entry, label in zip(kept, labels, strict=True):
            if isinstance(label, Label):
                entry.role, entry.reason, entry.label = OUTPUT, "", plain_fields(label)
            else:
                entry.role, entry.reason, entry.label = REFUSED, label, {}

    def _account(self, looked_at: frozenset[str] | None) -> Account:
        entries = [entry for path in sorted(self.entries) for entry in self.entries[path]]
        used = {entry.label["placement"]: None for entry in entries if entry.role == OUTPUT}
        unclaimed = [name for name in used if self.chosen.placements and name not in self.chosen.placements]
        facts = {name for entry in entries for name in entry.facts}
        hosts = {host for entry in entries for host in entry.facts.get("hosts", "").split()}
        misnamed = [*misnamed_facts(self.chosen.rules, facts), *groups_without_runs(hosts, self.chosen)]
        return Account(
            self.folder, tuple(entries), len(self.new), looked_at, tuple(unclaimed), tuple(misnamed)
        )

    def _undone(self, account: Account) -> Account:
        """Remove what a call with a wrong folder or map has copied beside good runs.

        A first import stays, even without runs: the facts in its ledger help to correct the map.
        """
        for path in self.new:
            path.unlink()
            self._remove_empty(path.parent)
        return replace(account, new=0, undone=True)

    def _remove_empty(self, folder: Path) -> None:
        while folder != self.files and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent

    def _write_ledger(self, entries: Sequence[LedgerEntry]) -> None:
        for name, text in ((MAP, self.chosen.text), (LEDGER, ledger_text(entries))):
            if not same_text(self.folder / name, text):
                write_whole(self.folder / name, text)


def _entry(source: Source, content: bytes, role: str, reason: str, kept: bool = False) -> LedgerEntry:
    digest = hashlib.sha256(content).hexdigest() if content or kept else ""
    return LedgerEntry(source.path, role, str(source.file), digest, len(content), reason, kept)


def _of_outputs(file: LedgerEntry, cut: Sequence[Part], facts: Sequence[dict[str, str]]) -> list[LedgerEntry]:
    """A file's entry for each of the outputs in it."""
    if len(cut) == 1:
        file.facts = facts[0]
        return [file]
    return [
        replace(file, facts=known, lines=part.lines, content=content_of(part, file.sha256))
        for part, known in zip(cut, facts, strict=True)
    ]
