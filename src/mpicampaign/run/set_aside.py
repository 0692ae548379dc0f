"""Moves invalid results away, whole, so that their runs are due again; nothing is lost.

An unusable result goes to the attempts of its run. A result of another machine, or of an earlier program or
MPI library, goes to earlier/ beside the run.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.background import MANY, on_cores
from mpicampaign.base.host_lists import is_member
from mpicampaign.base.records import UNREAD
from mpicampaign.base.registry import plugged_in
from mpicampaign.base.run_files import RESULT, attempt_name, attempts_of, claim_of, paths_of
from mpicampaign.collect.caches import keep_of_program, kept_of_program
from mpicampaign.collect.runs import evidence_in, unusable
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.jobs.prepare import host_names
from mpicampaign.jobs.run import Run
from mpicampaign.jobs.software import present_library, source_key

EARLIER = "earlier"
FILE = "sound-results.json"


class Fault(NamedTuple):
    """Why a result does not count; ``earlier``: it is sound, but of another machine or earlier software."""

    reason: str
    earlier: bool = False


def fault_of(run: Run, evidence: Evidence) -> Fault | None:
    """Why the existing result of a run does not count now; see `unusable`."""
    reason = unusable(run.benchmark.suite, run.result, evidence, run.draft.reading)
    if reason and not reason.startswith(UNREAD):
        return Fault(reason)
    reason = _made_elsewhere(run, evidence) or _software_changed(run, evidence)
    return Fault(reason, earlier=True) if reason else None


def faulty(runs: Iterable[Run]) -> list[tuple[Run, Fault]]:
    """The runs whose result does not count now, and why. All cores read many.

    A sound one is not read again while its files, as for make, and the software are the same. The file of
    these may be removed at any time.
    """
    there = {_state(run): run for run in runs if run.has_result}
    path = next((run.campaign_folder / FILE for run in there.values()), None)
    kept = path and not plugged_in()  # of another package no state is known
    known = kept_of_program(path, "sound") if path and kept else {}
    if not all(isinstance(said, list) and [*map(type, said)] == [str, str] for said in known.values()):
        known = {}  # damaged
    same = (state for state, run in there.items() if known.get(state) == _present(run, *known.get(state, ())))
    sound: dict[str, list[str]] = {state: known[state] for state in same}
    read = [(state, run) for state, run in there.items() if state not in sound]
    found = chain.from_iterable(on_cores(_read, [run for _, run in read], len(read) >= MANY))
    faults = []
    for (state, run), (fault, present) in zip(read, found, strict=True):
        faults += [(run, fault)] if fault else []
        sound |= {} if fault else {state: present}
    if path and kept and sound != known:
        keep_of_program(path, "sound", sound)
    return faults


def _state(run: Run) -> str:
    """A result, and what decides beside its MPI library whether it counts."""
    result, here = str(run.result), host_names() if run.job.system.local else ()
    paths = filter(os.path.exists, (*paths_of(result).values(), claim_of(result)))
    files = [(about.st_size, about.st_mtime_ns, about.st_ino) for about in map(os.stat, paths)]
    known = (result, *files, run.benchmark.suite, run.draft.reading, run.draft.program, here)
    return hashlib.sha256(repr(known).encode("utf-8", "surrogatepass")).hexdigest()


def _present(run: Run, library: str = "", *_: str) -> list[str]:
    return [library, present_library(run.job.system, library)]


def _read(runs: Sequence[Run]) -> list[tuple[Fault | None, list[str]]]:
    read = [(run, evidence_in(run.result)) for run in runs]
    return [(fault_of(run, evidence), _present(run, evidence.library[0])) for run, evidence in read]


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
    runs = list(runs)
    taken = [run for run in runs if run.draft.reading and not run.has_result and _take(run)]
    lines = [f"{run.label}: the campaign file now fits its last output: no new run" for run in taken]
    for run, fault in faulty(runs):
        set_aside_whole(run.folder) if fault.earlier else set_aside(run)
        where = f"; the result is kept in {EARLIER}/" if fault.earlier else ""
        lines.append(f"to be run again: {run.label}: {fault.reason}{where}")
    return lines


def _take(run: Run) -> bool:
    """Make the last attempt the result if its program ended well, and only former patterns refused it."""
    for attempt in attempts_of(run.folder)[-1:]:
        evidence, suite = evidence_in(attempt), run.benchmark.suite
        if evidence.ended_well and not unusable(suite, attempt, evidence, reading=run.draft.reading):
            attempt.rename(run.folder / f"result{attempt.suffix}")
            return True
    return False
