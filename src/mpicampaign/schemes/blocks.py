"""Candidates in blocks: they are repeated together, at planned looks some leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Generic

from mpicampaign.base.expectation import LOOKS, looks_to_decide
from mpicampaign.base.planned_looks import Stage
from mpicampaign.campaign.designs import Design
from mpicampaign.schemes.block import AGAIN, LEFT, BlockRuns, DesignState
from mpicampaign.schemes.repeats import Repeats, repeats_of, rows_of_repeats
from mpicampaign.schemes.unit import (
    C,
    CaseDue,
    Due,
    RepeatUnit,
    Results,
    entries,
    limit_in_states,
    limit_of,
    requested_runs,
)


class BlocksOfStage(dict[int, BlockRuns], Generic[C]):
    """The blocks of a benchmark's candidates by repeat; designs without looks have one stage.

    ``end``: its last repeat, where another stage follows. ``requested``: blocks beside the planned ones.
    """

    def __init__(self, unit: RepeatUnit[C], candidates: Sequence[C], results: Results, stage: Stage) -> None:
        super().__init__()
        self.candidates, self.stage, self.end = candidates, stage, 0
        self._unit, self._results = unit, results
        self.requested = () if unit.has_looks else requested_runs(results, candidates)
        limit = limit_of(unit.campaign, stage.blocks)
        self.count = repeats_of(stage.blocks, limit, self._condition, unit.ranked, self.requested)

    def __missing__(self, repeat: int) -> BlockRuns:
        self[repeat] = block_of(self._unit, self.candidates, repeat, self._results)
        return self[repeat]

    def has(self, candidate: C) -> bool:
        """Whether it is one of the candidates."""
        return any(other.case == candidate.case for other in self.candidates)

    def alone(self, candidate: C) -> BlocksOfStage[C]:
        """The blocks of a candidate that never gave a value: the others do not wait for it."""
        alone = BlocksOfStage(self._unit, [candidate], self._results, self.stage)
        alone.count = Repeats(self.stage.blocks, 0, 0)
        return alone

    @property
    def repeats(self) -> range:
        """The numbers of the stage's repeats."""
        after = self.stage.after
        return range(after + 1, (self.end or after + self.count.all) + 1)

    @property
    def stand_ins(self) -> dict[int, int]:
        """The repeats that stand in for others, with the rows of these."""
        after = self.stage.after
        return {after + number: after + row for number, row in self.count.rows.items()}

    def _condition(self, number: int) -> str:
        """The condition of the stage's n-th repeat; with looks the analysis says which ones count."""
        repeat, counted = self.stage.after + number, self.stage.counted
        condition = self[repeat].condition
        lacks = counted is not None and repeat not in counted and len(counted) < self.stage.blocks
        return AGAIN if lacks and self[repeat].is_complete else condition


def block_of(unit: RepeatUnit[C], candidates: Sequence[C], repeat: int, results: Results) -> BlockRuns:
    """What is there of one repeat of the candidates of a benchmark."""
    made = {
        candidate.case: results.in_block(
            candidate.kept, repeat, candidate.identities[repeat], candidate.benchmark, unit.entry.time_limit
        )
        for candidate in candidates
        if candidate.is_made_here
    }
    return BlockRuns(repeat, made, candidates[0].keeps_nodes, unit.ranked)


def due(unit: RepeatUnit[C], design: Design, results: Results) -> Due[C]:
    """The blocks of a design, with looks those of the candidates that are left."""
    state = DesignState(design, design.nodes * unit.entry.time_limit)
    candidates = {candidate.case: candidate for candidate in unit.candidates}
    stages_of, cases = _stages(unit, design, results), []
    for name, names in design.candidates.items():
        of_benchmark = [candidates[case] for case in names]
        all_candidates = Stage(frozenset(range(len(names))), unit.planned, 0)
        stages = [
            BlocksOfStage(unit, [of_benchmark[place] for place in sorted(stage.running)], results, stage)
            for stage in stages_of.get(name, [all_candidates])
        ]
        for stage, following in pairwise(stages):
            stage.end = following.stage.after  # what is behind the last block that counted is not due
        cases += [_case(unit, state, candidate, stages) for candidate in of_benchmark]
        state.add((stage.count.planned, [stage[repeat] for repeat in stage.repeats]) for stage in stages)
        state.running = max(state.running, len(stages[-1].candidates))
    begun = any(block.made for blocks in state.blocks for block in blocks)
    return Due(cases, state if begun else None)


def _stages(unit: RepeatUnit[C], design: Design, results: Results) -> Mapping[str, Sequence[Stage]]:
    """The stages of a design with looks, by benchmark; empty for other designs."""
    if not unit.has_looks or not any(candidate.here for candidate in unit.candidates):
        return {}
    of_case = {candidate.case: candidate for candidate in unit.candidates}
    candidates = [of_case[case] for cases in design.candidates.values() for case in cases]
    return results.stages(design.compared, candidates, unit.ranked)


def _case(
    unit: RepeatUnit[C], state: DesignState, candidate: C, stages: Sequence[BlocksOfStage[C]]
) -> CaseDue[C]:
    """A candidate with the stages that it is in."""
    case = candidate.case
    running = [stage for stage in stages if stage.has(candidate)] or [stages[0].alone(candidate)]
    blocks = {repeat: stage[repeat] for stage in running for repeat in stage.repeats}
    planned = running[0].count.planned
    last = max(blocks, default=planned)
    requested = running[0].requested
    if candidate.is_made_here:
        state.due += sum(block.is_due(case) for block in blocks.values())

    def closes(repeat: int) -> bool:
        return (blocks.get(repeat) or running[0][repeat]).closes(case)

    def is_left(repeat: int) -> bool:
        return repeat in blocks and blocks[repeat].condition == LEFT and blocks[repeat].closes(case)

    return CaseDue(
        candidate,
        entries(unit, candidate, last, requested, is_left),
        0 if unit.has_looks else sum(block.is_disturbed(case) for block in blocks.values()),
        sum(stage.count.lost for stage in running),
        _addable(unit, candidate, running, last),
        rows_of_repeats(requested, {n: row for stage in running for n, row in stage.stand_ins.items()}),
        {repeat for stage in running for repeat in stage.stand_ins},
        closes,
        # there is no block of a candidate that had left
        skipped=set(range(1, last + 1)) - blocks.keys() if blocks else (),
    )


def _addable(unit: RepeatUnit[C], candidate: C, running: Sequence[BlocksOfStage[C]], last: int) -> int:
    """How many more repeats a candidate may get."""
    if not candidate.is_made_here or (unit.ranked and not unit.has_looks):
        return 0
    looks = LOOKS if unit.entry.race else looks_to_decide(unit.most_candidates)
    most = looks[-1] if unit.has_looks else running[0].count.planned
    limit = limit_of if unit.has_looks else limit_in_states
    lost = sum(stage.count.lost for stage in running)
    return max(most + limit(unit.campaign, most) + lost - last, 0)
