"""From a campaign to its runs: pure, and computed whenever the Snakefile is read."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from mpicampaign import plan_file
from mpicampaign.campaign.combinations import request_of
from mpicampaign.campaign.designs import cases_of, designs_of
from mpicampaign.campaign.each import Member, hosts_of, screen
from mpicampaign.campaign.model import CORES
from mpicampaign.campaign.variants import for_ranks
from mpicampaign.errors import Problem, UserError
from mpicampaign.expectation import LOOKS, REPEAT_STAGES, UNTIL_KNOWN
from mpicampaign.grouping import grouped
from mpicampaign.host_lists import is_member
from mpicampaign.identity import identity, run_path
from mpicampaign.jobs.blocks import DesignState, PartOfBlock, keeps_nodes
from mpicampaign.jobs.declaration import declare, reading_of
from mpicampaign.jobs.further import (
    AGAIN,
    LEFT,
    WHOLE,
    Racer,
    Repeated,
    Repeats,
    Stage,
    limit_in_states,
    limit_of,
    repeats_of,
    until_known,
)
from mpicampaign.jobs.inputs import inputs_of
from mpicampaign.jobs.launchers import Job
from mpicampaign.jobs.local_mpi import LocalMpi
from mpicampaign.jobs.rounds import Rounds
from mpicampaign.jobs.run import Run
from mpicampaign.jobs.software import Program
from mpicampaign.plan_file import RunEntry
from mpicampaign.records import RACE_WITHIN, RANKED, WITH, Case, defined_name
from mpicampaign.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mpicampaign.campaign.designs import Design
    from mpicampaign.campaign.model import Benchmark, Campaign, Each, HostGroup, MatrixEntry, System
    from mpicampaign.identity import Declaration
    from mpicampaign.jobs.blocks import Made
    from mpicampaign.jobs.further import Again, RacerOf
    from mpicampaign.jobs.inputs import Input
    from mpicampaign.selection import RunSelection
    from mpicampaign.suites.suite import Request


REPEATS_AGAIN = 1000  # more than a member has rounds: those of a node that is measured again come behind them


@dataclass(frozen=True, slots=True)
class PlannedCase(plan_file.CaseEntry):
    """A case of the campaign, on any system; ``runs`` have all that is known of them if they are made here.

    ``absent``: why its program is not on this machine, one of the reasons of ``not_available``. ``addable``:
    how many more runs there may be, by the campaign. ``disturbed``: for how many runs further ones stand in.
    ``lost``: of how many repeats the block was left. ``warnings``: what the runs may suffer from.
    """

    absent: str = ""
    addable: int = 0
    disturbed: int = 0
    lost: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def further(self) -> int:
        """How many further repeats there are."""
        return len(self.runs) - self.repeats


@dataclass(frozen=True, slots=True)
class Plan(plan_file.PlanFile):
    """The runs of this machine's systems in their order of execution, and the cases of all systems.

    ``capped``: how many repeats are left out by the cap, though their cases are not known well enough.
    ``until_known``: whether any case is repeated until it is known. ``blocks``: further repeats of every
    case, since the machine alternates between states. ``designs``: the block designs of this machine;
    ``rounds``: of its host groups with `each`.
    """

    cases: tuple[PlannedCase, ...] = ()
    runs: tuple[Run, ...] = ()
    capped: int = 0
    until_known: bool = False
    blocks: int = 0
    designs: tuple[DesignState, ...] = ()
    rounds: tuple[Rounds, ...] = ()

    @property
    def node_seconds(self) -> float:
        """The upper bound of all runs' time: each up to its time limit."""
        return sum(run.node_seconds for run in self.runs)

    @property
    def planned_node_seconds(self) -> float:
        """The same without further repeats."""
        return sum(run.node_seconds for run in self.runs if not run.further)

    def most(self, cap: float | None) -> tuple[int, float]:
        """How many runs there may be with all further repeats, and their node-seconds.

        ``cap``: the node-hours that the campaign allows, which fewer long runs or more short ones may reach.
        """
        each = {run.case: run.limit_seconds for run in self.runs}
        added = (each[planned.case] for planned in self.cases for _ in range(planned.addable))
        number, seconds = len(self.runs), self.node_seconds
        for more in sorted(added):
            if cap is not None and _hours(seconds + more) > cap:
                break
            number, seconds = number + 1, seconds + more
        return number, seconds

    @property
    def further(self) -> tuple[Run, ...]:
        """The further repeats."""
        return tuple(run for run in self.runs if run.further)

    @property
    def disturbed(self) -> int:
        """How many runs of this machine's systems were disturbed."""
        return sum(planned.disturbed for planned in self.cases if planned.case.system in self.systems)


class Machine(Protocol):
    """What planning asks of the machine that it runs on, and of the campaign's results there."""

    def find_program(self, system: System, benchmark: Benchmark, /) -> Program: ...

    def find_mpi(self, system: System, /) -> LocalMpi: ...

    def evidence_library(self, system: System, /) -> str: ...

    def libraries(self, system: System, /) -> str: ...

    def physical_cores(self) -> int: ...

    def condition_of(self, case: Case, repeat: int, identity: str, /) -> str:
        """The condition of the result of a repeat; empty without one."""

    def begun(self, case: Case, repeat: int, identity: str, /) -> bool:
        """Whether a repeat has been submitted or started."""

    def begun_as(self, case: Case, /) -> Mapping[str, Declaration]:
        """What the runs of a case were begun with before 0.2, by their identity now."""

    def is_known(self, case: Case, benchmark: Benchmark, identities: Sequence[str], /) -> bool:
        """Whether these repeats know their case well enough."""

    def in_block(
        self, case: Case, repeat: int, identity: str, benchmark: Benchmark, time_limit: int, /
    ) -> Made:
        """What is there of a run in a block."""

    def race(self, compared: str, racers: Sequence[Racer], ranked: bool, /) -> Mapping[str, Sequence[Stage]]:
        """The stages of a race that are due so far, by benchmark; without results the first alone."""

    def rounds(
        self,
        each: Each,
        screen: Mapping[int, Collection[str]],
        benchmarks: Sequence[RacerOf],
        earlier: int,
        /,
    ) -> Mapping[int, Collection[str]]:
        """The members in each round that is due so far.

        ``benchmarks``: the case of each on a member; ``earlier``: how many repeats come before the first.
        """

    def again(self) -> Sequence[Again]:
        """The nodes that are measured again."""

    def is_stopped(
        self, case: Case, repeat: int, identity: str, benchmark: Benchmark, time_limit: int, /
    ) -> bool:
        """Whether a run without a result was stopped at its time limit."""

    def blocks(self, cases: Sequence[Repeated], /) -> Mapping[Case, int]:
        """How many further repeats of each case are due, since the machine alternates between states."""


def choose_systems(campaign: Campaign, host_names: Collection[str], wanted: str = "") -> tuple[str, ...]:
    """The systems whose runs this machine makes: those whose ``login_hosts`` match.

    A system without ``login_hosts`` matches any machine if it needs no scheduler or is the only one.

    Raises
    ------
    UserError
        when ``wanted`` is not a system of the campaign.
    """
    if wanted:
        known = list(dict.fromkeys(map(defined_name, campaign.systems)))
        if wanted not in known and wanted not in campaign.systems:
            message = f"no system {wanted!r}; known: {', '.join(known)}"
            raise UserError(Problem(message, campaign.file, key="systems"))
        return tuple(name for name in campaign.systems if wanted in (name, defined_name(name)))
    alone = len(set(map(defined_name, campaign.systems))) == 1
    return tuple(
        name
        for name, system in campaign.systems.items()
        if _matches(system, host_names) or (not system.login_hosts and (alone or system.local))
    )


def _matches(system: System, host_names: Collection[str]) -> bool:
    return any(is_member(host, pattern) for host in host_names for pattern in system.login_hosts)


def make_plan(campaign: Campaign, systems: Collection[str], machine: Machine) -> Plan:
    """The plan for this machine's systems; its runs are shuffled with the campaign's seed.

    The n-th repeats of all cases form a block, which is shuffled (randomised complete blocks). A drift of the
    machine then affects all cases alike, and an interrupted campaign has complete blocks.
    """
    planner = _Planner(campaign, systems, machine)
    for entry in campaign.matrix:
        planner.add(entry)
    cases, runs = planner.cases, planner.runs
    _check_different(campaign, cases)
    cases, runs, blocks = _with_blocks(campaign, cases, runs, machine, planner.parts)
    runs = _with_parts(runs)
    further = (run for run in runs if run.further)
    begun = {run.case: run.repeat for run in further if machine.begun(run.kept, run.repeat, run.identity)}
    ordered = _within_cap(_shuffled(runs, campaign.seed), begun, campaign.node_hours_cap)
    repeats = grouped(ordered, lambda run: run.case)
    until_known = any(entry.repeats == UNTIL_KNOWN or entry.race or entry.each for entry in campaign.matrix)
    return Plan(
        campaign=campaign.name,
        systems=tuple(systems),
        seed=campaign.seed,
        cases=tuple(replace(case, runs=tuple(repeats.get(case.case, case.runs))) for case in cases),
        busy_machine=campaign.busy_machine,
        runs=ordered,
        capped=len(runs) - len(ordered) if until_known else 0,
        until_known=until_known,
        blocks=blocks,
        designs=tuple(planner.designs),
        rounds=tuple(planner.rounds),
    )


def _check_different(campaign: Campaign, cases: Iterable[PlannedCase]) -> None:
    """Refuse cases that are one: their names differ, and what they declare does not."""
    first: dict[tuple[Case, str], Case] = {}
    problems = []
    for planned in cases:
        other = first.setdefault((planned.kept, planned.runs[0].identity), planned.case)
        if other != planned.case:
            message = f"two cases of the matrix are the same run: {other} and {planned.case}"
            hint = "let a key differ that changes the run, or remove one of them"
            problems.append(campaign.document.problem(("matrix",), message, "", hint))
    if problems:
        raise UserError(problems)


def _with_blocks(
    campaign: Campaign,
    cases: Sequence[PlannedCase],
    runs: Sequence[Run],
    machine: Machine,
    parts: Mapping[Case, _Part],
) -> tuple[list[PlannedCase], list[Run], int]:
    """The cases and runs with as many further repeats of all as the states of the machine ask for."""
    first = {run.case: run for run in runs}
    identities = {each.case: _identities_of(each, machine) for each in cases}

    def closed(case: Case, numbers: Iterable[int]) -> frozenset[int]:
        return frozenset(n for n in numbers if case in parts and parts[case][n].closes(case))

    blocks = machine.blocks(
        [
            Repeated(
                each.case,
                each.kept,
                each.repeats + each.lost,
                limit_in_states(campaign, each.repeats),
                identities[each.case].__getitem__,
                closed(each.case, range(1, len(each.runs) + limit_in_states(campaign, each.repeats) + 1)),
            )
            for each in cases
            if each.case in first and not (each.each or each.compared.startswith(RACE_WITHIN))
        ]
    )
    extended, more = [], list[Run]()
    for each in cases:
        due = each.repeats + each.lost + blocks.get(each.case, 0)
        declared = identities[each.case]
        numbers = range(len(each.runs) + 1, due + 1)
        left = closed(each.case, numbers)
        entries = [RunEntry(n, declared[n], further=True, left=n in left) for n in numbers]
        more += [
            replace(
                first[each.case],
                repeat=entry.repeat,
                identity=entry.identity,
                declared=declared.declared(entry.repeat),
                further=True,
                left=entry.left,
                closed=entry.left,
            )
            for entry in entries
        ]
        extended.append(
            replace(each, runs=(*each.runs, *entries), addable=max(each.addable - len(entries), 0))
        )
    return extended, [*runs, *more], max(blocks.values(), default=0)


def _with_parts(runs: Iterable[Run]) -> list[Run]:
    """The runs; those in blocks with the folders of the candidates beside them."""
    found: list[Run] = []
    parts = grouped(runs, lambda run: (run.block, run.repeat, run.block and defined_name(run.case.benchmark)))
    for (block, *_), part in parts.items():
        folders = tuple(run_path(run.kept, run.repeat, run.identity) for run in part)
        found += [replace(run, part=folders) for run in part] if block else part
    return found


def kept_names(campaign: Campaign, case: Case) -> Case:
    """The names under which the runs of a case are kept."""
    kept = (
        campaign.systems[case.system],
        campaign.host_groups[case.host_group],
        campaign.placements[case.placement],
        campaign.benchmarks[case.benchmark],
    )
    return Case(*(each.kept_as or each.name for each in kept))


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is known of a case before its results are looked at; ``here``: this machine makes its runs."""

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
    identities: _Identities
    mpi: LocalMpi
    program: Program
    not_available: str

    @property
    def is_made_here(self) -> bool:
        return self.here and not self.not_available

    def named(self, host_group: str) -> _Draft:
        """The same under another name of the host group."""
        _, library, name = self.case.host_group.partition(WITH)
        return replace(self, case=replace(self.case, host_group=f"{host_group}{library}{name}"))

    def on(self, member: Member) -> _Draft:
        """The same on a member of its host group."""
        declared = {**self.declared, "host_group": member.name, "host_group.hosts": list(member.hosts)}
        return replace(
            self,
            case=member.case(self.case),
            kept=replace(self.kept, host_group=member.name),
            job=replace(self.job, group=member.group(self.job.group)),
            declared=declared,
            identities=_Identities(declared, {}),
        )

    def repeats(self, count: Repeats, closed: Collection[int]) -> tuple[RunEntry, ...]:
        """So many repeats."""
        first = self.entry.repeats or REPEAT_STAGES[0]
        return tuple(
            RunEntry(each, self.identities[each], further=each > first, left=each in closed)
            for each in range(1, count.all + 1)
        )

    def planned(self, runs: tuple[RunEntry, ...], design: Design | None = None) -> PlannedCase:
        """The case with its repeats."""
        return PlannedCase(
            self.case,
            self.benchmark.suite,
            self.not_available,
            self.job.line_rate,
            self.job.group.core_peak,
            self.declared,
            runs,
            _oversubscribed(self.job),
            self.job.group.attributes,
            self.reading,
            self.kept if self.kept != self.case else None,
            design.name if design else "",
            design.compared if design else "",
            self.entry.each.unit if self.entry.each else "",
            self.entry.each.tolerance if self.entry.each else 0.0,
            absent=self.program.not_available,
            warnings=tuple(SUITES[self.benchmark.suite].warns(self.request)),
        )


class _Planner:
    """The cases of all entries, and the runs that this machine makes."""

    def __init__(self, campaign: Campaign, systems: Collection[str], machine: Machine) -> None:
        self.campaign, self.systems, self.machine = campaign, systems, machine
        self.cases: list[PlannedCase] = []
        self.runs: list[Run] = []
        self.designs: list[DesignState] = []
        self.rounds: list[Rounds] = []
        self.parts: dict[Case, _Part] = {}
        self._names: list[str] = []  # of all designs

    def add(self, entry: MatrixEntry) -> None:
        """Plan an entry of the matrix."""
        drafts = {case: self._draft(entry, case) for case in cases_of(self.campaign, entry)}
        if entry.each:
            alike = grouped(drafts.values(), lambda draft: (draft.case.host_group, draft.case.placement))
            for benchmarks in alike.values():
                self._add_each(benchmarks, entry.each)
            return
        designs = designs_of(self.campaign, entry, self._names)
        self._names += [design.name for design in designs]
        if not designs:
            for draft in drafts.values():
                self._add(draft, self._repeats(draft))
        for design in designs:
            self._add_blocks(entry, design, drafts)

    def _draft(self, entry: MatrixEntry, case: Case) -> _Draft:
        campaign, machine = self.campaign, self.machine
        job = _job(campaign, case, machine)
        benchmark = for_ranks(campaign.benchmarks[case.benchmark], job.placement, job.ranks_per_node)
        request = _request(benchmark, job, entry.time_limit)
        inputs = inputs_of(benchmark, request)
        kept = kept_names(campaign, case)
        declared, reading = declare(kept, job, benchmark, inputs), reading_of(benchmark)
        here = case.system in self.systems
        mpi = machine.find_mpi(job.system) if here else LocalMpi(job.system.mpi.command)
        looked = here and not mpi.not_available
        program = machine.find_program(job.system, benchmark) if looked else Program("")
        return _Draft(
            entry,
            case,
            kept,
            here,
            _with_command(job, mpi.command),
            benchmark,
            request,
            inputs,
            declared,
            reading,
            _identities(kept, declared, reading, machine),
            mpi,
            program,
            (SUITES[benchmark.suite].lacks(request) or mpi.not_available or program.not_available)
            if here
            else "",
        )

    def _repeats(self, draft: _Draft) -> Repeats:
        """How many repeats of a case are due, by the results so far."""
        machine, identities, planned = self.machine, draft.identities, draft.entry.repeats

        def condition_of(number: int) -> str:
            return machine.condition_of(draft.kept, number, identities[number])

        def repeats_for(planned: int) -> Repeats:
            return repeats_of(planned, limit_of(self.campaign, planned), condition_of, self._made_only(draft))

        def is_known(repeats: Repeats) -> bool | None:
            numbers = range(1, repeats.all + 1)
            named = [identities[number] for number in numbers]
            made = all(map(condition_of, numbers))
            return machine.is_known(draft.kept, draft.benchmark, named) if made else None

        return until_known(repeats_for, is_known) if planned == UNTIL_KNOWN else repeats_for(planned)

    def _made_only(self, draft: _Draft) -> bool:
        return self.campaign.busy_machine == RANKED or bool(draft.not_available)

    def _add_blocks(self, entry: MatrixEntry, design: Design, drafts: Mapping[Case, _Draft]) -> None:
        """Plan a block design: the candidates of a benchmark are repeated together."""
        state, ranked = DesignState(design), self.campaign.busy_machine == RANKED
        of_race = self._stages(entry, design, drafts)
        for name, cases in design.candidates.items():
            of_cases = [drafts[case] for case in cases]
            every = Stage(frozenset(range(len(cases))), entry.repeats, 0)
            parts = [
                _Part([of_cases[place] for place in sorted(stage.running)], self.machine, ranked, stage)
                for stage in of_race.get(name, [every])
            ]
            for part in parts:
                limit = limit_of(self.campaign, part.stage.blocks)
                part.count = repeats_of(part.stage.blocks, limit, part.condition, ranked)
            for one, following in pairwise(parts):
                one.end = following.stage.after  # what is behind the last block that counted is not due
            if not entry.race:
                self.parts |= dict.fromkeys(cases, parts[0])
            for draft in of_cases:
                state.due += self._add_in_blocks(draft, design, parts)
            state.add((part.stage.blocks, [part[repeat] for repeat in part.repeats]) for part in parts)
            state.running = max(state.running, len(parts[-1].drafts))
        if any(each.made for part in state.parts for each in part):
            self.designs.append(state)

    def _stages(
        self, entry: MatrixEntry, design: Design, drafts: Mapping[Case, _Draft]
    ) -> Mapping[str, Sequence[Stage]]:
        """Those of a race; empty for other designs."""
        own = [drafts[case] for cases in design.candidates.values() for case in cases]
        if not entry.race or not any(one.here for one in own):
            return {}
        racers = [Racer(one.case, one.kept, one.benchmark, one.identities.__getitem__) for one in own]
        return self.machine.race(design.compared, racers, self.campaign.busy_machine == RANKED)

    def _add_in_blocks(self, draft: _Draft, design: Design, parts: Sequence[_Part]) -> list[Run]:
        """Take a case of a design with the stages that it is in; its runs that are due."""
        own = [part for part in parts if draft in part.drafts] or [parts[0].alone(draft)]
        of = {repeat: part for part in own for repeat in part.repeats}
        disturbed, left = (sum(getattr(part.count, name) for part in own) for name in ("disturbed", "left"))
        first = own[0].stage.blocks
        count = Repeats(first, max(of, default=first) - first, disturbed, left)
        return self._add(draft, count, design, of)

    def _add(
        self,
        draft: _Draft,
        count: Repeats,
        design: Design | None = None,
        parts: Mapping[int, _Part] | None = None,
    ) -> list[Run]:
        """Take a case with so many repeats, and its runs if this machine makes them; those due in blocks.

        ``parts``: in blocks, that of each repeat; of a race there is none where the case had left.
        """
        of = parts or {}
        closed = {n for n, part in of.items() if part[n].closes(draft.case)}
        left = {n for n in closed if of[n][n].condition == LEFT}
        planned = draft.planned(draft.repeats(count, left), design)
        planned = replace(planned, disturbed=count.disturbed, lost=count.left)
        runs: list[Run] = []
        if draft.is_made_here:
            most = draft.entry.repeats or REPEAT_STAGES[-1]
            # the fresh blocks of a race are no more than those before
            most = 2 * LOOKS[-1] if draft.entry.race else most
            limit = limit_of if draft.entry.repeats == UNTIL_KNOWN or draft.entry.race else limit_in_states
            more = max(most + limit(self.campaign, most) + count.left - count.all, 0)
            fixed = self._made_only(draft) and not draft.entry.race
            planned = replace(planned, addable=0 if fixed else more)
            runs = self._runs(draft, planned)
        if of:
            disturbed = sum(part[n].is_disturbed(draft.case) for n, part in of.items())
            planned = replace(planned, disturbed=0 if draft.entry.race else disturbed)
            runs = [replace(run, closed=run.repeat in closed) for run in runs if run.repeat in of]
        self.runs += runs
        self.cases.append(planned)
        return [run for run in runs if run.repeat in of and of[run.repeat][run.repeat].is_due(draft.case)]

    def _add_each(self, benchmarks: Sequence[_Draft], each: Each) -> None:
        """Take benchmarks on each member of a host group; then on nodes that are measured again."""
        group = benchmarks[0].job.group
        self._add_rounds(benchmarks, each, hosts_of(group), 0)
        for number, again in enumerate(self.machine.again(), start=1):
            if again.name.partition(":")[0] == defined_name(group.name):
                named = [draft.named(again.name) for draft in benchmarks]
                self._add_rounds(named, each, again.hosts, number * REPEATS_AGAIN)

    def _add_rounds(
        self, benchmarks: Sequence[_Draft], each: Each, hosts: Sequence[str], earlier: int
    ) -> None:
        """Take benchmarks on each of these hosts, or their pairs, in the rounds that are due by the results.

        ``earlier``: how many repeats were left to earlier rounds.
        """
        rounds = screen(hosts, each.unit, self.campaign.seed)
        due: Mapping[int, Collection[str]] = {n: [one.name for one in rounds[n]] for n in rounds}
        on = [_OnMembers(draft) for draft in benchmarks]
        if available := [own.racer for own in on if own.draft.is_made_here]:
            due = self.machine.rounds(each, due, available, earlier)
        of_member: dict[str, list[int]] = {}
        for number, name in ((n, name) for n in sorted(due) for name in due[n]):
            of_member.setdefault(name, []).append(number)
        for own in on:
            runs = [
                run
                for name, numbers in of_member.items()
                for run in self._member(own[name], numbers, len(rounds), earlier)
            ]
            runs = [replace(run, each=each, whole=own.draft.case) for run in runs]
            self.runs += runs
            why = own.draft.not_available
            self.rounds.append(Rounds(own.draft.case, each.unit, len(of_member), tuple(runs), why))

    def _member(self, draft: _Draft, rounds: Sequence[int], screened: int, earlier: int) -> list[Run]:
        """Take the case of a member; its runs, the n-th repeat in the n-th of its rounds."""
        entries = (
            RunEntry(repeat, draft.identities[repeat], further=number > screened, round=number)
            for repeat, number in enumerate(rounds, start=earlier + 1)
        )
        planned = draft.planned(tuple(entries))
        self.cases.append(planned)
        stopped = self.machine.is_stopped
        return [
            replace(run, closed=stopped(run.kept, run.repeat, run.identity, run.benchmark, run.time_limit))
            for run in (self._runs(draft, planned) if draft.is_made_here else ())
        ]

    def _runs(self, draft: _Draft, planned: PlannedCase) -> list[Run]:
        system = draft.job.system
        evidence_library = self.machine.evidence_library(system) if system.evidence else ""
        libraries = self.machine.libraries(system)
        return [
            Run(
                repeat=run.repeat,
                identity=run.identity,
                further=run.further,
                left=run.left,
                round=run.round,
                campaign=self.campaign.name,
                case=draft.case,
                kept=draft.kept,
                job=draft.job,
                benchmark=draft.benchmark,
                time_limit=draft.entry.time_limit,
                program=draft.program.command,
                program_sha256=draft.program.sha256,
                evidence_library=evidence_library,
                libraries=libraries,
                declared=draft.identities.declared(run.repeat),
                inputs=draft.inputs,
                block=planned.block,
            )
            for run in planned.runs
        ]


class _OnMembers(dict[str, _Draft]):
    """A case on the members of its host group, by their names."""

    def __init__(self, draft: _Draft) -> None:
        super().__init__()
        self.draft = draft

    def __missing__(self, name: str) -> _Draft:
        self[name] = self.draft.on(Member(tuple(name.split("+"))))
        return self[name]

    def racer(self, name: str) -> Racer:
        """The case of a member."""
        one = self[name]
        return Racer(one.case, one.kept, one.benchmark, one.identities.__getitem__)


class _Part(dict[int, PartOfBlock]):
    """The candidates of a benchmark in a block design, with what is there of each of their repeats.

    ``stage``: of a race; other designs have one. ``end``: its last repeat, where another stage follows.
    """

    def __init__(self, drafts: Sequence[_Draft], machine: Machine, ranked: bool, stage: Stage) -> None:
        super().__init__()
        self.drafts, self._machine, self._ranked = drafts, machine, ranked
        self.stage, self.count, self.end = stage, Repeats(stage.blocks, 0, 0), 0
        self._available = [draft for draft in drafts if draft.is_made_here]
        self._keeps_nodes = keeps_nodes(drafts[0].job)

    def __missing__(self, repeat: int) -> PartOfBlock:
        made = {
            each.case: self._machine.in_block(
                each.kept, repeat, each.identities[repeat], each.benchmark, each.entry.time_limit
            )
            for each in self._available
        }
        self[repeat] = PartOfBlock(repeat, made, self._keeps_nodes, self._ranked)
        return self[repeat]

    def alone(self, draft: _Draft) -> _Part:
        """One of the stage for a candidate that never gave a value: the others do not wait for it."""
        return _Part([draft], self._machine, self._ranked, self.stage)

    @property
    def repeats(self) -> range:
        """Those of the stage."""
        after = self.stage.after
        return range(after + 1, (self.end or after + self.count.all) + 1)

    def condition(self, number: int) -> str:
        """Of the stage's n-th repeat, see `PartOfBlock`; of a race the analysis says which ones count."""
        repeat, counted = self.stage.after + number, self.stage.counted
        found = self[repeat].condition
        lacks = counted and repeat not in counted and len(counted) < self.stage.blocks
        return AGAIN if found == WHOLE and lacks else found


def _with_command(job: Job, command: str) -> Job:
    """The job, started by the launch command of this machine."""
    system = job.system
    return replace(job, system=replace(system, mpi=replace(system.mpi, command=command)))


def _request(benchmark: Benchmark, job: Job, time_limit: int) -> Request:
    return request_of(benchmark, job.placement, job.group, job.system, job.ranks_per_node, time_limit)


class _Identities(dict[int, str]):
    """The identities of a case's repeats by their numbers; a run keeps the one that it was begun with."""

    def __init__(self, declared: Declaration, begun: Mapping[str, Declaration]) -> None:
        super().__init__()
        self._declared, self._begun = declared, begun

    def declared(self, repeat: int) -> dict[str, Any]:
        now = {**self._declared, "repeat": repeat}
        return dict(self._begun.get(identity(now), now)) if self._begun else now

    def __missing__(self, repeat: int) -> str:
        self[repeat] = identity(self.declared(repeat))
        return self[repeat]


def _identities(
    case: Case, declared: Declaration, reading: Mapping[str, Any], machine: Machine
) -> _Identities:
    return _Identities(declared, machine.begun_as(case) if reading else {})


def _identities_of(planned: PlannedCase, machine: Machine) -> _Identities:
    """With those of the repeats that are planned already."""
    identities = _identities(planned.kept, planned.declared, planned.reading, machine)
    identities.update((run.repeat, run.identity) for run in planned.runs)
    return identities


def _job(campaign: Campaign, case: Case, machine: Machine) -> Job:
    group, placement = campaign.host_groups[case.host_group], campaign.placements[case.placement]
    per_node = placement.ranks_per_node
    cores = _cores(group, machine) // (placement.threads or 1)
    count = max(cores, 1) if per_node == CORES else int(per_node)
    return Job(campaign.systems[case.system], group, placement, count)


def _cores(group: HostGroup, machine: Machine) -> int:
    return group.cores if group.cores is not None else machine.physical_cores()


def _oversubscribed(job: Job) -> str:
    """How many ranks of a node share how many cores; empty where they need not, or the cores are unknown."""
    ranks, cores = job.ranks_per_node, job.group.cores
    threads = job.placement.threads or 1
    of_each = f" of {threads} threads" if threads > 1 else ""
    shared = cores is not None and ranks * threads > cores
    return f"{ranks} ranks{of_each} on {cores} cores of a node" if shared else ""


def _shuffled(runs: list[Run], seed: int) -> tuple[Run, ...]:
    """Repeat by repeat in random order; candidates of a block stay side by side, in random order."""
    generator = random.Random(seed)
    ordered: list[Run] = []
    of_repeats = grouped(runs, lambda run: (run.further, run.repeat))  # further repeats behind all others
    for repeat in sorted(of_repeats):
        units = [*grouped(of_repeats[repeat], lambda run: run.block or run.identity).values()]
        generator.shuffle(units)
        for unit in units:
            parts = [*grouped(unit, lambda run: defined_name(run.case.benchmark)).values()]
            generator.shuffle(parts)
            for part in parts:
                generator.shuffle(part)
                ordered += part
    return tuple(replace(run, order=order) for order, run in enumerate(ordered, start=1))


def _within_cap(runs: tuple[Run, ...], begun: Mapping[Case, int], cap: float | None) -> tuple[Run, ...]:
    """The runs, with as many of the further repeats as the node-hours allow; of a block all or none.

    Those up to the last one of their case that was ``begun`` come first: their node-hours are spent, or their
    jobs are in the queue.
    """
    if cap is None:
        return runs
    seconds = sum(run.node_seconds for run in runs if not run.further)
    kept = set()
    further = [run for run in runs if run.further]
    units = grouped(further, _together).values()
    for unit in sorted(units, key=lambda unit: all(run.repeat > begun.get(run.case, 0) for run in unit)):
        more = sum(run.node_seconds for run in unit)
        if _hours(seconds + more) <= cap:
            seconds += more
            kept |= {run.identity for run in unit}
    return tuple(run for run in runs if not run.further or run.identity in kept)


def _together(run: Run) -> object:
    """The same for runs of which all are made or none: those of a block, or of a round."""
    return (run.whole, run.round) if run.round else (run.block, run.repeat) if run.block else run.identity


def _hours(seconds: float) -> float:
    return seconds / 3600  # a cap times 3600 may be less than the seconds given


def check_cap(plan: Plan, campaign: Campaign) -> None:
    """Refuse a plan that may take more node-hours than its campaign allows.

    Raises
    ------
    UserError
        with both numbers, and the line of the cap.
    """
    hours, cap = _hours(plan.planned_node_seconds), campaign.node_hours_cap
    if cap is not None and hours > cap:
        plan_of = f"plan for {', '.join(plan.systems)}"
        message = f"the {plan_of} may take {hours:.2f} node-hours, the campaign allows {cap:g}"
        hint = "raise node_hours_cap, or lower repeats or time_limit"
        raise UserError(campaign.document.problem(("node_hours_cap",), message, f"{cap:g}", hint))


def selected_plan(plan: Plan, selection: RunSelection) -> Plan:
    """The plan with only the selected cases and repeats."""
    if not selection:
        return plan
    cases = (_selected(planned, selection) for planned in plan.cases)
    return replace(
        plan,
        runs=tuple(run for run in plan.runs if selection.takes(run.case, run.repeat)),
        cases=tuple(planned for planned in cases if planned.runs),
        rounds=tuple(each for each in plan.rounds if selection.takes_case(each.case)),
    )


def _selected(planned: PlannedCase, selection: RunSelection) -> PlannedCase:
    more = range(len(planned.runs) + 1, len(planned.runs) + planned.addable + 1)
    return replace(
        planned,
        runs=tuple(run for run in planned.runs if selection.takes(planned.case, run.repeat)),
        addable=sum(selection.takes(planned.case, number) for number in more),
    )
