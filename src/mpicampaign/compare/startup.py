"""Start-up: how long the ranks took to start, as tables of their own.

No ranking, answer or test of other metrics takes part in them: they are compared where they are asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.base.dimension import DURATION
from mpicampaign.base.records import Series
from mpicampaign.collect.startup import LAUNCHER, MPI_INIT, RANKS, START_UP
from mpicampaign.compare.metrics import Metric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.base.records import Record

METRICS = tuple(
    Metric(name, name, DURATION, group=name, headline=True) for name in (START_UP, MPI_INIT, LAUNCHER)
)


def startup_alone(runs: Iterable[Record]) -> list[Record]:
    """The runs with their start-up as only series; without those that count and did not record it."""
    return [replace(run, series=_series(run)) for run in runs if run.startup or not run.sound]


def _series(run: Record) -> tuple[Series, ...]:
    columns: dict[str, list[float | None]] = {name: [value] for name, value in run.startup.items()}
    ranks = columns.pop(RANKS, [None])[0]
    return (Series(START_UP, int(ranks), columns),) if ranks else ()
