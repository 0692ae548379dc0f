"""Modes and outliers of a row: which repeats (job, hosts), at which message sizes, how far."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

from mpicampaign.base.dimension import Dimension
from mpicampaign.base.records import Record, Series
from mpicampaign.compare.findings import Course, FarOff, Modes, Note, RepeatJob, WholeRun
from mpicampaign.compare.metrics import Metric, curve
from mpicampaign.statistics.medians import median
from mpicampaign.statistics.modes import Band, Membership, Stretch, stretches
from mpicampaign.statistics.outliers import Outlier, lone_value, outliers, runs_off
from mpicampaign.suites import printed_resolution

FromCurves = tuple[tuple[Stretch, ...], tuple[Note, ...]]

_NEAR = 2  # sizes beside a stretch, where repeats may be on their way from one band to the other


def find(metrics: Sequence[Metric], curves: Sequence[tuple[Record, Series]]) -> FromCurves:
    """Modes and outliers of the first metric that is ranked, at every message size where there are sizes."""
    metric = next((metric for metric in metrics if metric.headline), None)
    if metric is None:
        return (), ()
    column = metric.column
    points = [curve(series, column) for _, series in curves]
    sizes = sorted(set.intersection(*(set(point) for point in points))) if points else []
    if not sizes:
        return _without_sizes(metric, curves)
    rows = [[point[size] for point in points] for size in sizes]
    resolution = printed_resolution(curves[0][0].suite, column)
    mode_stretches = stretches(sizes, rows, resolution=resolution)
    far = outliers(sizes, rows, without=_near(sizes, mode_stretches), resolution=resolution)
    runs = [run for run, _ in curves]
    notes = [_modes(metric.dimension, stretch, len(sizes), runs) for stretch in mode_stretches]
    named = {o.position for o in far if len(o.sizes) > 1}
    named |= {
        bands.lone
        for stretch in mode_stretches
        for bands in stretch.splits.values()
        if bands.lone is not None
    }
    off_runs = runs_off(rows)
    scatter = None if off_runs.judged else off_runs.scatter
    off = [_whole_run(column, sizes, rows, runs, p, scatter) for p in off_runs.positions if p not in named]
    return mode_stretches, (*notes, *off, *_far_off(column, far, runs))


def _whole_run(
    what: str,
    sizes: Sequence[int],
    rows: Sequence[Sequence[float]],
    runs: Sequence[Record],
    position: int,
    scatter: float | None,
) -> WholeRun:
    run = runs[position]
    known = ((size, row) for size, row in zip(sizes, rows, strict=True) if min(row) > 0)
    ratios = {size: row[position] / median(row) for size, row in known}
    logarithms = {size: math.log(ratio) for size, ratio in ratios.items()}
    furthest = max(logarithms, key=lambda size: abs(logarithms[size]))
    mean = math.exp(fmean(logarithms.values()))
    return WholeRun(
        what=what,
        ratio=mean,
        largest=ratios[furthest],
        size=furthest,
        scatter=scatter,
        job=_job(run),
        repeats=(run.repeat,),
    )


def _without_sizes(metric: Metric, curves: Sequence[tuple[Record, Series]]) -> FromCurves:
    values = [series.columns.get(metric.column, []) for _, series in curves]
    single = [value[0] for value in values if len(value) == 1 and value[0] is not None and value[0] > 0]
    lone = lone_value(single) if len(single) == len(curves) else None
    return (), tuple(_far_off(metric.name, [lone], [run for run, _ in curves])) if lone else ()


def _near(sizes: Sequence[int], mode_stretches: Iterable[Stretch]) -> set[int]:
    """The sizes of the stretches and those beside them."""
    places = {sizes.index(size) for stretch in mode_stretches for size in stretch.sizes}
    return {size for index, size in enumerate(sizes) if any(abs(index - p) <= _NEAR for p in places)}


def _modes(dimension: Dimension, stretch: Stretch, looked_at: int, runs: Sequence[Record]) -> Modes:
    bands = stretch.splits[stretch.widest]
    return Modes(
        dimension=dimension,
        sizes=stretch.sizes,
        looked_at=looked_at,
        widest=stretch.widest,
        low=_of_repeats(bands.low, runs),
        high=_of_repeats(bands.high, runs),
        courses=_courses(stretch, runs),
        jobs=tuple(_job(run) for run in runs if run.job_id),
    )


def _of_repeats(band: Band, runs: Sequence[Record]) -> Band:
    """The band with the numbers of its repeats for their positions."""
    return Band(tuple(runs[position].repeat for position in band.members), band.median)


def _courses(stretch: Stretch, runs: Sequence[Record]) -> tuple[Course, ...]:
    """Which repeats are in which band over the sizes; those of the same course together."""
    groups: dict[tuple[Membership, ...], list[int]] = {}
    for position, run in enumerate(runs):
        groups.setdefault(stretch.memberships(position), []).append(run.repeat)
    return tuple(Course(tuple(repeats), memberships) for memberships, repeats in groups.items())


def _job(run: Record) -> RepeatJob:
    return RepeatJob(run.repeat, run.job_id or "", tuple(run.hosts))


def _far_off(what: str, outliers: Sequence[Outlier], runs: Sequence[Record]) -> list[Note]:
    """One finding for each repeat: all sizes at which it is far off, how far, its job and hosts."""
    return [
        FarOff(
            what=what,
            distances=tuple(outlier for outlier in outliers if outlier.position == position),
            job=_job(runs[position]),
            repeats=(runs[position].repeat,),
        )
        for position in dict.fromkeys(outlier.position for outlier in outliers)
    ]
