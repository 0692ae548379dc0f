"""Figures of a comparison as SVG and PNG: one style, the same bytes for the same records.

Every repeat that counts is drawn; runs that do not count are named in the caption. Matplotlib is
imported only when a figure is drawn, since that takes longer than most commands.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from mpicampaign.figure_style import (
    GREY,
    LINES,
    STYLE,
    End,
    Limits,
    label_ends,
    looks,
    new_figure,
    panel_figure,
    plain_numbers,
)
from mpicampaign.files import write_whole
from mpicampaign.metrics import BASELINE, KERNEL, POINT_TO_POINT, curve
from mpicampaign.records import VERIFIED
from mpicampaign.statistics import median
from mpicampaign.units import MB, MIB, format_size
from mpicampaign.wording import BANDWIDTH, TIME, clip, quantity, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from mpicampaign.comparison import Comparison, Table
    from mpicampaign.rows import Cell, Row

T = TypeVar("T")
K = TypeVar("K")

WIRE = "bandwidth_wire"
MADE = "made.txt"  # in the folder of figures: the names of the files there that are this program's
_OWN_NAME = re.compile(r"[a-z0-9-]+\.(svg|png)")


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawn figure; ``alt`` says in words what it shows."""

    name: str
    title: str
    caption: str
    alt: str
    svg: Path
    png: Path


def draw_all(comparison: Comparison, folder: Path, unit: str = "MB/s") -> list[Figure]:
    """Draw every figure for which there are data, and remove those that were drawn before and are not now.

    Parameters
    ----------
    folder : is made where it does not exist; files that this program did not make are left alone
    unit : of bandwidths, MB/s (10^6 B/s) or MiB/s
    """
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    drawing = _Drawing(comparison, folder, unit)
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box stands for it; the caption has the name
        for table in comparison.tables:
            if table.suite != KERNEL:
                drawing.latency(table)
                drawing.curves(table)
        drawing.kernels()
    drawing.remove_stale()
    return drawing.figures


def _kernel_words(benchmark: str, place: str) -> tuple[str, str]:
    """Title and caption of a kernel's figure."""
    if benchmark == POINT_TO_POINT:
        title = f"{benchmark}: bandwidth of all active pairs together, {place}"
        return title, "Each line is a number of pairs that are active at once. Thin lines: each repeat."
    caption = "Useful bandwidth counts each block once, wire bandwidth once for every edge of the tree "
    caption += "that it crosses (the same for two ranks); "
    caption += f"only useful bandwidth can be held against {BASELINE}. Thin lines: each repeat."
    return f"{benchmark}: useful and wire bandwidth beside {BASELINE}, {place}", caption


class _Drawing:
    """The figures of one comparison, and what they have in common."""

    def __init__(self, comparison: Comparison, folder: Path, unit: str) -> None:
        self.comparison = comparison
        self.folder = folder
        self.unit = unit
        self.figures: list[Figure] = []
        self.made = self._made_before()
        rows = [(table, row) for table in comparison.tables for row in table.rows]
        self.looks = looks(_label(table, row) for table, row in rows if row.counted)
        kernels = [table.label for table in comparison.tables if table.suite == KERNEL]
        self.trees = looks(label for label in kernels if label != BASELINE)

    # Latency by placement

    def latency(self, table: Table) -> None:
        """Each row of the table on a line: every repeat a point, the range a bar, the median a stroke."""
        metric = next((metric for metric in table.metrics if metric.dimension == TIME), None)
        if metric is None or not any(row.cell(metric).n for row in table.rows):
            return
        figure = new_figure(1.2 + 0.34 * len(table.rows))
        axes = figure.add_subplot()
        cells = [row.cell(metric) for row in table.rows]
        for position, (row, cell) in enumerate(zip(table.rows, cells, strict=True)):
            self._latency_row(axes, position, table, row, cell)
        self._latency_axes(axes, table, metric.name)
        title = f"{table.title}: {metric.name} by placement"
        caption = "Each point is one repeat; the bar spans minimum to maximum, the stroke is the median. "
        caption += "Hollow points: the run is not plainly verified. Logarithmic axis."
        said = "; ".join(_row_words(self._name(table, row), row.cell(metric)) for row in table.rows)
        self._save(figure, title, caption + self._left_out(table.rows), f"{metric.name}: {said}")

    def _latency_row(self, axes: Any, position: int, table: Table, row: Row, cell: Cell) -> None:
        if cell.summary is None:
            words = clip(row.absence or "not printed", 70)
            place = axes.get_yaxis_transform()
            axes.text(0.01, position, words, transform=place, va="center", color=GREY, fontsize=8)
            return
        look = self.looks[_label(table, row)]
        low, high = cell.summary.minimum * 1e6, cell.summary.maximum * 1e6
        axes.plot([low, high], [position, position], color=look.colour, linewidth=5, alpha=0.25)
        verified = {run.repeat for run, _ in row.curves if run.verdict == VERIFIED}
        for index, (value, repeat) in enumerate(zip(cell.values, cell.repeats, strict=True)):
            face = look.colour if repeat in verified else "white"
            height = position + 0.11 * (index % 3 - 1)  # apart, so that equal values are all seen
            axes.plot(value * 1e6, height, look.marker, color=look.colour, markerfacecolor=face, markersize=4)
        stroke = cell.summary.median * 1e6
        axes.plot([stroke, stroke], [position - 0.32, position + 0.32], color="black", linewidth=1.6)
        words = f"{quantity(cell.summary.median, TIME)}  (n {cell.n}/{row.planned})"
        axes.annotate(words, (high, position), (8, 0), textcoords="offset points", va="center", fontsize=8)

    def _latency_axes(self, axes: Any, table: Table, name: str) -> None:
        axes.set_xscale("log")
        axes.set_yticks(range(len(table.rows)), [self._name(table, row, 24) for row in table.rows])
        axes.set_ylim(len(table.rows) - 0.4, -0.6)
        low, high = axes.get_xlim()
        axes.set_xlim(low / 1.1, high * (high / low) ** 0.28 * 1.3)  # room for the words at the right
        axes.set_xlabel(f"{name} (µs)")
        axes.grid(axis="y", visible=False)
        places = [self.comparison.place(row) for row in table.rows]
        for position in (n for n in range(1, len(places)) if places[n] != places[n - 1]):
            axes.axhline(position - 0.5, color=GREY, linewidth=0.6)
        plain_numbers(axes.xaxis)

    # Curves over message size

    def curves(self, table: Table) -> None:
        """Bandwidth, or time where none is printed, over message size: a panel for each host group."""
        column = BANDWIDTH if any(metric.column == BANDWIDTH for metric in table.metrics) else TIME
        limits = _limits(table.rows, (column,), self._scale(column))
        if limits is None:
            return
        panels = self._by([row for row in table.rows if row.counted], self.comparison.place)
        figure, axes = panel_figure(limits, list(panels) if len(panels) > 1 else [""], "message size")
        for place_axes, rows in zip(axes, panels.values(), strict=True):
            ends = [self._curve(place_axes, table, row, column) for row in rows]
            label_ends(place_axes, [end for end in ends if end], 24 if len(panels) == 1 else 14)
        figure.supylabel(f"{column} ({self.unit if column == BANDWIDTH else 'µs'})", fontsize=9)
        title = f"{table.title}: {column} over message size"
        caption = "Thin lines: each repeat. Thick lines: the median over repeats. Logarithmic axes."
        said = "; ".join(self._curve_words(table, row, column) for row in table.rows)
        self._save(figure, title, caption + self._left_out(table.rows), f"{title}. {said}")

    def _curve(self, axes: Any, table: Table, row: Row, column: str) -> End | None:
        label = _label(table, row)
        look = self.looks[label]
        points = self._draw_row(axes, row, column, look.colour, look.line)
        return End(*points[-1], label, look.colour) if points else None

    def _draw_row(
        self, axes: Any, row: Row, column: str, colour: str, line: Any, width: float = 2.0
    ) -> list[tuple[int, float]]:
        """Thin lines for the repeats and a thick one for the median, whose points are returned."""
        scale = self._scale(column)
        for _, series in row.curves:
            axes.plot(*_xy(_points(curve(series, column), scale)), color=colour, linewidth=0.6, alpha=0.4)
        points = _points(_median_curve(row, column), scale)
        axes.plot(*_xy(points), color=colour, linestyle=line, linewidth=width)
        return points

    def _scale(self, column: str) -> float:
        return 1e-6 if column == TIME else MB if self.unit == "MB/s" else MIB

    def _curve_words(self, table: Table, row: Row, column: str) -> str:
        name = self._name(table, row)
        points = _points(_median_curve(row, column), 1.0)
        if not points:
            return f"{name} {row.absence or 'has no figures'}"
        size, value = max(points, key=lambda point: point[1])
        return f"{name} at most {quantity(value, column, self.unit)} at {format_size(size)}"

    # Kernels

    def kernels(self) -> None:
        """One figure for each kernel and host group, a panel for each placement."""
        tables = [table for table in self.comparison.tables if table.suite == KERNEL]
        pairs = [(table, row) for table in tables for row in table.rows]
        groups = self._by(pairs, lambda pair: (pair[0].benchmark, self.comparison.place(pair[1])))
        for (benchmark, place), members in groups.items():
            self._kernel(benchmark, place, members)

    def _kernel(self, benchmark: str, place: str, members: Sequence[tuple[Table, Row]]) -> None:
        rows = [row for _, row in members]
        limits = _limits(rows, (BANDWIDTH, WIRE), self._scale(BANDWIDTH))
        if limits is None:
            return
        panels = self._by([pair for pair in members if pair[1].counted], lambda pair: _label(*pair))
        what = "message size" if benchmark == POINT_TO_POINT else "message size per rank"
        figure, axes = panel_figure(limits, list(panels), what)
        for placement_axes, pairs in zip(axes, panels.values(), strict=True):
            for table, row in pairs:
                self._kernel_row(placement_axes, table, row)
        drawn = (table.label for pairs in panels.values() for table, _ in pairs)
        self._kernel_legend(figure, dict.fromkeys(drawn))
        figure.supylabel(f"bandwidth ({self.unit})", fontsize=9)
        title, caption = _kernel_words(benchmark, place)
        said = "; ".join(f"{t.title}, {self._curve_words(t, row, BANDWIDTH)}" for t, row in members)
        self._save(figure, title, caption + self._left_out(rows), f"{title}. {said}")

    def _kernel_row(self, axes: Any, table: Table, row: Row) -> None:
        if table.label == BASELINE:
            self._draw_row(axes, row, BANDWIDTH, "#000000", ":")
            return
        colour = self.trees[table.label].colour
        self._draw_row(axes, row, BANDWIDTH, colour, "-")
        if table.benchmark != POINT_TO_POINT:
            self._draw_row(axes, row, WIRE, colour, LINES[1], width=1.2)

    def _kernel_legend(self, figure: Any, labels: Iterable[str]) -> None:
        from matplotlib.lines import Line2D

        handles = []
        for label in labels:
            if label == BASELINE:
                handles.append(Line2D([], [], color="#000000", linestyle=":", linewidth=2, label=label))
                continue
            colour, words = self.trees[label].colour, visible(label)
            if label.startswith(POINT_TO_POINT):
                handles.append(Line2D([], [], color=colour, linewidth=2, label=words))
                continue
            handles.append(Line2D([], [], color=colour, linewidth=2, label=f"{words}, useful"))
            handles.append(Line2D([], [], color=colour, linestyle=LINES[1], label=f"{words}, wire"))
        figure.legend(handles=handles, loc="outside lower left", ncols=2, frameon=False, fontsize=8)

    # Common

    @staticmethod
    def _by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
        groups: dict[K, list[T]] = {}
        for item in items:
            groups.setdefault(key(item), []).append(item)
        return groups

    def _name(self, table: Table, row: Row, width: int = 200) -> str:
        """Host group and placement, each cut to ``width``."""
        return f"{clip(self.comparison.place(row), width)} {clip(_label(table, row), width)}"

    def _left_out(self, rows: Sequence[Row]) -> str:
        """What is not in the figure, in words; empty where everything is."""
        cases = {row.case: row for row in rows}
        reasons = [f"{visible(c.placement)} ({row.absence})" for c, row in cases.items() if row.absence]
        partly = [row for row in cases.values() if row.counted]
        contradicted = sum(row.verdicts.get("contradicted", 0) for row in partly)
        failed = sum(record.status == "failed" for row in partly for record in row.records)
        counts = ((contradicted, "contradicted"), (failed, "failed"))
        reasons += [f"{count} {word} run{'s' * (count > 1)}" for count, word in counts if count]
        return f" Left out: {', '.join(reasons)}." if reasons else ""

    def _save(self, figure: Any, title: str, caption: str, alt: str) -> None:
        figure.suptitle(clip(title, 75), x=0.01, ha="left", fontsize=11, weight="bold")
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once, the same in both formats
        name = _file_name(title, {drawn.name for drawn in self.figures})
        svg, png = self.folder / f"{name}.svg", self.folder / f"{name}.png"
        self._list(self.made | {svg.name, png.name})  # first: an interrupted call leaves no unknown file
        figure.savefig(svg, metadata={"Date": None, "Creator": None})
        figure.savefig(png, metadata={"Software": None})
        self.figures.append(Figure(name, title, caption, alt, svg, png))

    def _made_before(self) -> set[str]:
        """The files of earlier calls; a name that is not one of ours is never believed."""
        listed = self.folder / MADE
        names = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else []
        return {name for name in names if _OWN_NAME.fullmatch(name)}

    def _list(self, made: set[str]) -> None:
        self.made = made
        write_whole(self.folder / MADE, "".join(f"{name}\n" for name in sorted(made)))

    def remove_stale(self) -> None:
        """Remove the files of earlier calls that are no figure of this one."""
        drawn = {path.name for figure in self.figures for path in (figure.svg, figure.png)}
        for name in self.made - drawn:
            (self.folder / name).unlink(missing_ok=True)
        if drawn != self.made:
            self._list(drawn)


def _label(table: Table, row: Row) -> str:
    """The placement; with the number of ranks where the table has it with several."""
    counts = {other.ranks for other in table.rows if other.case.placement == row.case.placement}
    several = len(counts - {None}) > 1 and row.ranks is not None
    return visible(row.case.placement) + (f", {row.ranks} ranks" if several else "")


def _row_words(name: str, cell: Cell) -> str:
    return f"{name} {quantity(cell.summary.median, TIME)}" if cell.summary else f"{name} has no figure"


def _median_curve(row: Row, column: str) -> dict[int, float]:
    """The median over repeats at each size that any repeat printed."""
    found: dict[int, list[float]] = {}
    for _, series in row.curves:
        for size, value in curve(series, column).items():
            found.setdefault(size, []).append(value)
    return {size: median(values) for size, values in sorted(found.items())}


def _points(figures: dict[int, float], scale: float) -> list[tuple[int, float]]:
    """What a logarithmic plot can show, in the plot's unit."""
    return [(size, value / scale) for size, value in figures.items() if size > 0 and value > 0]


def _xy(points: Sequence[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _limits(rows: Iterable[Row], columns: Sequence[str], scale: float) -> Limits | None:
    """Limits that hold all curves of the rows, with some room; ``None`` where there are no curves."""
    series = [series for row in rows for _, series in row.curves]
    curves = [_points(curve(table, column), scale) for table in series for column in columns]
    xs, ys = _xy([point for points in curves for point in points])
    return Limits(min(xs) / 1.3, max(xs) * 1.3, min(ys) / 1.5, max(ys) * 1.5) if xs else None


def _file_name(title: str, taken: set[str]) -> str:
    """A file name of plain letters, digits and hyphens, unlike those already taken."""
    base = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:80] or "figure"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name
