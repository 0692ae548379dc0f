"""Charts of HPC Challenge over HPL: accumulated values, and what they are for each operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.hpcc import HPL, PER_PROCESS, Quantity, whole_system
from mpicampaign.dimension import BALANCE, BANDWIDTH, FLOPS, FRACTION
from mpicampaign.show.charts.hpcc import NAMES, POINTS, axis_of, caption, values_text
from mpicampaign.show.charts.model import ScatterChart, ScatterPanel, ScatterPoint

if TYPE_CHECKING:
    from mpicampaign.dimension import Dimension
    from mpicampaign.show.charts.hpcc import Drawing


def over_hpl(drawing: Drawing) -> ScatterChart:
    """Each column over HPL and divided by it: logarithmic above, linear below."""
    panels = [
        panel
        for column in drawing.columns[1:]
        for logarithmic in (True, False)
        for panel in (_panel(drawing, column, "", logarithmic), _panel(drawing, column, HPL, logarithmic))
    ]
    text = "Left: over HPL; right: divided by HPL. Logarithmic axes above, linear ones below."
    if PER_PROCESS & set(drawing.columns):
        text += " Accumulated: per process × number of processes."
    text += " Lines join results of one platform."
    title = f"HPCC: {drawing.title}"
    alt = f"{title}. {_alt_over_hpl(drawing)}"
    return ScatterChart(title, caption(drawing, text), alt, drawing.members, tuple(panels), POINTS)


def _panel(drawing: Drawing, column: str, by: str, logarithmic: bool) -> ScatterPanel:
    speeds = drawing.whole(Quantity(HPL))
    values = drawing.whole(whole_system(column, by))
    name, dimension = NAMES[column]
    dimension = _ratio_of(dimension) if by else dimension
    across = axis_of(drawing.scene, "HPL", FLOPS, speeds, logarithmic)
    up = axis_of(drawing.scene, name, dimension, values, logarithmic)
    points = tuple(ScatterPoint(x, y) for x, y in zip(speeds, values, strict=True))
    accumulated = f"{name}, accumulated" if column in PER_PROCESS else name
    title = f"{name} / HPL" if by else accumulated
    return ScatterPanel(f"{title} ({up.unit.name})", across, up, points)


def _alt_over_hpl(drawing: Drawing) -> str:
    columns = drawing.columns
    wanted = [(*NAMES[column], whole_system(column)) for column in columns]
    wanted += [
        (
            f"{NAMES[column][0]} / HPL",
            _ratio_of(NAMES[column][1]),
            whole_system(column, HPL),
        )
        for column in columns[1:]
    ]
    return values_text(drawing, wanted)


def _ratio_of(dimension: Dimension) -> Dimension:
    """What a quantity of this dimension is when it is divided by HPL."""
    return BALANCE if dimension == BANDWIDTH else FRACTION
