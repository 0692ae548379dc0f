"""Placements of few repeats, paired over sizes and settings, as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.paired import paired_placements
from mpicampaign.dimension import RATIO
from mpicampaign.show.numbers import probability
from mpicampaign.text import visible
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from mpicampaign.compare.paired import Paired
    from mpicampaign.compare.tables import Comparison

PAIRED = "Placements paired over message sizes, since their repeats are too few for a test"
LEGEND = (
    "A setting is a host group and suite with both placements. p: how often as many settings would agree if "
    "the two were exchanged at random in each. It says nothing of other days or nodes."
)


def paired_lines(comparison: Comparison) -> list[str]:
    """``in 4 of 4 settings IB is better than ROCE at every size above 64 KiB, by 1.1 to 1.9 times …``."""
    return list(map(_line, paired_placements(comparison)))


def _line(found: Paired) -> str:
    where = "at every size" if found.above < 0 else f"at every size above {format_size(found.above)}"
    factors = sorted(one.factor for one in found.found)
    ends = dict.fromkeys(RATIO.number(factor) for factor in (factors[0], factors[-1]))
    repeats = "1 repeat" if found.repeats == 1 else f"up to {found.repeats} repeats"
    ranks = f", {found.ranks} ranks" if found.ranks else ""
    return (
        f"in {len(found.found)} of {found.settings} settings {visible(found.better)} is better than "
        f"{visible(found.worse)} {where}, by {' to '.join(ends)} times in the median over them "
        f"({repeats} each{ranks}; {probability(found.p)})"
    )
