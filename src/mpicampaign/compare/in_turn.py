"""Whether imported repeats of two rows were measured one group after the other: these are not tested.

A test assumes that nothing but the two distinguishes their repeats. Own campaigns alternate between cases.
Imported groups that do not overlap in time also differ by all that changed meanwhile. They have no p; one
leads if all its repeats lie on one side of all of the other's, by 1 % or more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.compare.rows import Row

IN_TURN = "measured one after the other"


def in_turn(one: Row, other: Row) -> bool | None:
    """Whether all runs of one began before all of the other; ``None`` if it is unknown when.

    Never of own runs alone: those alternate.
    """
    if not ((one.imported or other.imported) and one.curves and other.curves):
        return False
    if not (one.first_start and other.first_start):
        return None
    return one.last_start < other.first_start or other.last_start < one.first_start


def any_in_turn(pairs: Iterable[tuple[Row, Row]]) -> bool | None:
    """Whether any two were, so that no test over all of them is valid; ``None``: unknown of some."""
    answers = {in_turn(*pair) for pair in pairs}
    return None if None in answers and True not in answers else True in answers
