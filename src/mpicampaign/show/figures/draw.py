"""Figures of a comparison as SVG, PNG and PDF: one style, the same bytes for the same records.

Every repeat that counts is drawn; runs that do not count are named in the caption. Matplotlib is
imported only when a figure is drawn, since that takes longer than most commands.
"""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.comparison.metrics import KERNEL
from mpicampaign.files import write_whole
from mpicampaign.show.figures.curves import by_host_group, by_placement
from mpicampaign.show.figures.dots import at_sizes, latency, single_figures
from mpicampaign.show.figures.kernels import kernels
from mpicampaign.show.figures.matrix import heat_maps
from mpicampaign.show.figures.page import FORMATS
from mpicampaign.show.figures.scene import Drawn, Scene
from mpicampaign.show.figures.style import STYLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mpicampaign.comparison.comparison import Comparison

MADE = "made.txt"  # in the folder of figures: the names of the files there that are this program's
_OWN_NAME = re.compile(rf"[a-z0-9-]+\.({'|'.join(FORMATS)})")


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawn figure; ``alt`` says in words what it shows."""

    name: str
    title: str
    caption: str
    alt: str
    svg: Path
    png: Path
    pdf: Path

    @property
    def files(self) -> tuple[Path, ...]:
        """The figure in each format."""
        return (self.svg, self.png, self.pdf)


def draw_all(comparison: Comparison, folder: Path, unit: str = "MB/s") -> list[Figure]:
    """Draw every figure for which there are data, and remove those that were drawn before and are not now.

    Parameters
    ----------
    folder : is made where it does not exist; files that this program did not make are left alone
    unit : of bandwidths, MB/s (10^6 B/s) or MiB/s
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = _Files(folder)
    with _style():
        for drawn in _all(Scene(comparison, unit)):
            files.write(drawn)
    files.remove_stale()
    return files.figures


@contextmanager
def _style() -> Iterator[None]:
    """Our style over matplotlib's defaults, whatever this machine's settings are."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box stands for it; the caption has the name
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def _all(scene: Scene) -> Iterator[Drawn]:
    """All figures of a comparison, one table after the other, kernels last."""
    for table in scene.comparison.tables:
        yield from single_figures(scene, table)
        if table.suite != KERNEL:
            figures = (draw(scene, table) for draw in (latency, at_sizes, by_host_group, by_placement))
            yield from (drawn for drawn in figures if drawn is not None)
        yield from heat_maps(scene, table)
    yield from kernels(scene)


class _Files:
    """The files of the figures in a folder: which are ours, and which of them are of earlier calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.figures: list[Figure] = []
        self.made = self._made_before()

    def write(self, drawn: Drawn) -> None:
        """Write a figure in all formats under a name of its own."""
        name = _file_name(drawn.title, {figure.name for figure in self.figures})
        files = [self.folder / f"{name}.{ending}" for ending in FORMATS]
        self._list(
            self.made | {path.name for path in files}
        )  # first: an interrupted call leaves no unknown file
        drawn.page.write(self.folder, name)
        self.figures.append(Figure(name, drawn.title, drawn.caption, drawn.alt, *files))

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
        drawn = {path.name for figure in self.figures for path in figure.files}
        for name in self.made - drawn:
            (self.folder / name).unlink(missing_ok=True)
        if drawn != self.made:
            self._list(drawn)


def _file_name(title: str, taken: set[str]) -> str:
    """A file name of plain letters, digits and hyphens, unlike those already taken."""
    base = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:80] or "figure"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name
