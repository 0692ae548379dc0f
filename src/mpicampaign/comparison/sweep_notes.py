"""Modes and outliers of a row in words: which repeats (job, hosts), at which message sizes, how far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.comparison.metrics import curve, dimension_of
from mpicampaign.comparison.rows import MODES, OUTLIER, Note, printed_resolution
from mpicampaign.dimension import RATIO
from mpicampaign.statistics.modes import LOW, Stretch, stretches
from mpicampaign.statistics.outliers import Outlier, lone_value, outliers
from mpicampaign.units import format_size
from mpicampaign.wording import number, quantity, repeats_words, size_range, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.comparison.metrics import Metric
    from mpicampaign.records import Record, Series
    from mpicampaign.statistics.modes import Split, Stay

_SWEPT = ("time", "bandwidth")  # columns in which modes are looked for, over the message sizes
_NEAR = 2  # sizes beside a stretch, where repeats may be on their way from one band to the other


@dataclass(frozen=True, slots=True)
class Findings:
    """What is found in the values of a row, the column that was judged, and the notes on it."""

    column: str
    stretches: tuple[Stretch, ...]
    outliers: tuple[Outlier, ...]
    notes: tuple[Note, ...]


NOTHING = Findings("", (), (), ())


def find(metrics: Sequence[Metric], curves: Sequence[tuple[Record, Series]]) -> Findings:
    """Modes and outliers, looked for at every message size, or in the headline where there are no sizes."""
    column = next((metric.column for metric in metrics if metric.column in _SWEPT), None)
    points = [curve(series, column) for _, series in curves] if column else []
    sizes = sorted(set.intersection(*(set(point) for point in points))) if points else []
    if column is None or not sizes:
        return _without_sizes(metrics, curves)
    rows = [[point[size] for point in points] for size in sizes]
    resolution = printed_resolution(curves[0][0], column)
    found = stretches(sizes, rows, resolution=resolution)
    far = outliers(sizes, rows, without=_near(sizes, found), resolution=resolution)
    runs = [run for run, _ in curves]
    notes = [_mode_note(column, stretch, len(sizes), runs) for stretch in found]
    return Findings(column, found, far, (*notes, *_outlier_notes(column, far, runs)))


def _without_sizes(metrics: Sequence[Metric], curves: Sequence[tuple[Record, Series]]) -> Findings:
    metric = next((metric for metric in metrics if metric.headline), None)
    if metric is None:
        return NOTHING
    column, runs = metric.column, [run for run, _ in curves]
    values = [series.columns.get(column, []) for _, series in curves]
    single = [value[0] for value in values if len(value) == 1 and value[0] is not None and value[0] > 0]
    lone = lone_value(single) if len(single) == len(curves) else None
    if lone is None:
        return NOTHING
    return Findings(column, (), (lone,), tuple(_outlier_notes(metric.name, [lone], runs)))


def _near(sizes: Sequence[int], found: Iterable[Stretch]) -> set[int]:
    """The sizes of the stretches and those beside them."""
    places = {sizes.index(size) for stretch in found for size in stretch.sizes}
    return {size for index, size in enumerate(sizes) if any(abs(index - p) <= _NEAR for p in places)}


def _mode_note(column: str, stretch: Stretch, looked_at: int, runs: Sequence[Record]) -> Note:
    size = stretch.widest
    bands = stretch.splits[size]
    reason = (
        f"two bands at {size_range(stretch.sizes)} ({len(stretch.sizes)} of {looked_at} sizes), "
        f"widest at {format_size(size)}: {_band_words(column, bands, runs)}"
    )
    paths = _paths(column, stretch, runs)
    jobs = _jobs(runs)
    reason += f"; {paths}" if paths else ""
    reason += f"; the median may be a value that no run had{f'; jobs: {jobs}' if jobs else ''}"
    return Note(MODES, reason, ())


def _band_words(column: str, bands: Split, runs: Sequence[Record]) -> str:
    what = dimension_of(column)
    sides = ((bands.low_median, bands.low), (bands.high_median, bands.high))
    return " and ".join(
        f"{quantity(value, what)} ({repeats_words(runs[position].repeat for position in positions)})"
        for value, positions in sides
    )


def _paths(column: str, stretch: Stretch, runs: Sequence[Record]) -> str:
    """Which repeats are in which band over the sizes; those on the same path together."""
    groups: dict[tuple[Stay, ...], list[int]] = {}
    for position, run in enumerate(runs):
        groups.setdefault(stretch.stays(position), []).append(run.repeat)
    return "; ".join(f"{repeats_words(repeats)} {_path(column, p)}" for p, repeats in groups.items())


def _path(column: str, stays: Sequence[Stay]) -> str:
    """``in the faster band up to 64 KiB, in the slower from 128 KiB on``."""
    words = []
    for index, stay in enumerate(stays):
        speed = "faster" if (stay.band == LOW) == dimension_of(column).lower_is_better else "slower"
        words.append(f"in the {speed}{' band' if index == 0 else ''} {_range(stay)}")
    return ", ".join(words)


def _range(stay: Stay) -> str:
    if stay.first is None and stay.last is None:
        return "throughout"
    if stay.first is None:
        return f"up to {format_size(stay.last or 0)}"
    if stay.last is None:
        return f"from {format_size(stay.first)} on"
    return f"at {size_range((stay.first, stay.last))}"


def _jobs(runs: Iterable[Record]) -> str:
    named = (f"repeat {run.repeat} {_job_and_hosts(run)}" for run in runs if run.job_id)
    return ", ".join(named)


def _job_and_hosts(run: Record) -> str:
    parts = [run.job_id] if run.job_id else []
    parts += [f"on {', '.join(run.hosts)}"] if run.hosts else []
    return visible(" ".join(parts))


def _outlier_notes(what: str, found: Sequence[Outlier], runs: Sequence[Record]) -> list[Note]:
    """One note for each repeat: all sizes at which it is far off, how far, its job and hosts.

    ``what``: the figure in words, such as flop rate.
    """
    notes = []
    for position in dict.fromkeys(outlier.position for outlier in found):
        run = runs[position]
        words = " and ".join(_distance(o) for o in found if o.position == position)
        whose = f"; job {_job_and_hosts(run)}" if run.job_id else ""
        notes.append(Note(OUTLIER, f"its {what} {words} the median of the repeats{whose}", (run.repeat,)))
    return notes


def _distance(outlier: Outlier) -> str:
    """``at 2-8 KiB is up to 1.70 ×``."""
    where = f"at {size_range(outlier.sizes)} " if outlier.sizes else ""
    furthest = ("up to " if outlier.ratio > 1 else "down to ") if len(outlier.sizes) > 1 else ""
    return f"{where}is {furthest}{number(outlier.ratio, RATIO)} ×"
