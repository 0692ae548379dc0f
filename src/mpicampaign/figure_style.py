"""How all figures look: colours, axes, panels and labels. Knows matplotlib, but nothing of records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mpicampaign.units import format_size
from mpicampaign.wording import clip

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Okabe and Ito's colours, told apart by colour-blind readers too; their yellow is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#555555"

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.parse_math": False,  # a name with dollar signs is no formula
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "svg.hashsalt": "mpicampaign",
    "svg.fonttype": "path",
    "savefig.dpi": 160,
    "savefig.facecolor": "white",
}
_WIDTH = 7.4  # inches: the width of a printed page
_LABEL_GAP = 0.06  # of the height of the axes, between labels at line ends


class Limits(NamedTuple):
    """Of both axes, in the plot's units."""

    left: float
    right: float
    bottom: float
    top: float


class End(NamedTuple):
    """Where a line ends, and how it is named there."""

    x: float
    y: float
    label: str
    colour: str


@dataclass(frozen=True, slots=True)
class Look:
    """How one placement, or one tree, is drawn in all figures."""

    colour: str
    line: Any
    marker: str


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A look for each name: colour, line and marker all change, so that print in grey tells them apart."""
    return {
        name: Look(COLOURS[i % len(COLOURS)], LINES[i % len(LINES)], MARKERS[i % len(MARKERS)])
        for i, name in enumerate(dict.fromkeys(names))
    }


def new_figure(height: float) -> Any:
    """An empty figure of the common width; ``height`` in inches."""
    from matplotlib.figure import Figure as Canvas

    return Canvas(figsize=(_WIDTH, height), layout="constrained")


def panel_figure(limits: Limits, titles: Sequence[str], size_words: str) -> tuple[Any, list[Any]]:
    """A figure with logarithmic axes of the same limits for each title, two across."""
    across = min(2, len(titles))
    down = -(-len(titles) // across)
    figure = new_figure(4.5 if len(titles) == 1 else 1.2 + 2.5 * down)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    cells = list(grid.flat)
    for axes in cells[len(titles) :]:
        axes.set_visible(False)
    for axes, title in zip(cells, titles, strict=False):
        axes.set_title(clip(title, 40))
        size_axes(axes, limits, names=8 if across == 1 else 5)
    for axes in cells[max(0, len(titles) - across) : len(titles)]:  # no panel below these
        axes.set_xlabel(size_words)
        axes.tick_params(labelbottom=True)
    return figure, cells[: len(titles)]


def size_axes(axes: Any, limits: Limits, names: int) -> None:
    """Logarithmic axes; at most so many sizes are named, all powers of two apart by the same factor."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(limits.left, limits.right)
    axes.set_ylim(limits.bottom, limits.top)
    powers = [power for power in range(63) if limits.left <= 2**power <= limits.right]
    step = max(1, -(-len(powers) // names))
    ticks = [2**power for power in powers[::step]]
    axes.set_xticks(ticks, [format_size(tick) for tick in ticks], fontsize=8)
    axes.set_xticks([], minor=True)
    plain_numbers(axes.yaxis)


def plain_numbers(axis: Any) -> None:
    """1000 instead of 10^3; minor ticks are named only where the axis spans less than two decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    axis.set_major_formatter(plain)
    narrow = high / low < 300
    axis.set_minor_locator(LogLocator(subs=(2, 5) if narrow else "auto"))
    axis.set_minor_formatter(plain if narrow else NullFormatter())


def label_ends(axes: Any, ends: Sequence[End], width: int) -> None:
    """Names at the right ends of the lines, moved apart where they would overlap."""
    ordered = sorted(ends, key=lambda end: end.y)
    bottom, top = (math.log(limit) for limit in axes.get_ylim())
    wanted = [(math.log(end.y) - bottom) / (top - bottom) for end in ordered]
    for end, height in zip(ordered, spread(wanted, _LABEL_GAP), strict=True):
        axes.annotate(
            clip(end.label, width),
            (end.x, end.y),
            (1.03, height),
            textcoords=axes.transAxes,
            color=end.colour,
            va="center",
            weight="bold",
            fontsize=8,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": end.colour, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2},
        )


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """Ascending positions, moved so that neighbours are at least ``gap`` apart and the last is at most 1."""
    placed: list[float] = []
    for position in positions:
        placed.append(max(position, placed[-1] + gap) if placed else position)
    limit = 1.0
    for index in range(len(placed) - 1, -1, -1):
        placed[index] = min(placed[index], limit)
        limit = placed[index] - gap
    return placed
