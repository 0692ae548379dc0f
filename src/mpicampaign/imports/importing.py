"""Import: raw outputs of other origin are copied, labelled and accounted for.

Files are written once, by a rename, and never changed. The ledger is written last: a killed call leaves
copies without a ledger, and the same call again completes the import.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from mpicampaign.base.background import MANY, on_cores
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import locked, naming, same_text, write_whole
from mpicampaign.base.grouping import grouped
from mpicampaign.base.plan_file import FILE as PLAN
from mpicampaign.base.plan_file import FORMAT as PLAN_FORMAT
from mpicampaign.base.yaml_lines import printable
from mpicampaign.imports.account import Account
from mpicampaign.imports.facts import SCRIPT_BEGIN, why_no_output
from mpicampaign.imports.files import (
    EXCERPT,
    OUTPUT,
    Companions,
    ImportSource,
    fault_of,
    find_sources,
    folder_of,
    is_excerpt,
    name_of,
    read_source,
)
from mpicampaign.imports.labels import label_all
from mpicampaign.imports.ledger import (
    FILES,
    LEDGER,
    MAP,
    Entry,
    ledger_in,
    read_ledger,
    runs_elsewhere,
    write_ledger,
)
from mpicampaign.imports.ledger import FORMAT as LEDGER_FORMAT
from mpicampaign.imports.map_file import ImportMap
from mpicampaign.imports.quotes import quoting_document, with_quotes
from mpicampaign.imports.reading import OutputsOfFile, content_of, read_output
from mpicampaign.imports.reframe import with_test_cases

_PARTS = "parts"
_OWN = {PLAN: PLAN_FORMAT, LEDGER: LEDGER_FORMAT}  # files of own results, and how they begin
_INSTEAD = "'report' shows them, 'bundle' packs them, 'merge' joins those of two clusters"
_NOW = " (as it is now)"  # in the ledger, after the name of a file that differs from its imported copy


def import_folders(
    folders: Sequence[Path], chosen: ImportMap, campaign_folder: Path, quoted: bool = False
) -> Account:
    """Copy and label the files (or those in the folders); without folders, label the earlier imports again.

    ``quoted``: also outputs that documents quote.

    Raises
    ------
    UserError
        when a folder does not exist, or another call is importing.
    """
    if missing := [folder for folder in folders if not folder.exists()]:
        raise UserError([Problem("no such folder or file", printable(str(path))) for path in missing])
    folder = campaign_folder / "imports" / chosen.name
    if not folders and not ledger_in(folder):
        raise UserError(Problem("there is no earlier import", hint="name the folders with the raw outputs"))
    with _locked(folder):
        before = read_ledger(folder) if ledger_in(folder) else []
        had_runs = any(entry.label for entry in before)
        sources = with_test_cases(_without_own(find_sources(folders)))
        if quoted:
            sources = with_quotes(sources)
            documents = {folder_of(source.path) for source in sources if source.content}
            before = [entry for entry in before if entry.path not in documents]  # refused by an earlier call
        entries = _Import(folder, sources, before).entries()
        outputs = [entry for entry in entries if entry.kept and entry.is_output]
        label_all(outputs, chosen, runs_elsewhere(folder))
        known = {entry.path for entry in before if entry.kept}
        new = {entry.path for entry in entries if entry.kept} - known
        looked_at = frozenset(source.path for source in sources) if folders else None
        account = Account(folder, chosen, tuple(entries), len(new), looked_at)
        if had_runs and account.found_no_run:
            _remove(folder / FILES, new)
            return replace(account, new=0, undone=True)
        if not same_text(folder / MAP, chosen.text):
            write_whole(folder / MAP, chosen.text)
        write_ledger(folder, entries)
        return account


def _without_own(sources: Sequence[ImportSource]) -> list[ImportSource]:
    """The sources, refused below a folder with a plan or a ledger: this program made them."""
    above = {parent for file in {source.file.parent / FILES for source in sources} for parent in file.parents}
    own = {folder for folder in above if any(_begins(folder / name, text) for name, text in _OWN.items())}
    made = {source.path for source in sources if not own.isdisjoint(source.file.parents)}
    if own and len(made) == len(sources):
        where = printable(str(min(own)))
        raise UserError(Problem("own results are no outputs to import", where, hint=_INSTEAD))
    reason = f"mpicampaign's own result: {_INSTEAD}"
    return [replace(source, refused=reason) if source.path in made else source for source in sources]


def _begins(file: Path, text: str) -> bool:
    with suppress(OSError), file.open("rb") as opened:
        return text.encode() in opened.read(100)
    return False


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the import against other calls; remove partial files of a killed one."""
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "lock", Problem(f"another call is importing into {folder}", hint="wait for it")):
        shutil.rmtree(folder / _PARTS, ignore_errors=True)
        (folder / _PARTS).mkdir()
        yield
        shutil.rmtree(folder / _PARTS, ignore_errors=True)


def _remove(files: Path, new: set[str]) -> None:
    """Remove what a call with a wrong folder or map has copied beside good runs.

    A first import stays, even without runs: the facts in its ledger help to correct the map.
    """
    for path in (files / name for name in new):
        path.unlink()
        with suppress(OSError):  # other files are in the folder
            os.removedirs(path.parent)


class _Import:
    """The files of a call, copied and accounted for beside those of earlier calls."""

    def __init__(self, folder: Path, sources: Sequence[ImportSource], before: Sequence[Entry]) -> None:
        self.files, self.parts = folder / FILES, folder / _PARTS
        self.sources = sources
        self.companions = Companions(source.path for source in sources)
        self.beside = {source.path: source for source in sources if self._role(source) != OUTPUT}
        self.known = grouped(before, lambda entry: entry.path)  # a file may hold several outputs

    def entries(self) -> list[Entry]:
        """The ledger's entries by path, without labels yet."""
        outputs = grouped(
            (source for source in self.sources if self._role(source) == OUTPUT), lambda source: source.path
        )
        wanted: set[str] = set()
        for entries, companions in on_cores(self._outputs, [*outputs.values()], len(outputs) >= MANY):
            self.known |= entries
            wanted |= companions
        for source in self.beside.values():
            content = read_source(source)
            refused = "" if source.path in wanted else "it belongs to no imported output"
            self._take(source, content, refused)
        return [entry for path in sorted(self.known) for entry in self.known[path]]

    def _role(self, source: ImportSource) -> str:
        return self.companions.role(source.path)

    def _outputs(self, files: Sequence[Sequence[ImportSource]]) -> tuple[dict[str, list[Entry]], set[str]]:
        """Import outputs, those of one path together: their entries, and the paths of their companions."""
        wanted = {path for source in chain.from_iterable(files) for path in self._output(source)}
        paths = (f"{of_path[0].path}{now}" for of_path in files for now in ("", _NOW))
        return {path: self.known[path] for path in paths if path in self.known}, wanted

    def _output(self, source: ImportSource) -> list[str]:
        """Import an output; the paths of its companions."""
        content = read_source(source)
        if source.content and self._is_kept(source.path):  # the same test case of another file
            return []
        if isinstance(content, str):
            self._take(source, content)
            return []
        read = read_output(source.path, content, self.companions, lambda path: read_source(self.beside[path]))
        file = self._take(source, content, _why_refused(source.path, read))
        if not file.kept:
            return []
        self.known[file.path] = [
            replace(file, facts=facts, content=content_of(part, file.sha256))
            for part, facts in zip(read.cut, read.facts, strict=True)
        ]
        return [*read.beside.values()]

    def _take(self, source: ImportSource, content: bytes | str, refused: str = "") -> Entry:
        """The entry of a file, which is copied unless it is refused."""
        if isinstance(content, str):
            entry = Entry(source.path, str(source.file), reason=content)
        else:
            sha256 = hashlib.sha256(content).hexdigest()
            reason = refused or self._copy(source.path, content)
            entry = Entry(source.path, str(source.file), sha256, not reason, reason)
        if entry.kept:
            self.known[f"{source.path}{_NOW}"] = []
        elif any(entry.kept for entry in self.known.get(source.path, ())):
            entry.path += _NOW  # the copy stays; this is another file of the same name
        self.known[entry.path] = [entry]
        return entry

    def _is_kept(self, path: str) -> bool:
        return any(entry.kept for entry in self.known.get(path, ())) and (self.files / path).exists()

    def _copy(self, path: str, content: bytes) -> str:
        """Write a file once; why there is now no copy with exactly this content, else empty."""
        target = self.files / path
        try:
            if not target.exists():
                self._write(target, content)
                return ""
            before = target.read_bytes()
        except OSError as error:
            return f"it cannot be copied: {error.strerror}"
        if before == content:
            return ""
        sha256 = hashlib.sha256(content).hexdigest()
        if any(entry.sha256 == sha256 for entry in self.known.get(path, ())):
            return "its imported copy was changed; remove the copy, then import this file again"
        return "the imported copy is kept: this file's content differs"

    def _write(self, target: Path, content: bytes) -> None:
        part = self.parts / os.urandom(8).hex()
        with naming(target, part):
            part.write_bytes(content)
        target.parent.mkdir(parents=True, exist_ok=True)
        part.rename(target)


def _why_refused(path: str, read: OutputsOfFile) -> str:
    """Why a file is no output to import; empty where it is one."""
    if read.why:
        return read.why
    if not read.cut[0].suite and ("suite" not in read.facts[0] or read.text.startswith(SCRIPT_BEGIN)):
        return why_no_output(read.text, read.stderr)
    if not is_excerpt(name_of(path), read.text, read.cut):
        return ""
    quoted = f"the document quotes only a part of it ({fault_of(read.cut[0])}): import the output file itself"
    return quoted if quoting_document(path) else EXCERPT
