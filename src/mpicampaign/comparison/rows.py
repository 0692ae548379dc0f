"""A row of a comparison: one series of one case, its figures, and what is to be said of its runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.records import (
    CONTRADICTED,
    DECLARED,
    FAILED,
    MISSING,
    NOT_AVAILABLE,
    OK,
    UNVERIFIED,
    VERIFIED,
)
from mpicampaign.wording import repeats_words

if TYPE_CHECKING:
    from mpicampaign.comparison.metrics import Metric
    from mpicampaign.records import Case, Record, Series
    from mpicampaign.statistics.medians import Summary
    from mpicampaign.statistics.modes import Stretch
    from mpicampaign.statistics.outliers import Outlier

# Kinds of notes beside the statuses and verdicts of records.
NOT_PRINTED = "not_printed"
NOT_CONVERGED = "not_converged"
UNLIKE = "unlike"  # repeats that were run otherwise than others
SHORTENED = "shortened"  # a budget did not allow all that the benchmark's definition asks for
MODES = "modes"  # the repeats fall into bands
OUTLIER = "outlier"  # a repeat is far from all others
BETWEEN = "between"  # the median is the mean of two middle values that lie far apart
ELSEWHERE = "elsewhere"  # imported runs that asked for another host group than they ran on
NOT_MONOTONIC = "not_monotonic"  # fewer ranks have a larger effective bandwidth
EARLIER = "earlier"  # made with an earlier program or MPI library: not averaged with the present one
ABOVE = "above"  # more bytes a second than the link is said to carry

KIND_WORDS = {
    NOT_AVAILABLE: "n/a",
    FAILED: "failed",
    CONTRADICTED: "contradicted",
    EARLIER: "earlier program or library",
    MISSING: "missing",
    NOT_PRINTED: "not printed",
    UNVERIFIED: "unverified",
    DECLARED: DECLARED,
    NOT_CONVERGED: "not converged",
    UNLIKE: "unlike repeats",
    SHORTENED: "shortened by its budget",
    ELSEWHERE: "host group by the actual hosts",
    MODES: "several modes",
    OUTLIER: "outlier",
    BETWEEN: "median between two values",
    NOT_MONOTONIC: "not monotonic",
    ABOVE: "above the line rate",
}
OF_ONE_SERIES = (NOT_PRINTED, NOT_CONVERGED, MODES, OUTLIER, BETWEEN, NOT_MONOTONIC, ABOVE)
_WITHOUT_FIGURE = (NOT_AVAILABLE, FAILED, CONTRADICTED, EARLIER, MISSING, NOT_PRINTED)


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric of one row: a figure per repeat that counts, in the units of `mpicampaign.records`.

    ``sizes``: where each repeat reached its maximum (B), for maxima only. ``bound``: what the link can carry
    of that which the figures count (B/s), for fractions of it only.
    """

    metric: Metric
    values: tuple[float, ...]
    repeats: tuple[int, ...]
    sizes: tuple[int, ...]
    summary: Summary | None
    bound: float | None = None

    @property
    def n(self) -> int:
        """How many repeats gave the figure."""
        return len(self.values)


@dataclass(frozen=True, slots=True)
class Note:
    """Why runs are left out or doubted, or a finding: one reason and the repeats that it concerns."""

    kind: str
    reason: str
    repeats: tuple[int, ...]

    @property
    def words(self) -> str:
        """The note without its repeats."""
        return KIND_WORDS[self.kind] + (f": {self.reason}" if self.reason else "")

    def __str__(self) -> str:
        return f"{self.words} ({repeats_words(self.repeats)})" if self.repeats else self.words


@dataclass(frozen=True, slots=True)
class Row:
    """One series of one case: all planned runs, and the figures of those that count.

    ``stretches``: message sizes at which the repeats fall into two modes; ``outliers``: single figures far
    from the others. Both count positions in ``curves``, and judge ``judged_column``.
    """

    case: Case
    label: str
    ranks: int | None
    records: tuple[Record, ...]
    curves: tuple[tuple[Record, Series], ...]
    cells: tuple[Cell, ...]
    notes: tuple[Note, ...]
    stretches: tuple[Stretch, ...] = ()
    outliers: tuple[Outlier, ...] = ()
    judged_column: str = ""

    @property
    def planned(self) -> int:
        """How many repeats the campaign asks for."""
        return len(self.records)

    @property
    def counted(self) -> int:
        """How many runs enter the figures."""
        return len(self.curves)

    @property
    def verdicts(self) -> dict[str, int]:
        """How many complete runs have each verdict; those without any are unverified."""
        found = Counter(record.verdict or UNVERIFIED for record in self.records if record.status == OK)
        order = (VERIFIED, DECLARED, UNVERIFIED, CONTRADICTED)
        return {verdict: found[verdict] for verdict in order if found[verdict]}

    @property
    def absence(self) -> str:
        """Why the row has no figure at all; empty where it has."""
        if self.counted:
            return ""
        reasons = [note for note in self.notes if note.kind in _WITHOUT_FIGURE]
        return "; ".join(note.words if len(reasons) == 1 else str(note) for note in reasons)

    @property
    def has_modes(self) -> bool:
        """Whether the repeats fall into bands at any message size."""
        return any(note.kind == MODES for note in self.notes)

    def has_modes_in(self, metric: Metric) -> bool:
        """Whether the repeats fall into bands at a message size from which the metric is taken."""
        sizes = self.cell(metric).sizes if metric.size is None else (metric.size,)
        return any(size in stretch.sizes for stretch in self.stretches for size in sizes)

    def shows(self, metric: Metric) -> bool:
        """Whether the row is shown for a metric: a fraction of a bound only where a bound is known."""
        return not metric.bound or self.cell(metric).bound is not None

    def cell(self, metric: Metric) -> Cell:
        """The row's cell of a metric of its table."""
        return next(cell for cell in self.cells if cell.metric == metric)
