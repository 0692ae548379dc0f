"""The cases of a campaign before its results are looked at, in units that are decided together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from mpicampaign.base.expectation import UNTIL_DECIDED
from mpicampaign.base.grouping import grouped
from mpicampaign.base.identity import Declaration, identity
from mpicampaign.base.records import TO_DECIDE, WITH, Case
from mpicampaign.campaign.combinations import request_of
from mpicampaign.campaign.designs import Design, cases_of, decided_together, designs_of
from mpicampaign.campaign.each import GroupMember
from mpicampaign.campaign.model import CORES, Benchmark, Campaign, MatrixEntry, System
from mpicampaign.campaign.variants import for_ranks
from mpicampaign.jobs.declaration import declare, reading_of
from mpicampaign.jobs.inputs import Input, inputs_of
from mpicampaign.jobs.launchers import Job
from mpicampaign.jobs.local_mpi import LocalMpi
from mpicampaign.jobs.software import Program
from mpicampaign.schemes.unit import RepeatUnit, Results
from mpicampaign.suites import SUITES
from mpicampaign.suites.suite import Request


@dataclass(frozen=True, slots=True)
class Draft:
    """A case before its results are looked at.

    ``kept``: the names under which its runs are kept. ``here``: this machine makes its runs. ``program`` and
    ``libraries`` are what this machine has; ``not_available``: why it cannot run the case.
    """

    entry: MatrixEntry
    case: Case
    kept: Case
    here: bool
    job: Job
    benchmark: Benchmark
    request: Request
    inputs: tuple[Input, ...]
    declared: Declaration
    reading: Mapping[str, Any]
    identities: Identities
    program: Program
    not_available: str
    evidence_library: str
    libraries: str

    @property
    def is_made_here(self) -> bool:
        return self.here and not self.not_available

    @property
    def keeps_nodes(self) -> bool:
        return self.job.keeps_nodes

    def named(self, host_group: str) -> Draft:
        """The case under another name of its host group."""
        _, library, name = self.case.host_group.partition(WITH)
        return replace(self, case=replace(self.case, host_group=f"{host_group}{library}{name}"))

    def on(self, member: GroupMember) -> Draft:
        """The case on a member of its host group."""
        declared = {**self.declared, "host_group": member.name, "host_group.hosts": list(member.hosts)}
        return replace(
            self,
            case=member.case(self.case),
            kept=replace(self.kept, host_group=member.name),
            job=replace(self.job, group=member.group(self.job.group)),
            declared=declared,
            identities=Identities(declared),
        )


class PlanMachine(Results, Protocol):
    """What planning asks of the machine that it runs on, and of the campaign's results there."""

    def find_program(self, system: System, benchmark: Benchmark, /) -> Program: ...

    def find_mpi(self, system: System, /) -> LocalMpi: ...

    def evidence_library(self, system: System, /) -> str: ...

    def libraries(self, system: System, /) -> str: ...

    def physical_cores(self) -> int: ...


class Identities(dict[int, str]):
    """The identities of a case's repeats by their numbers."""

    def __init__(self, declared: Declaration) -> None:
        super().__init__()
        self._declared = declared

    def declared(self, repeat: int) -> dict[str, Any]:
        return {**self._declared, "repeat": repeat}

    def __missing__(self, repeat: int) -> str:
        self[repeat] = identity(self.declared(repeat))
        return self[repeat]


def units_of(
    campaign: Campaign, systems: Collection[str], machine: PlanMachine
) -> tuple[RepeatUnit[Draft], ...]:
    """All units of a campaign, in the order of its matrix."""
    names: list[str] = []  # of all designs
    units: list[RepeatUnit[Draft]] = []
    for entry in campaign.matrix:
        drafts = [_draft(campaign, entry, case, systems, machine) for case in cases_of(campaign, entry)]
        designs = designs_of(campaign, entry, names)
        names += [design.name for design in designs]
        units += _units_of_entry(campaign, entry, drafts, designs)
    return tuple(units)


def _units_of_entry(
    campaign: Campaign, entry: MatrixEntry, drafts: list[Draft], designs: list[Design]
) -> Iterator[RepeatUnit[Draft]]:
    if entry.each:
        alike = grouped(drafts, lambda draft: (draft.case.host_group, draft.case.placement))
        yield from (RepeatUnit(campaign, entry, tuple(benchmarks)) for benchmarks in alike.values())
        return
    for design in designs:
        cases = {case for several in design.candidates.values() for case in several}
        together = tuple(draft for draft in drafts if draft.case in cases)
        decided_with = design.name if design.compared == TO_DECIDE else ""
        yield RepeatUnit(campaign, entry, together, design, decided_with)
    if entry.repeats == UNTIL_DECIDED and not designs:
        of_case = {draft.case: draft for draft in drafts}
        for alike_cases in decided_together(campaign, entry):
            together = tuple(of_case[case] for case in alike_cases)
            yield RepeatUnit(campaign, entry, together, decided_with=str(alike_cases[0]))
    elif not designs:
        yield from (RepeatUnit(campaign, entry, (draft,)) for draft in drafts)


def _draft(
    campaign: Campaign, entry: MatrixEntry, case: Case, systems: Collection[str], machine: PlanMachine
) -> Draft:
    job = _job(campaign, case, machine)
    benchmark = for_ranks(campaign.benchmarks[case.benchmark], job.placement, job.ranks_per_node)
    request = request_of(
        benchmark, job.placement, job.group, job.system, job.ranks_per_node, entry.time_limit
    )
    inputs, kept_case, here = (
        inputs_of(benchmark, request),
        kept_names(campaign, case),
        case.system in systems,
    )
    declared, reading = declare(kept_case, job, benchmark, inputs), reading_of(benchmark)
    mpi = machine.find_mpi(job.system) if here else LocalMpi(job.system.mpi.command)
    looked = here and not mpi.not_available
    program = machine.find_program(job.system, benchmark) if looked else Program("")
    reasons = SUITES[benchmark.suite].lacks(request), mpi.not_available, program.not_available
    not_available = next(filter(None, reasons), "") if here else ""
    made_here = here and not not_available
    return Draft(
        entry,
        case,
        kept_case,
        here,
        replace(job, system=replace(job.system, mpi=replace(job.system.mpi, command=mpi.command))),
        benchmark,
        request,
        inputs,
        declared,
        reading,
        Identities(declared),
        program,
        not_available,
        machine.evidence_library(job.system) if made_here and job.system.evidence else "",
        machine.libraries(job.system) if made_here else "",
    )


def kept_names(campaign: Campaign, case: Case) -> Case:
    """The names under which the runs of a case are kept."""
    definitions = (
        campaign.systems[case.system],
        campaign.host_groups[case.host_group],
        campaign.placements[case.placement],
        campaign.benchmarks[case.benchmark],
    )
    return Case(*(item.kept_as or item.name for item in definitions))


def _job(campaign: Campaign, case: Case, machine: PlanMachine) -> Job:
    group, placement = campaign.host_groups[case.host_group], campaign.placements[case.placement]
    per_node = placement.ranks_per_node
    if per_node == CORES:
        cores = group.cores if group.cores is not None else machine.physical_cores()
        per_node = max(cores // (placement.threads or 1), 1)
    return Job(campaign.systems[case.system], group, placement, int(per_node))


def oversubscribed(job: Job) -> str:
    """How many ranks of a node share how many cores; empty where they need not, or the cores are unknown."""
    ranks, cores = job.ranks_per_node, job.group.cores
    threads = job.placement.threads or 1
    of_each = f" of {threads} threads" if threads > 1 else ""
    shared = cores is not None and ranks * threads > cores
    return f"{ranks} ranks{of_each} on {cores} cores of a node" if shared else ""
