"""Results in Python: tables of plain numpy columns, and pictures (docs/data.md)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpicampaign.base.errors import Problem, UserError, did_you_mean, suggestion
from mpicampaign.base.places import results_folder, work_beside
from mpicampaign.base.presentation import TABLE_SIZES
from mpicampaign.base.records import Record
from mpicampaign.base.yaml_lines import printable
from mpicampaign.bundle.merge import records_of
from mpicampaign.bundle.read import is_bundle, verify
from mpicampaign.campaign.file import load_campaign
from mpicampaign.collect.campaign import records_in
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.report.columns import ANSWERS, MEDIANS, VALUES
from mpicampaign.report.data import lines_of
from mpicampaign.report.draw_figures import page_of
from mpicampaign.report.questions import every_chart
from mpicampaign.show.charts.model import Chart
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.document import Grid, Value
from mpicampaign.show.figures.svg import drawing, svg_file
from mpicampaign.show.view import DEFAULT

if TYPE_CHECKING:
    import numpy.typing as npt

VERSION = 1  # of the interface: raised when a name or a meaning changes, not when something is added


class DataTable:
    """A table of results: columns of one length; docs/keys.md has their meaning and units."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._columns: dict[str, npt.NDArray[Any]] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, always the same."""
        return tuple(map(str, self._grid.header))

    def __len__(self) -> int:
        return len(self._grid.lines)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column.

        Returns
        -------
        numpy array of shape ``(len(table),)``
            Texts are objects, ``None`` where there is none. Numbers are float64, NaN where there is none;
            without a gap, counts are int64 and truth values bool. Values are in the SI unit that the line has
            in ``unit``, sizes in B.

        Raises
        ------
        KeyError
            naming the nearest column.
        """
        if name not in self.columns:
            raise KeyError(f"no column {name!r}: {did_you_mean(str(name), self.columns)}")
        if name not in self._columns:
            self._columns[name] = self._array(self.columns.index(name))
        return self._columns[name]

    def _array(self, index: int) -> npt.NDArray[Any]:
        import numpy as np

        kind, values = self._grid.kinds[index], [line[index] for line in self._grid.values]
        if kind is str:
            return np.array(values, dtype=object)
        return np.array(values, dtype=float if None in values else kind)

    def __iter__(self) -> Iterator[dict[str, Value]]:
        """The lines by column, ``None`` where there is no value."""
        return (dict(zip(self.columns, line, strict=True)) for line in self._grid.values)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame of the same columns.

        Raises
        ------
        UserError
            where pandas is not installed.
        """
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            hint = "pip install pandas; without it, table['value'] is a numpy array"
            raise UserError(Problem(f"to_pandas: {error}", hint=hint)) from None
        return pandas.DataFrame({name: self[name] for name in self.columns})

    def __repr__(self) -> str:
        return f"<{self._grid.title}: {len(self)} lines of {', '.join(self.columns)}>"


@dataclass(frozen=True)
class Picture:
    """A figure of the report; a notebook shows it. ``title``, ``caption``: texts."""

    title: str
    caption: str
    _chart: Chart = field(repr=False)

    @cached_property
    def svg(self) -> str:
        """The drawing, as the text of an SVG file."""
        page = page_of(self._chart)
        return svg_file(page, drawing(page))

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True)
class CampaignResults:
    """Results of a campaign, as `load` reads them.

    ``campaign``: its name. ``version``: of this interface.
    """

    campaign: str
    _comparison: Comparison = field(repr=False)
    version: int = VERSION

    @cached_property
    def values(self) -> DataTable:
        """A line for each run, series, message size and metric (value in SI units).

        Contradicted, disturbed and failed runs are there, too: the medians are made of the lines where
        ``counts`` is true.
        """
        return self._table(VALUES)

    @cached_property
    def medians(self) -> DataTable:
        """A line for each host group, placement, series and metric: median, interval, n (SI units)."""
        return self._table(MEDIANS)

    @cached_property
    def answers(self) -> DataTable:
        """A line for each candidate of each question, in the report's order.

        ``ratio`` and ``smallest_difference`` have no unit; docs/statistics.md says how p is found.
        """
        return self._table(ANSWERS)

    @cached_property
    def figures(self) -> tuple[Picture, ...]:
        """All figures for which there are data."""
        charts = every_chart(Scene(self._comparison, DEFAULT))
        return tuple(Picture(chart.title, chart.caption, chart) for chart in charts)

    def _table(self, name: str) -> DataTable:
        return DataTable(lines_of(self._comparison, name))


def load(place: str | os.PathLike[str]) -> CampaignResults:
    """Read the results of a campaign.

    Parameters
    ----------
    place : a folder results/CAMPAIGN (as of its last report), its name, a campaign file, a bundle, or a
        file of records

    Raises
    ------
    UserError
        where there are no results, or a file is damaged; the message says what to do.
    """
    named = results_folder() / place
    path = named if named.is_dir() and not Path(place).exists() else Path(place)
    if not path.exists():
        there = {folder.name for folder in results_folder().glob("*/")}
        hint = suggestion(str(place), there) or "give a folder results/CAMPAIGN, a campaign file or a bundle"
        raise UserError(Problem("no such file or folder", printable(str(place)), hint=hint))
    if path.suffix in (".yaml", ".yml"):
        work_beside(path)
        path = results_folder() / load_campaign(path).name
    if path.is_file() and is_bundle(path):
        records = records_of(path)  # which says what is wrong with it
        return _of(verify(path).campaign, records)
    header, records = records_in(path)
    return _of(header.campaign, records, header.table_sizes)


def _of(campaign: str, records: list[Record], sizes: tuple[int, ...] = ()) -> CampaignResults:
    return CampaignResults(campaign, compare(records, sizes or TABLE_SIZES))
