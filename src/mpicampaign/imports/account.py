"""The account of an import: what happened to each file, as text."""

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
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from mpicampaign.imports.ledger import LedgerEntry
    from mpicampaign.records import Record

_NAMED = 5  # files to name for one reason
_MOST_PARTS = 200  # outputs that were cut out of their files to name
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


def account_text(account: Account) -> str:
    """The account in lines."""
    outputs, refused = account.of_role(OUTPUT), account.of_role(REFUSED)
    beside = len(account.entries) - len(outputs) - len(refused)
    lines = [
        f"{len({entry.path for entry in account.entries})} files: {len(outputs)} runs, "
        f"{beside} job scripts and standard error files, "
        f"{len(refused)} refused; {account.new} new in {account.folder}"
    ]
    lines += [
        f"  {count:5d}  {group:<16} {placement:<12} {benchmark}"
        for (group, placement, benchmark), count in sorted(account.cases.items())
    ]
    lines += _part_lines([entry for entry in outputs if entry.lines])
    for entry in account.disagreements:
        asked, actual = entry.label["requested"], entry.label["host_group"]
        lines.append(f"  requested {asked}, ran on hosts of {actual}: {printable(entry.place)}")
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


def _part_lines(parts: Sequence[LedgerEntry]) -> list[str]:
    """The runs that were cut out of files with several outputs, with their places and labels."""
    lines = [f"  {printable(part.place)}: {_run(part.label)}" for part in parts[:_MOST_PARTS]]
    more = len(parts) - len(lines)
    return [*lines, f"  {more} more outputs of files with several (named in {LEDGER})"] if more else lines


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
