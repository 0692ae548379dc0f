"""From the folders of runs to records. Reads raw outputs, claims and evidence; writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import F_OK, access
from pathlib import Path
from typing import Any, NamedTuple

from mpicampaign.base.background import MANY, on_cores
from mpicampaign.base.grouping import grouped
from mpicampaign.base.identity import canonical, run_path
from mpicampaign.base.plan_file import CaseEntry, PlanFile
from mpicampaign.base.planned_looks import looks_planned
from mpicampaign.base.records import (
    BLOCK,
    CHOSEN_TRANSPORT,
    CLAIMED_TRANSPORT,
    COMPARED,
    DECIDED_IN_BLOCKS,
    DECIDED_WITH,
    DISTURBED,
    FAILED,
    LOOKS_SINCE,
    MISSING,
    NOT_AVAILABLE,
    NOT_JUDGED,
    OK,
    OVERSUBSCRIBED,
    RANKED,
    SCALING,
    SCHEDULER,
    UNREAD,
    WITHOUT_LOCK,
    Case,
    Record,
    Series,
    plain_fields,
    sharing,
)
from mpicampaign.base.run_files import (
    attempt_name,
    attempts_of,
    claim_of,
    content_of,
    part_of,
    paths_of,
    raw_files,
    result_in,
    text_of,
)
from mpicampaign.base.text import counted
from mpicampaign.collect.caches import RecordsRead
from mpicampaign.collect.common_settings import of_own_run
from mpicampaign.collect.failure_cause import cause_of
from mpicampaign.collect.looks import after_looks, read_looks
from mpicampaign.collect.member_metadata import Members
from mpicampaign.collect.observed_software import observed
from mpicampaign.collect.startup import startup
from mpicampaign.collect.submissions import SUBMISSIONS, read_submissions, submissions_text
from mpicampaign.collect.whole_output import not_whole
from mpicampaign.evidence.condition import ranks_by_host, shared_cpus
from mpicampaign.evidence.evidence import Evidence, read_evidence
from mpicampaign.evidence.fabrics import SCOPE, scope_of
from mpicampaign.evidence.node_facts import node_facts
from mpicampaign.schedulers import batch_scheduler
from mpicampaign.suites import SUITES, OutputError, ParsedOutput, UnreadError, parse
from mpicampaign.suites.own import TIME_TO_SOLUTION

_STOPPED = ("interrupted", "stopped")  # reasons that the output does not explain
_UNWRITTEN = (73, 74)  # exit statuses of job scripts that could not write
_OUT_OF_TIME = "time-out"  # what IMB prints in place of values
_OF_NODES = (
    *("cpu_model", "kernel", "microcode", "sockets", "cores", "governor", "frequency_mhz", "before.load"),
    *("gpu_models", "gpu_driver"),
)
_FROM_CACHE = 0.9  # of the time to read a run is saved where the cache has it
_Beside = tuple[dict[str, str], dict[str, list[str]], Members]  # of all runs
_AT_ONCE = 250  # runs that are read before their records share what they have in common


# An attempt that ended well is renamed to the result by its script.
_FITS_NOW = "the campaign file fits its output now: the next call of run takes it as the result"
_NOT_MOVED = "complete, but its script could not rename it to result: was the file system read-only or full?"


class RunFolder(NamedTuple):
    """The folder of a run, with the numbers from the plan or the folder's name."""

    path: Path
    repeat: int
    order: int | None = None


class _RunFiles(NamedTuple):
    """The files of a run that exist, each read once: raw outputs, evidence, job script and claim."""

    place: str  # of its result or attempt
    paths: dict[str, str]
    contents: dict[str, bytes]

    @property
    def evidence(self) -> Evidence:
        """What the run claims to be and what it recorded."""
        return read_evidence(self.text("evidence"), self.text("claim"))

    def text(self, name: str) -> str:
        """A file's text; empty where there is no such file."""
        return text_of(self.contents.get(name, b""))


def collect(plan: PlanFile, campaign_folder: Path, before: RecordsRead | None = None) -> list[Record]:
    """The records of all cases of a plan, of all systems. All cores read many runs.

    ``before``: the cache of records.
    """
    parts = [part for entry in plan.cases for part in _parts(entry)]
    runs = sum(len(part.runs) for part in parts)
    many = runs - (_FROM_CACHE * len(before.kept) if before else 0) >= MANY
    records: list[Record] = []
    used: set[bytes] = set()
    known: dict[object, Any] = {}
    submissions = read_submissions(campaign_folder / SUBMISSIONS)
    beside = looks_planned(campaign_folder, plan), submissions, Members(campaign_folder)
    work = partial(_collect, plan, campaign_folder, before, beside)
    for some, of_cache, new in on_cores(work, parts, many, max(1, len(parts) * _AT_ONCE // max(runs, 1))):
        records += [sharing(record, known) for record in some]
        used |= of_cache
        if before:
            before.write(new)
    if before:
        before.used, before.new = used, []
        before.keep()
    if not (looks := read_looks(campaign_folder)):
        return records
    of_cases = grouped(records, lambda record: record.case).values()
    return [record for of_case in of_cases for record in after_looks(looks, of_case)]


def _parts(entry: CaseEntry) -> Iterator[CaseEntry]:
    """The case with some of its runs at a time, of which it may have thousands."""
    if len(entry.runs) <= _AT_ONCE:
        yield entry
        return
    for start in range(0, len(entry.runs), _AT_ONCE):
        yield replace(entry, runs=entry.runs[start : start + _AT_ONCE])


def _collect(
    plan: PlanFile, place: Path, before: RecordsRead | None, beside: _Beside, parts: Sequence[CaseEntry]
) -> tuple[list[Record], set[bytes], list[bytes]]:
    """The records of parts of cases, the entries of the cache that were used, and new ones."""
    records: list[Record] = []
    if before:
        before.used, before.new = set(), []
    planned, submissions, members = beside
    for entry in parts:
        design = {BLOCK: entry.block, COMPARED: entry.compared} if entry.block else {}
        if entry.decided_with:
            design = {DECIDED_WITH: entry.decided_with, LOOKS_SINCE: planned.get(entry.decided_with, "")}
            design |= {DECIDED_IN_BLOCKS: "true"} if entry.block else {}
        if entry.not_available:
            record = Record(entry.case, entry.suite, 1, NOT_AVAILABLE, entry.not_available)
            record = replace(record, line_rate=entry.line_rate, attributes=dict(entry.attributes))
            labels = ((run, design | members.metadata(entry, run, False)) for run in entry.runs)
            records += [replace(record, repeat=run.repeat, metadata=metadata) for run, metadata in labels]
            continue
        declared = {OVERSUBSCRIBED: entry.oversubscribed, SCALING: entry.scaling}
        declared = {key: value for key, value in declared.items() if value}
        for run in entry.runs:
            path = place / run_path(entry.kept, run.repeat, run.identity)
            folder = RunFolder(path, run.repeat, run.order)
            record = read_run(entry.kept, entry.suite, folder, entry.line_rate, entry.reading, before)
            if run.left and record.status == MISSING:
                continue
            submitted = submissions_text(submissions.get(record.identity, ()))
            metadata = declared | record.metadata | ({"submissions": submitted} if submitted else {}) | design
            made = replace(
                with_peak(record, entry.core_peak),
                case=entry.case,
                ranks_busy=plan.busy_machine == RANKED,
                further=run.further,
                attributes=dict(entry.attributes),
                metadata=metadata | members.metadata(entry, run, record.status == MISSING),
            )
            records.append(made)
    return (records, before.used, before.new) if before else (records, set(), [])


def read_run(
    case: Case,
    suite: str,
    folder: RunFolder,
    line_rate: float | None = None,
    reading: Mapping[str, Any] | None = None,
    before: RecordsRead | None = None,
) -> Record:
    """The record of one run, whatever state its folder is in.

    ``reading``: how its output is read; ``before``: the cache of records.
    """
    identity = folder.path.name.partition("-")[2].partition("-")[0]  # a number follows it in earlier/
    planned = Record(case, suite, folder.repeat, MISSING, "not run yet", identity=identity)
    record = planned
    if place := result_in(folder.path):
        files = _files_in(place)
        read = partial(_read_result, planned, files, reading)
        asked = f"{folder.path} {canonical(reading or {})} {planned}"
        record = before.record(asked, files.contents, read) if before else read()
    elif attempts := attempts_of(folder.path):
        record = _read_attempt(planned, _files_in(attempts[-1]), len(attempts), reading)
    return replace(record, order=folder.order, line_rate=line_rate)


def _files_in(place: Path | str) -> _RunFiles:
    """``place``: a result or an attempt."""
    claim = claim_of(place)
    paths = {**paths_of(place), "script": f"{claim.removesuffix('claim')}job.sh", "claim": claim}
    # of the script counts that it is there: it recorded its own checksum
    beside = {"script": b"" if access(paths["script"], F_OK) else None, "claim": content_of(claim)}
    contents = raw_files(place) | {name: content for name, content in beside.items() if content is not None}
    paths = {name: path for name, path in paths.items() if name in contents}
    return _RunFiles(str(place), paths, contents)


def unusable(
    suite: str,
    result: Path,
    evidence: Evidence | None = None,
    reading: Mapping[str, Any] | None = None,
) -> str:
    """Why the run of a result must be repeated; empty where the result is valid.

    ``evidence``: that of the result, if it was read.

    An unreadable output is not a result, whatever its exit status; but a reason that begins with `UNREAD`
    asks for other patterns, not for another run. A missing program or network may be available by now;
    sockets, cores and memory do not change.
    """
    evidence = evidence or evidence_in(result)
    if "not_available" in evidence.job:
        changes = evidence.job.get("not_available_kind") not in ("cores", "memory")
        return f"was not available: {evidence.job['not_available']}" if changes else ""
    parsed = _parsed(suite, evidence, part_of(result, "output"), reading)
    return parsed if isinstance(parsed, str) else ""


def _parsed(
    suite: str, evidence: Evidence, output: bytes, reading: Mapping[str, Any] | None
) -> ParsedOutput | str:
    """The parsed output, or why it cannot be used."""
    largest = evidence.claim.get("largest_size", "")
    try:
        expected = int(largest) if largest.isdecimal() else None
        by = {**reading, **_measured(evidence)} if reading else None
        reason = not_whole(reading, output) if reading else ""
        whole = bool(reading and reading.get("whole")) and not reason
        parsed = parse(suite, text_of(output), expected, by, ended=whole)
        if reason:
            raise UnreadError(reason)
        return _with_ranks(parsed, evidence) if reading else parsed
    except UnreadError as error:
        return f"{UNREAD}output.txt: {error}"
    except OutputError as error:
        return f"output.txt: {error}"


def _measured(evidence: Evidence) -> dict[str, float]:
    """What the job script measured: the time to solution."""
    milliseconds = evidence.job.get("launch_ms", "")
    return {TIME_TO_SOLUTION: int(milliseconds) / 1000} if milliseconds.isdecimal() else {}


def _with_ranks(parsed: ParsedOutput, evidence: Evidence) -> ParsedOutput:
    """The series with the number of ranks launched: users' own programs print none."""
    ranks = evidence.claim.get("ranks", "")
    launched = int(ranks) if ranks.isdecimal() else None
    return replace(parsed, series=tuple(replace(series, ranks=launched) for series in parsed.series))


def _read_result(record: Record, files: _RunFiles, reading: Mapping[str, Any] | None) -> Record:
    evidence, output = files.evidence, files.text("output")
    record = _with_evidence(record, evidence, files)
    if "not_available" in evidence.job:
        return replace(record, status=NOT_AVAILABLE, reason=evidence.job["not_available"])
    parsed = _parsed(record.suite, evidence, files.contents.get("output", b""), reading)
    from mpicampaign.evidence.chosen_transport import chosen_transport
    from mpicampaign.evidence.condition import condition
    from mpicampaign.evidence.judge import judge
    from mpicampaign.evidence.machine_state import probes
    from mpicampaign.evidence.preempted import preempted_text

    if isinstance(parsed, str):
        record = replace(record, status=FAILED, reason=parsed)
        state, why = condition(evidence) if _OUT_OF_TIME in parsed else (NOT_JUDGED, "")
        disturbed = replace(record, reason=f"{parsed}; {why}", condition=state, condition_reason=why)
        return disturbed if state == DISTURBED else record
    printed = output + files.text("stderr")
    state, why = condition(evidence)
    shared = oversubscription(evidence, parsed.metadata)
    chosen = chosen_transport(evidence, printed, parsed.series)
    claims = {**plain_fields(record.case), "repeat": str(record.repeat), "identity": record.identity}
    contents = ((f"{name}.txt", files.contents.get(name)) for name in ("output", "stderr"))
    raw = {name: content for name, content in contents if content is not None}
    verdict, reasons = judge(evidence, printed, parsed.series, claims, raw)
    return replace(
        record,
        status=OK,
        reason="",
        verdict=verdict,
        verdict_reasons=reasons,
        condition=state,
        condition_reason=why if state == NOT_JUDGED else why + preempted_text(parsed.series, parsed.metadata),
        series=parsed.series,
        probes=probes(evidence),
        startup=startup(evidence),
        metadata={
            **record.metadata,
            **observed(evidence),
            **of_own_run(evidence, printed),
            **({OVERSUBSCRIBED: shared} if shared else {}),
            **({CHOSEN_TRANSPORT: chosen} if chosen else {}),
            **parsed.metadata,
            "version": parsed.version,
        },
    )


def _read_attempt(record: Record, files: _RunFiles, count: int, reading: Mapping[str, Any] | None) -> Record:
    evidence = files.evidence
    record = _with_evidence(record, evidence, files)
    if not evidence.complete:
        where = " in " * bool(place := _place(evidence)) + place
        return replace(record, reason=f"started, but has not ended: running now{where}, or killed")
    if "not_available" in evidence.job:
        return replace(record, status=NOT_AVAILABLE, reason=evidence.job["not_available"])
    reason = evidence.job.get("reason", f"exit status {evidence.job.get('exit_status', 'unknown')}")
    if record.exit_status == 0 or (reading and evidence.ended_well):
        parsed = _parsed(record.suite, evidence, files.contents.get("output", b""), reading)
        fits = _FITS_NOW if reading else _NOT_MOVED
        reason = parsed.removeprefix(UNREAD) if isinstance(parsed, str) else fits
    from mpicampaign.evidence.condition import stopped_by_others

    if others := stopped_by_others(evidence):
        reason = f"{reason} while {others}"
        record = replace(record, condition=DISTURBED, condition_reason=others)
    reason += f" ({count} attempts)" if count > 1 else ""
    return replace(record, status=FAILED, reason=_with_cause(reason, files))


def _with_cause(reason: str, files: _RunFiles) -> str:
    """The reason with the lines that name its cause, and where the attempt is."""
    explained = reason.startswith(_STOPPED)
    cause = "" if explained else cause_of(files.text("stderr"), files.text("output"))
    reason = reason.replace("; see stderr.txt", "")
    reason += f": {cause}" if cause and cause not in reason else ""
    return f"{reason}; files in {files.place}"


def _with_evidence(record: Record, evidence: Evidence, files: _RunFiles) -> Record:
    return replace(
        record,
        hosts=evidence.hosts or tuple(filter(None, [evidence.job.get("host", "")])),
        job_id=evidence.job.get("id", ""),
        started=evidence.job.get("started", ""),
        ended=evidence.job.get("ended", ""),
        exit_status=_exit_status(evidence.job),
        files=files.paths,
        metadata=_metadata(evidence),
        nodes=node_facts(evidence),
    )


def where_it_works(folder: Path, job_id: str = "") -> str:
    """``; its files are in n3:/tmp/mpicampaign-…`` of a run whose script has not ended; else empty."""
    latest = [evidence_in(attempt) for attempt in _attempts_in(folder, job_id)[-1:]]
    place = _place(latest[0]) if latest and not latest[0].complete else ""
    return f"; its files are in {place}" if place else ""


def _place(evidence: Evidence) -> str:
    """``n3:/tmp/mpicampaign-…``, the folder on the node's own disk; empty where it is not recorded."""
    job = evidence.job
    return f"{job.get('host', '')}:{job['folder']}" if "folder" in job else ""


def evidence_in(place: Path) -> Evidence:
    """The evidence of a result or an attempt, with the claim of its run."""
    return read_evidence(text_of(part_of(place, "evidence")), text_of(content_of(claim_of(place)) or b""))


def _latest_attempt(folder: Path, job_id: str = "") -> Mapping[str, str]:
    """What a run's latest attempt, of any job or of this one, recorded to its end; empty without any."""
    latest = [evidence_in(attempt) for attempt in _attempts_in(folder, job_id)[-1:]]
    return latest[0].job if latest and latest[0].complete else {}


def _attempts_in(folder: Path, job_id: str) -> list[Path]:
    return [path for path in attempts_of(folder) if job_id in ("", attempt_name(path).partition("-")[2])]


def error_before_output(folder: Path, job_id: str) -> str:
    """The standard error of a job's latest attempt; empty where its benchmark has printed anything."""
    last = _attempts_in(folder, job_id)[-1:]
    return "".join(text_of(part_of(path, "stderr")) for path in last if not part_of(path, "output"))


def exit_status(folder: Path, job_id: str) -> int | None:
    """The exit status of a run's latest attempt of a job; None where it has not ended."""
    return _exit_status(_latest_attempt(folder, job_id))


def _exit_status(job: Mapping[str, str]) -> int | None:
    status = job.get("exit_status", "")
    return int(status) if status.isdecimal() else None


def ended_by_itself(folder: Path, job_id: str = "") -> bool:
    """Whether a run's latest attempt ended without a result, and not by a signal or for want of space."""
    job = _latest_attempt(folder, job_id)
    interrupted = job.get("reason", "").startswith("interrupted")
    return _exit_status(job) not in (None, *_UNWRITTEN) and not interrupted


def unwritten(folder: Path, job_id: str, status: int | None) -> str:
    """``could not write to /tmp on n3``, where a job's script ended for that; ``status``: its exit status.

    A benchmark may end with such a status, too: then its attempt says so.
    """
    reason = _latest_attempt(folder, job_id).get("reason", "")
    where = reason.partition(": is the disk full")[0] or f"could not write to {folder}"
    return where if status in _UNWRITTEN and not reason.startswith("the benchmark ended") else ""


def _metadata(evidence: Evidence) -> dict[str, str]:
    claim = evidence.claim
    network = [claim.get(key, "") for key in ("transport", "provider", "link", "interface", "device")]
    network += ["and shm within a node"] if claim.get("within_node") == "shm" else []
    facts = {CLAIMED_TRANSPORT: " ".join(filter(None, network))} if network[0] not in ("", "any") else {}
    facts |= {SCOPE: scope} if (scope := scope_of(evidence)) else {}
    facts |= {SCHEDULER: claim[SCHEDULER]} if batch_scheduler(claim.get(SCHEDULER, "")) else {}
    facts |= {WITHOUT_LOCK: evidence.job["without_lock"]} if "without_lock" in evidence.job else {}
    for host, node in evidence.nodes.items():
        facts |= {f"{host}: {key}": node[key] for key in _OF_NODES if key in node}
    return facts


# ---- what tables need beside the output


def with_peak(record: Record, core_peak: float | None) -> Record:
    """The record with the fraction of the peak of a core (flop/s) that each process reached.

    An estimate, since clocks differ under load.
    """
    suite = SUITES.get(record.suite)
    if not (core_peak and suite and suite.peak):
        return record
    rate, fraction = suite.peak
    return replace(record, series=tuple(_of(series, rate, fraction, core_peak) for series in record.series))


def _of(series: Series, rate: str, fraction: str, core_peak: float) -> Series:
    rates = series.columns.get(rate, [])
    if not rates:
        return series
    reached = [value / core_peak if value is not None else None for value in rates]
    return replace(series, columns={**series.columns, fraction: reached})


def oversubscription(evidence: Evidence, metadata: Mapping[str, str]) -> str:
    """Which host had fewer CPUs or cores than ranks, as the evidence shows; empty where none had.

    Ranks that share cores are another experiment than one with a core for each rank.
    ``metadata``: of the output; a bundled kernel prints there whether ranks shared processors.
    """
    printed = "more ranks than processors" if metadata.get("oversubscribed") == "yes" else ""
    return shared_cpus(evidence) or _shared_cores(evidence) or printed


def _shared_cores(evidence: Evidence) -> str:
    """``4 ranks on 2 cores of node1``.

    The node's facts may come from a step with fewer cores than the ranks had: two must have met on a core.
    """
    for host, ranks in ranks_by_host(evidence).items():
        cores = evidence.nodes.get(host, {}).get("cores", "")
        seen = {(rank.get("start.socket", ""), rank.get("start.core", "")) for rank in ranks}
        known = cores.isdecimal() and len(cores) < 10
        if known and len(ranks) > int(cores) > 0 and len(seen) < len(ranks):
            return f"{len(ranks)} ranks on {counted(int(cores), 'core')} of {host}"
    return ""
