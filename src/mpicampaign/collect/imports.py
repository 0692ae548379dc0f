"""From imported raw outputs to records: facts, labels, metrics and verdicts, derived again from the files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from mpicampaign.base.background import MANY, on_cores
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import (
    FAILED,
    IMPORTED_FROM,
    IN_PART,
    MISSING,
    OK,
    OVERSUBSCRIBED,
    QUOTED,
    REQUESTED_GROUP,
    Case,
    Record,
)
from mpicampaign.collect.common_settings import of_import
from mpicampaign.collect.runs import oversubscription
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.fabrics import BUFFERS, FABRIC, NODES, SAME_NODE, SCOPE, named_fabric
from mpicampaign.imports.files import SCRIPT, STDERR, Companions
from mpicampaign.imports.job_script import program_of
from mpicampaign.imports.labels import label_all
from mpicampaign.imports.ledger import FILES, MAP, Entry, Label, read_ledger, runs_elsewhere
from mpicampaign.imports.map_file import Claim, ImportMap, load_map
from mpicampaign.imports.reading import content_of, read_output
from mpicampaign.imports.verdict import judge_import
from mpicampaign.suites import SUITES, OutputError, ParsedOutput, Part, parse
from mpicampaign.suites.aborts import abort_in

_NAMES = {SCRIPT: "script", STDERR: "stderr"}
_STDERR = "standard error: "
_GONE = "the imported file is missing: it was removed, or its bundle did not carry it"


@dataclass(frozen=True, slots=True)
class _Read:
    """An imported output with its facts as read now; ``parsed`` is the reason where there are no values."""

    entry: Entry
    files: dict[str, str]
    parsed: ParsedOutput | str
    changed: bool = False
    missing: bool = False


def collect_imports(campaign_folder: Path, planned: Sequence[Record] = ()) -> list[Record]:
    """The records of a campaign with those of its imports.

    A planned run of an imported case is no longer missing. Imported repeats follow the campaign's own repeats
    of the case.
    """
    imported: list[Record] = []
    for folder in sorted(path for path in (campaign_folder / "imports").glob("*") if path.is_dir()):
        imported = _joined(imported, read_import(folder))
    cases = {record.case for record in imported}
    still_planned = [record for record in planned if record.status != MISSING or record.case not in cases]
    return _joined(still_planned, imported)


def _joined(first: Sequence[Record], then: Sequence[Record]) -> list[Record]:
    last: dict[Case, int] = {}
    for record in first:
        last[record.case] = max(last.get(record.case, 0), record.repeat)
    before = ((record, last.get(record.case, 0)) for record in then)
    return [
        *first,
        *(replace(record, repeat=record.repeat + above) if above else record for record, above in before),
    ]


def imported_maps(campaign_folder: Path) -> list[ImportMap]:
    """The maps of a campaign's imports, as used."""
    return [load_map(path) for path in sorted((campaign_folder / "imports").glob(f"*/{MAP}"))]


def read_import(folder: Path) -> list[Record]:
    """The records of one import, by benchmark, host group, placement and repeat."""
    entries = [entry for entry in read_ledger(folder) if entry.kept]
    chosen = load_map(folder / MAP)
    beside = Companions(entry.path for entry in entries)
    outputs = grouped((entry for entry in entries if entry.is_output), lambda entry: entry.path)

    def work(files: Sequence[Sequence[Entry]]) -> list[_Read]:
        return [output for of_file in files for output in _read(folder / FILES, beside, of_file)]

    read = [*chain.from_iterable(on_cores(work, [*outputs.values()], len(outputs) >= MANY))]
    label_all([output.entry for output in read], chosen, runs_elsewhere(folder))
    records = [_record(output, output.entry.label, chosen) for output in read if output.entry.label]
    return sorted(records, key=_order(chosen))


def _order(chosen: ImportMap) -> Callable[[Record], Any]:
    """A sort key: host groups and placements in the order of the map, then the others by name."""
    groups, placements = list(chosen.system_of), list(chosen.placements)

    def place(name: str, names: Sequence[str]) -> int:
        return names.index(name) if name in names else len(names)

    def key(record: Record) -> tuple[Any, ...]:
        case = record.case
        group = (place(case.host_group, groups), case.system, case.host_group)
        return (case.benchmark, *group, place(case.placement, placements), case.placement, record.repeat)

    return key


def _read(files: Path, companions: Companions, entries: Sequence[Entry]) -> list[_Read]:
    """The outputs in a file, given by its entries in the ledger; cut anew, as the facts are read anew."""
    path, sha256 = entries[0].path, entries[0].sha256
    content = _content(files / path)
    if isinstance(content, str):
        return [_Read(entry, {}, content, missing=True) for entry in entries]
    read = read_output(path, content, companions, lambda name: _content(files / name))
    paths = {"output": path} | {_NAMES[role]: name for role, name in read.beside.items()}
    paths = {name: str(files / path) for name, path in paths.items()}
    changed = hashlib.sha256(content).hexdigest() != sha256
    if read.why:
        return [_Read(entry, paths, f"output: {read.why}", changed) for entry in entries]
    # the checksum at the time of the import decides whether two files are the same run
    return [
        _Read(
            Entry(path, sha256=sha256, content=content_of(part, sha256), facts=facts),
            paths,
            _parsed(part, facts, read.stderr),
            changed,
        )
        for part, facts in zip(read.cut, read.facts, strict=True)
    ]


def _content(path: Path) -> bytes | str:
    try:
        return path.read_bytes()
    except OSError:
        return _GONE


def _parsed(part: Part, facts: Mapping[str, str], stderr: str) -> ParsedOutput | str:
    """The values of an output, or why there are none."""
    suite = facts.get("suite", "")
    aborted = f"{_STDERR}{aborted}" if (aborted := abort_in(stderr)) else ""
    trouble = f"the scheduler reports: {facts['trouble']}" if "trouble" in facts else ""
    reported = "; ".join(filter(None, (aborted, trouble)))
    try:
        parsed = parse(suite, part.to_parse, _asked_end(facts), in_part=True, reported=reported)
    except OutputError as error:
        return trouble or f"output: {_in_file(str(error), part)}"
    return replace(parsed, lacks=_in_file(parsed.lacks, part))


def _in_file(reason: str, part: Part) -> str:
    """A parser's reason with the lines' numbers in the file instead of those in the part."""
    before = max(part.first - 1, 0)
    line = rf"(?<!{_STDERR})\bline ([0-9]+)(?=:)"
    return re.sub(line, lambda match: f"line {int(match[1]) + before}", reason)


def _record(read: _Read, label: Label, chosen: ImportMap) -> Record:
    facts, metadata = read.entry.facts, _metadata(read.entry, label, chosen)
    record = partial(
        Record,
        Case(*label.case),
        facts.get("suite", ""),
        label.repeat or 1,
        hosts=tuple(facts.get("hosts", "").split()),
        job_id=label.job,
        started=facts.get("started", ""),
        files=read.files,
        attributes=_attributes(label, chosen),
    )
    if read.missing:
        return record(MISSING, str(read.parsed), metadata=metadata)
    if isinstance(read.parsed, str):
        return record(FAILED, read.parsed, metadata=metadata)
    metadata |= {**read.parsed.metadata, "version": read.parsed.version}
    if lacks := read.parsed.lacks:
        metadata[IN_PART] = lacks
    if shared := oversubscription(Evidence(), metadata):
        metadata[OVERSUBSCRIBED] = shared
    early = SUITES[facts["suite"]].doubt_of_end(facts, _arguments(facts), read.parsed.series)
    doubt = "; ".join(filter(None, (lacks, early)))
    verdict, reasons = judge_import(facts, label, chosen, read.changed, doubt)
    return record(OK, verdict=verdict, verdict_reasons=reasons, series=read.parsed.series, metadata=metadata)


def _attributes(label: Label, chosen: ImportMap) -> dict[str, str]:
    system, host_group = label.case[:2]
    group = chosen.host_groups.get(host_group)
    return group.attributes if group and group.system == system else {}


def _likeness(entry: Entry, label: Label, chosen: ImportMap) -> dict[str, str]:
    """How far apart the ranks were, over which fabric they sent, and from where, as map and output say."""
    claim = chosen.placements.get(label.placement, Claim())
    nodes = claim.nodes or len(entry.facts.get("hosts", "").split())
    scope = NODES if nodes > 1 else SAME_NODE if nodes else ""
    used = entry.facts.get("transport", "").split()
    transport = claim.transport or (used[0] if len(used) == 1 else "")
    fabric = claim.fabric or named_fabric(_attributes(label, chosen), transport)
    facts = {SCOPE: scope, FABRIC: transport if scope == SAME_NODE else fabric}
    return {key: value for key, value in (facts | {BUFFERS: entry.facts.get(BUFFERS, "")}).items() if value}


def _arguments(facts: Mapping[str, str]) -> list[str] | None:
    """The arguments of the program that made the output; None where its command is unknown."""
    program, command = facts.get("program", ""), facts.get("command", "")
    if not program or program_of(command) != program:
        return None
    return command.partition(program)[2].split()


def _asked_end(facts: Mapping[str, str]) -> int | None:
    """The last size (B) that the program's command asked for; None where that is unknown."""
    suite, arguments = SUITES.get(facts.get("suite", "")), _arguments(facts)
    return suite.largest_size(facts["program"], arguments, 1) if suite and arguments is not None else None


def _metadata(entry: Entry, label: Label, chosen: ImportMap) -> dict[str, str]:
    metadata = {IMPORTED_FROM: entry.place, "import": chosen.name}
    if label.requested:
        metadata[REQUESTED_GROUP] = label.requested
    metadata |= _likeness(entry, label, chosen)
    metadata |= {fact: entry.facts[fact] for fact in ("queue", "cluster", QUOTED) if fact in entry.facts}
    return metadata | of_import(entry.facts)
