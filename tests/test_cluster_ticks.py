"""Scheduled ticks on a real Slurm: each series' jobs are submitted once, also where ticks are killed."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from cluster_site import Site, killed_after
from conftest import succeeded
from minicluster import BLUE, MiniCluster

from mpicampaign.base.records import OK
from mpicampaign.history.overview import overview

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.usefixtures("cluster_parts")]


def test_each_tick_submits_the_jobs_of_its_series_once(tmp_path: Path) -> None:
    with MiniCluster(tmp_path, [BLUE]) as cluster:
        site = Site(cluster)
        site.write(body="sleep 2", repeats=2, schedule={"every": "1 day", "series": "new"})
        assert succeeded(site.tick())
        killed = site.tick(before=killed_after("submitted", signal.SIGKILL))
        assert killed.returncode == -signal.SIGKILL % 256 or killed.returncode < 0, killed.stderr
        assert succeeded(site.tick()), "it finishes the series of the killed one"
        assert succeeded(site.tick())
        counted = site.submissions()
        assert len(counted) == 2 and set(counted.values()) == {3}, counted
        found = overview(site.folder / "results/jobs")
        assert [(series.runs, series.counted) for series in found.series] == [(2, 2)] * 3
        assert [record.status for record in site.records()] == [OK, OK]
        assert found.ticks[0] == 4
