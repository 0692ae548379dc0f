"""Moves invalid results away, whole, so that their runs are due again; nothing is lost.

An unusable result goes to the attempts of its run. A result of another machine, or of an earlier program or
MPI library, goes to earlier/ beside the run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.host_lists import is_member
from mpicampaign.base.records import UNREAD
from mpicampaign.base.run_files import RESULT, attempt_name, attempts_of
from mpicampaign.collect.caches import OutputsRead
from mpicampaign.collect.runs import evidence_in, unusable
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.jobs.prepare import host_names
from mpicampaign.jobs.run import Run
from mpicampaign.jobs.software import present_library, source_key

EARLIER = "earlier"


class Fault(NamedTuple):
    """Why a result does not count; ``earlier``: it is sound, but of another machine or earlier software."""

    reason: str
    earlier: bool = False


def fault_of(run: Run, evidence: Evidence | None = None, before: OutputsRead | None = None) -> Fault | None:
    """Why the existing result of a run does not count now; see `unusable`."""
    result = run.result
    evidence = evidence or evidence_in(result)
    reason = unusable(run.benchmark.suite, result, evidence, before, run.draft.reading)
    if reason and not reason.startswith(UNREAD):
        return Fault(reason)
    reason = _made_elsewhere(run, evidence) or _software_changed(run, evidence)
    return Fault(reason, earlier=True) if reason else None


def _made_elsewhere(run: Run, evidence: Evidence) -> str:
    """Without a scheduler a result counts on the machine that made it, and on members of its host group."""
    host = evidence.job.get("host", "")
    if not run.job.system.local or not host:
        return ""
    here = os.uname().nodename
    mine = (here, *evidence.claim.get("members", "").split())
    if any(is_member(host, name) for name in mine) or any(is_member(host, name) for name in host_names()):
        return ""
    return f"it was made on {host}, not on {here}"


def _software_changed(run: Run, evidence: Evidence) -> str:
    """Which part differs from what this machine had when the script was rendered: nodes may have another one.

    Bundled kernels do not, as their version is part of the identity.
    """

    def changed(what: str, claim: str, recorded: str, present: str) -> str:
        known = evidence.claim.get(claim, "").split() or [recorded]
        differs = f"the {what} has changed: {recorded[:12]} then, {present[:12]} now"
        return differs if present and present not in known else ""

    job, (file, library) = evidence.job, evidence.library
    if why := changed("program", "program_sha256", job.get("program_sha256", ""), run.draft.program.sha256):
        return why
    source = source_key(run.draft.program.command)  # the present program may not be built yet
    if source and source_key(job.get("program", "")) not in ("", source):
        return "its source or build command has changed"
    present = present_library(run.job.system, file) if library else ""
    return changed("MPI library", "libraries", library, present)


def set_aside(run: Run) -> None:
    """Move a result to the attempts of its run, which is then due again."""
    # attempts are read in the order of their names, which start with the time
    stamp = max(map(attempt_name, attempts_of(run.folder)), default="0")[:16]
    result = run.result if run.result.name == RESULT else run.result.parent
    result.rename(run.folder / f"attempt-{stamp}-z-set-aside-{os.urandom(4).hex()}{result.suffix}")


def set_aside_whole(folder: Path) -> None:
    """Move the folder of a run, with claim and script, to earlier/ beside it."""
    earlier = folder.parent / EARLIER
    earlier.mkdir(exist_ok=True)
    number = sum(path.name.startswith(folder.name) for path in earlier.iterdir()) + 1
    folder.rename(earlier / f"{folder.name}-{number}")


def set_aside_faulty(runs: Iterable[Run]) -> list[str]:
    """Set aside the results that do not count; returns a line for each.

    Results appear by one rename, so that a job that ends meanwhile is not disturbed.
    """
    runs, before = list(runs), None
    lines = []
    for run in runs:
        if run.draft.reading and not run.has_result and _take(run):
            lines.append(f"{run.label}: the campaign file now fits its last output: no new run")
        before = before or OutputsRead(run.campaign_folder)
        fault = fault_of(run, None, before) if run.has_result else None
        if fault:
            set_aside_whole(run.folder) if fault.earlier else set_aside(run)
            where = f"; the result is kept in {EARLIER}/" if fault.earlier else ""
            lines.append(f"to be run again: {run.label}: {fault.reason}{where}")
    if before:
        before.keep()
    return lines


def _take(run: Run) -> bool:
    """Make the last attempt the result if its program ended well, and only former patterns refused it."""
    for attempt in attempts_of(run.folder)[-1:]:
        evidence, suite = evidence_in(attempt), run.benchmark.suite
        if evidence.ended_well and not unusable(suite, attempt, evidence, reading=run.draft.reading):
            attempt.rename(run.folder / f"result{attempt.suffix}")
            return True
    return False
