"""From a campaign to its runs: pure, and computed each time the Snakefile is read."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from mpicampaign.campaign.model import CORES
from mpicampaign.errors import Problem, UserError
from mpicampaign.jobs.launchers import Job
from mpicampaign.records import Case

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.campaign.model import Benchmark, Campaign, HostGroup, MatrixEntry, System
    from mpicampaign.jobs.software import Program

FORMAT = "mpicampaign-plan"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Run:
    """One repeat of a case: one job script, one job, one raw output. ``order`` is its place in the plan."""

    campaign: str
    case: Case
    repeat: int
    order: int
    job: Job
    benchmark: Benchmark
    time_limit: int
    program: str
    program_sha256: str
    evidence_library: str
    recipe: str = ""


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A case of the campaign, on this system or another; with the reason where it can't be run.

    ``recipe``: a hash of what the campaign file says of the case. It holds nothing of a machine, unlike
    the script's hash, so that it tells results of another system from those of an older campaign file.
    ``line_rate``: the physical bound of the link between the nodes (B/s, one direction).
    """

    case: Case
    suite: str
    repeats: int
    not_available: str = ""
    recipe: str = ""
    line_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of one system in the order in which they are executed, and the cases of all systems."""

    campaign: str
    system: str
    seed: int
    runs: tuple[Run, ...]
    cases: tuple[PlannedCase, ...]

    @property
    def node_seconds(self) -> float:
        """The most that the runs may take: every run up to its time limit."""
        return sum(run.job.placement.nodes * run.time_limit for run in self.runs)


@dataclass(frozen=True, slots=True)
class Machine:
    """What planning asks of the machine that it is done on."""

    find_program: Callable[[System, Benchmark], Program]
    evidence_library: Callable[[System], str]
    physical_cores: Callable[[], int]


def choose_system(campaign: Campaign, host_names: list[str], wanted: str = "") -> str:
    """The system that this machine belongs to; empty where the campaign has none for it.

    Raises
    ------
    UserError
        when ``wanted`` is no system of the campaign, or several systems claim this machine.
    """
    if wanted:
        if wanted not in campaign.systems:
            known = ", ".join(campaign.systems)
            raise UserError(Problem(f"no system {wanted!r}; known: {known}", campaign.file, key="systems"))
        return wanted
    if len(campaign.systems) == 1:
        only = next(iter(campaign.systems.values()))
        return only.name if not only.login_hosts or _matches(only, host_names) else ""
    found = [name for name, system in campaign.systems.items() if _matches(system, host_names)]
    if len(found) > 1:
        message = f"this machine ({host_names[0]}) matches login_hosts of several systems: {', '.join(found)}"
        raise UserError(Problem(message, campaign.file, key="systems", hint="choose one with --system NAME"))
    return found[0] if found else ""


def _matches(system: System, host_names: list[str]) -> bool:
    return any(fnmatch(host, pattern) for host in host_names for pattern in system.login_hosts)


def make_plan(campaign: Campaign, system: str, machine: Machine) -> Plan:
    """The plan for one system; its runs are shuffled with the campaign's seed.

    Each repeat of all cases is a block of its own, shuffled inside, so that a drift of the machine
    meets all cases alike and an interrupted campaign still has whole blocks (randomised complete
    blocks).
    """
    cases, runs = [], []
    for entry in campaign.matrix:
        for case in _cases(campaign, entry):
            planned, template = _plan_case(campaign, entry, case, system, machine)
            cases.append(planned)
            if template:
                runs += [replace(template, repeat=repeat) for repeat in range(1, entry.repeats + 1)]
    return Plan(campaign.name, system, campaign.seed, _shuffled(runs, campaign.seed), tuple(cases))


def _cases(campaign: Campaign, entry: MatrixEntry) -> list[Case]:
    return [
        Case(campaign.host_groups[group].system, group, placement, benchmark)
        for group in entry.host_groups
        for placement in entry.placements
        for benchmark in entry.benchmarks
    ]


def _plan_case(
    campaign: Campaign, entry: MatrixEntry, case: Case, system: str, machine: Machine
) -> tuple[PlannedCase, Run | None]:
    benchmark = campaign.benchmarks[case.benchmark]
    recipe = _recipe(campaign, entry, case)
    group, placement = campaign.host_groups[case.host_group], campaign.placements[case.placement]
    line_rate = Job(campaign.systems[case.system], group, placement, 1).line_rate
    planned = PlannedCase(case, benchmark.suite, entry.repeats, recipe=recipe, line_rate=line_rate)
    if case.system != system:
        return planned, None
    program = machine.find_program(campaign.systems[system], benchmark)
    if program.not_available:
        return replace(planned, not_available=program.not_available), None
    job = _job(campaign, case, machine)
    library = machine.evidence_library(job.system)
    details = (benchmark, entry.time_limit, program.command, program.sha256, library, recipe)
    return planned, Run(campaign.name, case, 0, 0, job, *details)


def _recipe(campaign: Campaign, entry: MatrixEntry, case: Case) -> str:
    system = replace(campaign.systems[case.system], login_hosts=(), programs={})
    placement = replace(campaign.placements[case.placement], description="")
    benchmark = replace(campaign.benchmarks[case.benchmark], figure_sizes=())
    group = campaign.host_groups[case.host_group]
    # what results are held against decides nothing about how they are made
    fabrics = {name: replace(each, bytes_per_second=None) for name, each in group.fabrics.items()}
    group = replace(group, fabrics=fabrics)
    text = repr((campaign.name, system, group, placement, benchmark, entry.time_limit))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _job(campaign: Campaign, case: Case, machine: Machine) -> Job:
    group, placement = campaign.host_groups[case.host_group], campaign.placements[case.placement]
    per_node = placement.ranks_per_node
    count = _cores(group, machine) if per_node == CORES else int(per_node)
    return Job(campaign.systems[case.system], group, placement, count)


def _cores(group: HostGroup, machine: Machine) -> int:
    return group.cores if group.cores is not None else machine.physical_cores()


def _shuffled(runs: list[Run], seed: int) -> tuple[Run, ...]:
    generator = random.Random(seed)
    blocks: dict[int, list[Run]] = {}
    for run in runs:
        blocks.setdefault(run.repeat, []).append(run)
    ordered: list[Run] = []
    for repeat in sorted(blocks):
        generator.shuffle(blocks[repeat])
        ordered += blocks[repeat]
    return tuple(replace(run, order=order) for order, run in enumerate(ordered, start=1))


def check_cap(plan: Plan, cap: float | None, file: str) -> None:
    """Refuse a plan that may take more node-hours than its campaign allows.

    Raises
    ------
    UserError
        naming both figures.
    """
    hours = plan.node_seconds / 3600
    if cap is not None and hours > cap:
        message = f"the plan may take {hours:.2f} node-hours, the campaign allows {cap:g}"
        hint = "raise node_hours_cap, or lower repeats or time_limit"
        raise UserError(Problem(message, file, key="node_hours_cap", value=f"{cap:g}", hint=hint))


def plan_to_json(plan: Plan, folders: dict[int, str]) -> dict[str, Any]:
    """The plan as the analysis reads it; ``folders`` maps a run's order to its folder."""
    runs: dict[Case, list[dict[str, Any]]] = {}
    for run in plan.runs:
        entry = {"repeat": run.repeat, "order": run.order, "folder": folders[run.order]}
        runs.setdefault(run.case, []).append(entry)
    cases = [
        {
            "system": planned.case.system,
            "host_group": planned.case.host_group,
            "placement": planned.case.placement,
            "benchmark": planned.case.benchmark,
            "suite": planned.suite,
            "repeats": planned.repeats,
            "not_available": planned.not_available,
            "recipe": planned.recipe,
            "line_rate": planned.line_rate,
            "runs": sorted(runs.get(planned.case, []), key=lambda entry: entry["repeat"]),
        }
        for planned in plan.cases
    ]
    header = {"format": FORMAT, "version": VERSION, "campaign": plan.campaign, "system": plan.system}
    return {**header, "seed": plan.seed, "cases": cases}
