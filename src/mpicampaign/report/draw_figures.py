"""Figures of a comparison as SVG, PNG and PDF on demand: one style, the same bytes for the same records.

Every repeat that counts is drawn; runs that do not count are named in the caption.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from markupsafe import Markup

from mpicampaign.base.files import naming, write_whole
from mpicampaign.compare.tables import Comparison
from mpicampaign.report.questions import every_chart
from mpicampaign.show.charts import model
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.figures.bars import draw_bars
from mpicampaign.show.figures.converted import to_pdf, to_png
from mpicampaign.show.figures.curves import draw_curves
from mpicampaign.show.figures.dots import draw_dots
from mpicampaign.show.figures.maps import draw_core_map, draw_node_map
from mpicampaign.show.figures.page import FORMATS, Page
from mpicampaign.show.figures.svg import drawing, svg, svg_file
from mpicampaign.show.runs import unused
from mpicampaign.show.view import DEFAULT, View

LARGEST = 60_000  # a browser that scrolls to a larger picture pauses: it has hundreds of curves or marks
_LONGEST_ALT = 400  # characters of a description in the page
MADE = "made.txt"  # in the folder of figures: the names of the files there that are this program's
_OWN_NAME = re.compile(rf"[a-z0-9-]+\.({'|'.join(FORMATS)})")


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawn chart and its texts; ``picture``: for the report, empty where that only links to a file."""

    name: str
    chart: model.Captioned
    picture: Markup
    files: tuple[Path, ...]  # in each format; the first one is the SVG


def draw_all(
    comparison: Comparison,
    folder: Path,
    view: View = DEFAULT,
    formats: Sequence[str] = ("svg",),
    few: bool = False,
) -> list[Figure]:
    """Draw the figures for which there are data, and remove those that were drawn before and are not now.

    Parameters
    ----------
    folder : is made where it does not exist; files that this program did not make are left alone
    formats : of `FORMATS`; the report needs SVG. Each other one takes as long again.
    few : not those that show what tables say, see `every_chart`
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = _Files(folder, formats)
    for chart in every_chart(Scene(comparison, view), few):
        files.write(chart)
    files.remove_stale()
    return files.figures


_PAINTERS: dict[type[model.Chart], Callable[[Any], Page]] = {
    model.CurveChart: draw_curves,
    model.DotChart: draw_dots,
    model.CoreMap: draw_core_map,
    model.NodeMap: draw_node_map,
    model.BarChart: draw_bars,
}


def page_of(chart: model.Chart) -> Page:
    """The chart on a page."""
    return _PAINTERS[type(chart)](chart)


def _write(page: Page, drawn: Markup, path: Path) -> None:
    picture = svg_file(page, drawn)
    with naming(path):
        match path.suffix:
            case ".png":
                made = to_png(picture)
            case ".pdf":
                made = to_pdf(picture, page.title)
            case _:
                made = picture.encode("utf-8", errors="replace")
        path.write_bytes(made)


class _Files:
    """The files of the figures in a folder: which are ours, and which of them are of earlier calls."""

    def __init__(self, folder: Path, formats: Sequence[str]) -> None:
        self.folder, self.formats = folder, formats
        self.figures: list[Figure] = []
        self.made = self._made_before()

    def write(self, chart: model.Chart) -> None:
        """Write a figure under a name of its own."""
        plain = re.sub(r"[^a-z0-9]+", "-", chart.title.lower()).strip("-")[:80] or "figure"
        name = unused(plain, {figure.name for figure in self.figures})
        files = tuple(self.folder / f"{name}.{ending}" for ending in self.formats)
        # First: an interrupted call leaves no unknown file.
        self._list(self.made | {path.name for path in files})
        page = page_of(chart)
        drawn = drawing(page)
        for file in files:
            _write(page, drawn, file)
        picture = svg(page, drawn, role="img", aria_label=_shortened(chart.alt))
        if len(picture) > LARGEST and chart.section == "figures":
            picture = Markup()
        texts = {key.name: getattr(chart, key.name) for key in fields(model.Captioned)}
        # Alone: its values have no way from the process that draws, see `in_background`.
        self.figures.append(Figure(name, model.Captioned(**texts), picture, files))

    def _made_before(self) -> set[str]:
        """The files of earlier calls; a name that is not one of ours is never believed."""
        listed = self.folder / MADE
        names = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else []
        return {name for name in names if _OWN_NAME.fullmatch(name)}

    def _list(self, made: set[str]) -> None:
        self.made = made
        write_whole(self.folder / MADE, "".join(f"{name}\n" for name in sorted(made)))

    def remove_stale(self) -> None:
        """Remove the files of earlier calls that are not figures of this one."""
        drawn = {path.name for figure in self.figures for path in figure.files}
        for name in self.made - drawn:
            (self.folder / name).unlink(missing_ok=True)
        if drawn != self.made:
            self._list(drawn)


def _shortened(alt: str) -> str:
    """The text cut to what one listens to; the page has all values in tables."""
    if len(alt) <= _LONGEST_ALT:
        return alt
    return alt[:_LONGEST_ALT].rpartition("; ")[0] + "; all others are in the tables"
