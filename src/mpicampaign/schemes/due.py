"""Which repeats of a unit are due, by its way of repeating."""

from __future__ import annotations

from mpicampaign.base.records import DISTURBED
from mpicampaign.schemes import blocks, decided, each, repeats
from mpicampaign.schemes.block import AGAIN, LEFT
from mpicampaign.schemes.unit import C, Due, RepeatUnit, Results


def due(unit: RepeatUnit[C], results: Results) -> Due[C]:
    """The repeats of a unit, those that follow from its results among them."""
    if unit.entry.each:
        return each.due(unit, unit.entry.each, results)
    if unit.design:
        return blocks.due(unit, unit.design, results)
    if unit.decided_with:
        return decided.due(unit, results)
    return repeats.due(unit, results)


def is_repeated(unit: RepeatUnit[C], repeat: int, results: Results) -> bool:
    """Whether a repeat of a case, or a block, does not count, so that another one is due."""
    if unit.design:
        block = blocks.block_of(unit, unit.candidates, repeat, results)
        return block.condition in (LEFT, AGAIN, DISTURBED)
    [candidate] = unit.candidates
    return results.condition_of(candidate.kept, repeat, candidate.identities[repeat]) == DISTURBED
