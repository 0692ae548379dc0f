"""Long counts: thousands of launches and jobs, with kills. docs/tested.md has their outcome."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from build_campaigns import TRUE, write_trivial
from cluster_site import Site, killed_after
from conftest import ProjectCopy, succeeded
from minicluster import BLUE, MiniCluster

from mpicampaign.base.records import OK

pytestmark = pytest.mark.soak

LAUNCHES, JOBS, KILLS = 2000, 1000, 40
KINDS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def test_thousands_of_launches_with_kills_lose_and_double_nothing(project: ProjectCopy) -> None:
    """Counted by the launcher itself: a run that was active when its campaign was killed is adopted.

    Each call is killed after some launches, however slow the machine is.
    """
    log = project.folder / "launches"
    write_trivial(
        project,
        body=f'echo "${{attempt:-$PWD}}" >>"{log}"',
        repeats=LAUNCHES // 4,
        benchmarks={"first": TRUE, "second": TRUE},
    )
    log.touch()
    launched: Callable[[], int] = lambda: len(log.read_text().splitlines())  # noqa: E731
    generator = random.Random(5)
    for _ in range(KILLS):
        enough = launched() + generator.randrange(1, 40)
        process = project.start("run", "trivial.yaml")
        while launched() < enough and process.poll() is None:
            time.sleep(0.01)
        os.killpg(
            process.pid, generator.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        )
        process.wait(240)
    project.succeed("run", "--campaign", "trivial.yaml", timeout=3600)
    results = project.results("trivial")
    ended = list((project.folder / "results/trivial").glob("runs/*/*/*/*/attempt-*.txt"))
    interrupted = ["interrupted by signal" in path.read_text() for path in ended]
    print(f"{launched()} launches, {len(results)} results, {sum(interrupted)} interrupted by {KILLS} kills")
    assert len(results) == LAUNCHES
    assert all(interrupted)
    assert LAUNCHES <= launched() <= LAUNCHES + len(interrupted)


@pytest.mark.usefixtures("cluster_parts")
def test_a_thousand_jobs_with_kills_are_submitted_once(tmp_path: Path) -> None:
    """Counted in Slurm's own log of ended jobs."""
    with MiniCluster(tmp_path, [BLUE]) as cluster:
        site = Site(cluster)
        site.write(repeats=JOBS)
        generator = random.Random(11)
        for _ in range(KILLS):
            site.run(before=killed_after("", generator.choice(KINDS), generator.randrange(1, 200)))
        assert succeeded(site.run(timeout=3600))
        counted = site.submissions()
        print(f"{sum(counted.values())} submissions of {len(counted)} jobs by {KILLS + 1} calls")
        assert len(counted) == JOBS
        assert set(counted.values()) == {1}
        assert [record.status for record in site.records()] == [OK] * JOBS
