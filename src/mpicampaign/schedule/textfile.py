"""What a tick leaves for Prometheus's node_exporter: the results, and how the ticks went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.base.errors import UserError
from mpicampaign.base.files import system_error_text, write_whole
from mpicampaign.base.presentation import TABLE_SIZES
from mpicampaign.base.records import (
    CONTRADICTED,
    DISTURBED,
    FAILED,
    MISSING,
    NOT_AVAILABLE,
    OK,
    RECORDS,
    STOPPED,
    read_records,
)
from mpicampaign.history.ticks import BEGAN, BUSY, TickLog

if TYPE_CHECKING:
    from mpicampaign.report.exports.openmetrics import Sample

_ENDS = (OK, CONTRADICTED, DISTURBED, FAILED, STOPPED, NOT_AVAILABLE, MISSING)


def write_textfile(file: str, campaign: str, folder: Path, log: TickLog) -> list[str]:
    """Write the file; lines to print where something is wrong, which stops no tick.

    Parameters
    ----------
    file : its path; nothing is written where it is empty
    campaign, folder : the name of the campaign, and its folder in results/
    """
    if not file:
        return []
    from mpicampaign.report.exports.openmetrics import openmetrics

    problems = []
    samples = list(_of_ticks(campaign, folder, log))
    try:
        samples += _of_records(campaign, folder / RECORDS)
    except (UserError, OSError) as error:
        problems.append(f"schedule.textfile has no results: {error}")
    try:
        write_whole(Path(file), openmetrics(samples))
    except OSError as error:
        problems.append(f"schedule.textfile is not written: {system_error_text(error)}")
    return problems


def _of_ticks(campaign: str, folder: Path, log: TickLog) -> Iterator[Sample]:
    from mpicampaign.history.changes import FILE as CHANGES
    from mpicampaign.history.changes import number_reported
    from mpicampaign.history.store import FOLDER
    from mpicampaign.report.exports.openmetrics import Sample

    labels = {"campaign": campaign}
    made = [tick for tick in log.ticks if tick.event != BUSY]
    failures = 0  # since the last tick without any
    for tick in made:
        status = tick.data.get("status")
        failures = 0 if status == 0 else failures + (tick.event == BEGAN)
    began = [tick.time for tick in made if tick.event == BEGAN]
    good = [tick.time for tick in made if tick.data.get("status") == 0]
    for name, about, times in (
        ("tick_timestamp", "Start of the last tick", began),
        ("tick_success_timestamp", "End of the last tick without failures", good),
    ):
        if times:
            yield Sample(name, about, "seconds", labels, times[-1].timestamp())
    if made and isinstance(status := made[-1].data.get("status"), int):
        yield Sample("tick_status", "Exit status of the last tick", "", labels, status)
    yield Sample("tick_failures", "Ticks since the last one without failures", "", labels, failures)
    changes = number_reported(folder / FOLDER / CHANGES)
    yield Sample("changes", "Changes that ticks have reported so far", "", labels, changes)


def _of_records(campaign: str, file: Path) -> Iterator[Sample]:
    """Samples of the last report; none before the first."""
    from mpicampaign.compare.compare import compare
    from mpicampaign.report.exports.openmetrics import Sample, samples_of

    if not file.is_file():
        return
    header, records = read_records(file)
    counts = Counter(record.end for record in records)
    for end in _ENDS:
        yield Sample("runs", "Runs by how they ended", "", {"campaign": campaign, "end": end}, counts[end])
    yield from samples_of(compare(records, header.table_sizes or TABLE_SIZES), campaign)
