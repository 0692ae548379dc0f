"""A block, what is there of its runs, and how far a block design is.

A block is one repeat of the candidates of a benchmark, on the same nodes. Where later allocations get other
nodes, a block that was begun and not finished is left: its runs keep their number, and it is made anew under
the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.records import CONTRADICTED, DISTURBED, FAILED, Case

if TYPE_CHECKING:
    from mpicampaign.campaign.designs import Design

# Conditions of a block, beside DISTURBED: all its runs count; one cannot be made; it is repeated, up to the
# limit; it was left and is made anew, however often.
WHOLE, ENDED, AGAIN, LEFT = "whole", "ended", "again", "left"

VALUE = "value"  # also of a run that met its time limit: it is the slowest of its block
LEFT_BEHIND = "left"  # the file in a run's folder that says why its block was left

_WHY = {FAILED: "a run failed", CONTRADICTED: "a run is contradicted"}


class Made(NamedTuple):
    """What is there of a run in a block; ``state`` is empty while it is to be made.

    States: `VALUE`, what asks for another block (`DISTURBED`, `CONTRADICTED`, `FAILED`, `LEFT`), or any other
    end. ``why``: it was left, or has failed.
    """

    state: str = ""
    has_result: bool = False
    hosts: tuple[str, ...] = ()
    why: str = ""


class BlockRuns:
    """One repeat of the candidates of a benchmark; ``made``: what is there of each.

    ``keeps_nodes``: a later allocation gets the same nodes, so that failed runs are made there. ``ranked``:
    disturbed runs count.
    """

    def __init__(self, repeat: int, made: Mapping[Case, Made], keeps_nodes: bool, ranked: bool) -> None:
        self.repeat, self.made = repeat, made
        self.stands_in = 0  # the repeat that is made in place of this one
        self.results = sum(run.has_result for run in made.values())
        states = {run.state for run in made.values()}
        self._fails = FAILED in states and not keeps_nodes
        self.condition = self._condition(states)
        counts = {VALUE, DISTURBED} if ranked else {VALUE}
        self.is_complete = self.condition in (WHOLE, DISTURBED) and states <= counts
        self.goes_on = not self.condition and FAILED in states  # the run is made again on the same nodes

    def _condition(self, states: set[str]) -> str:
        """Whether it counts (`WHOLE`), or what it asks for; empty while runs are to be made."""
        if LEFT in states or len({run.hosts for run in self.made.values() if run.has_result}) > 1:
            return LEFT
        if CONTRADICTED in states or self._fails:
            return AGAIN
        if DISTURBED in states:
            return DISTURBED
        return WHOLE if states == {VALUE} else "" if states & {"", FAILED} else ENDED

    def closes(self, case: Case) -> bool:
        """Whether a run without a result is not made any more."""
        run = self.made.get(case)
        if run is None or run.has_result:
            return False
        return run.state == VALUE or self.condition == LEFT or self._fails

    def is_disturbed(self, case: Case) -> bool:
        """Whether others disturbed a run."""
        return case in self.made and self.made[case].state == DISTURBED

    def is_due(self, case: Case) -> bool:
        """Whether a run is to be made."""
        return not self.made[case].has_result and not self.closes(case)


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
    """How far a block design is: its blocks by benchmark and repeat.

    ``due``: how many runs are to be made; ``run_seconds``: the upper bound of the time of one on all nodes.
    """

    design: Design
    run_seconds: float
    due: int = 0
    blocks: list[list[BlockRuns]] = field(default_factory=list)
    planned_blocks: list[int] = field(default_factory=list)  # of each benchmark
    running: int = 0  # candidates of a race that are left

    def add(self, stages: Iterable[tuple[int, list[BlockRuns]]]) -> None:
        """Take a benchmark: of each of its stages the planned number of blocks, and its blocks."""
        blocks: list[BlockRuns] = []
        planned = 0
        for count, in_order in stages:
            asks = (LEFT, AGAIN, DISTURBED)
            again = [block for block in in_order if block.condition in asks and not block.is_complete]
            for number, block in enumerate(again, start=count):
                block.stands_in = in_order[number].repeat if number < len(in_order) else 0
            for block in in_order:
                block.stands_in = block.repeat if block.goes_on else block.stands_in
            blocks += in_order
            planned += count
        self.blocks.append(blocks)
        self.planned_blocks.append(planned)

    @property
    def planned(self) -> int:
        """How many blocks there should be that count, of the benchmark that lacks most."""
        return self._of_most_lacking[1]

    @property
    def missing(self) -> int:
        """How many of these there are not."""
        return self._of_most_lacking[0]

    @property
    def _of_most_lacking(self) -> tuple[int, int]:
        counts = (sum(block.is_complete for block in blocks) for blocks in self.blocks)
        planned_and_made = zip(self.planned_blocks, counts, strict=True)
        return max((max(planned - count, 0), planned) for planned, count in planned_and_made)

    @property
    def complete(self) -> int:
        """How many of the planned blocks there are."""
        return self.planned - self.missing

    @property
    def left(self) -> list[LeftBlock]:
        """The blocks that were left, or of which a run failed, of any benchmark."""
        asking = (
            block
            for blocks in self.blocks
            for block in blocks
            if block.condition in (LEFT, AGAIN) or block.goes_on
        )
        stands_in: dict[int, int] = {}
        for block in asking:
            stands_in.setdefault(block.repeat, block.stands_in)
        return [self._left(number, stands_in[number]) for number in sorted(stands_in)]

    def _left(self, number: int, stands_in: int) -> LeftBlock:
        of_benchmarks = [blocks[number - 1] for blocks in self.blocks if number <= len(blocks)]
        runs = [run for block in of_benchmarks for run in block.made.values()]
        runs.sort(key=lambda run: (run.state != LEFT, not run.why))
        reasons = (run.why or _WHY.get(run.state, "") for run in runs)
        why = next(filter(None, reasons), "they are of several sets of nodes")
        return LeftBlock(number, sum(block.results for block in of_benchmarks), len(runs), why, stands_in)
