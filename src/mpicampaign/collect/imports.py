"""From imported raw outputs to records: facts, labels, metrics and verdicts, derived again from the files."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from mpicampaign.background import on_two_cores
from mpicampaign.collect.common_settings import of_import
from mpicampaign.collect.runs import oversubscription
from mpicampaign.grouping import grouped
from mpicampaign.imports.facts import belongs, facts_of_outputs
from mpicampaign.imports.files import MANY, OUTPUT, SCRIPT, STDERR, Companions, place_of, role_of, text_of
from mpicampaign.imports.job_script import program_of
from mpicampaign.imports.labels import Label, Output, label_all
from mpicampaign.imports.ledger import FILES, MAP, content_of, found_in, read_ledger, runs_elsewhere
from mpicampaign.imports.map_file import load_map
from mpicampaign.imports.verdict import judge_import
from mpicampaign.records import (
    FAILED,
    IMPORTED_FROM,
    IN_PART,
    MISSING,
    OK,
    OVERSUBSCRIBED,
    REQUESTED_GROUP,
    Case,
    Record,
)
from mpicampaign.suites import SUITES, OutputError, ParsedOutput, parse, parts, without_labels
from mpicampaign.suites.reading import abort_in
from mpicampaign.verdict.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mpicampaign.imports.ledger import LedgerEntry
    from mpicampaign.imports.map_file import ImportMap
    from mpicampaign.suites import Part

_GONE = "the imported file is missing: it was removed, or its bundle did not carry it"


@dataclass(frozen=True, slots=True)
class _Read:
    """An imported output, read and parsed; ``parsed`` is the reason where there are no values."""

    output: Output
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
    kept = [record for record in planned if record.status != MISSING or record.case not in cases]
    return _joined(kept, imported)


def _joined(first: Sequence[Record], then: Sequence[Record]) -> list[Record]:
    last: dict[Case, int] = {}
    for record in first:
        last[record.case] = max(last.get(record.case, 0), record.repeat)
    before = ((record, last.get(record.case, 0)) for record in then)
    return [*first, *(replace(each, repeat=each.repeat + above) if above else each for each, above in before)]


def imported_maps(campaign_folder: Path) -> list[ImportMap]:
    """The maps of a campaign's imports, as used."""
    return [load_map(path) for path in sorted((campaign_folder / "imports").glob(f"*/{MAP}"))]


def read_import(folder: Path) -> list[Record]:
    """The records of one import, by benchmark, host group, placement and repeat."""
    entries = [entry for entry in read_ledger(folder) if entry.kept]
    chosen = load_map(folder / MAP)
    beside = Companions(entry.path for entry in entries)
    outputs = grouped((entry for entry in entries if role_of(entry.path) == OUTPUT), lambda entry: entry.path)
    read = _read_all(folder / FILES, list(outputs.values()), beside)
    labels = label_all([each.output for each in read], chosen, runs_elsewhere(folder))
    pairs = zip(read, labels, strict=True)
    records = [_record(each, label, chosen) for each, label in pairs if isinstance(label, Label)]
    return sorted(records, key=_order(chosen))


def _order(chosen: ImportMap) -> Callable[[Record], Any]:
    """A sort key: host groups and placements in the order of the map, then the others by name."""
    groups = {name: number for number, name in enumerate(chosen.system_of)}
    placements = {name: number for number, name in enumerate(chosen.placements)}

    def key(record: Record) -> tuple[Any, ...]:
        case = record.case
        group = (groups.get(case.host_group, len(groups)), case.system, case.host_group)
        placement = (placements.get(case.placement, len(placements)), case.placement)
        return (case.benchmark, *group, *placement, record.repeat)

    return key


def _read_all(files: Path, outputs: Sequence[Sequence[LedgerEntry]], beside: Companions) -> list[_Read]:
    """All outputs, by file. A second core reads half of many."""

    def read(part: Sequence[Sequence[LedgerEntry]]) -> list[_Read]:
        return [each for entries in part for each in _read(files, entries, beside)]

    return list(chain.from_iterable(on_two_cores(read, outputs, len(outputs) >= MANY)))


def _read(files: Path, entries: Sequence[LedgerEntry], companions: Companions) -> list[_Read]:
    """The outputs in a file, given by its entries in the ledger; cut anew, as the facts are read anew."""
    entry = entries[0]
    script, stderr = (companions.of(entry.path, role) for role in (SCRIPT, STDERR))
    beside = {"output": entry.path, "script": script, "stderr": stderr}
    present = {name: files / path for name, path in beside.items() if path is not None}
    contents = {name: _content(path) for name, path in present.items()}
    texts = {name: text_of(content or b"") for name, content in contents.items()}
    content = contents["output"]
    paths = {name: str(path) for name, path in present.items() if contents[name] is not None}
    changed = content is not None and hashlib.sha256(content).hexdigest() != entry.sha256
    texts["output"], cut, why = _cut(texts["output"])
    if not belongs(script, texts.get("script", ""), entry.path, {part.suite for part in cut}):
        texts.pop("script")
        paths.pop("script", None)
    facts, why = _facts(entries, texts, cut) if cut else ([], why)
    if content is None or why:
        kept = [Output(each.path, each.whole, each.facts) for each in entries]
        return [_Read(output, paths, why, changed, content is None) for output in kept]
    return [
        _Read(_output(entry, part, known), paths, _parsed(part, known, texts), changed)
        for part, known in zip(cut, facts, strict=True)
    ]


def _output(entry: LedgerEntry, part: Part, facts: Mapping[str, str]) -> Output:
    # the checksum at the time of the import decides whether two files are the same run
    return Output(entry.path, content_of(part, entry.sha256) if part.lines else entry.sha256, facts)


def _cut(text: str) -> tuple[str, list[Part], str]:
    """The text without labels of its lines, and the outputs in it; or why it cannot be cut."""
    try:
        text = without_labels(text)
        return text, parts(text), ""
    except OutputError as error:
        return text, [], f"output: {error}"


def _facts(
    entries: Sequence[LedgerEntry], texts: Mapping[str, str], cut: Sequence[Part]
) -> tuple[Sequence[Mapping[str, str]], str]:
    """The facts of each output; or why there are none."""
    output, script, stderr = (texts.get(name, "") for name in ("output", "script", "stderr"))
    facts = [entry.facts for entry in entries]
    if len(facts) == len(cut) and entries[0].found == found_in(facts, output, script, stderr):
        return facts, ""
    try:
        return facts_of_outputs(entries[0].path, output, cut, script, stderr), ""
    except OutputError as error:
        return [], f"output: {error}"


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _parsed(part: Part, facts: Mapping[str, str], texts: Mapping[str, str]) -> ParsedOutput | str:
    """The values of an output, or why there are none."""
    suite, aborted = facts.get("suite", ""), abort_in(texts.get("stderr", ""))
    aborted = aborted and f"standard error: {aborted}"
    try:
        parsed = parse(suite, part.to_parse, in_part=True)
    except OutputError as error:
        return "; ".join(filter(None, (f"output: {_in_file(str(error), part)}", aborted)))
    # a closing line proves that the table is complete
    aborted = aborted if parsed.lacks or not SUITES[suite].closing_line else ""
    lacks = "; ".join(filter(None, (_in_file(parsed.lacks, part), aborted)))
    return replace(parsed, lacks=lacks) if lacks else parsed


def _in_file(reason: str, part: Part) -> str:
    """A parser's reason with the lines' numbers in the file instead of those in the part."""
    before = max(part.first - 1, 0)
    return re.sub(r"\bline ([0-9]+)(?=:)", lambda match: f"line {int(match[1]) + before}", reason)


def _record(read: _Read, label: Label, chosen: ImportMap) -> Record:
    facts, metadata = read.output.facts, _metadata(read.output.facts, label, chosen)
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
        return record(MISSING, _GONE, metadata=metadata)
    trouble = f"the scheduler reports: {facts['trouble']}" if "trouble" in facts else ""
    if isinstance(read.parsed, str):
        return record(FAILED, trouble or read.parsed, metadata=metadata)
    metadata |= {**read.parsed.metadata, "version": read.parsed.version}
    if lacks := "; ".join(filter(None, (read.parsed.lacks, trouble))):
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


def _arguments(facts: Mapping[str, str]) -> list[str] | None:
    """The arguments of the program that made the output; None where its command is unknown."""
    program, command = facts.get("program", ""), facts.get("command", "")
    if not program or program_of(command) != program:
        return None
    return command.partition(program)[2].split()


def _metadata(facts: Mapping[str, str], label: Label, chosen: ImportMap) -> dict[str, str]:
    metadata = {IMPORTED_FROM: place_of(facts.get("path", ""), facts.get("lines", "")), "import": chosen.name}
    if label.requested:
        metadata[REQUESTED_GROUP] = label.requested
    metadata |= {fact: facts[fact] for fact in ("queue", "cluster") if fact in facts}
    return metadata | of_import(facts)
