"""Placements of few repeats, paired over sizes and settings, as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.paired import paired_placements
from mpicampaign.dimension import RATIO
from mpicampaign.show.numbers import probability
from mpicampaign.statistics.comparisons import FEWEST, LEVEL
from mpicampaign.text import visible
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from mpicampaign.compare.paired import Paired
    from mpicampaign.compare.tables import Comparison

PAIRED = "Too few repeats to test single metrics: placements compared over all message sizes"
LEGEND = (
    "A setting is a host group and suite with both placements. p: the chance that as many settings agree if "
    "the two are exchanged at random in each. It does not cover other days or nodes. "
    f"Single metrics are tested from {FEWEST} repeats on."
)


def paired_lines(comparison: Comparison) -> list[str]:
    """``IB was better than ROCE in 4 of 4 settings at every size above 64 KiB: by a factor of 1.1 …``."""
    return list(map(_line, paired_placements(comparison)))


def _line(found: Paired) -> str:
    where = "at every size" if found.above < 0 else f"at every size above {format_size(found.above)}"
    factors = sorted(one.factor for one in found.found)
    ends = dict.fromkeys(RATIO.number(factor) for factor in (factors[0], factors[-1]))
    repeats = "1 repeat" if found.repeats == 1 else f"up to {found.repeats} repeats"
    ranks = f", {found.ranks} ranks" if found.ranks else ""
    significance = "not significant, " if found.p > LEVEL else ""
    return (
        f"{visible(found.better)} was better than {visible(found.worse)} in {len(found.found)} of "
        f"{found.settings} settings {where}: by a factor of {' to '.join(ends)} in the median over sizes "
        f"({repeats} each{ranks}; {significance}{probability(found.p)})"
    )
