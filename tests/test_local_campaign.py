"""Campaigns that really run on this machine: real IMB under real Intel MPI."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import ProjectCopy, executable, succeeded

from mpicampaign.base.records import CONTRADICTED, FAILED, OK, VERIFIED

pytestmark = [pytest.mark.mpi, pytest.mark.slow, pytest.mark.usefixtures("imb")]

CAMPAIGN = """\
campaign: short
seed: 3
repeats: {repeats}
busy_machine: rank
time_limit: 1 min
systems:
  this-machine: {{scheduler: none, mpi: wheel}}
host_groups:
  local: {{system: this-machine}}
placements:
  SHM: {{description: two unbound ranks, ranks_per_node: 2}}
benchmarks:
  PingPong: {{arguments: -iter 300 -time 5 -msglog 0:10 PingPong}}
matrix:
  - {{host_groups: local, placements: [{placements}], benchmarks: PingPong}}
"""


def write_campaign(project: ProjectCopy, placements: str = "SHM-1, SHM", repeats: int = 2) -> None:
    text = CAMPAIGN.format(placements=placements, repeats=repeats)
    (project.folder / "short.yaml").write_text(text)


def run(project: ProjectCopy) -> subprocess.CompletedProcess[str]:
    return project.call("run", "--campaign", "short.yaml")


PINNED = """\
  by-file: {scheduler: none, mpi: wheel, source: site.sh}
  by-option: {scheduler: none, mpi: wheel, launcher_options: -genv I_MPI_PIN_PROCESSOR_LIST 0}
host_groups:
  by-file: {system: by-file}
  by-option: {system: by-option}
"""


@pytest.mark.full
def test_pinning_by_intel_mpi_in_any_way_is_verified(project: ProjectCopy) -> None:
    """Its launcher derives variables for the ranks from these settings."""
    write_campaign(project, repeats=1)
    (project.folder / "site.sh").write_text("export I_MPI_PIN_DOMAIN=auto\n")
    file = project.folder / "short.yaml"
    text = file.read_text().replace("mpi: wheel}", "mpi: wheel, environment: {I_MPI_PIN_DOMAIN: core}}")
    text = text.replace("host_groups:\n", PINNED, 1).replace(
        "host_groups: local", "host_groups: [local, by-file, by-option]"
    )
    file.write_text(text)
    assert succeeded(run(project))
    records = project.records("short")
    assert [record.verdict for record in records] == [VERIFIED] * 6, [
        record.verdict_reasons for record in records
    ]


@pytest.mark.full
def test_script_changed_by_hand_is_contradicted(project: ProjectCopy) -> None:
    write_campaign(project, "SHM-1", repeats=1)
    script = Path(project.call("render", "--campaign", "short.yaml").stdout.strip())
    project.call("build", "--campaign", "short.yaml")
    script.write_text(script.read_text().replace("-msglog 0:10", "-msglog 0:9"))
    subprocess.run(["bash", script], check=True, timeout=240, stdout=subprocess.DEVNULL)
    project.ask("report", "--campaign", "short.yaml")
    records = project.records("short")
    assert records[0].verdict == CONTRADICTED
    assert "-msglog 0:9" in records[0].verdict_reasons[0] and "it was edited" in records[0].verdict_reasons[0]


@pytest.mark.full
def test_a_clone_in_a_folder_with_spaces_is_verified_as_well(project: ProjectCopy) -> None:
    moved = ProjectCopy(project.folder.rename(project.folder.with_name("my project it's 1")))
    write_campaign(moved, "SHM-1", repeats=1)
    assert succeeded(run(moved))
    records = moved.records("short")
    assert [record.verdict for record in records] == [VERIFIED], records[0].verdict_reasons


@pytest.mark.full
def test_a_benchmark_without_sizes(project: ProjectCopy) -> None:
    """The traffic of a barrier is unknown; its result stays, and so do the tables."""
    write_campaign(project, "SHM-1, TCP-loopback", repeats=1)
    text = (project.folder / "short.yaml").read_text()
    changed = text.replace("-iter 300 -time 5 -msglog 0:10 PingPong", "-iter 300 -time 1 Barrier")
    assert changed != text
    (project.folder / "short.yaml").write_text(changed)
    assert succeeded(run(project))
    records = project.records("short")
    assert [(record.status, record.verdict) for record in records] == [(OK, VERIFIED)] * 2


@pytest.mark.full
def test_what_does_not_stand_is_run_again(project: ProjectCopy) -> None:
    """An output without content, and a missing program: set aside whole, then run again."""
    write_campaign(project, "SHM-1", repeats=2)
    assert succeeded(run(project))
    cut, missing = project.results("short")
    text = cut.read_text()
    cut.write_text(text[: len(text) // 2])
    kind = "job not_available_kind=program\njob not_available=IMB-MPI1 is not on x\njob ended="
    missing.write_text(missing.read_text().replace("job ended=", kind))
    done = run(project)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 runs to do" in done.stderr
    assert done.stderr.count("to be run again") == 2
    records = project.records("short")
    assert [record.verdict for record in records] == [VERIFIED, VERIFIED]
    kept = list((project.folder / "results/short/runs").glob("*/*/*/*/attempt-*.txt"))
    assert sorted(len(path.read_text()) for path in kept)[0] == len(text) // 2


def test_a_run_whose_output_says_nothing_fails_the_call(project: ProjectCopy) -> None:
    """Rows and the closing line exist, so only the parser sees that there is no table.

    The campaign file's path is one that YAML, read as Snakemake's configuration, would misread.
    """
    write_campaign(project, "SHM-1", repeats=1)
    fake = executable(
        project.folder / "fake",
        "#!/bin/bash\necho ' 0 nonsense'\necho '# All processes entering MPI_Finalize'\n",
    )
    text = (project.folder / "short.yaml").read_text()
    provider = f"PingPong: {{provider: {{kind: path, location: {fake}}}, program: fake, arguments"
    name = "a: [b] 'c' #d/1e3"
    (project.folder / name).parent.mkdir()
    (project.folder / name).write_text(text.replace("PingPong: {arguments", provider))
    done = project.call("run", "--campaign", name)
    assert done.returncode != 0
    assert "FAILED" in done.stderr, done.stderr
    assert project.results("short") == []
    records = project.records("short")
    assert (records[0].status, records[0].reason[:12]) == (FAILED, "output.txt: ")
