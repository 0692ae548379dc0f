"""From the folders of runs to records: reads raw outputs and evidence, writes nothing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mpicampaign.collect.alike import of_own_run
from mpicampaign.errors import UserError
from mpicampaign.parsers import OutputError, ParsedOutput, parse
from mpicampaign.records import CLAIMED_TRANSPORT, FAILED, MISSING, NOT_AVAILABLE, OK, Case, Record
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
        found = [read_run(case, entry["suite"], folder) for folder in folders]
        records += [replace(record, line_rate=rate) for record in found]
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


def read_run(case: Case, suite: str, folder: RunFolder) -> Record:
    """The record of one run, whatever state its folder is in."""
    result = folder.path / "result"
    record = Record(case, suite, folder.repeat, MISSING, folder.nothing, order=folder.order)
    record = replace(record, script_hash=folder.path.name.partition("-")[2])
    if (result / "output.txt").is_file():
        return _read_result(record, result)
    attempts = sorted(path for path in (folder.path / "attempts").glob("*") if path.is_dir())
    return _read_attempt(record, attempts[-1], len(attempts)) if attempts else record


def unusable(suite: str, result: Path) -> str:
    """Why the run of a result is to be made again; empty where the result stands.

    An output that can't be read is none, whatever its exit status; a program or network that was not
    there may be there by now. Sockets and cores do not change.
    """
    evidence = read_evidence(_text(result / "evidence.txt"))
    if "not_available" in evidence.job:
        changes = evidence.job.get("not_available_kind") != "cores"
        return f"was not available: {evidence.job['not_available']}" if changes else ""
    parsed = _parsed(suite, evidence, result)
    return parsed if isinstance(parsed, str) else ""


def _parsed(suite: str, evidence: Evidence, folder: Path) -> ParsedOutput | str:
    """What the output says, or why it can't be used."""
    largest = evidence.claim.get("largest_size", "")
    try:
        return parse(suite, _text(folder / "output.txt"), int(largest) if largest.isdecimal() else None)
    except OutputError as error:
        return f"output.txt: {error}"


def _read_result(record: Record, result: Path) -> Record:
    evidence = read_evidence(_text(result / "evidence.txt"))
    record = _with_evidence(record, evidence, result)
    if "not_available" in evidence.job:
        return replace(record, status=NOT_AVAILABLE, reason=evidence.job["not_available"])
    parsed = _parsed(record.suite, evidence, result)
    if isinstance(parsed, str):
        return replace(record, status=FAILED, reason=parsed)
    said = _text(result / "output.txt") + _text(result / "stderr.txt")
    found = of_own_run(evidence, _text(result.with_name("job.sh")), said)
    verdict, reasons = judge(evidence, said, parsed.series, _expected_claims(record), _checksums(result))
    metadata = {**record.metadata, **found, **parsed.metadata, "version": parsed.version}
    record = replace(record, status=OK, reason="", series=parsed.series, metadata=metadata)
    return replace(record, verdict=verdict, verdict_reasons=reasons)


def _checksums(result: Path) -> dict[str, str]:
    names = [name for name in ("output.txt", "stderr.txt") if (result / name).is_file()]
    return {name: hashlib.sha256((result / name).read_bytes()).hexdigest() for name in names}


def _expected_claims(record: Record) -> dict[str, str]:
    """What a result in this run's folder must claim to be."""
    return {**asdict(record.case), "repeat": str(record.repeat), "script_hash": record.script_hash}


def _read_attempt(record: Record, attempt: Path, count: int) -> Record:
    evidence = read_evidence(_text(attempt / "evidence.txt"))
    record = _with_evidence(record, evidence, attempt)
    if not evidence.complete:
        return replace(record, reason="started, but has not ended: running now, or killed")
    if "not_available" in evidence.job:
        return replace(record, status=NOT_AVAILABLE, reason=evidence.job["not_available"])
    words = evidence.job.get("reason", f"exit status {evidence.job.get('exit_status', 'unknown')}")
    if record.exit_status == 0 and isinstance(parsed := _parsed(record.suite, evidence, attempt), str):
        words = parsed
    words += f" ({count} attempts)" if count > 1 else ""
    return replace(record, status=FAILED, reason=words)


def _with_evidence(record: Record, evidence: Evidence, folder: Path) -> Record:
    status = evidence.job.get("exit_status", "")
    files = {name: str(folder / f"{name}.txt") for name in ("output", "evidence", "stderr")}
    files = {name: path for name, path in files.items() if Path(path).is_file()}
    script = folder.parents[0 if folder.name == "result" else 1] / "job.sh"
    if script.is_file():
        files["script"] = str(script)
    return replace(
        record,
        hosts=evidence.hosts or tuple(filter(None, [evidence.job.get("host", "")])),
        job_id=evidence.job.get("id", ""),
        started=evidence.job.get("started", ""),
        ended=evidence.job.get("ended", ""),
        exit_status=int(status) if status.isdecimal() else None,
        files=files,
        metadata=_metadata(evidence) | _submissions(script.with_name(SUBMISSIONS)),
    )


def _submissions(file: Path) -> dict[str, str]:
    """How often a run was handed to a scheduler, and why more than once."""
    lines = [line.split(" ", 1)[1] for line in _text(file).splitlines() if " " in line]
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
    """A file's text; what is no UTF-8 is kept visible; a file that is not there is empty."""
    try:
        return path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
