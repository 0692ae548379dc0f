"""Where curves over message size cross, as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.text import listed
from mpicampaign.base.units import format_size
from mpicampaign.questions.crossings.find import Crossing, crossings
from mpicampaign.show.sentences import first_few

if TYPE_CHECKING:
    from mpicampaign.questions.ranking.find import Ranking

_SHOWN = 3


def crossings_text(ranking: Ranking) -> str:
    """``ahead of intelmpi in all repeats: openmpi5 at 8 B to 128 B (2.6 to 5.9 times)``; empty if none."""
    found = crossings(ranking)
    if not found:
        return ""
    parts = [f"{one.name} at {_sizes(one)} ({_times(one)})" for one in found]
    few = first_few(parts, _SHOWN, "ranges of sizes")
    return f"ahead of {listed(ranking.leaders)} in all repeats: {listed(few)}"


def _sizes(one: Crossing) -> str:
    low, high = (format_size(size) for size in (one.low, one.high))
    return low if low == high else f"{low} to {high}"


def _times(one: Crossing) -> str:
    least, most = (RATIO.number(factor) for factor in (one.least, one.most))
    return f"{least} times" if least == most else f"{least} to {most} times"
