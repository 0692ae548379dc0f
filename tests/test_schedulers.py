"""A scheduler from another package: PBS Professional, after its documentation, with no changes here."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import succeeded

MODULE = """
from pathlib import Path

from mpicampaign.base.errors import UnreadableError
from mpicampaign.schedulers import BatchScheduler
from mpicampaign.schedulers.scheduler import DONE, HELD, QUEUED, RUNNING, UNKNOWN, Node, Queue, QueuedJob

STATES = {"Q": QUEUED, "R": RUNNING, "H": HELD, "F": DONE}


class Pbs(BatchScheduler):
    name = "pbs"
    title = "PBS Professional"
    header = Path(__file__).with_name("pbs.sh.j2")
    job_id = "${PBS_JOBID:-$$}"
    how_to_run = "Submit with: qsub job.sh"
    selectors = frozenset({"queue", "account", "directives"})
    submit = ("qsub",)
    cancel = "qdel"
    release = "qrls"
    site_questions = (("pbsnodes", "-a"),)
    directive = "PBS"
    name_option = "N"
    queue_option = "q"

    def options(self, group):
        named = {"-q": group["queue"], "-A": group["account"]}
        return [(option, value) for option, value in named.items() if value]

    def time(self, minutes):
        return f"{minutes // 60:02d}:{minutes % 60:02d}:00"

    def own_option(self, word):
        return word[:2] if word[:2] in ("-l", "-N", "-o") else ""

    def query(self, user):
        return ["qstat", "-x", "-u", user]

    def read_queue(self, text):
        rows = [line.split() for line in text.splitlines()]
        if any(len(row) != 3 for row in rows):
            raise UnreadableError("not a job list")
        return [QueuedJob(row[0], row[1], STATES.get(row[2], UNKNOWN), row[2]) for row in rows]

    def read_submitted(self, text):
        return text.strip()

    def queues(self, answers):
        return [Queue("workq", True, True)]

    def nodes(self, answers, wanted=()):
        return {"workq": [Node("n1"), Node("n2")]}

    def host_group(self, nodes):
        return {"queue": nodes.queue}

    def probe(self, nodes, job_name, log, script):
        return ["qsub", "-N", job_name, "-q", nodes.queue, "-o", log, "--", *script]


SCHEDULER = Pbs()
"""
TEMPLATE = """\
#PBS -N {{ job_name | directive }}
{% for option, value in options %}
#PBS {{ option | raw }} {{ value | directive }}
{% endfor %}
#PBS -l select={{ nodes }}:mpiprocs={{ ranks_per_node }} -l walltime={{ time }}
#PBS -j oe -o {{ logs | directive }}
{% for directive in directives %}
#PBS {{ directive | verbatim }}
{% endfor %}
"""
CAMPAIGN = """\
campaign: toy
repeats: 1
time_limit: 10 min
systems: {cluster: {scheduler: SCHEDULER, mpi: openmpi5, modules: [openmpi]}}
host_groups: {blue: {system: cluster, queue: short, fabrics: {eth: {transport: tcp, interface: e0}}}}
matrix: [{host_groups: blue, placements: TCP, benchmarks: tree_merge}]
"""
SCRIPT = "#PBS -N PingPong\n#PBS -q short -l walltime=00:10:00\nmpirun -np 2 IMB-MPI1 PingPong\n"


class Site:
    """A folder with a package that brings PBS, and a campaign file that uses it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "campaign.yaml"
        (folder / "site_pbs.py").write_text(MODULE)
        (folder / "pbs.sh.j2").write_text(TEMPLATE)
        info = folder / "site_pbs-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: site-pbs\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[mpicampaign.schedulers]\npbs = site_pbs:SCHEDULER\n")
        self.write()

    def write(self, *changes: tuple[str, str]) -> None:
        text = CAMPAIGN.replace("SCHEDULER", "pbs")
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        self.file.write_text(text)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        source = Path(__file__).parents[1] / "src"
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={"PYTHONPATH": f"{source}:{self.folder}", "PATH": "/usr/bin:/bin", "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
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
    assert directives == [
        "#PBS -q short",
        "#PBS -l select=2:mpiprocs=1 -l walltime=00:15:00",
        "#PBS -j oe -o /r/logs",
    ]
    assert "job=${PBS_JOBID:-$$} " in script.stdout


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("scheduler: pbs", "scheduler: pbss", "must be lsf, none, slurm or pbs (found 'pbss')"),
        ("scheduler: pbs", "scheduler: pbss", "did you mean 'pbs'?"),
        ("queue: short", "partition: short", "scheduler pbs of system 'cluster' has no partition"),
        ("queue: short", "partition: short", "it is a key for slurm"),
        ("queue: short", "directives: -lselect=1", "each job script sets -l itself"),
        ("mpi: openmpi5", "mpi: openmpi5, launcher: srun", "srun starts ranks only under Slurm"),
    ],
)
def test_its_keys_are_checked(site: Site, before: str, after: str, message: str) -> None:
    site.write((before, after))
    done = site.call("check", "--campaign", "campaign.yaml")
    assert done.returncode != 0 and message in done.stderr, done.stderr
    assert done.stderr.count("campaign.yaml:") == 1


def test_its_scripts_are_read_by_an_import(site: Site) -> None:
    show = f"from mpicampaign.imports.facts import read_facts; print(read_facts('a.out', '', {SCRIPT!r}))"
    done = site.python("-c", show)
    assert done.returncode == 0, done.stderr
    facts = ("'scheduler': 'pbs'", "'job_name': 'PingPong'", "'queue': 'short'")
    assert all(fact in done.stdout for fact in facts), done.stdout


def test_an_incomplete_class_is_refused_with_a_message(site: Site) -> None:
    (site.folder / "site_pbs.py").write_text(MODULE.replace("def own_option", "def another"))
    done = site.call("check", "--campaign", "campaign.yaml")
    assert "the entry point pbs = site_pbs:SCHEDULER of site-pbs cannot be used" in done.stderr
    assert "own_option" in done.stderr and "Traceback" not in done.stderr
