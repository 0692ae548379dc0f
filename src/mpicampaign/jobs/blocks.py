"""Which blocks of a design are whole, which were left, and which stand in for them.

A block is one repeat of a design's cases. What counts is its part of a benchmark: that all its candidates
have a value on the same nodes. Where later allocations get other nodes, a part that was begun and not
finished is left: its runs keep their number, and the part is made anew under the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.expectation import LOOKS
from mpicampaign.jobs.further import AGAIN, ENDED, LEFT, WHOLE
from mpicampaign.records import CONTRADICTED, DISTURBED, FAILED
from mpicampaign.schedulers import batch_scheduler

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mpicampaign.campaign.designs import Design
    from mpicampaign.jobs.launchers import Job
    from mpicampaign.jobs.run import Run
    from mpicampaign.records import Case

VALUE = "value"  # also of a run that met its time limit: it is the slowest of its part
LEFT_BEHIND = "left"  # the file in a run's folder that says why its block was left

_WHY = {FAILED: "a run failed", CONTRADICTED: "a run is contradicted"}


class Made(NamedTuple):
    """What is there of a run in a block; ``state`` is empty while it is to be made.

    States: `VALUE`, what asks for another part (`DISTURBED`, `CONTRADICTED`, `FAILED`, `LEFT`), or any other
    end. ``why``: it was left, or has failed.
    """

    state: str = ""
    has_result: bool = False
    hosts: tuple[str, ...] = ()
    why: str = ""


class PartOfBlock:
    """One repeat of the candidates of a benchmark; ``made``: what is there of each.

    ``keeps_nodes``: a later allocation gets the same nodes, so that failed runs are made there. ``ranked``:
    disturbed runs count.
    """

    def __init__(self, repeat: int, made: Mapping[Case, Made], keeps_nodes: bool, ranked: bool) -> None:
        self.repeat, self.made, self._keeps_nodes = repeat, made, keeps_nodes
        self.stands_in = 0  # the repeat that is made in place of this one
        self.results = sum(each.has_result for each in made.values())
        self.condition = self._condition()
        counts = {VALUE, DISTURBED} if ranked else {VALUE}
        self.is_complete = self.condition in (WHOLE, DISTURBED) and self._states <= counts

    @property
    def goes_on(self) -> bool:
        """Whether a run has failed, which is made again on the same nodes."""
        return not self.condition and FAILED in self._states

    @property
    def _states(self) -> set[str]:
        return {each.state for each in self.made.values()}

    def _condition(self) -> str:
        """Whether it counts (`WHOLE`), or what it asks for; empty while runs are to be made."""
        states = self._states
        if LEFT in states or len({each.hosts for each in self.made.values() if each.has_result}) > 1:
            return LEFT
        if CONTRADICTED in states or (FAILED in states and not self._keeps_nodes):
            return AGAIN
        if DISTURBED in states:
            return DISTURBED
        return WHOLE if states == {VALUE} else "" if states & {"", FAILED} else ENDED

    def closes(self, case: Case) -> bool:
        """Whether a run without a result is not made any more."""
        made = self.made.get(case)
        if made is None or made.has_result:
            return False
        again = FAILED in self._states and not self._keeps_nodes
        return made.state == VALUE or self.condition == LEFT or again

    def is_disturbed(self, case: Case) -> bool:
        """Whether others disturbed a run."""
        return case in self.made and self.made[case].state == DISTURBED

    def is_due(self, case: Case) -> bool:
        """Whether a run is to be made."""
        return not self.made[case].has_result and not self.closes(case)


def keeps_nodes(job: Job) -> bool:
    """Whether every allocation of a job has the same nodes: this machine, or those that its group lists.

    With LSF, a name in the list may be that of many hosts.
    """
    scheduler = batch_scheduler(job.system.scheduler)
    if scheduler is None:
        return True
    listed = scheduler.read_hosts(",".join(job.group.hosts)) if "hosts" in scheduler.granted else ()
    return len(listed) == job.placement.nodes


class LeftBlock(NamedTuple):
    """A block that was left, or has a failed run: its number, its runs with a result, of how many, and why.

    ``stands_in``: the block that is made instead; 0: none; its own number: it goes on.
    """

    number: int
    results: int
    runs: int
    why: str
    stands_in: int

    def __str__(self) -> str:
        of_runs = f"{self.results} of {self.runs} runs: {self.why}"
        if self.stands_in == self.number:
            return f"block {self.number} has {of_runs}; the same command makes the others, on the same nodes"
        text = f"block {self.number} was left after {of_runs}"
        instead = f"block {self.stands_in}" if self.stands_in else "by further_repeats, no other"
        return f"{text}; {instead} stands in for it"


@dataclass(slots=True)
class DesignState:
    """How far a block design is: its blocks by benchmark and repeat, and the runs that are to be made."""

    design: Design
    parts: list[list[PartOfBlock]] = field(default_factory=list)
    of_parts: list[int] = field(default_factory=list)  # how many blocks of each part are planned
    running: int = 0  # candidates of a race that are left
    fresh: bool = False  # whether the blocks of a race prove the winner
    due: list[Run] = field(default_factory=list)

    def add(self, stages: Iterable[tuple[int, list[PartOfBlock]]]) -> None:
        """Take a benchmark: one stage, or those of a race, each with its planned number of blocks."""
        parts: list[PartOfBlock] = []
        planned = 0
        for blocks, stage in stages:
            self.fresh |= planned > 0 and blocks >= LOOKS[0]  # those between two looks are fewer
            asks = (LEFT, AGAIN, DISTURBED)
            again = [each for each in stage if each.condition in asks and not each.is_complete]
            for number, each in enumerate(again, start=blocks):
                each.stands_in = stage[number].repeat if number < len(stage) else 0
            for each in filter(lambda part: part.goes_on, stage):
                each.stands_in = each.repeat
            parts += stage
            planned += blocks
        self.parts.append(parts)
        self.of_parts.append(planned)

    @property
    def planned(self) -> int:
        """How many blocks there should be that count."""
        return max(self.of_parts)

    @property
    def missing(self) -> int:
        """How many of the planned blocks there are not, of the benchmark that lacks most."""
        counts = [sum(each.is_complete for each in part) for part in self.parts]
        return max(0, *(planned - count for planned, count in zip(self.of_parts, counts, strict=True)))

    @property
    def complete(self) -> int:
        """How many of the planned blocks there are."""
        return self.planned - self.missing

    @property
    def left(self) -> list[LeftBlock]:
        """The blocks that were left, or of which a run failed, of any benchmark."""
        found: dict[int, LeftBlock] = {}
        every = (each for part in self.parts for each in part)
        for each in (each for each in every if each.condition in (LEFT, AGAIN) or each.goes_on):
            found.setdefault(each.repeat, self._left(each.repeat, each.stands_in))
        return [found[number] for number in sorted(found)]

    def _left(self, number: int, stands_in: int) -> LeftBlock:
        parts = [part[number - 1] for part in self.parts if number <= len(part)]
        runs = [made for part in parts for made in part.made.values()]
        runs.sort(key=lambda made: (made.state != LEFT, not made.why))
        said = [made.why or _WHY.get(made.state, "") for made in runs]
        why = next(filter(None, said), "they are of several sets of nodes")
        return LeftBlock(number, sum(part.results for part in parts), len(runs), why, stands_in)
