"""The account of an import: what became of every file, for people."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.grouping import grouped
from mpicampaign.imports.files import OUTPUT
from mpicampaign.imports.labels import SEEN
from mpicampaign.imports.ledger import LEDGER, REFUSED
from mpicampaign.records import FAILED, IMPORTED_FROM
from mpicampaign.yaml_lines import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mpicampaign.imports.ledger import LedgerEntry
    from mpicampaign.records import Record

_TOLD = 5  # files of one reason that people are told by name
_OWN = re.compile(r"'[^']*'|[0-9][0-9.]*")  # what of a reason is the single file's own: lines, figures


class _Told(NamedTuple):
    """A file without figures, and why; ``kind``: what it has in common with others."""

    path: str
    reason: str
    kind: str


@dataclass(frozen=True, slots=True)
class Account:
    """What became of every file, for people."""

    folder: Path
    entries: tuple[LedgerEntry, ...]
    new: int
    looked_at: frozenset[str] | None = None  # paths of this very call; None: it labelled anew
    unclaimed: tuple[str, ...] = ()  # placements of runs of which the map says nothing, though of others
    misnamed: tuple[str, ...] = ()  # conditions on a fact that no file has, though one of nearly that name

    undone: bool = False  # nothing of this call was kept

    @property
    def cases(self) -> Counter[tuple[str, str, str]]:
        """How many runs there are of each host group, placement and benchmark."""
        return Counter(
            (entry.label["host_group"], entry.label["placement"], entry.label["benchmark"])
            for entry in self.entries
            if entry.role == OUTPUT
        )

    def of_role(self, role: str) -> list[LedgerEntry]:
        """The entries of a role."""
        return [entry for entry in self.entries if entry.role == role]

    @property
    def in_vain(self) -> bool:
        """Whether a call found no run in its folders: a wrong folder, or the wrong map."""
        runs = {entry.path for entry in self.of_role(OUTPUT)}
        return self.looked_at is not None and not runs & self.looked_at

    @property
    def disagreements(self) -> list[LedgerEntry]:
        """Runs whose hosts are not of the host group that was asked for."""
        return [entry for entry in self.of_role(OUTPUT) if entry.label["requested"]]


def account_text(account: Account) -> str:
    """The account in lines."""
    outputs, refused = account.of_role(OUTPUT), account.of_role(REFUSED)
    beside = len(account.entries) - len(outputs) - len(refused)
    lines = [
        f"{len(account.entries)} files: {len(outputs)} runs, {beside} job scripts and standard errors beside "
        f"them, {len(refused)} refused; {account.new} new in {account.folder}"
    ]
    lines += [
        f"  {count:5d}  {group:<16} {placement:<12} {benchmark}"
        for (group, placement, benchmark), count in sorted(account.cases.items())
    ]
    for entry in account.disagreements:
        asked, actual = entry.label["requested"], entry.label["host_group"]
        lines.append(f"  asked for {asked}, ran on hosts of {actual}: {printable(entry.path)}")
    lines += [
        f"  placement {name}: not among the map's placements:, so that its runs stay unverified"
        for name in account.unclaimed
    ]
    lines += [f"  {words}" for words in account.misnamed]
    lines += _refused_lines(refused)
    if account.in_vain:
        left = "the import was left as it was; " if account.undone else ""
        lines.append(f"no run is among these files: {left}is it the right folder, and the map for it?")
    return "\n".join(lines)


def _refused_lines(refused: Iterable[LedgerEntry]) -> list[str]:
    """The files that are refused; their kind is the reason without the facts of the single file."""
    told = [_Told(entry.path, entry.reason, entry.reason.partition(SEEN)[0]) for entry in refused]
    return _in_short("refused", told, LEDGER)


def failed_lines(records: Iterable[Record]) -> list[str]:
    """The imported files that gave no figures, each with the reason."""
    failed = [record for record in records if record.status == FAILED and IMPORTED_FROM in record.metadata]
    told = [_Told(run.metadata[IMPORTED_FROM], run.reason, _OWN.sub("…", run.reason)) for run in failed]
    return _in_short("failed", told, "records.jsonl")


def _in_short(word: str, files: Iterable[_Told], where: str) -> list[str]:
    """Each file with its reason; of many of one kind the first alone, and how many more there are."""
    kinds = grouped(files, lambda file: file.kind)
    lines = [
        f"  {word}: {printable(file.path)}: {printable(file.reason)}"
        for of_kind in kinds.values()
        for file in of_kind[:_TOLD]
    ]
    more = {kind: len(of_kind) - _TOLD for kind, of_kind in kinds.items() if len(of_kind) > _TOLD}
    return lines + [
        f"  {word}: {count} more: {printable(kind)} (named in {where})" for kind, count in more.items()
    ]
