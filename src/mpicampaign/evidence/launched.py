"""What happened between the launcher and the ranks: arguments, variables, preloaded libraries, clocks.

And whether the output may be of its run: the time that it accounts for, and its dates. Evidence of releases
that did not record this has no finding here, and is judged as before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from mpicampaign.base.records import Series
from mpicampaign.evidence.evidence import Evidence, Rank, below
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, finding, number
from mpicampaign.evidence.settings_files import settings_file_findings, unread_settings
from mpicampaign.evidence.software import checksums_of, name_of_file
from mpicampaign.mpis import is_derived, of_launcher, steers_library
from mpicampaign.suites import SUITES

# A clock that runs at another speed is off by more than both; honest ones were off by 0.04 ms at most.
CLOCK_SHARE, CLOCK_SECONDS = 0.01, 0.005
LONGEST_VALUE = 4000  # characters; a rank leaves out longer ones
_CLOCKS = {"libc_ns": "clock_gettime()", "wtime_ns": "MPI_Wtime()"}
_OPTIONS = ("launcher_options", "placement.launcher_options", "mpi.options")
_SETS_UP = ("modules", "source", "provider.modules")
_UNSET = "which the {} does not set (where the site sets it, give it under environment:)"
_EXTENDED = re.compile(r"(PATH|LD_LIBRARY_PATH|LD_PRELOAD)$")  # launchers and this program add to them


def launch_findings(evidence: Evidence) -> list[Finding]:
    """Whether the ranks started as the job script started them, and whether their clocks tell the time."""
    if not any("start.nice" in seen for seen in evidence.ranks.values()):
        return []
    declared = _declared(evidence)
    return [
        *_arguments(evidence),
        *_variables_of_script(evidence, declared),
        *_variables_of_ranks(evidence, declared),
        *settings_file_findings(evidence, _by_options(evidence) | _claimed(evidence, declared)),
        *_preloads(evidence, declared),
        *_clocks(evidence),
    ]


def doubts_of_launch(evidence: Evidence) -> Iterator[Finding]:
    """Preloaded libraries, clocks, variables and settings files of a command that no job script started."""
    yield from _preloads(evidence, {})
    yield from _clocks(evidence)
    for file in settings_file_findings(evidence, evidence.variables | _by_options(evidence)):
        yield replace(file, outcome=SUPPORTS if file.outcome == SUPPORTS else LACKS)
    for rank, changed in sorted(evidence.changed_variables.items()):
        for name, value in changed.items():
            if _wrong_variable(evidence, {}, {}, name, value):
                behind = f"rank {rank} had {name}={value}, which the command does not set"
                yield Finding("variables", LACKS, behind)
                return


def unread_options(evidence: Evidence) -> list[str]:
    """The variables that options of the launcher gave the ranks, and that no library asked for."""
    return unread_settings(evidence, _by_options(evidence))


def seconds_between(seen: Rank, clock: str) -> float | None:
    """The time (s) from start to end by one of a rank's clocks; None where it was not recorded."""
    start, end = (number(seen.get(f"{moment}.{clock}", "")) for moment in ("start", "end"))
    return None if start is None or end is None else (end - start) / 1e9


def _declared(evidence: Evidence) -> dict[str, Any]:
    try:
        declared = json.loads(evidence.claim.get("declared", ""))
    except ValueError:
        return {}
    return declared if isinstance(declared, dict) else {}


def _arguments(evidence: Evidence) -> Iterator[Finding]:
    """A rank's arguments are those of the job script, unless a script started the program."""
    wanted, resolved = evidence.job.get("arguments", ""), evidence.job.get("program_sha256", "")
    checksums = checksums_of(evidence, "program")
    for rank, seen in sorted(evidence.ranks.items()):
        recorded = seen.get("start.arguments")
        if recorded is None:
            if len(wanted) < LONGEST_VALUE:
                yield Finding("arguments", LACKS, f"rank {rank} recorded none")
                return
        elif recorded != wanted:
            bad = f"rank {rank} had {recorded!r}, not {wanted!r}"
            if checksums[rank] == resolved:
                yield Finding("arguments", CONTRADICTS, f"{bad}, as the job script started it")
                return
            if not (_ends_with(recorded, wanted) or _ends_with(wanted, recorded)):
                yield Finding("arguments", LACKS, f"{bad}; another program started it")
                return
    yield Finding("arguments", SUPPORTS, "as in the job script")


def _ends_with(arguments: str, last: str) -> bool:
    """An interpreter has the script before its arguments; a starter has its program before those of that."""
    return f" {arguments}".endswith(f" {last}") or not last


def _claimed(evidence: Evidence, declared: Mapping[str, Any]) -> dict[str, str]:
    """The variables of the claim: those of the MPI library, and the system's own."""
    of_system = {name: str(value) for name, value in below(declared, "environment.").items()}
    return of_system | evidence.settings


def _variables_of_script(evidence: Evidence, declared: Mapping[str, Any]) -> Iterator[Finding]:
    """None that steers the MPI library but those of the claim; what sets up the software may set any."""
    if any(declared.get(key) for key in _SETS_UP) or declared.get("provider") == "spack":
        return
    mpi, claimed = evidence.claim.get("mpi", ""), _claimed(evidence, declared)
    for name, value in evidence.variables.items():
        if name not in claimed and steers_library(mpi, name):
            yield Finding("variables", CONTRADICTS, f"the job had {name}={value}, {_UNSET.format('claim')}")
            return


def _variables_of_ranks(evidence: Evidence, declared: Mapping[str, Any]) -> Iterator[Finding]:
    """A rank's variables are those of the job script, and what the launcher is known to add."""
    claimed = _claimed(evidence, declared)
    for rank, seen in sorted(evidence.ranks.items()):
        changed = evidence.changed_variables[rank]
        if number(seen.get("start.variables", "")) != len(changed):
            yield Finding("variables", LACKS, f"rank {rank} did not record all that differ from the script's")
            return
        for name in below(seen, "start.unset."):
            if name in claimed and not of_launcher(evidence.claim.get("mpi", ""), name):
                yield Finding(
                    "variables", CONTRADICTS, f"rank {rank} had no {name}, claimed: {claimed[name]}"
                )
                return
        for name, value in changed.items():
            if seen.get("launch.gpus") == f"{name}={value}":
                continue  # the job script gave the rank its part
            if wrong := _wrong_variable(evidence, declared, claimed, name, value):
                outcome, why = wrong
                yield Finding("variables", outcome, f"rank {rank} had {name}={value}, {why}")
                return
    yield Finding("variables", SUPPORTS, "as in the job script")


def _wrong_variable(
    evidence: Evidence, declared: Mapping[str, Any], claimed: Mapping[str, str], name: str, value: str
) -> tuple[str, str] | None:
    """Outcome and reason of a variable in which a rank differs from the script; None where that may be."""
    mpi = evidence.claim.get("mpi", "")
    if _EXTENDED.fullmatch(name) or of_launcher(mpi, name) or _is_option(evidence, name):
        return None
    if name in claimed:
        return CONTRADICTS, f"claimed: {claimed[name]}"
    variables = [f"{key}={given}" for key, given in evidence.variables.items()]
    given = "\n".join([*variables, evidence.claim.get("launch", "")])
    if not steers_library(mpi, name) or is_derived(mpi, name, value, given):
        return None
    if any(declared.get(key) for key in _OPTIONS):
        return LACKS, "which the job script did not set; an option of the launcher may have"
    script = evidence.job.get(f"env.{name}")
    return (CONTRADICTS, _UNSET.format("job script") if script is None else f"in the job script {script}")


def _is_option(evidence: Evidence, name: str) -> bool:
    """Whether an option of the launcher names the variable, or the parameter that it stands for."""
    tokens = _words(evidence.claim.get("launch", ""), evidence.job.get("launcher_arguments", ""))
    return name in tokens or ("_MCA_" in name and name.partition("_MCA_")[2] in tokens)


@lru_cache(maxsize=64)
def _words(*given: str) -> frozenset[str]:
    """Of commands; a word may be quoted, as in bash -c "mpirun …"."""
    return frozenset(re.split(r"[\s=\\\"']+", " ".join(given)))


def _by_options(evidence: Evidence) -> dict[str, str]:
    """The variables that options of the launcher gave the ranks."""
    given = evidence.changed_variables.values()
    return {name: value for of in given for name, value in of.items() if _is_option(evidence, name)}


def _preloads(evidence: Evidence, declared: Mapping[str, Any]) -> Iterator[Finding]:
    """Libraries before the program's own. One that the campaign declares is named, and no more."""
    set_up = any(declared.get(key) for key in _SETS_UP)
    asked = evidence.job.get("env.LD_PRELOAD", "") if set_up or "environment.LD_PRELOAD" in declared else ""
    names = {name_of_file(path) for path in re.split(r"[\s:]+", asked)}
    asking = "campaign" if declared else "command"
    notes = []
    for rank, seen in sorted(evidence.ranks.items()):
        if "start.preloads" not in seen:
            yield Finding("preloaded libraries", LACKS, f"rank {rank} did not record them")
            return
        for place, path in below(seen, "start.preload.").items():
            defines = seen.get(f"start.preload_defines.{place}", "")
            if name_of_file(path) in names:
                notes.append(f"{path}, as declared")
                continue
            what = f", which defines {defines.split()[0]}()" if defines else ""
            why = f"rank {rank} had {path}{what}; neither the program nor the {asking} asks for it"
            yield Finding("preloaded libraries", CONTRADICTS if defines else LACKS, why)
            return
    yield Finding("preloaded libraries", SUPPORTS, ", ".join(dict.fromkeys(notes)) or "none")


def _clocks(evidence: Evidence) -> Iterator[Finding]:
    """The program's clocks must take as long as the kernel's."""
    for rank, seen in sorted(evidence.ranks.items()):
        passed = seconds_between(seen, "raw_ns")
        if passed is None:
            yield Finding("clocks", LACKS, f"rank {rank} recorded no time of the kernel's clock")
            return
        for key, name in _CLOCKS.items():
            took = seconds_between(seen, key)
            if took is not None and abs(took - passed) > max(CLOCK_SHARE * passed, CLOCK_SECONDS):
                bad = f"rank {rank} took {passed:.3f} s by the kernel's clock, but {took:.3f} s by {name}"
                yield Finding("clocks", CONTRADICTS, bad)
                return
    yield Finding("clocks", SUPPORTS, "as the kernel's")


ROUNDING = 1.01, 0.002  # share, and s: printed times are rounded
DATE_ERROR = 5  # s; dates have whole seconds, and a clock may be set meanwhile


def output_findings(evidence: Evidence, output: str, series: Iterable[Series]) -> list[Finding]:
    """What an output contradicts; empty without the kernel's clock, or for an unknown suite."""
    suite = SUITES.get(evidence.claim.get("suite", ""))
    spans = [seconds_between(seen, "raw_ns") for seen in evidence.ranks.values()]
    passed = max((span for span in spans if span is not None), default=None)
    if suite is None or passed is None:
        return []
    findings = []
    if least := suite.least_time(series):
        share, more = ROUNDING
        times = f"it accounts for {least:.2f} s or more; {passed:.2f} s passed from MPI_Init to MPI_Finalize"
        findings = [finding("output", least <= share * passed + more, times, times)]
    try:
        offset = int(evidence.ranks[0]["start.utc_offset"])  # of local time at rank 0, which prints
    except (KeyError, ValueError):
        offset = 0
    return [*findings, *_dates(evidence, suite.printed_times(output, offset))]


def _dates(evidence: Evidence, moments: Iterable[float]) -> Iterator[Finding]:
    try:
        times = (evidence.ranks[0][f"{moment}.time"] for moment in ("start", "end"))
        first, last = (datetime.fromisoformat(time).timestamp() for time in times)
    except (KeyError, ValueError):
        return
    for moment in moments:
        if not first - DATE_ERROR <= moment <= last + DATE_ERROR:
            off = moment - first
            when = f"{abs(off):.0f} s {'before' if off < 0 else 'after'} MPI_Init of rank 0"
            yield Finding("output", CONTRADICTS, f"its date is {when}: another run printed it")
            return
