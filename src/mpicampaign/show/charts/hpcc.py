"""What the charts of HPC Challenge have in common: names of columns and results, captions, axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.compare.hpcc import (
    COPY,
    DGEMM,
    FFT,
    HPL,
    LATENCY,
    NATURAL_RING,
    PING_PONG,
    PTRANS,
    RANDOM_ACCESS,
    RANDOM_RING,
    RING_LATENCY,
    TRIAD,
    Quantity,
    hpcc_rows,
    with_reference_blas,
)
from mpicampaign.dimension import BANDWIDTH, FLOPS, TIME, UPDATE_RATE
from mpicampaign.show.charts.model import Axis, Member
from mpicampaign.show.charts.scales import scale_for
from mpicampaign.show.charts.scene import HOST_GROUP, left_out, repeats_of
from mpicampaign.show.numbers import quantity
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.hpcc import HpccResult
    from mpicampaign.dimension import Dimension
    from mpicampaign.show.charts.scene import Scene
    from mpicampaign.statistics.medians import Summary

NAMES = {
    HPL: ("HPL", FLOPS),
    RANDOM_RING: ("random ring", BANDWIDTH),
    NATURAL_RING: ("natural ring", BANDWIDTH),
    PING_PONG: ("ping-pong", BANDWIDTH),
    RING_LATENCY: ("random ring latency", TIME),
    LATENCY: ("ping-pong latency", TIME),
    FFT: ("FFT", FLOPS),
    PTRANS: ("PTRANS", BANDWIDTH),
    DGEMM: ("DGEMM", FLOPS),
    COPY: ("STREAM copy", BANDWIDTH),
    TRIAD: ("STREAM triad", BANDWIDTH),
    RANDOM_ACCESS: ("RandomAccess", UPDATE_RATE),
}
_INTERVALS = "stroke: interval of the median"
# What the marks mean.
POINTS = (
    f"filled: own results; hollow and grey: published; {_INTERVALS}; a number that finds no room is left out"
)
BARS = f"filled: own results; hollow: published; {_INTERVALS}"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of the paper (``figures 4 to 6``) with the results that have a place in it."""

    scene: Scene
    paper: str
    title: str
    columns: tuple[str, ...]
    results: tuple[HpccResult, ...]
    members: tuple[Member, ...]
    omitted: str  # what is left out, as sentences

    def summaries(self, wanted: Quantity) -> tuple[Summary | None, ...]:
        """Of each result."""
        return tuple(result.summary(wanted) for result in self.results)

    def whole(self, wanted: Quantity) -> list[Summary]:
        """Of columns that all results have."""
        return [summary for summary in self.summaries(wanted) if summary is not None]


# Names


def members_of(scene: Scene, results: Sequence[HpccResult]) -> tuple[Member, ...]:
    """The results by their names and looks, own ones in the look of their host group."""
    platforms = list(dict.fromkeys(result.platform for result in results))
    return tuple(
        Member(
            _full_name(scene, result),
            short_name(scene, result),
            scene.looks[HOST_GROUP][scene.place(result.row)] if result.row else None,
            platforms.index(result.platform),
        )
        for result in results
    )


def short_name(scene: Scene, result: HpccResult) -> str:
    """Without the processor of published systems, and what HPL of own ones depends on."""
    if result.row is None:
        return visible(f"{result.system}, {result.placement}")
    ranks = f"{result.ranks} rank{'s' * (result.ranks > 1)}{', disturbed' * result.row.disturbed}"
    return f"{scene.place(result.row)} {visible(result.placement)}, {ranks}"


def _full_name(scene: Scene, result: HpccResult) -> str:
    if result.row is None:
        return visible(f"{result.system}, {result.host_group}, {result.placement}")
    row, size = result.row, result.row.linear_system
    further = (f"N {size}" if size else "", visible(row.blas))
    return ", ".join(filter(None, (short_name(scene, result), *further)))


def omitted(scene: Scene, without: Sequence[HpccResult]) -> str:
    """What is left out: results ``without`` the columns, reference BLAS, and runs that do not count."""
    own = [short_name(scene, result) for result in without if result.row is not None]
    published = sum(result.row is None for result in without)
    names = [*own, f"{published} published"] if published else own
    text = f" Without the columns needed: {', '.join(names)}." if names else ""
    places = [
        f"{scene.place(row)} {visible(row.case.placement)}" for row in with_reference_blas(scene.comparison)
    ]
    text += f" Left out for their reference BLAS: {', '.join(dict.fromkeys(places))}." if places else ""
    rows = sorted(hpcc_rows(scene.comparison), key=lambda row: row.counted)
    return text + left_out(scene, list({row.case: row for row in rows}.values()))


def caption(drawing: Drawing, text: str) -> str:
    """With where the figure is from, how many repeats, and the size of own linear systems."""
    rows = [result.row for result in drawing.results if result.row is not None]
    references = dict.fromkeys(result.reference for result in drawing.results if result.reference)
    start = f"As {drawing.paper} of R. Rabenseifner, Balance of HPC Systems (2005). {text}"
    start += f" Own results: the largest N measured, {repeats_of(rows)}." if rows else ""
    start += f" Hollow: published, {', '.join(references)}." if references else ""
    return start + drawing.omitted


# Values


def axis_of(
    scene: Scene,
    name: str,
    dimension: Dimension,
    summaries: Iterable[Summary | None],
    logarithmic: bool | None,
) -> Axis:
    """An axis that holds medians and intervals; ``logarithmic`` as in `scale_for`."""
    unit = scene.unit_of(dimension)
    found = [summary for summary in summaries if summary is not None]
    bounds = [value for s in found if s.interval for value in (s.interval.low, s.interval.high)]
    values = [unit.of(value) for value in (*bounds, *(summary.median for summary in found))]
    scale = scale_for(values, logarithmic)
    assert scale is not None, "all values of a result are positive"
    return Axis(name, dimension, unit, scale)


def values_text(drawing: Drawing, wanted: Sequence[tuple[str, Dimension, Quantity]]) -> str:
    """Each member with its medians."""
    lines = []
    for member, result in zip(drawing.members, drawing.results, strict=True):
        found = ((name, what, result.summary(each)) for name, what, each in wanted)
        said = [f"{name} {quantity(s.median, what, drawing.scene.unit)}" for name, what, s in found if s]
        lines.append(f"{member.name}: {', '.join(said)}")
    return "; ".join(lines)
