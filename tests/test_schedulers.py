"""A scheduler from another package: PBS Professional, after its documentation, with no changes here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import golden_messages
import pytest
from conftest import completed, succeeded

PACKAGE = Path(__file__).with_name("toy_package")
CAMPAIGN = """\
campaign: toy
repeats: 1
time_limit: 10 min
systems: {cluster: {scheduler: pbs, mpi: openmpi5, modules: [openmpi]}}
host_groups: {blue: {system: cluster, queue: short, fabrics: {eth: {transport: tcp, interface: e0}}}}
matrix: [{host_groups: blue, placements: TCP, benchmarks: tree_merge}]
"""
SCRIPT = "#PBS -N PingPong\n#PBS -q short -l walltime=00:10:00\nmpirun -np 2 IMB-MPI1 PingPong\n"


class Site:
    """A folder with a package that brings PBS, and a campaign file that uses it."""

    def __init__(self, folder: Path) -> None:
        self.folder = shutil.copytree(PACKAGE, folder / "site")
        self.file = self.folder / "campaign.yaml"
        self.write()

    def write(self, *changes: tuple[str, str]) -> None:
        text = CAMPAIGN
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        self.file.write_text(text)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        source = Path(__file__).parents[1] / "src"
        return completed(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={"PYTHONPATH": f"{source}:{self.folder}", "PATH": "/usr/bin:/bin", "HOME": str(self.folder)},
        )

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "mpicampaign.cli", *arguments)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


SHOW_SCRIPT = """
from pathlib import Path
from build_campaigns import MACHINE, script_of
from mpicampaign.campaign.file import load_campaign
from mpicampaign.jobs.plan import make_plan
from mpicampaign.jobs.render import script_text
[run] = make_plan(load_campaign(Path("campaign.yaml")), ["cluster"], MACHINE).runs
print(script_text(script_of(run, Path("/r"))))
"""


def test_a_campaign_is_checked_and_rendered(site: Site) -> None:
    assert succeeded(site.call("check", "--campaign", "campaign.yaml"))
    script = site.python("-c", f"import sys; sys.path.append({str(Path(__file__).parent)!r}){SHOW_SCRIPT}")
    assert script.returncode == 0, script.stderr
    first, *directives = script.stdout.splitlines()[1:5]
    assert re.fullmatch("#PBS -N tree_merge-[0-9a-f]{12}-70ce17", first)
    assert directives == ["#PBS -l select=2:ncpus=1:mpiprocs=1", "#PBS -l place=scatter", "#PBS -q short"]
    assert "job=${PBS_JOBID:-$$} " in script.stdout


def test_its_keys_are_checked(site: Site) -> None:
    def said(before: str, after: str) -> str:
        site.write((before, after))
        done = site.call("check", "--campaign", "campaign.yaml")
        assert done.returncode != 0
        return done.stderr

    golden_messages.check("mistakes/scheduler", said)


def test_its_scripts_are_read_by_an_import(site: Site) -> None:
    show = f"from mpicampaign.imports.facts import read_facts; print(read_facts('a.out', '', {SCRIPT!r}))"
    done = site.python("-c", show)
    assert done.returncode == 0, done.stderr
    facts = ("'scheduler': 'pbs'", "'job_name': 'PingPong'", "'queue': 'short'")
    assert all(fact in done.stdout for fact in facts), done.stdout


def test_an_incomplete_class_is_refused_with_a_message(site: Site) -> None:
    module = site.folder / "toy_pbs.py"
    module.write_text(module.read_text().replace("def own_option", "def another"))
    done = site.call("check", "--campaign", "campaign.yaml")
    assert "the entry point pbs = toy_pbs:SCHEDULER of toy cannot be used" in done.stderr
    assert "own_option" in done.stderr and "Traceback" not in done.stderr
