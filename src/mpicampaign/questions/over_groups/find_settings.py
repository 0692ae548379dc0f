"""Which of two is better over the settings that hold both, such as host groups: in how many, and by how much.

A setting counts once, with one ratio: its repeats say nothing of other settings. Whether as much agreement
would be chance: signed ranks of the ratios, and Holm's steps over all pairs of a question.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.compare.timed_runs import why_untested
from mpicampaign.statistics.comparisons import LEVEL, holm
from mpicampaign.verdicts.compare import TIE
from mpicampaign.verdicts.rank_tests import signed_ranks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.rows import Row

TOO_FEW = "too few"  # settings
_DIGITS = 12  # of logarithms: equal sizes share a rank


class Setting(NamedTuple):
    """How many times better the first of two is in it; ``shown``: by the setting's own repeats."""

    name: str
    ratio: float
    shown: bool = False

    @property
    def turned(self) -> Setting:
        """Seen from the other of the two."""
        return self._replace(ratio=1 / self.ratio)


Settings = tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class OverSettings:
    """Two candidates, the one that is better in more settings first.

    ``left_out``: settings that do not count, since repeats of either fall into several modes. ``p``: among
    all pairs of the question; ``None`` where it is not tested, for the reason ``untested``.
    """

    better: str
    worse: str
    settings: Settings
    left_out: Settings = ()
    p: float | None = None
    untested: str = ""

    @property
    def leads(self) -> Settings:
        """Settings in which the first is better by 1 % or more."""
        return tuple(one for one in self.settings if one.ratio >= 1 + TIE)

    @property
    def against(self) -> Settings:
        """Those in which the second is, with its ratio."""
        return self.turned.leads

    @property
    def ties(self) -> Settings:
        """Those in which neither is."""
        return tuple(one for one in self.settings if 1 / (1 + TIE) < one.ratio < 1 + TIE)

    @property
    def turned(self) -> OverSettings:
        """The other one first."""
        settings, left_out = (tuple(one.turned for one in of) for of in (self.settings, self.left_out))
        return replace(self, better=self.worse, worse=self.better, settings=settings, left_out=left_out)


def too_few(probability: float, tests: int) -> str:
    """Why nothing can be shown if this is the smallest that a test can have; empty where something can."""
    return TOO_FEW if probability * tests > LEVEL else ""


def judged(
    pairs: Sequence[OverSettings], rows: Sequence[Iterable[tuple[Row, Row]]]
) -> tuple[OverSettings, ...]:
    """All pairs of a question, each with the rows that are compared, in either order of the two."""
    why = [
        why_untested(own) or too_few(2.0 ** (1 - len(pair.settings)), len(pairs))
        for pair, own in zip(pairs, rows, strict=True)
    ]
    ratios = {
        n: [round(math.log(one.ratio), _DIGITS) for one in pairs[n].settings]
        for n, reason in enumerate(why)
        if not reason
    }
    p = holm({n: signed_ranks(own) for n, own in ratios.items()})
    return tuple(_better_first(replace(pair, p=p.get(n), untested=why[n])) for n, pair in enumerate(pairs))


def _better_first(pair: OverSettings) -> OverSettings:
    lead = float(len(pair.leads) - len(pair.against))
    return pair if (lead or math.fsum(math.log(one.ratio) for one in pair.settings)) >= 0 else pair.turned
