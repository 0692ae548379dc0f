"""The Snakemake workflow as people call it: dry runs, errors, systems with other schedulers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ProjectCopy

from mpicampaign.identity import run_path
from mpicampaign.plan_file import case_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (["campain=other.yaml"], "--config campain: unknown key\n    did you mean 'campaign'?"),
        (["map=map.yaml", "folder=raw"], "--config folder: unknown key\n    did you mean 'folders'?"),
    ],
)
def test_an_unknown_key_of_the_configuration_is_reported(
    project: ProjectCopy, config: list[str], said: str
) -> None:
    done = project.snakemake("-c1", "-n", "--config", *config)
    assert done.returncode != 0 and said in done.stdout + done.stderr


TRIVIAL = """\
campaign: trivial
repeats: 26
time_limit: 1 min
mpis:
  none: {{launcher: hydra, command: {launcher}, transports: {{}}}}
systems: {{here: {{scheduler: none, mpi: none}}}}
host_groups: {{local: {{system: here}}}}
placements:
  one: &unbound {{nodes: 1, ranks_per_node: 2, transport: any, binding: none}}
  two: *unbound
  three: *unbound
  four: *unbound
benchmarks:
  trivial: {{suite: osu, program: 'true', provider: {{kind: path, location: /bin/true}}}}
matrix:
  - {{host_groups: local, placements: [one, two, three, four], benchmarks: trivial}}
"""


def trivial_launcher(project: ProjectCopy) -> Path:
    """A launcher that starts nothing and writes the shortest valid output."""
    launcher = project.folder / "launcher"
    output = "# OSU MPI Latency Test v7.4\\n# Size Latency (us)\\n1 0.50\\n"
    launcher.write_text(f"#!/bin/sh\nprintf '{output}'\n")
    launcher.chmod(0o755)
    return launcher


@pytest.mark.full
def test_more_runs_than_snakemake_hands_over_at_once_keep_the_plans_order(project: ProjectCopy) -> None:
    launcher = trivial_launcher(project)
    (project.folder / "campaign.yaml").write_text(TRIVIAL.format(launcher=launcher))
    done = project.snakemake("--profile", "cluster")
    assert done.returncode == 0, done.stderr
    assert "jobid:" not in done.stderr, "a paragraph of Snakemake beside our line for each run"
    plan = json.loads((project.folder / "results/trivial/plan.json").read_text())
    runs = [(run, case_of(case)) for case in plan["cases"] for run in case["runs"]]
    folders = [
        run_path(case, run["repeat"], run["identity"])
        for run, case in sorted(runs, key=lambda found: found[0]["order"])
    ]
    results = [project.folder / "results/trivial" / folder / "result" for folder in folders]
    # ctime of the folder: the moment at which it was renamed into its place
    finished = [result.stat().st_ctime_ns for result in results]
    assert len(finished) == 104
    assert finished == sorted(finished)


def test_errors_in_the_campaign_are_reported_without_a_traceback(project: ProjectCopy) -> None:
    (project.folder / "campaign.yaml").write_text("campaign: a b\nrepeat: 3\n")
    done = project.snakemake("--profile", "cluster", "-n")
    assert done.returncode != 0
    assert "campaign.yaml:2: repeat: unknown key 'repeat'" in done.stderr
    assert "Traceback" not in done.stderr


def test_another_call_of_the_same_campaign_is_kept_away(project: ProjectCopy) -> None:
    code = (
        "import time; from pathlib import Path; from mpicampaign.jobs.prepare import lock_campaign, prepare\n"
        "lock = lock_campaign(prepare(Path('campaign.yaml'))); print('locked', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, cwd=project.folder, env=project.environment, stdout=subprocess.PIPE, text=True
    ) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "locked\n"
            done = project.snakemake("--profile", "cluster")
            assert done.returncode != 0
            assert f"is being run by another call (process {other.pid}" in done.stderr
        finally:
            other.kill()


@pytest.mark.full
def test_a_clone_in_a_folder_with_braces_runs(project: ProjectCopy) -> None:
    braced = ProjectCopy(project.folder.rename(project.folder.with_name("a {folder} {1,2}")))
    launcher = trivial_launcher(braced)
    text = TRIVIAL.replace("repeats: 26", "repeats: 1").format(launcher=json.dumps(str(launcher)))
    campaign = braced.folder / "trivial.yaml"
    campaign.write_text(text)
    done = braced.snakemake("--profile", "cluster", "--config", f"campaign={campaign.name}")
    assert done.returncode == 0, done.stderr
    assert len(braced.results("trivial")) == 4
    report = braced.folder / "results/trivial/report.html"
    made = report.stat().st_mtime_ns
    campaign.write_text(text.replace("campaign: trivial", "campaign: trivial\ntitle: A new title"))
    done = braced.call("run", "--campaign", campaign.name)
    assert done.returncode == 0, done.stderr
    assert report.stat().st_mtime_ns > made
    assert "A new title" in report.read_text()
