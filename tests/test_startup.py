"""Start-up: read from what ranks and job script recorded, kept apart from other metrics, shown over ranks."""

from __future__ import annotations

import json
from pathlib import Path

import build_records as make
import pytest

from mpicampaign.base.records import (
    Header,
    Record,
    read_records,
    record_from,
    record_line,
    write_records,
)
from mpicampaign.collect.startup import startup
from mpicampaign.compare.compare import compare
from mpicampaign.evidence.evidence import read_evidence
from mpicampaign.questions.scaling.draw import scaling_charts
from mpicampaign.questions.scaling.find import STARTUP, scalings
from mpicampaign.report.make import to_csv, to_markdown
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.view import DEFAULT

LAUNCH = 1_764_142_345_000_000  # us
WHOLE = ((100, 110, 600), (150, 200, 700))  # ms after the launch: program, MPI_Init and its end, of each rank


def read(
    ranks: tuple[tuple[int, ...], ...] = WHOLE, job: str = f"job launched_us={LAUNCH}\njob launch_ms=900\n"
) -> dict[str, float]:
    lines = [
        f"rank {number} start.startup_us={' '.join(str(LAUNCH + 1000 * each) for each in moments)}\n"
        for number, moments in enumerate(ranks)
    ]
    text = "#mpicampaign-evidence 2\n" + job + "".join(lines)
    return startup(read_evidence(text, "#mpicampaign-claim 1\nclaim ranks=2\n"))


@pytest.mark.parametrize(
    "ranks",
    [
        ((-1, 110, 600), (150, 200, 700)),  # began before it was launched
        ((100, 110, 600), (150, 200, 921)),  # left MPI_Init after the launcher had ended
    ],
)
def test_where_clocks_differ_only_the_time_within_mpi_init_is_known(
    ranks: tuple[tuple[int, ...], ...],
) -> None:
    assert set(read(ranks)) == {"ranks", "MPI_Init"}


@pytest.mark.parametrize("job", ["", "job launched_us=x\njob launch_ms=900\n", f"job launched_us={LAUNCH}\n"])
def test_without_the_launch_only_the_time_within_mpi_init_is_known(job: str) -> None:
    assert set(read(job=job)) == {"ranks", "MPI_Init"}


def runs(placement: str, ranks: int, seconds: float) -> list[Record]:
    """Repeats of a benchmark; each of them recorded its start-up."""
    times = {"ranks": ranks, "start-up": seconds, "MPI_Init": seconds / 2, "launcher": seconds / 4}
    return make.case_runs(placement, startup=times)


LISTED = [*runs("X", 2, 0.3), *runs("X nodes=2", 4, 0.5)]


def test_it_stands_over_the_ranks_and_in_data() -> None:
    comparison = compare(LISTED)
    found = {each.metric.name: each for each in scalings(comparison) if each.kind == STARTUP}
    assert {name: [(p.ranks, p.median) for p in each.points] for name, each in found.items()} == {
        "start-up": [(2, 0.3), (4, 0.5)],
        "MPI_Init": [(2, 0.15), (4, 0.25)],
        "launcher": [(2, 0.075), (4, 0.125)],
    }
    shown = to_markdown(comparison)
    assert (
        "## Start-up over the number of ranks" in shown
        and "| PingPong: g X | 4 | 1 | 6 | 0.5 s | 0.25 s | 0.125 s |" in shown
    )
    charts = [each for each in scaling_charts(Scene(comparison, DEFAULT)) if "Start-up" in each.title]
    assert [panel.title for panel in charts[0].panels] == ["start-up", "MPI_Init", "launcher"]
    assert charts[0].own_scales, "the axis of one is not that of the others"
    alone = compare(runs("X", 2, 0.3))
    assert "Start-up" not in to_markdown(alone) and "PingPong,start-up,2,MPI_Init,,s,6,6,6,0.15" in to_csv(
        alone
    )


def test_records_without_it_are_as_before_and_wrong_ones_refused(tmp_path: Path) -> None:
    record = make.campaign()[0]
    assert b"startup" not in record_line(record)
    write_records(file := tmp_path / "records.jsonl", Header("c"), [record])
    file.write_text(file.read_text().replace('"version": 3', '"version": 2'))
    assert read_records(file)[1] == [record]
    for wrong in (-1.0, float("nan"), float("inf"), "0.3", None):
        with pytest.raises(ValueError, match=r"start-?up|byte"):
            line = json.dumps({**json.loads(record_line(record)), "startup": {"start-up": wrong}})
            record_from(line.encode())
