"""What the ways of repeating share: cases that are decided together, their results, and what is due."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, Self, TypeVar

from mpicampaign.base.expectation import REPEAT_STAGES, looks_to_decide
from mpicampaign.base.plan_file import RunEntry
from mpicampaign.base.planned_looks import NOTHING_DECIDED
from mpicampaign.base.records import RANKED, defined_name
from mpicampaign.schemes.block import Made

if TYPE_CHECKING:
    from mpicampaign.base.planned_looks import Decided, Stage
    from mpicampaign.base.records import Case
    from mpicampaign.campaign.designs import Design
    from mpicampaign.campaign.each import GroupMember
    from mpicampaign.campaign.model import Benchmark, Campaign, Each, MatrixEntry
    from mpicampaign.schemes.block import DesignState


class RepeatedCase(Protocol):
    """A case, as far as its repeats depend on it; ``kept``: the names under which its runs are kept.

    ``keeps_nodes``: a later allocation gets the same nodes, so that failed runs are made there.
    """

    @property
    def case(self) -> Case: ...
    @property
    def kept(self) -> Case: ...
    @property
    def benchmark(self) -> Benchmark: ...
    @property
    def identities(self) -> Mapping[int, str]: ...
    @property
    def here(self) -> bool: ...
    @property
    def is_made_here(self) -> bool: ...
    @property
    def keeps_nodes(self) -> bool: ...
    @property
    def not_available(self) -> str: ...

    def named(self, host_group: str, /) -> Self:
        """The case under another name of its host group."""

    def on(self, member: GroupMember, /) -> Self:
        """The case on a member of its host group."""


C = TypeVar("C", bound=RepeatedCase)
CaseOnMembers = Callable[[str], RepeatedCase]  # of a benchmark on the members of a host group, by their names


class RequestedRun(NamedTuple):
    """A run that was requested beside those of other cases, in a row; ``new``: it was in no plan before."""

    repeat: int
    identity: str
    row: int
    new: bool


class NodeAgain(NamedTuple):
    """A node that is measured again, and its controls; ``name``: in place of the group's, `milan:n037`."""

    name: str
    hosts: tuple[str, ...]


class CaseInStates(NamedTuple):
    """A case as the states of its machine see it.

    ``kept``: the names under which its runs are kept; ``planned``: with those that stand in for blocks that
    were left; ``limit``: of its further repeats; ``identity_of`` a repeat; ``absent``: those without a result
    that are not made.
    """

    case: Case
    kept: Case
    planned: int
    limit: int
    identity_of: Callable[[int], str]
    absent: frozenset[int] = frozenset()


class Results(Protocol):
    """The results so far: here there are none; else each answer is read from the folders of runs."""

    def condition_of(self, case: Case, repeat: int, identity: str, /) -> str:
        """The condition of the result of a repeat; empty without one."""
        return ""

    def begun(self, case: Case, repeat: int, identity: str, /) -> bool:
        """Whether a repeat has been submitted or started."""
        return False

    def is_known(self, case: Case, benchmark: Benchmark, identities: Sequence[str], /) -> bool:
        """Whether these repeats know their case well enough."""
        return False

    def in_block(
        self, case: Case, repeat: int, identity: str, benchmark: Benchmark, time_limit: int, /
    ) -> Made:
        """What is there of a run in a block."""
        return Made()

    def stages(
        self, compared: str, candidates: Sequence[RepeatedCase], ranked: bool, /
    ) -> Mapping[str, Sequence[Stage]]:
        """The stages of blocks with looks that are due so far, by benchmark; without results the first."""
        return {}

    def rounds(
        self,
        each: Each,
        screen: Mapping[int, Collection[str]],
        benchmarks: Sequence[CaseOnMembers],
        earlier: int,
        /,
    ) -> Mapping[int, Collection[str]]:
        """The members in each round that is due so far.

        ``benchmarks``: the case of each on a member; ``earlier``: how many repeats come before the first.
        """
        return screen

    def decided(self, candidates: Sequence[RepeatedCase], ranked: bool, /) -> Decided:
        """What the looks so far say of candidates that are repeated until it is decided."""
        return NOTHING_DECIDED

    def again(self) -> Sequence[NodeAgain]:
        """The nodes that are measured again."""
        return ()

    def requested(self, case: Case, /) -> Sequence[RequestedRun]:
        """The runs that were requested beside those of other cases, whatever the case is now."""
        return ()

    def is_stopped(
        self, case: Case, repeat: int, identity: str, benchmark: Benchmark, time_limit: int, /
    ) -> bool:
        """Whether a run without a result was stopped at its time limit."""
        return False

    def blocks(self, cases: Sequence[CaseInStates], /) -> Mapping[Case, int]:
        """How many further repeats of each case are due, since the machine alternates between states."""
        return {}


@dataclass(frozen=True, slots=True)
class RepeatUnit(Generic[C]):
    """Cases whose repeats are decided together: one, those of a block design, or of a group with `each`.

    ``decided_with``: the name of candidates that are repeated until it is decided which is the best.
    """

    campaign: Campaign
    entry: MatrixEntry
    candidates: tuple[C, ...]
    design: Design | None = None
    decided_with: str = ""

    @property
    def is_decided_whole(self) -> bool:
        """Whether what follows is known only when all of its runs have ended."""
        return bool(self.entry.each or self.has_looks)

    @property
    def has_looks(self) -> bool:
        """Whether it has blocks, and candidates leave."""
        return bool(self.design and (self.entry.race or self.decided_with))

    @property
    def ranked(self) -> bool:
        """Whether disturbed runs count."""
        return self.campaign.busy_machine == RANKED

    @property
    def planned(self) -> int:
        """How many repeats of each case there are before any result."""
        if self.decided_with:
            return looks_to_decide(self.most_candidates)[0]
        return self.entry.repeats or REPEAT_STAGES[0]

    @property
    def most_candidates(self) -> int:
        """How many candidates the benchmark with the most of them has."""
        return max(map(len, self.design.candidates.values())) if self.design else len(self.candidates)

    def part_of(self, case: Case) -> RepeatUnit[C]:
        """The part that decides on a case: in blocks the candidates of its benchmark."""
        if self.design is None or self.is_decided_whole:
            return self
        name = defined_name(case.benchmark)
        cases = self.design.candidates[name]
        candidates = tuple(candidate for candidate in self.candidates if candidate.case in cases)
        return replace(self, candidates=candidates, design=self.design._replace(candidates={name: cases}))


@dataclass(slots=True)
class CaseDue(Generic[C]):
    """A case with all its repeats, made or due; ``addable``: how many more there may be, by the campaign.

    ``disturbed``: for how many runs further ones stand in. ``lost``: of how many repeats the block was left.
    ``rows``: of repeats that are in the row of another number; ``stand_ins``: those of them that stand in for
    a run that does not count. ``closes``: whether a repeat without a result is not made any more.
    ``skipped``: repeats in which the case has no run.
    """

    candidate: C
    repeats: tuple[RunEntry, ...]
    disturbed: int = 0
    lost: int = 0
    addable: int = 0
    rows: Mapping[int, int] = field(default_factory=dict)
    stand_ins: Collection[int] = ()
    closes: Callable[[int], bool] = lambda repeat: False
    skipped: Collection[int] = ()


@dataclass(slots=True)
class Due(Generic[C]):
    """What is due of a unit; ``design``: how far its blocks are."""

    cases: list[CaseDue[C]] = field(default_factory=list)
    design: DesignState | None = None


def requested_runs(results: Results, candidates: Iterable[RepeatedCase]) -> tuple[RequestedRun, ...]:
    """The runs that were requested of cases as they are now, one of a number."""
    of_cases = ((candidate, run) for candidate in candidates for run in results.requested(candidate.kept))
    valid = (run for candidate, run in of_cases if candidate.identities[run.repeat] == run.identity)
    return tuple({run.repeat: run for run in valid}.values())


def entries(
    unit: RepeatUnit[C],
    candidate: C,
    count: int,
    requested: Iterable[RequestedRun],
    is_left: Callable[[int], bool] = lambda repeat: False,
) -> tuple[RunEntry, ...]:
    """The repeats of a case up to a number; ``is_left``: of which the block was left."""
    first = {*range(1, unit.planned + 1), *(run.repeat for run in requested)}
    return tuple(
        RunEntry(number, candidate.identities[number], further=number not in first, left=is_left(number))
        for number in range(1, count + 1)
    )


def limit_of(campaign: Campaign, planned: int) -> int:
    """How many further repeats a case may have."""
    return planned if campaign.further_repeats is None else campaign.further_repeats


def limit_in_states(campaign: Campaign, planned: int) -> int:
    """How many there may be where the machine alternates between states: simulated, 18 of 6 are enough."""
    return 2 * planned if campaign.further_repeats is None else campaign.further_repeats
