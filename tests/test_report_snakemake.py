"""`snakemake --report` of a finished campaign: offline, with the report and the tables in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from build_campaigns import UNBOUND, write_trivial
from conftest import ProjectCopy, copy_project, succeeded

pytestmark = pytest.mark.slow

# No network where the machine lets us take it away; in any case nothing is fetched over a proxy.
ALONE = ["unshare", "--net", "--map-root-user"] if shutil.which("unshare") else []


def snakemake(project: ProjectCopy, *arguments: str, alone: bool = False) -> subprocess.CompletedProcess[str]:
    command = [*ALONE * alone, sys.executable, "-m", "snakemake", "--profile", "cluster", *arguments]
    proxy = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    return subprocess.run(
        command, cwd=project.folder, env={**project.environment, **proxy}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopy:
    project = copy_project(tmp_path_factory.mktemp("small") / "project")
    write_trivial(project, "campaign", title="Before", placements={"one": UNBOUND})
    done = snakemake(project)
    assert done.returncode == 0, done.stderr
    return project


@pytest.mark.full
def test_the_zip_holds_our_report_whole(finished: ProjectCopy, tmp_path: Path) -> None:
    archive = tmp_path / "report.zip"
    assert succeeded(snakemake(finished, "--report", str(archive)))
    ours = (finished.folder / "results/campaign/report.html").read_bytes()
    with zipfile.ZipFile(archive) as opened:
        held = [opened.read(name) for name in opened.namelist() if name.endswith("/report.html")]
        assert ours in held


@pytest.mark.full
def test_files_of_others_among_the_figures_survive_a_new_report(finished: ProjectCopy) -> None:
    folder = finished.folder / "results/campaign"
    mine = folder / "figures/mine.txt"
    mine.write_text("kept")
    campaign = finished.folder / "campaign.yaml"
    campaign.write_text(campaign.read_text().replace("title: Before", "title: Afterwards"))
    done = snakemake(finished)
    assert done.returncode == 0, done.stderr
    assert "Afterwards" in (folder / "report.html").read_text()
    assert mine.read_text() == "kept"
    again = snakemake(finished)
    assert "nothing to do, all " in again.stderr
