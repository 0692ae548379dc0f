"""Everything that is known of a campaign over time, read from its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mpicampaign.collect.campaign import plan_of
from mpicampaign.errors import Problem, UserError
from mpicampaign.history.changes import FILE as CHANGES
from mpicampaign.history.changes import Event, analyse_curves, events
from mpicampaign.history.curves import NEEDED, curves_of
from mpicampaign.history.rows import rows_of
from mpicampaign.history.series import read_series
from mpicampaign.history.store import FOLDER, Store
from mpicampaign.history.ticks import BEGAN, BUSY, TickLog
from mpicampaign.records import RECORDS, read_records

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow

    from mpicampaign.history.curves import ChangePoint, Curve


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

    ``new``: changes that no tick had reported before, with the numbers of their curves. ``tested``: how many
    curves were tested at the last tick. ``ticks``: how many began, found another at work, were missed.
    ``problems``: damaged files and lines.
    """

    campaign: str
    series: tuple[SeriesEntry, ...]
    curves: tuple[Curve, ...]
    events: tuple[Event, ...]
    new: tuple[tuple[int, ChangePoint], ...]
    tested: int
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
        when there is nothing yet, or the package that reads Parquet is missing.
    """
    store = Store(campaign_folder / FOLDER)
    table = all_rows(campaign_folder, store)
    if not table.num_rows:
        hint = "run the campaign, or call mpicampaign tick"
        raise UserError(Problem("no history yet", str(campaign_folder), hint=hint))
    analysis = analyse_curves(curves_of(table), campaign_folder / FOLDER / CHANGES, write=write)
    log = TickLog(campaign_folder)
    damaged = [f"{log.path}:{number}: damaged line" for number in log.damaged]
    counts = (
        sum(tick.event == BEGAN for tick in log.ticks),
        sum(tick.event == BUSY for tick in log.ticks),
        sum(int(tick.data.get("missed", 0)) for tick in log.ticks),
    )
    return Overview(
        table["campaign"][0].as_py(),
        tuple(_entries(table, read_series(campaign_folder).name)),
        analysis.curves,
        tuple(events(analysis.curves)),
        analysis.new,
        analysis.tested,
        counts,
        (*store.problems, *analysis.problems, *damaged),
    )


def all_rows(campaign_folder: Path, store: Store) -> pyarrow.Table:
    """The rows of all finished series and of the open one, with the columns that curves and series need.

    Raises
    ------
    UserError
        when the package that reads Parquet is missing: it has no wheel for every machine.
    """
    try:
        import pyarrow as arrow
    except ImportError as error:
        message = f"a history needs the Python package pyarrow, which can't be loaded: {error}"
        raise UserError(Problem(message, hint="pip install pyarrow")) from error
    columns = [*NEEDED, "campaign", "identity", "changed"]
    open_rows = _open_rows(campaign_folder, set(store.names()))
    finished = store.table(columns)
    return arrow.concat_tables([finished, open_rows.select(columns)]) if open_rows else finished


def _open_rows(campaign_folder: Path, packed: set[str]) -> Any:
    """The rows of the open series; none where it has no records, or was packed already."""
    series = read_series(campaign_folder)
    records = campaign_folder / RECORDS
    if series.name in packed or not records.is_file():
        return None
    header, open_runs = read_records(records)
    return rows_of(open_runs, plan_of(campaign_folder), series, header)


def _entries(table: pyarrow.Table, open_name: str) -> list[SeriesEntry]:
    open_runs = (
        table.unify_dictionaries()
        .group_by(["series", "identity", "system", "host_group", "placement", "benchmark", "repeat"])
        .aggregate([("counts", "max"), ("changed", "max"), ("started", "min")])
    )
    runs_of: dict[str, list[dict[str, Any]]] = {}
    for run in open_runs.to_pylist():
        runs_of.setdefault(run["series"], []).append(run)
    return [_entry(name, runs_of[name], name == open_name) for name in sorted(runs_of)]


def _entry(name: str, runs: list[dict[str, Any]], is_open: bool) -> SeriesEntry:
    began = min((run["started_min"] for run in runs if run["started_min"]), default=None)
    made = [run for run in runs if run["started_min"]]
    counted = sum(bool(run["counts_max"]) for run in runs)
    changed = any(run["changed_max"] for run in runs)
    return SeriesEntry(
        name, f"{began:%Y-%m-%dT%H:%M:%SZ}" if began else "", len(made), counted, changed, is_open
    )
