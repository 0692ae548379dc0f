"""What an answer of a report is: a metric, what is said of it, and its candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Table
from mpicampaign.questions.blocks.find import InBlocks
from mpicampaign.questions.ranking.find import Ranking
from mpicampaign.questions.scaling.find import Scaling
from mpicampaign.show.cells import MetricCell

# Whether a difference is real.
SHOWN = "difference shown"
NOT_SHOWN = "no clear difference"
ALONE = "nothing to compare"


class Mark(NamedTuple):
    """A doubt or a basis of an answer in short, such as ``≈ 3``; `KEY` says what signs mean."""

    sign: str
    value: str | int


REVERSED, NOT_IN_TEST, UNPROVED, MODES, WRONG = "⇄", "◔", "?", "≈", "!"
KEY = {
    "p": "by chance",
    "finds": "detectable difference",
    REVERSED: "order reversed",
    NOT_IN_TEST: "not tested",
    UNPROVED: "unverified",
    MODES: "several modes",
    WRONG: "the campaign file says otherwise",
}


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A host group in a placement, in one metric.

    ``ratio``: how many times worse than the best its median is; ``low``, ``high``: the same of the ends of
    its interval. ``None`` where that is unknown, and of disturbed runs where several have quiet ones.
    ``leads``: it may be the best. In blocks the ratio is that to the reference.
    """

    name: str
    shown: MetricCell
    ratio: float | None
    low: float | None
    high: float | None
    leads: bool

    @property
    def row(self) -> Row:
        """The row of the candidate in the table."""
        return self.shown.row

    @property
    def repeats(self) -> int:
        """How many gave a value."""
        return self.shown.cell.n if self.shown.cell else 0

    @property
    def value(self) -> str:
        """The median of the candidate."""
        return str(self.shown.box("median").text)


@dataclass(frozen=True, slots=True)
class Answer:
    """One metric of runs with as many ranks.

    ``said``: the finding, then what it rests on and what is against it; ``marks``: these in short.
    ``host_groups``: the best of them, a line for each placement. ``candidates``: best first, in ``unit``;
    those of disturbed runs are last where several others are compared. ``rankings``, ``blocks``, ``scaling``:
    what it is made of.
    """

    table: Table
    title: str
    real: str
    said: tuple[str, ...]
    host_groups: tuple[str, ...] = ()
    candidates: tuple[CandidateRow, ...] = ()
    unit: str = ""
    rankings: tuple[Ranking, ...] = ()
    blocks: InBlocks | None = None
    scaling: Scaling | None = None
    marks: tuple[Mark, ...] = ()

    @property
    def finding(self) -> str:
        """The first sentence."""
        return self.said[0]

    @property
    def details(self) -> tuple[str, ...]:
        """All other ones."""
        return (*self.said[1:], *self.host_groups)
