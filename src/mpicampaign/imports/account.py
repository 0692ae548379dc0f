"""The account of an import: what happened to each file, as text for a person."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mpicampaign.grouping import grouped
from mpicampaign.imports.files import OUTPUT
from mpicampaign.imports.labels import SEEN
from mpicampaign.imports.ledger import LEDGER, REFUSED
from mpicampaign.records import FAILED, IMPORTED_FROM
from mpicampaign.yaml_lines import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from mpicampaign.imports.ledger import LedgerEntry
    from mpicampaign.records import Record

_NAMED = 5  # files to name for one reason
_MOST_FOLDERS = 20
_MOST_NAMES = 10  # of host groups, placements or benchmarks
_OWN = re.compile(
    r"'[^']*'|[0-9][0-9.]*"
)  # the part of a reason that differs from file to file: names, numbers


class _Unused(NamedTuple):
    """A file or output that gave no values, and why; ``kind``: the part of the reason that files share."""

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
    misnamed: tuple[str, ...] = ()  # conditions on a fact that no file has, with the similar one
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
    lines += _disagreement_lines(account)
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
        found = Counter("/".join(parts[:depth]) for parts in folders)
        if len(found) > _MOST_FOLDERS and lines:
            break
        lines = [f"  {count:5d}  {printable(folder)}" for folder, count in sorted(found.items())]
    more = len(lines) - _MOST_FOLDERS
    return [
        *lines[:_MOST_FOLDERS],
        *([f"  and {more} folders more (--verbose: each file)"] if more > 0 else []),
    ]


def _label_lines(account: Account) -> list[str]:
    """The labels that the map gave, each kind in a line."""
    lines = []
    for number, kind in enumerate(("host groups", "placements", "benchmarks")):
        names = sorted({case[number] for case in account.cases})
        listed = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
        lines += [f"  {len(names)} {kind}: {listed}"] if names else []
    return lines


def _disagreement_lines(account: Account) -> list[str]:
    """Where runs were on hosts of another host group than the requested one, with the first of them."""
    groups = grouped(
        account.disagreements, lambda entry: (entry.label["requested"], entry.label["host_group"])
    )
    return [
        f"  requested {asked}, ran on hosts of {actual}: {printable(entries[0].place)}"
        + (f" and {len(entries) - 1} more" if len(entries) > 1 else "")
        for (asked, actual), entries in groups.items()
    ]


def _run(label: Mapping[str, Any]) -> str:
    return f"{label['host_group']} {label['placement']} {label['benchmark']}, repeat {label['repeat']}"


def _refused_lines(refused: Iterable[LedgerEntry]) -> list[str]:
    """The refused files; those with the same reason apart from their facts are of one kind."""
    unused = [_Unused(entry.place, entry.reason, entry.reason.partition(SEEN)[0]) for entry in refused]
    return _in_short("refused", unused, LEDGER)


def failed_lines(records: Iterable[Record]) -> list[str]:
    """The imported files that gave no values, each with the reason."""
    failed = [record for record in records if record.status == FAILED and IMPORTED_FROM in record.metadata]
    unused = [_Unused(run.metadata[IMPORTED_FROM], run.reason, _OWN.sub("…", run.reason)) for run in failed]
    return _in_short("failed", unused, "records.jsonl")


def _in_short(what: str, files: Iterable[_Unused], where: str) -> list[str]:
    """Each file with its reason; of many files of one kind the first ones and the number of others."""
    kinds = grouped(files, lambda file: file.kind)
    lines = [
        f"  {what}: {printable(file.place)}: {printable(file.reason)}"
        for of_kind in kinds.values()
        for file in of_kind[:_NAMED]
    ]
    more = {kind: len(of_kind) - _NAMED for kind, of_kind in kinds.items() if len(of_kind) > _NAMED}
    return lines + [
        f"  {what}: {count} more: {printable(kind)} (named in {where})" for kind, count in more.items()
    ]
