"""Long counts: thousands of launches and jobs, with kills. docs/sites.md has their outcome."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cluster_site import Site
from conftest import ProjectCopy, succeeded
from default_signals import popen_with_default_signals
from minicluster import BLUE, MiniCluster
from trivial_campaign import write_trivial

from mpicampaign.records import OK, VERIFIED, read_records

pytestmark = pytest.mark.soak

LAUNCHES, JOBS, KILLS, HONEST = 2000, 1000, 40, 300


def test_thousands_of_launches_with_kills_lose_and_double_nothing(project: ProjectCopy) -> None:
    """Counted by the launcher itself: a run that was active when its campaign was killed is adopted."""
    log = project.folder / "launches"
    benchmark = {"suite": "osu", "program": "true", "provider": {"kind": "path", "location": "/bin/true"}}
    write_trivial(
        project,
        body=f'echo "${{attempt:-$PWD}}" >>"{log}"',
        repeats=LAUNCHES // 4,
        benchmarks={"first": benchmark, "second": benchmark},
        matrix=[{"host_groups": "local", "placements": ["one", "two"], "benchmarks": ["first", "second"]}],
    )
    generator = random.Random(5)
    for _ in range(KILLS):
        process = popen_with_default_signals(
            project.command("run", "--campaign", "trivial.yaml"),
            cwd=project.folder,
            env=project.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(generator.uniform(2.0, 8.0))
        os.killpg(
            process.pid, generator.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        )
        process.wait(240)
    assert succeeded(project.call("run", "--campaign", "trivial.yaml", timeout=3600))
    results = project.results("trivial")
    ended = list((project.folder / "results/trivial").glob("runs/*/*/*/*/attempts/*/evidence.txt"))
    interrupted = ["interrupted by signal" in path.read_text() for path in ended]
    launched = len(log.read_text().splitlines())
    print(f"{launched} launches, {len(results)} results, {sum(interrupted)} interrupted by {KILLS} kills")
    assert len(results) == LAUNCHES
    assert all(interrupted)
    assert LAUNCHES <= launched <= LAUNCHES + len(interrupted)


@pytest.mark.usefixtures("cluster_parts")
def test_a_thousand_jobs_with_kills_are_submitted_once(tmp_path: Path) -> None:
    """Counted in Slurm's own log of ended jobs."""
    with MiniCluster(tmp_path, [BLUE]) as cluster:
        site = Site(cluster)
        site.write(repeats=JOBS)
        generator = random.Random(11)
        for _ in range(KILLS):
            name = generator.choice(["KILL", "KILL", "TERM", "HUP", "INT"])
            limit = f"{generator.uniform(2.0, 9.0):.2f}"
            site.run(before=("timeout", "--signal", name, "--kill-after=30", limit))
        assert succeeded(site.run(timeout=3600))
        counted = site.submissions()
        print(f"{sum(counted.values())} submissions of {len(counted)} jobs by {KILLS + 1} calls")
        assert len(counted) == JOBS
        assert set(counted.values()) == {1}
        assert [record.status for record in site.records()] == [OK] * JOBS


@pytest.mark.usefixtures("imb")
def test_honest_launches_are_never_contradicted(project: ProjectCopy) -> None:
    text = f"""\
campaign: honest
repeats: {HONEST // 3}
time_limit: 1 min
systems: {{this-machine: {{scheduler: none, mpi: wheel}}}}
host_groups: {{local: {{system: this-machine}}}}
benchmarks: {{PingPong: {{arguments: -iter 300 -time 1 -msglog 16:20 PingPong}}}}
matrix: [{{host_groups: local, placements: [SHM-1, SHM, TCP-loopback], benchmarks: PingPong}}]
"""
    (project.folder / "honest.yaml").write_text(text)
    assert succeeded(project.call("run", "--campaign", "honest.yaml", timeout=3600))
    _, records = read_records(project.folder / "results/honest/records.jsonl")
    verdicts = [record.verdict for record in records]
    print(f"{verdicts.count(VERIFIED)} of {len(verdicts)} verified")
    assert verdicts == [VERIFIED] * HONEST
