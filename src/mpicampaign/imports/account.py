"""The account of an import, from its ledger: what happened to each file, as text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import FAILED, IMPORTED_FROM, IN_PART, RECORDS, Record
from mpicampaign.base.text import counted
from mpicampaign.base.yaml_lines import printable
from mpicampaign.imports.files import OUTPUT
from mpicampaign.imports.labels import SEEN
from mpicampaign.imports.ledger import LEDGER, REFUSED, Entry, Label
from mpicampaign.imports.map_file import ImportMap

_MOST_FOLDERS = 20
_MOST_NAMES = 10  # of host groups, placements or benchmarks
# The part of a reason that differs from file to file: a copy's original, facts, names, numbers.
_VARYING = re.compile(
    rf"(?<=^same content as ).*(?=: counted once)|{re.escape(SEEN)}.*|'[^']*'|[0-9][0-9.]*", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Account:
    """The ledger of an import after a call, which looked at some of the files in it."""

    folder: Path
    chosen: ImportMap
    entries: tuple[Entry, ...]
    new: int
    looked_at: frozenset[str] | None = None  # paths in this call; None: it only labelled anew
    undone: bool = False  # this call kept nothing

    def of_role(self, role: str) -> list[Entry]:
        """The entries of a role."""
        return [entry for entry in self.entries if entry.role == role]

    @property
    def labels(self) -> list[Label]:
        """The labels of the runs."""
        return [entry.label for entry in self.entries if entry.label]

    @property
    def found_no_run(self) -> bool:
        """Whether the folders of a call held no run: a wrong folder, or the wrong map."""
        runs = {entry.path for entry in self.entries if entry.label}
        return self.looked_at is not None and not runs & self.looked_at


def account_text(account: Account, verbose: bool = False) -> str:
    """The account in lines: a count for each folder and reason; ``verbose``: a line for each file."""
    runs, refused = account.of_role(OUTPUT), account.of_role(REFUSED)
    beside = len(account.entries) - len(runs) - len(refused)
    elsewhere = (
        (run.place, f"requested {label.requested}, ran on hosts of {label.host_group}")
        for run in runs
        if (label := run.label) and label.requested
    )
    refusals = _in_short("refused", ((entry.place, entry.reason) for entry in refused), LEDGER)
    in_short = (*_folder_lines(runs), *_label_lines(account.labels), *refusals)
    files = len({entry.path for entry in account.entries})
    lines = [
        f"{counted(files, 'file')}: {counted(len(runs), 'run')}, "
        f"{beside} {'other file' if beside == 1 else 'job scripts and standard error files'}, "
        f"{len(refused)} refused; {account.new} new in {account.folder}",
        *(map(_file_line, account.entries) if verbose else in_short),
        *_in_short("on other hosts", elsewhere, LEDGER, str),
        *_twins(runs),
        *_without_claims(account),
    ]
    if account.found_no_run:
        unchanged = "the import is unchanged; " if account.undone else ""
        lines.append(f"no run in these files: {unchanged}check the folder and the map")
    return "\n".join(lines)


def _file_line(entry: Entry) -> str:
    """A file, or an output in it, with its label, or what it is, or why it is refused."""
    label = entry.label
    run = f"{label.host_group} {label.placement} {label.benchmark}, repeat {label.repeat}" if label else ""
    other = f"{entry.role}: {printable(entry.reason)}" if entry.reason else entry.role
    return f"  {printable(entry.place)}: {run or other}"


def _folder_lines(runs: Iterable[Entry]) -> list[str]:
    """How many runs each folder has: the deepest folders that are few enough to list."""
    folders = [entry.path.split("/")[:-1] or ["."] for entry in runs]
    lines: list[str] = []
    for depth in range(1, max(map(len, folders), default=0) + 1):
        counts = Counter("/".join(parts[:depth]) for parts in folders)
        if len(counts) > _MOST_FOLDERS and lines:
            break
        lines = [f"  {count:5d}  {printable(folder)}" for folder, count in sorted(counts.items())]
    more = len(lines) - _MOST_FOLDERS
    rest = [f"  and {more} more folders (--verbose: each file)"] if more > 0 else []
    return lines[:_MOST_FOLDERS] + rest


def _label_lines(labels: Iterable[Label]) -> Iterator[str]:
    """The labels that the map gave, each kind in a line."""
    names_of = zip(*((label.host_group, label.placement, label.benchmark) for label in labels), strict=True)
    for kind, all_names in zip(("host group", "placement", "benchmark"), names_of, strict=False):
        names = sorted(set(all_names))
        listed = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
        yield f"  {counted(len(names), kind)}: {listed}"


def _twins(runs: Iterable[Entry]) -> Iterator[str]:
    """Long outputs without a job's number that are equal to another one."""
    alone = [run for run in runs if not (run.job or run.is_short)]
    times = Counter(run.content for run in alone)
    if equal := [run.place for run in alone if times[run.content] > 1]:
        named = f"{counted(len(equal), 'run')}, first {printable(equal[0])}"
        yield f"  equal: {named}: counted, since their names differ; remove those that are copies"


def _without_claims(account: Account) -> Iterator[str]:
    """The placements of whose runs the map claims nothing."""
    chosen = account.chosen
    for name in dict.fromkeys(label.placement for label in account.labels if chosen.placements):
        if name not in chosen.placements:
            yield f"  placement {name} is not in the map's placements:, so its runs stay unverified"


def failed_lines(records: Iterable[Record]) -> list[str]:
    """The imported files that gave no values, or only a part of them, each with the reason."""
    runs = [(run, run.metadata[IMPORTED_FROM]) for run in records if IMPORTED_FROM in run.metadata]
    failed = [(place, run.reason) for run, place in runs if run.status == FAILED]
    in_part = [(place, run.metadata[IN_PART]) for run, place in runs if IN_PART in run.metadata]
    return [*_in_short("failed", failed, RECORDS), *_in_short("in part", in_part, RECORDS)]


def _kind(reason: str) -> str:
    """The part of a reason that files share."""
    return _VARYING.sub("…", reason)


def _in_short(
    what: str, files: Iterable[tuple[str, str]], where: str, kind: Callable[[str], str] = _kind
) -> Iterator[str]:
    """A line for the files of one kind, each with its place and reason: their number, and the first one.

    ``where``: the file that names all of them.
    """
    for of_kind in grouped(files, lambda file: kind(file[1])).values():
        place, reason = map(printable, of_kind[0])
        first = f"{len(of_kind)} (named in {where}), first {place}" if len(of_kind) > 1 else place
        yield f"  {what}: {first}: {reason}"
