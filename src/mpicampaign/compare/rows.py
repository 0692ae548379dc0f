"""A row of a comparison: one series of one case, its values, and the notes on its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mpicampaign.base.records import (
    APART,
    BLAS,
    BLOCK,
    CONTRADICTED,
    DECLARED,
    DISTURBED,
    IMPORTED_FROM,
    NOT_JUDGED,
    OK,
    QUIET,
    UNVERIFIED,
    VERIFIED,
    Case,
    Record,
    Series,
)
from mpicampaign.compare.findings import AT_MOST, MODES, OTHER_STATE, SHARING, WITHOUT_VALUE, Absence, Note
from mpicampaign.compare.metrics import Metric
from mpicampaign.statistics.comparisons import FEWEST
from mpicampaign.statistics.medians import Summary, summarise
from mpicampaign.statistics.modes import Stretch


def with_values(runs: Sequence[Record]) -> list[Record]:
    """The runs of a case whose values are shown: those that count, or all where too many were disturbed.

    Disturbed runs are left out where enough others for a test were quiet, or as many count as the campaign
    asks for. Runs that were not judged alone do not displace them.
    """
    sound = [run for run in runs if run.sound]
    counting = [run for run in sound if run.counts]
    quiet = sum(run.condition == QUIET for run in counting)
    asked = sum(not run.further for run in runs)
    return counting if quiet >= FEWEST or len(counting) >= asked else sound


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric of one row: a value per repeat that counts, in the units of `mpicampaign.base.records`.

    ``sizes``: where each repeat reached its maximum (B), for maxima only. ``bound``: what the link can carry
    of that which the bandwidth counts (B/s), for fractions of it only.
    """

    metric: Metric
    values: tuple[float, ...]
    repeats: tuple[int, ...]
    sizes: tuple[int, ...]
    summary: Summary | None
    bound: float | None = None

    @classmethod
    def of(
        cls,
        metric: Metric,
        by_repeat: Mapping[int, float],
        sizes: tuple[int, ...] = (),
        bound: float | None = None,
    ) -> Cell:
        """The cell of the values by the numbers of their repeats."""
        values = tuple(by_repeat.values())
        return cls(metric, values, tuple(by_repeat), sizes, summarise(values) if values else None, bound)

    @property
    def by_repeat(self) -> dict[int, float]:
        """The values by the numbers of their repeats."""
        return dict(zip(self.repeats, self.values, strict=True))

    @property
    def n(self) -> int:
        """How many repeats gave a value."""
        return len(self.values)


@dataclass(frozen=True)
class Row:
    """One series of one case: all planned runs, and the values of those that count, or of a busy machine.

    ``stretches``: message sizes at which the repeats fall into two modes, by their positions in ``curves``.
    """

    case: Case
    label: str
    ranks: int | None
    records: tuple[Record, ...]
    curves: tuple[tuple[Record, Series], ...]
    cells: tuple[Cell, ...]
    notes: tuple[Note, ...]
    stretches: tuple[Stretch, ...] = ()
    detail: str = ""  # what distinguishes it beyond its case
    at_most: bool = False  # its values are upper limits

    @property
    def place(self) -> tuple[str, str, str, int | None]:
        """Where it was measured: system, host group, placement and number of ranks."""
        return self.case.system, self.case.host_group, self.case.placement, self.ranks

    @property
    def attributes(self) -> Mapping[str, str]:
        """The attributes that the campaign file gives the row's host group."""
        return self.records[0].attributes if self.records else {}

    @property
    def planned(self) -> int:
        """How many repeats the campaign asks for."""
        return len(self.records)

    @property
    def counted(self) -> int:
        """How many runs enter the summaries."""
        return len(self.curves)

    @property
    def verdicts(self) -> dict[str, int]:
        """How many complete runs have each verdict; those without one are unverified."""
        counted = Counter(record.verdict or UNVERIFIED for record in self.records if record.status == OK)
        order = (VERIFIED, DECLARED, UNVERIFIED, CONTRADICTED)
        return {verdict: counted[verdict] for verdict in order if counted[verdict]}

    @property
    def conditions(self) -> dict[str, int]:
        """How many complete runs were made in each condition."""
        counted = Counter(record.condition for record in self.records if record.status == OK)
        return {
            condition: counted[condition]
            for condition in (QUIET, DISTURBED, NOT_JUDGED)
            if counted[condition]
        }

    @cached_property
    def imported(self) -> bool:
        """Whether any of its values is of an imported run."""
        return any(IMPORTED_FROM in run.metadata for run, _ in self.curves)

    @cached_property
    def blas(self) -> str:
        """The BLAS library of its runs; empty if none was seen. It decides as much as the machine."""
        return next((run.metadata[BLAS] for run, _ in self.curves if BLAS in run.metadata), "")

    @property
    def linear_system(self) -> int:
        """The order of the linear system that HPL solved; 0 if it is unknown."""
        printed = next((series.qualifiers.get("N", "") for _, series in self.curves), "")
        return int(printed) if printed.isascii() and printed.isdecimal() else 0

    @cached_property
    def disturbed(self) -> bool:
        """Whether its values are those of a busy machine: they are shown, and compared with nothing."""
        return any(run.disturbed for run, _ in self.curves)

    @cached_property
    def apart(self) -> bool:
        """Whether its ranks shared cores, or its machine was in another state: it is compared with no row."""
        return any(key in run.metadata for run, _ in self.curves for key in APART)

    @cached_property
    def in_blocks(self) -> bool:
        """Whether it is compared within blocks, and in no other way with rows of its host group."""
        return any(BLOCK in run.metadata for run in self.records)

    @property
    def ranked(self) -> bool:
        """Whether others may be compared with it: it has values, and none stands apart."""
        return bool(self.curves) and not (self.disturbed or self.apart or self.at_most)

    @property
    def unranked(self) -> Absence:
        """Why the row has no place in rankings; empty if it has one."""
        doubts = (DISTURBED, SHARING, OTHER_STATE, AT_MOST) if self.curves else WITHOUT_VALUE
        return () if self.ranked else tuple(note for note in self.notes if note.kind in doubts)

    @property
    def absence(self) -> Absence:
        """Why the row has no value at all; empty if it has one."""
        return () if self.counted else tuple(note for note in self.notes if note.kind in WITHOUT_VALUE)

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

    def median(self, metric: Metric) -> float:
        """The median of a metric's values; 0 without any."""
        summary = self.cell(metric).summary
        return summary.median if summary else 0.0


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """What a publication gives of one host group in one placement, by metric in SI units."""

    system: str
    host_group: str
    placement: str
    ranks: int | None
    statistic: str
    n: int
    source: str
    reference: str
    values: Mapping[Metric, float]
