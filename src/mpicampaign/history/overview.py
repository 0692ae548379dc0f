"""Everything that is known of a campaign over time, read from its folder."""

from __future__ import annotations

import sqlite3
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.records import RECORDS, read_records
from mpicampaign.collect.campaign import plan_of
from mpicampaign.history.changes import FILE as CHANGES
from mpicampaign.history.changes import Event, analyse_curves, events
from mpicampaign.history.curves import ChangePoint, Curve, curves_of
from mpicampaign.history.metrics import add, rows_in
from mpicampaign.history.rows import SeriesRows, rows_of
from mpicampaign.history.series import read_series
from mpicampaign.history.store import FOLDER, Store
from mpicampaign.history.ticks import BEGAN, BUSY, TickLog


class SeriesEntry(NamedTuple):
    """A series: how many of its runs there are, and how many count. ``changed``: the campaign file did."""

    name: str
    began: str
    runs: int
    counted: int
    changed: bool
    is_open: bool


class Overview(NamedTuple):
    """The history of a campaign.

    ``new``: changes that no tick had reported before, with the numbers of their curves. ``ticks``: how many
    began, found another at work, were missed. ``problems``: damaged files and lines.
    """

    campaign: str
    series: tuple[SeriesEntry, ...]
    curves: tuple[Curve, ...]
    events: tuple[Event, ...]
    new: tuple[tuple[int, ChangePoint], ...]
    ticks: tuple[int, int, int]
    problems: tuple[str, ...]

    @property
    def not_judged(self) -> dict[str, int]:
        """How many curves are not judged, by the reason."""
        reasons = [curve.not_judged for curve in self.curves if curve.not_judged]
        return {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}


def overview(campaign_folder: Path, *, write: bool = False) -> Overview:
    """The history of a campaign's folder, its open series included.

    ``write``: whether changes that are found now are reported for good; only a tick does that, at its end.

    Raises
    ------
    UserError
        when there is nothing yet.
    """
    store, open_rows = Store(campaign_folder / FOLDER), _open_rows(campaign_folder)

    def look(base: sqlite3.Connection) -> tuple[list[Any], list[Curve]]:
        if open_rows and open_rows.rows:
            add(base, open_rows)
        return rows_in(base, "series"), curves_of(base)

    series, curves = store.read(look)
    open_name = read_series(campaign_folder).name
    if not series:
        hint = "run the campaign, or call mpicampaign tick"
        raise UserError(Problem("no history yet", str(campaign_folder), hint=hint))
    analysis = analyse_curves(curves, campaign_folder / FOLDER / CHANGES, write=write)
    log = TickLog(campaign_folder)
    damaged = [f"{log.path}:{number}: damaged line" for number in log.damaged]
    counts = (
        sum(tick.event == BEGAN for tick in log.ticks),
        sum(tick.event == BUSY for tick in log.ticks),
        sum(int(tick.data.get("missed", 0)) for tick in log.ticks),
    )
    return Overview(
        series[0][2],
        tuple(
            SeriesEntry(name, began, runs, counted, bool(changed), name == open_name)
            for _, name, _, changed, began, runs, counted, _ in sorted(series, key=itemgetter(1))
        ),
        analysis.curves,
        tuple(events(analysis.curves)),
        analysis.new,
        counts,
        (*store.problems, *analysis.problems, *damaged),
    )


def _open_rows(campaign_folder: Path) -> SeriesRows | None:
    """The rows of the open series; none where it has no records."""
    records = campaign_folder / RECORDS
    if not records.is_file():
        return None
    header, open_runs = read_records(records)
    return rows_of(open_runs, plan_of(campaign_folder), read_series(campaign_folder), header)
