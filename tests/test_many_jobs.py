"""Which of many jobs Snakemake starts: as its own greedy scheduler, in time that grows as their number."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mpicampaign.execution.many_jobs import is_flagged, those_that_fit


@pytest.mark.parametrize(("most", "chosen"), [(100_000, 3), (2, 2), (0, 0)])
def test_jobs_are_taken_while_there_is_room_the_more_important_first(most: int, chosen: int) -> None:
    """As with ``--jobs 2``."""
    jobs = [SimpleNamespace(priority=place == 2, scheduler_resources={"_nodes": 1}) for place in range(3)]
    taken = those_that_fit(jobs, jobs, {"_nodes": most, "_cores": 1}, {})
    assert taken == [jobs[2], *jobs[:2]][:chosen]


def test_a_job_that_does_not_fit_does_not_hold_up_a_smaller_one() -> None:
    jobs = [SimpleNamespace(priority=0, scheduler_resources={"_cores": cores}) for cores in (2, 4, 1)]
    assert those_that_fit(jobs, jobs, {"_cores": 3}, {}) == [jobs[0], jobs[2]]


def test_flags_are_those_that_snakemake_finds() -> None:
    from snakemake import io

    values = ["plain", len, io.temp("file"), io.flag("file", "temp", False), io.IOFile(io.temp("file"))]
    found = [is_flagged(value, "temp") for value in values]
    assert found == [io.is_flagged(value, "temp") for value in values] == [False, False, True, False, True]
