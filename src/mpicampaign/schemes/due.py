"""Which repeats of a unit are due, by its way of repeating."""

from __future__ import annotations

from mpicampaign.schemes import blocks, decided, each, repeats
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
