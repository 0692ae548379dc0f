"""Records side by side: one row for each host group, placement and series, never fewer.

A row's figures come from the runs that count (complete, not contradicted); every other run is a note
on the row with its reason, so that what is missing is seen where it is missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from mpicampaign.metrics import (
    BASELINE,
    Metric,
    Reading,
    choose_metrics,
    curve,
    fraction_of_line_rate,
    link_bound,
    read,
    read_fraction,
)
from mpicampaign.monotony import with_monotony
from mpicampaign.ranking import Ranking, rank_host_groups, rank_placements
from mpicampaign.records import CONTRADICTED, DECLARED, OK, UNVERIFIED, VERIFIED
from mpicampaign.rows import (
    ABOVE,
    BETWEEN,
    KIND_WORDS,
    MODES,
    NOT_CONVERGED,
    NOT_PRINTED,
    OF_ONE_SERIES,
    SHORTENED,
    Cell,
    Note,
    Row,
)
from mpicampaign.statistics import middle_gap, modes, summarise
from mpicampaign.units import format_size
from mpicampaign.wording import BANDWIDTH, quantity, repeats_words, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mpicampaign.records import Case, Record, Series
    from mpicampaign.statistics import Mode

K = TypeVar("K")

# IMB and OSU print two decimals of a µs and of a MB/s: neighbouring printed values are no modes.
_RESOLUTION = {"time": 1e-8, "bandwidth": 1e4}
_PRINTING_SUITES = ("imb", "osu")
ABOVE_BOUND = 1.05  # some room for what a shaped link lets through at once


@dataclass(frozen=True, slots=True)
class Table:
    """All rows of one series label of one benchmark; every row has a cell for each metric."""

    benchmark: str
    label: str
    suite: str
    metrics: tuple[Metric, ...]
    rows: tuple[Row, ...]
    rankings: tuple[Ranking, ...]

    @property
    def title(self) -> str:
        """The label, with the benchmark that it was measured in where that is another."""
        own = self.label.startswith(self.benchmark)
        return visible(self.label if own else f"{self.benchmark}: {self.label}")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that tables, figures and the report show."""

    tables: tuple[Table, ...]
    records: tuple[Record, ...]
    table_sizes: tuple[int, ...]

    @property
    def rankings(self) -> tuple[tuple[Table, Ranking], ...]:
        """The rankings of all tables."""
        return tuple((table, ranking) for table in self.tables for ranking in table.rankings)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems under test, in the order of the records."""
        return tuple(dict.fromkeys(record.case.system for record in self.records))

    def place(self, row: Row) -> str:
        """The row's host group; with its system where there are several."""
        case = row.case
        return visible(f"{case.system}/{case.host_group}" if len(self.systems) > 1 else case.host_group)

    def notes(self) -> list[tuple[Table, Row, Note]]:
        """Every note once: what concerns whole runs is said by each table of their benchmark."""
        found: dict[tuple[object, ...], tuple[Table, Row, Note]] = {}
        for table in self.tables:
            for row in table.rows:
                for note in row.notes:
                    label = table.label if note.kind in OF_ONE_SERIES else None
                    found.setdefault((row.case, label, note), (table, row, note))
        return list(found.values())

    def coverages(self) -> dict[int, float]:
        """The coverage of the intervals by the number of repeats, for those that occur."""
        summaries = [cell.summary for table in self.tables for row in table.rows for cell in row.cells]
        found = {s.n: s.interval.coverage for s in summaries if s is not None and s.interval is not None}
        return dict(sorted(found.items()))


def compare(
    records: Sequence[Record],
    table_sizes: Sequence[int] = (1024, 8192, 32768),
    benchmark_sizes: Mapping[str, Sequence[int]] | None = None,
) -> Comparison:
    """Put the records side by side.

    Parameters
    ----------
    records : one for each planned run, those that did not happen included
    table_sizes : message sizes (B) at which tables show bandwidth or time
    benchmark_sizes : other sizes for some benchmarks, by name
    """
    tables = []
    for benchmark, runs in _grouped(records, lambda record: record.case.benchmark).items():
        sizes = (benchmark_sizes or {}).get(benchmark) or table_sizes
        tables += [_table(benchmark, label, runs, sizes) for label in _labels(benchmark, runs)]
    return Comparison(tuple(tables), tuple(records), tuple(table_sizes))


def _labels(benchmark: str, runs: Iterable[Record]) -> list[str]:
    """The labels of all series that any run printed, baselines last; the benchmark's name where none did."""
    labels = dict.fromkeys(series.label for run in runs if run.status == OK for series in run.series)
    return sorted(labels, key=lambda label: label == BASELINE) or [benchmark]


def _table(benchmark: str, label: str, runs: Sequence[Record], sizes: Sequence[int]) -> Table:
    suite = runs[0].suite
    printed = [series for run in runs if run.counts for series in run.series if series.label == label]
    metrics = choose_metrics(suite, printed, sizes) if printed else ()
    if _is_bounded(label, runs):
        metrics = (*metrics, fraction_of_line_rate(suite))
    rows = []
    for case, of_case in _grouped(runs, lambda record: record.case).items():
        of_case = sorted(of_case, key=lambda record: record.repeat)
        rows += [_row(case, label, ranks, of_case, metrics) for ranks in _ranks(label, of_case)]
    rows = with_monotony(rows)
    rankings = (*rank_placements(rows, metrics), *rank_host_groups(rows, metrics))
    return Table(benchmark, label, suite, metrics, tuple(rows), rankings)


def _is_bounded(label: str, runs: Iterable[Record]) -> bool:
    """Whether the figures of any run can be held against a line rate."""
    pairs = ((run, table) for run in runs if run.counts for table in run.series if table.label == label)
    return any(table.columns.get("bandwidth") and link_bound(run, table) for run, table in pairs)


def _ranks(label: str, runs: Iterable[Record]) -> list[int | None]:
    """The numbers of ranks for which the case has the series; one unknown number where it has none."""
    printed = (series for run in runs if run.status == OK for series in run.series)
    found = {series.ranks for series in printed if series.label == label}
    return sorted(found, key=lambda ranks: ranks or 0) or [None]


def _row(case: Case, label: str, ranks: int | None, runs: Sequence[Record], metrics: Sequence[Metric]) -> Row:
    pairs = ((run, _series_of(run, label, ranks)) for run in runs)
    curves = tuple((run, series) for run, series in pairs if run.counts and series is not None)
    cells = tuple(_cell(metric, curves) for metric in metrics)
    notes = (*_run_notes(runs, curves), *_convergence_notes(curves), *_mode_notes(metrics, curves))
    notes += (*_shortened_notes(curves), *_above_notes(cells))
    notes += tuple(_between_notes(cells)) if not any(note.kind == MODES for note in notes) else ()
    return Row(case, label, ranks, tuple(runs), curves, cells, notes)


def _series_of(run: Record, label: str, ranks: int | None) -> Series | None:
    return next((series for series in run.series if series.label == label and series.ranks == ranks), None)


def _cell(metric: Metric, curves: Iterable[tuple[Record, Series]]) -> Cell:
    found: list[tuple[int, Reading]] = []
    for run, series in curves:
        reading = read_fraction(run, series) if metric.bound else read(metric, series, run.series)
        if reading is not None:
            found.append((run.repeat, reading))
    values = tuple(reading.value for _, reading in found)
    sizes = tuple(r.size for _, r in found if r.size is not None) if metric.size is None else ()
    repeats = tuple(repeat for repeat, _ in found)
    bounds = [link_bound(run, series) for run, series in curves] if metric.bound else []
    bound = next((bound for bound in bounds if bound), None)
    return Cell(metric, values, repeats, sizes, summarise(values) if values else None, bound)


def _run_notes(runs: Iterable[Record], curves: Sequence[tuple[Record, Series]]) -> list[Note]:
    with_figures = {id(run) for run, _ in curves}
    grouped: dict[tuple[str, str], list[int]] = {}
    for run in runs:
        for kind, reason in _doubts(run, id(run) in with_figures):
            grouped.setdefault((kind, visible(reason)), []).append(run.repeat)
    notes = [Note(kind, reason, tuple(repeats)) for (kind, reason), repeats in grouped.items()]
    order = list(KIND_WORDS)
    return sorted(notes, key=lambda note: order.index(note.kind))


def _doubts(run: Record, has_figures: bool) -> list[tuple[str, str]]:
    """What is to be said of a run: why it is left out, or why it is not verified."""
    if run.status != OK:
        return [(run.status, run.reason)]
    reasons = "; ".join(run.verdict_reasons)
    if run.verdict == CONTRADICTED:
        return [(CONTRADICTED, reasons)]
    found = [] if has_figures else [(NOT_PRINTED, "the output has no such series")]
    if run.verdict == DECLARED:
        return [*found, (DECLARED, run.verdict_reasons[0])]
    return found + ([(UNVERIFIED, reasons)] if run.verdict != VERIFIED else [])


def _convergence_notes(curves: Iterable[tuple[Record, Series]]) -> list[Note]:
    """Repeats whose samples had not settled when the time for some size was spent."""
    unsettled = [run.repeat for run, series in curves if 0 in series.columns.get("converged", [])]
    reason = "at some sizes the samples had not settled in their time"
    return [Note(NOT_CONVERGED, reason, tuple(unsettled))] if unsettled else []


def _shortened_notes(curves: Iterable[tuple[Record, Series]]) -> list[Note]:
    """Repeats of which the benchmark itself says what its time did not allow."""
    grouped = _grouped((run for run, _ in curves), lambda run: run.metadata.get(SHORTENED, "nothing"))
    return [
        Note(SHORTENED, visible(what), tuple(run.repeat for run in runs))
        for what, runs in grouped.items()
        if what != "nothing"
    ]


def _mode_notes(metrics: Sequence[Metric], curves: Sequence[tuple[Record, Series]]) -> list[Note]:
    """Bands of repeats, looked for at every message size: a run may switch in mid-sweep.

    A single size among many may show bands by chance (about 1 % each), so at least a tenth must.
    """
    column = next((metric.column for metric in metrics if metric.column in _RESOLUTION), None)
    if column is None or len(curves) < 4:
        return []
    points = [(run.repeat, curve(series, column)) for run, series in curves]
    sizes = sorted(set.intersection(*(set(figures) for _, figures in points)))
    suite = curves[0][0].suite
    resolution = _RESOLUTION[column] if suite in _PRINTING_SUITES else 0.0
    found = {}
    for size in sizes:
        bands = modes([figures[size] for _, figures in points], resolution=resolution)
        if len(bands) > 1:
            found[size] = bands
    if not found or len(found) * 10 < len(sizes):
        return []
    return [_mode_note(column, found, len(sizes), [repeat for repeat, _ in points])]


def _between_notes(cells: Iterable[Cell]) -> Iterable[Note]:
    """Headline medians that no repeat is near: the mean of two middle values further apart than 25 %."""
    for cell in cells:
        middle = middle_gap(cell.values) if cell.metric.headline and cell.values else None
        if middle and middle[1] - middle[0] > 0.25 * abs(middle[0]):
            low, high = (quantity(value, cell.metric.dimension) for value in middle)
            yield Note(BETWEEN, f"{cell.metric.name}: no repeat is between {low} and {high}", ())


def _above_notes(cells: Iterable[Cell]) -> Iterable[Note]:
    """Figures that the link cannot have carried: its rate in the campaign is wrong, or another was used."""
    for cell in cells:
        above = [n for n, value in zip(cell.repeats, cell.values, strict=True) if value > ABOVE_BOUND]
        if cell.metric.bound and cell.bound and above:
            said = quantity(cell.bound, BANDWIDTH)
            reason = f"the fabric's rate allows {said}, {max(cell.values):.2f} times that was measured"
            yield Note(ABOVE, f"{reason}: is the rate of the campaign file right?", tuple(above))


def _mode_note(
    column: str, found: dict[int, tuple[Mode, ...]], looked_at: int, repeats: Sequence[int]
) -> Note:
    size, bands = max(found.items(), key=lambda item: item[1][-1].median / max(item[1][0].median, 1e-12))
    words = " and ".join(
        f"{quantity(band.median, column)} ({repeats_words(repeats[member] for member in band.members)})"
        for band in bands
    )
    reason = f"at {len(found)} of {looked_at} sizes, widest at {format_size(size)}: {words}; "
    return Note(MODES, reason + "the median may be a value that no run had", ())


def _grouped(records: Iterable[Record], key: Callable[[Record], K]) -> dict[K, list[Record]]:
    groups: dict[K, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups
