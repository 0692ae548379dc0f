"""Builds the bundled kernels for a system, with the system's modules and compiler wrapper."""

from __future__ import annotations

import os
import shutil
import sys

from mpicampaign.base.places import shipped
from mpicampaign.campaign.model import System
from mpicampaign.jobs.local_mpi import find_mpi, is_on_this_machine
from mpicampaign.jobs.prepare import EVIDENCE_LIBRARY, Prepared
from mpicampaign.jobs.render import build_script_text, source_script_text
from mpicampaign.jobs.software import compiler_mark, first_build_folder
from mpicampaign.run.execute import run_script
from mpicampaign.run.machine_lock import wait_for_measurement


def build(prepared: Prepared, *, verbose: bool = False) -> int:
    """Build what each system's runs need, again if its compiler has changed; returns the exit status.

    ``verbose``: the output of compilers is shown even if all goes well.
    """
    systems = prepared.plan.systems
    status = max((_build(prepared, name, verbose) for name in systems), default=0)
    return max((status, *(_build_sources(prepared, name, verbose) for name in systems)))


def build_missing(prepared: Prepared, *, verbose: bool = False) -> int:
    """Build where due runs lack something, after measurements on this machine; see `build`."""
    systems = {run.case.system for run in prepared.pending}
    needed = (path for name in systems for path in (*prepared.binaries(name), *prepared.from_source(name)))
    if all(path.exists() for path in needed):
        return 0
    if prepared.runs_here:
        wait_for_measurement(lambda line: print(line, file=sys.stderr, flush=True))
    return build(prepared, verbose=verbose)


def _build_sources(prepared: Prepared, name: str, verbose: bool) -> int:
    """Build the programs that a system's runs need from source."""
    system = prepared.campaign.systems[name]
    benchmarks = prepared.from_source(name).values()
    texts = (source_script_text(system, benchmark, verbose=verbose) for benchmark in benchmarks)
    return max(map(run_script, texts), default=0)


def _missing_tool(system: System) -> str:
    """What a build of the evidence library lacks; empty where software of the system may bring it, too."""
    if system.modules or system.source:
        return ""
    compiler = str(system.environment.get("CC") or os.environ.get("CC") or "cc").split()[0]
    return next((tool for tool in ("make", compiler) if not shutil.which(tool)), "")


def _build(prepared: Prepared, name: str, verbose: bool) -> int:
    if not prepared.binaries(name):
        return 0
    system = prepared.campaign.systems[name]
    names = [path.name for path in prepared.binaries(name)]
    if names == [EVIDENCE_LIBRARY] and (missing := _missing_tool(system)):
        lacks = f"warning: system {name}: no {missing} here, so the evidence library is not built"
        print(f"{lacks}: what carried the messages is not shown", file=sys.stderr, flush=True)
        return 0
    first = first_build_folder(system)
    first.parent.mkdir(parents=True, exist_ok=True)
    compiler = find_mpi(system).compiler if is_on_this_machine(system) else ""
    mark, kernels = compiler_mark(first), shipped("kernels")
    return run_script(build_script_text(system, compiler, first, mark, kernels, names, verbose=verbose))
