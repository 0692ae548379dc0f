"""From the folders of runs to records: reads raw outputs and evidence, writes nothing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from mpicampaign.collect.alike import of_own_run
from mpicampaign.errors import UserError
from mpicampaign.parsers import OutputError, ParsedOutput, parse
from mpicampaign.records import (
    CLAIMED_TRANSPORT,
    FAILED,
    MISSING,
    NOT_AVAILABLE,
    OK,
    Case,
    Record,
    plain_fields,
)
from mpicampaign.verdict.evidence import Evidence, read_evidence
from mpicampaign.verdict.judge import judge

FORMAT = "mpicampaign-plan"
VERSION = 1
SUBMISSIONS = "submissions.txt"  # beside a job script: what was done for it, a line each


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where a run of a case left its files, as the plan or the disk names it."""

    path: Path
    repeat: int
    order: int | None = None
    nothing: str = "not run yet"  # why there is no result, where there is none


class _Left(NamedTuple):
    """The files that a run left and its job script, each read once; one that is not there is in neither."""

    paths: dict[str, str]
    contents: dict[str, bytes]

    def text(self, name: str) -> str:
        """A file's text; empty where it is not there."""
        return _decoded(self.contents.get(name, b""))


def read_plan(path: Path) -> dict[str, Any]:
    """The plan that the execution half wrote.

    Raises
    ------
    UserError
        when it is not there, damaged, or of another format.
    """
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path} is not there: run the campaign, or 'mpicampaign render', first") from error
    except ValueError as error:
        raise UserError(f"{path} is damaged: {error}") from error
    if not isinstance(plan, dict) or (plan.get("format"), plan.get("version")) != (FORMAT, VERSION):
        raise UserError(f"{path} is no plan of version {VERSION} of this program")
    return plan


def collect(plan: dict[str, Any], campaign_folder: Path) -> list[Record]:
    """The records of all cases of a plan: of this system's runs, and of whatever other systems left here."""
    records = []
    for entry in plan["cases"]:
        case = Case(entry["system"], entry["host_group"], entry["placement"], entry["benchmark"])
        rate = entry.get("line_rate")
        if entry["not_available"]:
            record = Record(case, entry["suite"], 1, NOT_AVAILABLE, entry["not_available"], line_rate=rate)
            records += [replace(record, repeat=repeat) for repeat in range(1, entry["repeats"] + 1)]
            continue
        folders = _planned(entry, campaign_folder) or _found(entry, case, campaign_folder)
        records += [read_run(case, entry["suite"], folder, rate) for folder in folders]
    return records


def _planned(entry: dict[str, Any], campaign_folder: Path) -> list[RunFolder]:
    return [RunFolder(campaign_folder / run["folder"], run["repeat"], run["order"]) for run in entry["runs"]]


def _found(entry: dict[str, Any], case: Case, campaign_folder: Path) -> list[RunFolder]:
    """Results of a system that this plan has no runs for.

    Of each repeat the newest that was made as the campaign file says now; those of older ones are not
    taken, just as on the system itself.
    """
    folder = campaign_folder / "runs" / case.host_group / case.placement / case.benchmark
    found = []
    for repeat in range(1, entry["repeats"] + 1):
        results = [path.parent for path in folder.glob(f"r{repeat:02d}-*/result/output.txt")]
        current = [path for path in results if _recipe(path) == entry["recipe"]]
        newest = max(current, key=lambda path: (path / "output.txt").stat().st_mtime, default=None)
        path = newest.parent if newest else folder / f"r{repeat:02d}"
        nothing = "only results of an older campaign file are there" if results else "not run yet"
        found.append(RunFolder(path, repeat, nothing=nothing))
    return found


def _recipe(result: Path) -> str | None:
    return read_evidence(_text(result / "evidence.txt")).claim.get("recipe")


def read_run(case: Case, suite: str, folder: RunFolder, line_rate: float | None = None) -> Record:
    """The record of one run, whatever state its folder is in."""
    record = Record(
        case,
        suite,
        folder.repeat,
        MISSING,
        folder.nothing,
        order=folder.order,
        script_hash=folder.path.name.partition("-")[2],
        line_rate=line_rate,
    )
    left = _left(folder.path / "result", folder.path)
    if "output" in left.contents:
        return _read_result(record, left)
    attempts = sorted(path for path in (folder.path / "attempts").glob("*") if path.is_dir())
    return _read_attempt(record, _left(attempts[-1], folder.path), len(attempts)) if attempts else record


def _left(folder: Path, run: Path) -> _Left:
    """``folder``: of a result or an attempt, below that of the run."""
    paths = {name: f"{folder}/{name}.txt" for name in ("output", "evidence", "stderr")}
    paths |= {"script": f"{run}/job.sh", "submissions": f"{run}/{SUBMISSIONS}"}
    found = {name: _content(path) for name, path in paths.items()}
    contents = {name: content for name, content in found.items() if content is not None}
    return _Left({name: paths[name] for name in contents}, contents)


def unusable(suite: str, result: Path) -> str:
    """Why the run of a result is to be made again; empty where the result stands.

    An output that can't be read is none, whatever its exit status; a program or network that was not
    there may be there by now. Sockets and cores do not change.
    """
    evidence = read_evidence(_text(result / "evidence.txt"))
    if "not_available" in evidence.job:
        changes = evidence.job.get("not_available_kind") != "cores"
        return f"was not available: {evidence.job['not_available']}" if changes else ""
    parsed = _parsed(suite, evidence, _text(result / "output.txt"))
    return parsed if isinstance(parsed, str) else ""


def _parsed(suite: str, evidence: Evidence, output: str) -> ParsedOutput | str:
    """What the output says, or why it can't be used."""
    largest = evidence.claim.get("largest_size", "")
    try:
        return parse(suite, output, int(largest) if largest.isdecimal() else None)
    except OutputError as error:
        return f"output.txt: {error}"


def _read_result(record: Record, left: _Left) -> Record:
    evidence, output = read_evidence(left.text("evidence")), left.text("output")
    record = _with_evidence(record, evidence, left)
    if "not_available" in evidence.job:
        return replace(record, status=NOT_AVAILABLE, reason=evidence.job["not_available"])
    parsed = _parsed(record.suite, evidence, output)
    if isinstance(parsed, str):
        return replace(record, status=FAILED, reason=parsed)
    said = output + left.text("stderr")
    found = of_own_run(evidence, left.text("script"), said)
    verdict, reasons = judge(evidence, said, parsed.series, _expected_claims(record), _checksums(left))
    return replace(
        record,
        status=OK,
        reason="",
        verdict=verdict,
        verdict_reasons=reasons,
        series=parsed.series,
        metadata={**record.metadata, **found, **parsed.metadata, "version": parsed.version},
    )


def _checksums(left: _Left) -> dict[str, str]:
    raw = {name: left.contents[name] for name in ("output", "stderr") if name in left.contents}
    return {f"{name}.txt": hashlib.sha256(content).hexdigest() for name, content in raw.items()}


def _expected_claims(record: Record) -> dict[str, str]:
    """What a result in this run's folder must claim to be."""
    return {**plain_fields(record.case), "repeat": str(record.repeat), "script_hash": record.script_hash}


def _read_attempt(record: Record, left: _Left, count: int) -> Record:
    evidence = read_evidence(left.text("evidence"))
    record = _with_evidence(record, evidence, left)
    if not evidence.complete:
        return replace(record, reason="started, but has not ended: running now, or killed")
    if "not_available" in evidence.job:
        return replace(record, status=NOT_AVAILABLE, reason=evidence.job["not_available"])
    words = evidence.job.get("reason", f"exit status {evidence.job.get('exit_status', 'unknown')}")
    if record.exit_status == 0:
        parsed = _parsed(record.suite, evidence, left.text("output"))
        words = parsed if isinstance(parsed, str) else words
    words += f" ({count} attempts)" if count > 1 else ""
    return replace(record, status=FAILED, reason=words)


def _with_evidence(record: Record, evidence: Evidence, left: _Left) -> Record:
    status = evidence.job.get("exit_status", "")
    return replace(
        record,
        hosts=evidence.hosts or tuple(filter(None, [evidence.job.get("host", "")])),
        job_id=evidence.job.get("id", ""),
        started=evidence.job.get("started", ""),
        ended=evidence.job.get("ended", ""),
        exit_status=int(status) if status.isdecimal() else None,
        files={name: path for name, path in left.paths.items() if name != "submissions"},
        metadata=_metadata(evidence) | _submissions(left.text("submissions")),
    )


def _submissions(text: str) -> dict[str, str]:
    """How often a run was handed to a scheduler, and why more than once."""
    lines = [line.split(" ", 1)[1] for line in text.splitlines() if " " in line]
    count = sum(line.startswith(("submitted ", "adopted ")) for line in lines)
    again = [line for line in lines if line.startswith("again ")]
    return {"submissions": ", ".join([str(count), *again])} if count else {}


def _metadata(evidence: Evidence) -> dict[str, str]:
    claim = evidence.claim
    network = [claim.get(key, "") for key in ("transport", "interface", "device")]
    facts = {CLAIMED_TRANSPORT: " ".join(filter(None, network))} if network[0] not in ("", "any") else {}
    for host, node in evidence.nodes.items():
        for key in ("cpu_model", "kernel", "sockets", "cores", "governor", "frequency_mhz", "before.load"):
            if key in node:
                facts[f"{host}: {key}"] = node[key]
    return facts


def _text(path: Path) -> str:
    """A file's text; empty where it is not there."""
    return _decoded(_content(str(path)) or b"")


def _decoded(content: bytes) -> str:
    """As text; what is no UTF-8 is kept visible."""
    return content.decode("utf-8", errors="replace")


def _content(path: str) -> bytes | None:
    """What a file holds; nothing where it is not there, or no file."""
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
