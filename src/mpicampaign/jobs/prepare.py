"""From a campaign file to rendered scripts, for the Snakefile and the command line alike."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path

from mpicampaign.base.background import MANY, on_cores
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import OTHERS_WRITE, locked, naming, same_text, text_or_nothing, write_whole
from mpicampaign.base.grouping import grouped
from mpicampaign.base.identity import run_path
from mpicampaign.base.places import results_folder
from mpicampaign.base.plan_file import FILE, campaign_file_in, plan_json
from mpicampaign.base.planned_looks import note_looks
from mpicampaign.base.records import Case, defined_name
from mpicampaign.base.selection import ALL_RUNS, RunSelection
from mpicampaign.base.this_machine import physical_cores
from mpicampaign.base.yaml_lines import printable
from mpicampaign.campaign.file import load_campaign
from mpicampaign.campaign.model import Benchmark, Campaign, System
from mpicampaign.jobs import software
from mpicampaign.jobs.claim import claim_text
from mpicampaign.jobs.drafts import Draft, PlanMachine, units_of
from mpicampaign.jobs.inputs import keep
from mpicampaign.jobs.local_mpi import find_mpi
from mpicampaign.jobs.plan import Plan, check_cap, choose_systems, make_plan, plan_of, selected_plan, shuffled
from mpicampaign.jobs.plan_text import no_runs_text, sources_text
from mpicampaign.jobs.planned import runs_due
from mpicampaign.jobs.render import library_name, library_text, script_text
from mpicampaign.jobs.run import Run
from mpicampaign.jobs.texts import TextOfRepeats
from mpicampaign.schemes.unit import RepeatUnit, Results

EVIDENCE_LIBRARY = "evidence.so"
_CHECKSUMS = os.urandom(16).hex()  # stands in for them in a claim


@dataclass(frozen=True)
class ThisMachine(Results):
    """This machine, with the folder of a campaign whose results are not read."""

    folder: Path

    find_program = staticmethod(software.find_program)
    find_mpi = staticmethod(find_mpi)
    libraries = staticmethod(software.libraries)
    physical_cores = staticmethod(physical_cores)

    def evidence_library(self, system: System) -> str:
        """The path of a system's evidence library, once it is built."""
        return str(software.build_folder(system) / EVIDENCE_LIBRARY)

    def begun(self, case: Case, repeat: int, identity: str) -> bool:
        return self.run_folder(case, repeat, identity).exists()

    def run_folder(self, case: Case, repeat: int, identity: str) -> Path:
        return self.folder / run_path(case, repeat, identity)


@dataclass(frozen=True)
class Prepared:
    """A campaign, its plan for the systems that this machine belongs to, and the scripts.

    ``selection``: the runs that this call is about; the plan always has all of them. ``units``: what is
    decided together; ``so_far``: the results that decide it.
    """

    campaign: Campaign
    plan: Plan
    results: Path
    selection: RunSelection = ALL_RUNS
    units: tuple[RepeatUnit[Draft], ...] = ()
    so_far: Results | None = None

    @property
    def folder(self) -> Path:
        return self.results / self.campaign.name

    @property
    def runs_here(self) -> bool:
        """Whether any runs are made on this machine, without a scheduler."""
        return any(self.campaign.systems[name].local for name in self.plan.systems)

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs of the plan."""
        return self.plan.runs

    @cached_property
    def _unit_of(self) -> dict[Case, RepeatUnit[Draft]]:
        return {draft.case: unit for unit in self.units for draft in unit.candidates}

    def unit_of(self, run: Run) -> RepeatUnit[Draft]:
        """What is decided together with a run: its case, the candidates beside it, or its host group."""
        return self._unit_of[run.draft.planned]

    def due_beside(self, run: Run, tried: Collection[str] = ()) -> list[Run]:
        """The runs of its unit that are due by the results now, in the order of the plan.

        ``tried``: identities of runs that are left out. Further repeats for the states of the machine follow
        from all cases, and are not among them.
        """
        if self.so_far is None:
            return []
        unit = self.unit_of(run).part_of(run.case)
        new = runs_due(unit, self.so_far, tried)
        if new and self.campaign.node_hours_cap is not None:  # only the whole plan knows which it leaves out
            allowed = {run.identity for run in self.planned_again().plan.runs}
            new = [run for run in new if run.identity in allowed]
        selected = (run for run in new if self.selection.takes(run.case, run.repeat))
        due = (run for run in selected if not run.closed and not run.has_result)
        return list(shuffled(due, self.campaign.seed))

    def planned_again(self) -> Prepared:
        """The campaign, planned by the results now; its file is not read again."""
        if self.so_far is None:
            return self
        plan = plan_of(self.campaign, self.plan.systems, self.units, self.so_far)
        return replace(self, plan=replace(plan, campaign_file=self.plan.campaign_file))

    @cached_property
    def selected(self) -> tuple[Run, ...]:
        """The runs that this call is about."""
        if not self.selection:
            return self.runs
        return tuple(run for run in self.runs if self.selection.takes(run.case, run.repeat))

    @property
    def pending(self) -> tuple[Run, ...]:
        """The selected runs without a result that are to be made."""
        begun = (self.folder / "runs").exists()
        return tuple(run for run in self.selected if not run.closed and not (begun and run.has_result))

    @property
    def wanted(self) -> tuple[Run, ...]:
        """The selected runs that have a result or are to be made."""
        return tuple(run for run in self.selected if not run.closed)

    @property
    def one_repeat(self) -> tuple[Run, ...]:
        """Of each case the first run without a result, of a design the first block: what a tick adds."""
        due = grouped(self.pending, lambda run: run.block or run.case).values()
        first = (min(run.repeat for run in runs) for runs in due)
        runs = [run for runs, repeat in zip(due, first, strict=True) for run in runs if run.repeat == repeat]
        return tuple(sorted(runs, key=lambda run: run.place))

    def binaries(self, system: str) -> list[Path]:
        """What a system's selected runs need built: the evidence library and bundled kernels."""
        runs = [run for run in self.selected if run.case.system == system]
        bundled = {run.benchmark.program for run in runs if run.benchmark.provider.kind == "bundled"}
        libraries = {EVIDENCE_LIBRARY for run in runs if run.draft.evidence_library}
        folder = software.build_folder(self.campaign.systems[system])
        return [folder / name for name in (*sorted(libraries), *sorted(bundled))]

    def from_source(self, system: str) -> dict[Path, Benchmark]:
        """The programs that a system's selected runs need built from source, each with its benchmark."""
        runs = [run for run in self.selected if run.case.system == system]
        programs = self.campaign.systems[system].programs  # take precedence over the provider
        sources = [run for run in runs if run.benchmark.provider.kind == "source"]
        sources = [run for run in sources if run.benchmark.program not in programs]
        return {Path(run.draft.program.command): run.benchmark for run in sources}


def prepare(
    campaign_file: Path,
    system: str = "",
    results: Path | None = None,
    machine: Callable[[Path], PlanMachine] = ThisMachine,
) -> Prepared:
    """Load, check and plan a campaign; nothing is written.

    ``machine``: this one, with the results in the campaign's folder as far as planning needs them.

    Raises
    ------
    UserError
        with all errors in the campaign file, when the plan exceeds its cap, or when the results of this name
        belong to another campaign file.
    """
    campaign = load_campaign(campaign_file)
    folder = (results or results_folder()) / campaign.name
    named = any(known.login_hosts for known in campaign.systems.values())
    chosen = choose_systems(campaign, host_names() if named else (), system)

    file = os.path.relpath(campaign.file, folder) if campaign.file else ""
    here = machine(folder)
    units = units_of(campaign, chosen, here)
    plan = replace(plan_of(campaign, chosen, units, here), campaign_file=file)
    check_cap(plan, campaign)
    check_campaign_file(campaign, folder)
    return Prepared(campaign, plan, folder.parent, units=units, so_far=here)


def check_caps(campaign: Campaign) -> None:
    """Refuse a campaign that exceeds its cap on any of its systems, wherever this machine is.

    Raises
    ------
    UserError
        as planning does on that system.
    """
    machine = ThisMachine(results_folder() / campaign.name)
    for systems in grouped(campaign.systems, defined_name).values():
        check_cap(make_plan(campaign, systems, machine), campaign)


def check_runs(prepared: Prepared) -> None:
    """Refuse a campaign, or a selection of it, of which this machine can make no run, or parts of blocks.

    Raises
    ------
    UserError
        with the reason.
    """
    if not prepared.selected:
        plan = selected_plan(prepared.plan, prepared.selection)
        here = "give --system NAME, or call report for the results of other machines"
        if any(planned.absent and planned.case.system in plan.systems for planned in plan.cases):
            here = "put the program there, or give its path: provider: {kind: path, location: FILE}"
        hint = "; ".join([here, *sources_text(plan)])
        raise UserError(Problem(no_runs_text(plan, host_names()[0]), prepared.campaign.file, hint=hint))
    in_parts = [run for run in prepared.pending if run.part and not run.job.keeps_nodes]
    chosen = {run.folder for run in prepared.selected} if in_parts else set()
    for run in in_parts:
        if not chosen.issuperset(prepared.folder / folder for folder in run.part):
            message = f"some candidates of a block would be measured without the others: {run.block}"
            hint = "select by host group, benchmark or repeat, not by placement or MPI library"
            raise UserError(Problem(message, prepared.campaign.file, hint=hint))


def check_campaign_file(campaign: Campaign, folder: Path) -> None:
    """Refuse a second campaign file with the name, and so the results folder, of another one.

    Raises
    ------
    UserError
        naming the file whose results are in ``folder``.
    """
    name = campaign_file_in(folder / FILE)
    if name is None:
        return
    first, this = folder / name, Path(campaign.file)
    try:
        if first.samefile(this) or first.read_bytes() == this.read_bytes():
            return
        theirs = load_campaign(first).name
    except (OSError, UserError):
        return  # moved or renamed since
    if theirs == campaign.name:
        message = (
            f"results/{theirs} holds the results of another campaign file of this name: {first.resolve()}"
        )
        hint = "give this campaign another name, or remove the other file"
        raise UserError(Problem(message, printable(str(this)), key="campaign", value=theirs, hint=hint))


@cache
def host_names() -> tuple[str, ...]:
    """This machine's names, which patterns of login_hosts match; a name server may be asked."""
    import socket  # takes 3 ms, and most calls need no names

    return tuple(dict.fromkeys([socket.gethostname(), socket.getfqdn()]))


@contextmanager
def lock_campaign(prepared: Prepared) -> Iterator[None]:
    """Keep other calls away from this campaign.

    Raises
    ------
    BusyError
        when another call is running the campaign, with its process id.
    """
    prepared.folder.mkdir(parents=True, exist_ok=True)
    lock = prepared.folder / "lock"
    owner = text_or_nothing(lock).strip() or "unknown"
    message = f"campaign {prepared.campaign.name} is being run by another call (process {owner})"
    with locked(lock, Problem(message, hint="wait for it, or stop it")):
        with naming(lock):
            lock.write_text(f"{os.getpid()} on {os.uname().nodename}\n", encoding="utf-8")
        yield


def write_scripts(prepared: Prepared) -> None:
    """Write the job scripts of all selected runs without a result, their claims, the library and the plan.

    A script edited by hand is restored, unless it has a result: then the verdict shows the change.
    """
    for folder in ("lib/checksums", "logs"):
        (prepared.folder / folder).mkdir(parents=True, exist_ok=True)
    _write(prepared.folder / "lib" / library_name(), library_text())
    note_looks(prepared.folder, prepared.plan)
    write_scripts_of(prepared.pending)
    write_plan(prepared)


def write_scripts_of(runs: Sequence[Run]) -> None:
    """Write the job scripts of these runs, and their claims."""
    for _ in on_cores(_write_each, runs, len(runs) >= MANY):
        pass


def _write_each(runs: Sequence[Run], inline: bool = False) -> None:
    script_of = TextOfRepeats(partial(script_text, inline=inline))
    claim_of = TextOfRepeats(partial(claim_text, scripts=[_CHECKSUMS]))
    for run in runs:
        run.folder.mkdir(parents=True, exist_ok=True)
        for file in run.draft.inputs:
            keep(file, run.campaign_folder)
        script = script_of(run)
        checksums = dict.fromkeys([*_checksums(run.claim), hashlib.sha256(script.encode()).hexdigest()])
        _write(run.claim, claim_of(run).replace(_CHECKSUMS, " ".join(checksums)))
        _write(run.path, script)


def _checksums(claim: Path) -> list[str]:
    """The checksums of the run's earlier scripts."""
    lines = text_or_nothing(claim).splitlines()
    return next((line.partition("=")[2].split() for line in lines if line.startswith("claim scripts=")), [])


def _write(path: Path, text: str) -> None:
    if not same_text(path, text) or path.stat().st_mode & OTHERS_WRITE:
        write_whole(path, text)


def write_inline(prepared: Prepared) -> None:
    """Write the scripts of all selected runs without a result, each with the library in it."""
    write_scripts(prepared)
    _write_each(prepared.pending, inline=True)


def write_plan(prepared: Prepared) -> None:
    """Write plan.json, which tells the analysis what to expect."""
    prepared.folder.mkdir(parents=True, exist_ok=True)
    _write(prepared.folder / FILE, plan_json(prepared.plan))
