"""From a campaign file to rendered scripts, for the Snakefile and the command line alike."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from mpicampaign.campaign.file import load_campaign
from mpicampaign.errors import Problem, UserError
from mpicampaign.files import same_text, write_whole
from mpicampaign.jobs.plan import Machine, Plan, Run, check_cap, choose_system, make_plan, plan_to_json
from mpicampaign.jobs.render import job_name, measuring_lock, run_folder, script_text
from mpicampaign.jobs.software import RESULTS, build_folder, find_program, physical_cores

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Campaign, System

EVIDENCE_LIBRARY = "evidence.so"


@dataclass(frozen=True, slots=True)
class Script:
    """A rendered run: its job script and the folder where the script and all that it leaves lie."""

    run: Run
    text: str
    script_hash: str
    folder: Path
    campaign_folder: Path

    @property
    def measuring_lock(self) -> Path:
        """The file by which the job scripts of this machine measure one after the other."""
        return measuring_lock(self.campaign_folder)

    @property
    def submitting_lock(self) -> Path:
        """The file that is locked while a job of the campaign is being submitted."""
        return self.campaign_folder / "submitting.lock"

    @property
    def path(self) -> Path:
        return self.folder / "job.sh"

    @property
    def output(self) -> Path:
        """The raw output; it is there if and only if the run succeeded with this very script."""
        return self.folder / "result" / "output.txt"

    @property
    def job_name(self) -> str:
        """The name of the run's job in the queue; no other run has it."""
        return job_name(self.run.case.benchmark, self.script_hash)

    @property
    def label(self) -> str:
        """How the run is named to people."""
        case = self.run.case
        return f"{case.host_group} {case.placement} {case.benchmark} r{self.run.repeat:02d}"


@dataclass(frozen=True)
class Prepared:
    """A campaign, its plan for the system that this machine belongs to, and the scripts."""

    campaign: Campaign
    plan: Plan
    results: Path = RESULTS

    @property
    def folder(self) -> Path:
        return self.results / self.campaign.name

    @property
    def measuring_lock(self) -> Path:
        """The file by which the job scripts of this machine measure one after the other."""
        return measuring_lock(self.folder)

    @property
    def runs_here(self) -> bool:
        """Whether the runs are made on this very machine, not by a scheduler."""
        return bool(self.plan.runs) and self.plan.runs[0].job.system.scheduler == "none"

    @cached_property
    def scripts(self) -> tuple[Script, ...]:
        found = []
        for run in self.plan.runs:
            text, digest = script_text(run, self.folder)
            folder = run_folder(run, self.folder, digest)
            found.append(Script(run, text, digest, folder, self.folder))
        return tuple(found)

    @property
    def pending(self) -> tuple[Script, ...]:
        """The scripts whose result is not there."""
        return tuple(script for script in self.scripts if not script.output.exists())

    @property
    def binaries(self) -> list[Path]:
        """What has to be built for this system's runs: the evidence library and bundled kernels."""
        if not self.plan.runs:
            return []
        bundled = [r.benchmark.program for r in self.plan.runs if r.benchmark.provider.kind == "bundled"]
        folder = build_folder(self.campaign.systems[self.plan.system])
        return [folder / name for name in (EVIDENCE_LIBRARY, *sorted(set(bundled)))]


def prepare(campaign_file: Path, system: str = "", results: Path = RESULTS) -> Prepared:
    """Load, check and plan a campaign; nothing is written.

    Raises
    ------
    UserError
        with every mistake that the campaign file holds, or when the plan exceeds its cap.
    """
    campaign = load_campaign(campaign_file)
    chosen = choose_system(campaign, host_names(), system)
    plan = make_plan(campaign, chosen, Machine(find_program, evidence_library, physical_cores))
    check_cap(plan, campaign.node_hours_cap, campaign.file)
    return Prepared(campaign, plan, results)


def evidence_library(system: System) -> str:
    """Where the evidence library of a system is built."""
    return str(build_folder(system) / EVIDENCE_LIBRARY)


def host_names() -> list[str]:
    """This machine's names, as login_hosts patterns are held against them."""
    return list(dict.fromkeys([socket.gethostname(), socket.getfqdn()]))


def lock_campaign(prepared: Prepared) -> TextIO:
    """Keep other calls away from this campaign until the returned file is closed or this process ends.

    Raises
    ------
    UserError
        when another call is running the campaign, with its process id.
    """
    prepared.folder.mkdir(parents=True, exist_ok=True)
    lock = (prepared.folder / "lock").open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        owner = lock.read().strip() or "unknown"
        lock.close()
        message = f"campaign {prepared.campaign.name} is being run by another call (process {owner})"
        raise UserError(Problem(message, hint="wait for it, or stop it")) from None
    lock.truncate(0)
    lock.write(f"{os.getpid()} on {socket.gethostname()}\n")
    lock.flush()
    return lock


def write_scripts(prepared: Prepared) -> None:
    """Write all job scripts and the plan.

    A script that was edited by hand is restored, unless it has a result: that one's verdict tells.
    """
    for script in prepared.scripts:
        if script.output.exists() or same_text(script.path, script.text):
            continue
        script.folder.mkdir(parents=True, exist_ok=True)
        write_whole(script.path, script.text)
    write_plan(prepared)


def write_plan(prepared: Prepared) -> None:
    """Write plan.json, from which the analysis knows what was to be run."""
    folders = {s.run.order: str(s.folder.relative_to(prepared.folder)) for s in prepared.scripts}
    prepared.folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plan_to_json(prepared.plan, folders), indent=1, ensure_ascii=False) + "\n"
    if not same_text(prepared.folder / "plan.json", text):
        write_whole(prepared.folder / "plan.json", text)
