"""The account of an import: what happened to each file, as text."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mpicampaign.grouping import grouped
from mpicampaign.imports.files import OUTPUT, folder_of
from mpicampaign.imports.labels import SEEN, UNUSABLE
from mpicampaign.imports.ledger import LEDGER, REFUSED
from mpicampaign.records import FAILED, IMPORTED_FROM, IN_PART
from mpicampaign.text import counted
from mpicampaign.yaml_lines import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from mpicampaign.imports.ledger import LedgerEntry
    from mpicampaign.records import Record

_NAMED = 5  # folders or names to list for one reason
_MOST_FOLDERS = 20
_MOST_NAMES = 10  # of host groups, placements or benchmarks
_OWN = re.compile(
    r"'[^']*'|[0-9][0-9.]*"
)  # the part of a reason that differs from file to file: names, numbers
_COPY = re.compile(r"(?<=^same content as ).*(?=: counted once$)", re.DOTALL)


class _Noted(NamedTuple):
    """A file or output, and why it is listed; ``kind``: the part of the reason that files share."""

    place: str
    reason: str
    kind: str


@dataclass(frozen=True, slots=True)
class Account:
    """What happened to each file of an import, and to each output in a file with several."""

    folder: Path
    entries: tuple[LedgerEntry, ...]
    new: int
    looked_at: frozenset[str] | None = None  # paths in this call; None: it only labelled anew
    unclaimed: tuple[str, ...] = ()  # placements of runs that the map leaves out, though it has others
    misnamed: tuple[str, ...] = ()  # facts of conditions, and hosts, that no file has, with those that it has
    undone: bool = False  # this call kept nothing

    @property
    def cases(self) -> Counter[tuple[str, str, str]]:
        """The number of runs of each host group, placement and benchmark."""
        return Counter(
            (entry.label["host_group"], entry.label["placement"], entry.label["benchmark"])
            for entry in self.entries
            if entry.role == OUTPUT
        )

    def of_role(self, role: str) -> list[LedgerEntry]:
        """The entries of a role."""
        return [entry for entry in self.entries if entry.role == role]

    @property
    def found_no_run(self) -> bool:
        """Whether the folders of a call held no run: a wrong folder, or the wrong map."""
        runs = {entry.path for entry in self.of_role(OUTPUT)}
        return self.looked_at is not None and not runs & self.looked_at

    @property
    def disagreements(self) -> list[LedgerEntry]:
        """Runs on hosts of another host group than the requested one."""
        return [entry for entry in self.of_role(OUTPUT) if entry.label["requested"]]


def account_text(account: Account, verbose: bool = False) -> str:
    """The account in lines: a count for each folder; ``verbose``: a line for each file."""
    outputs, refused = account.of_role(OUTPUT), account.of_role(REFUSED)
    beside = len(account.entries) - len(outputs) - len(refused)
    lines = [
        f"{len({entry.path for entry in account.entries})} files: {len(outputs)} runs, "
        f"{beside} job scripts and standard error files, "
        f"{len(refused)} refused; {account.new} new in {account.folder}"
    ]
    lines += _file_lines(account) if verbose else [*_folder_lines(account), *_label_lines(account)]
    lines += _disagreement_lines(account.disagreements)
    lines += [
        f"  placement {name} is not in the map's placements:, so its runs stay unverified"
        for name in account.unclaimed
    ]
    lines += [f"  {line}" for line in account.misnamed]
    lines += _refused_lines(refused)
    if account.found_no_run:
        unchanged = "the import is unchanged; " if account.undone else ""
        lines.append(f"no run in these files: {unchanged}check the folder and the map")
    return "\n".join(lines)


def _file_lines(account: Account) -> list[str]:
    """Each file, or each output in it, with its label or what it is."""
    return [
        f"  {printable(entry.place)}: {_run(entry.label) if entry.role == OUTPUT else entry.role}"
        for entry in account.entries
        if entry.role != REFUSED
    ]


def _folder_lines(account: Account) -> list[str]:
    """How many runs each folder has: the deepest folders that are few enough to list."""
    folders = [entry.path.split("/")[:-1] or ["."] for entry in account.of_role(OUTPUT)]
    lines: list[str] = []
    for depth in range(1, max(map(len, folders), default=0) + 1):
        counts = Counter("/".join(parts[:depth]) for parts in folders)
        if len(counts) > _MOST_FOLDERS and lines:
            break
        lines = [f"  {count:5d}  {printable(folder)}" for folder, count in sorted(counts.items())]
    more = len(lines) - _MOST_FOLDERS
    return [
        *lines[:_MOST_FOLDERS],
        *([f"  and {more} folders more (--verbose: each file)"] if more > 0 else []),
    ]


def _label_lines(account: Account) -> list[str]:
    """The labels that the map gave, each kind in a line."""
    lines = []
    for number, kind in enumerate(("host group", "placement", "benchmark")):
        names = sorted({case[number] for case in account.cases})
        listed = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
        lines += [f"  {counted(len(names), kind)}: {listed}"] if names else []
    return lines


def _run(label: Mapping[str, Any]) -> str:
    return f"{label['host_group']} {label['placement']} {label['benchmark']}, repeat {label['repeat']}"


def _disagreement_lines(entries: Sequence[LedgerEntry]) -> list[str]:
    """The runs on hosts of another host group than the requested one."""
    reasons = [
        f"requested {entry.label['requested']}, ran on hosts of {entry.label['host_group']}"
        for entry in entries
    ]
    noted = [_Noted(entry.place, reason, reason) for entry, reason in zip(entries, reasons, strict=True)]
    return _in_short("on other hosts", noted, LEDGER)


def _refused_lines(refused: Sequence[LedgerEntry]) -> list[str]:
    """The refused files; those with the same reason apart from their facts are of one kind."""
    misnamed = [entry for entry in refused if entry.reason.startswith(UNUSABLE)]
    unused = [
        _Noted(entry.place, entry.reason, _COPY.sub("…", entry.reason.partition(SEEN)[0]))
        for entry in refused
        if not entry.reason.startswith(UNUSABLE)
    ]
    return [*_in_short("refused", unused, LEDGER), *_misnamed_line(misnamed)]


def _misnamed_line(entries: Sequence[LedgerEntry]) -> list[str]:
    """One for all files to which rules give names that cannot be used: the rules are to be corrected."""
    if not entries:
        return []
    names = [*dict.fromkeys(printable(entry.reason.removeprefix(UNUSABLE)) for entry in entries)]
    listed = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    first = printable(entries[0].place)
    where = f"{len(entries)} (named in {LEDGER}), first {first}" if len(entries) > 1 else first
    return [f"  refused: {where}: {UNUSABLE}{listed}"]


def failed_lines(records: Iterable[Record]) -> list[str]:
    """The imported files that gave no values, or only a part of them, each with the reason."""
    imported = [record for record in records if IMPORTED_FROM in record.metadata]
    failed = [(run, run.reason) for run in imported if run.status == FAILED]
    in_part = [(run, run.metadata[IN_PART]) for run in imported if IN_PART in run.metadata]
    return [
        line
        for what, runs in (("failed", failed), ("in part", in_part))
        for line in _in_short(what, [_noted(run, reason) for run, reason in runs], "records.jsonl")
    ]


def _noted(run: Record, reason: str) -> _Noted:
    return _Noted(run.metadata[IMPORTED_FROM], reason, _OWN.sub("…", reason))


def _in_short(what: str, files: Iterable[_Noted], where: str) -> list[str]:
    """A line for the files of one kind in one folder: the first one, with its reason, and their number.

    Of many folders the first ones, and the number of other files. ``where``: the file that names all of them.
    """
    lines = []
    for kind, of_kind in grouped(files, lambda file: file.kind).items():
        folders = [*grouped(of_kind, lambda file: folder_of(file.place)).items()]
        lines += [f"  {what}: {_of_folder(folder, noted, where)}" for folder, noted in folders[:_NAMED]]
        more = sum(len(noted) for _, noted in folders[_NAMED:])
        lines += [f"  {what}: {more} more: {printable(kind)} (named in {where})"] if more else []
    return lines


def _of_folder(folder: str, noted: Sequence[_Noted], where: str) -> str:
    place, reason = noted[0].place, printable(noted[0].reason)
    if len(noted) == 1:
        return f"{printable(place)}: {reason}"
    name = printable(place.removeprefix(f"{folder}/"))
    return f"{len(noted)} in {printable(folder)}/ (named in {where}), first {name}: {reason}"
