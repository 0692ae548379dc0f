"""The cases of a campaign before its results are looked at, in units that are decided together."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mpicampaign.base.expectation import UNTIL_DECIDED
from mpicampaign.base.grouping import grouped
from mpicampaign.base.identity import Declaration, canonical, canonical_but_for, identity_of
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

TOKEN_LENGTH = 6


class Draft(NamedTuple):
    """A case before its results are looked at; a tuple, as of many thousand members copies are quick.

    ``kept``: the names under which its runs are kept. ``here``: this machine makes its runs. ``program`` and
    ``libraries`` (build-ids) are what this machine has; ``not_available``: why it cannot run the case.
    ``campaign_folder``: below it are the files of all runs. ``token``: of that folder, in the names of jobs.
    ``planned``: the case in the campaign file; ``whole``: of a member, the case of its host group.
    """

    campaign: str
    entry: MatrixEntry
    case: Case
    kept: Case
    here: bool
    job: Job
    benchmark: Benchmark
    request: Request
    inputs: tuple[Input, ...]
    reading: Mapping[str, Any]
    identities: Identities
    program: Program
    not_available: str
    evidence_library: str
    libraries: str
    campaign_folder: Path
    token: str
    planned: Case
    whole: Case | None = None

    @property
    def is_made_here(self) -> bool:
        return self.here and not self.not_available

    @property
    def keeps_nodes(self) -> bool:
        return self.job.keeps_nodes

    def named(self, host_group: str) -> Draft:
        """The case under another name of its host group."""
        _, library, name = self.case.host_group.partition(WITH)
        return self._replace(case=replace(self.case, host_group=f"{host_group}{library}{name}"))

    def on(self, member: GroupMember) -> Draft:
        """The case on a member of its host group: ``milan n001 with openmpi5``."""
        job, case, kept_case, own_name = self.job, self.case, self.kept, member.name
        group, library, name = case.host_group.partition(WITH)
        of_member = f"{group} {own_name}{library}{name}"
        return self._replace(
            case=Case(case.system, of_member, case.placement, case.benchmark),
            kept=Case(kept_case.system, own_name, kept_case.placement, kept_case.benchmark),
            job=Job(job.system, job.group, job.placement, job.ranks_per_node, member.hosts),
            identities=self.identities.on(member),
            whole=self.case,
        )


def token_of(campaign_folder: Path) -> str:
    """Identifies a campaign's folder, so that clones of one user never take each other's jobs.

    It changes when the folder is moved, as jobs in the queue write to the old place.
    """
    return hashlib.sha256(os.fsencode(campaign_folder.resolve())).hexdigest()[:TOKEN_LENGTH]


class PlanMachine(Results, Protocol):
    """What planning asks of the machine that it runs on, and of the campaign's results there."""

    @property
    def folder(self) -> Path: ...

    def find_program(self, system: System, benchmark: Benchmark, /) -> Program: ...

    def find_mpi(self, system: System, /) -> LocalMpi: ...

    def evidence_library(self, system: System, /) -> str: ...

    def libraries(self, system: System, /) -> str: ...

    def physical_cores(self) -> int: ...


class Identities(dict[int, str]):
    """The identities of a case's repeats by their numbers; ``member``: of its host group, if it is of one.

    ``texts``: canonical ones of the case, but for what differs among its repeats, and among its members.
    """

    __slots__ = ("_declared", "_member", "_texts")

    def __init__(
        self, declared: Declaration, texts: Sequence[str], member: GroupMember | None = None
    ) -> None:
        super().__init__()
        self._declared, self._texts, self._member = declared, texts, member

    @classmethod
    def of_case(cls, declared: Declaration) -> Identities:
        keys = ("repeat",), ("host_group", "host_group.hosts", "repeat")
        return cls(declared, [canonical_but_for(declared, *several) for several in keys])

    def on(self, member: GroupMember) -> Identities:
        """Those of a member of the case's host group."""
        return Identities(self._declared, self._texts[1:], member)

    @property
    def declared(self) -> dict[str, Any]:
        if (member := self._member) is None:
            return {**self._declared}
        return {**self._declared, "host_group": member.name, "host_group.hosts": list(member.hosts)}

    def __missing__(self, repeat: int) -> str:
        member = self._member
        of_member = (canonical(member.name), f"[{','.join(map(canonical, member.hosts))}]") if member else ()
        self[repeat] = identity_of(self._texts[0] % (*of_member, repeat))
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
    inputs, kept_case = inputs_of(benchmark, request), kept_names(campaign, case)
    here = case.system in systems
    declared, reading = declare(kept_case, job, benchmark, inputs), reading_of(benchmark)
    mpi = machine.find_mpi(job.system) if here else LocalMpi(job.system.mpi.command)
    looked = here and not mpi.not_available
    program = machine.find_program(job.system, benchmark) if looked else Program("")
    reasons = SUITES[benchmark.suite].lacks(request), mpi.not_available, program.not_available
    not_available = next(filter(None, reasons), "") if here else ""
    made_here = here and not not_available
    return Draft(
        campaign.name,
        entry,
        case,
        kept_case,
        here,
        replace(job, system=replace(job.system, mpi=replace(job.system.mpi, command=mpi.command))),
        benchmark,
        request,
        inputs,
        reading,
        Identities.of_case(declared),
        program,
        not_available,
        machine.evidence_library(job.system) if made_here and job.system.evidence else "",
        machine.libraries(job.system) if made_here else "",
        machine.folder,
        token_of(machine.folder),
        case,
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
    return Job(campaign.systems[case.system], group, placement, int(per_node), group.hosts)


def oversubscribed(job: Job) -> str:
    """How many ranks of a node share how many cores; empty where they need not, or the cores are unknown."""
    ranks, cores = job.ranks_per_node, job.group.cores
    threads = job.placement.threads or 1
    of_each = f" of {threads} threads" if threads > 1 else ""
    shared = cores is not None and ranks * threads > cores
    return f"{ranks} ranks{of_each} on {cores} cores of a node" if shared else ""
