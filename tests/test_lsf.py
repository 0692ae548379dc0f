"""Campaigns through a strict stand-in for LSF: what test_cluster_runs does with a real Slurm."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from signal import SIGINT, SIGKILL
from subprocess import CompletedProcess
from typing import Any

import pytest
from build_campaigns import TWO_NODES, write_jobs
from cluster_site import PATIENCE, killed_after, shorten_waits
from conftest import ProjectCopy, completed, executable, succeeded, wait_until
from default_signals import set_default_signals
from lsf_standin.site import COMMANDS, StandIn

from mpicampaign.base.errors import UnreadableError
from mpicampaign.base.records import FAILED, OK, Record
from mpicampaign.schedulers.lsf import SCHEDULER as LSF

# The program stands for a benchmark: it prints a table after a while, or does what the test asks.
PROGRAM = "#!/bin/bash\n{body}\nprintf '# OSU MPI Latency Test v7.4\\n# Size Latency (us)\\n1 0.50\\n'\n"
# One rank only; the tokens before the per-rank wrapper are the launcher's own.
LAUNCHER = """#!/bin/bash
while [ "${1##*/}" != rank ]; do shift; done
export PMI_RANK=0 MPI_LOCALRANKID=0
exec "$@"
"""


class Site:
    """A user's clone on a cluster with the stand-in, and how the user calls it."""

    def __init__(self, project: ProjectCopy, lsf: StandIn) -> None:
        self.project, self.folder, self.lsf = project, project.folder, lsf
        self.done = CompletedProcess[str]([], -1)

    def write(self, body: str = "", **changes: Any) -> None:
        for name, text in (("program", PROGRAM.format(body=body)), ("launch", LAUNCHER)):
            executable(self.folder / name, text)
        system = {"scheduler": "lsf", "directives": "-g /mpicampaign", **changes.pop("system", {})}
        group = {"queue": "normal", "hosts": "all", "exclusive": True, **changes.pop("group", {})}
        write_jobs(self.folder, system=system, group=group, **changes)

    def call(self, *arguments: str, before: tuple[str, ...] = ()) -> CompletedProcess[str]:
        standin = self.lsf.environment
        path = f"{COMMANDS}:{self.project.environment['PATH']}"
        return completed(
            [*before, *arguments],
            cwd=self.folder,
            env={**standin, **self.project.environment, "PATH": path},
            timeout=300,
            preexec_fn=set_default_signals,
        )

    def campaign(self, *arguments: str, before: tuple[str, ...] = ()) -> CompletedProcess[str]:
        command = self.project.command(*arguments, "--campaign", "jobs.yaml")
        return self.call(*command, before=before)

    def run(self, before: tuple[str, ...] = ()) -> CompletedProcess[str]:
        return self.campaign("run", before=before)

    def in_the_background(self) -> threading.Thread:
        """The campaign's call, so that the test can do something to the cluster meanwhile."""
        thread = threading.Thread(target=lambda: setattr(self, "done", self.run()))
        thread.start()
        return thread

    def records(self) -> list[Record]:
        return self.project.records("jobs")

    def submissions(self) -> Counter[str]:
        """How often each run was submitted, by the name of its job or its task of an array."""
        return Counter(name for _, name in self.lsf.submitted)

    def first_job(self, state: str) -> str:
        """The id of the first job, once it is in this state."""
        wait_until(lambda: bool(self.lsf.submitted))
        number = self.lsf.submitted[0][0]
        self.lsf.wait(number, state)
        return number


@pytest.fixture
def site(project: ProjectCopy, tmp_path: Path) -> Iterator[Site]:
    with StandIn(tmp_path / "lsf") as lsf:
        lsf.configure(terminate_interval=0.5)
        yield Site(project, lsf)


@pytest.mark.full
def test_every_run_is_submitted_once_with_few_queries(site: Site) -> None:
    site.write(repeats=12)
    assert succeeded(site.run())
    assert [record.status for record in site.records()] == [OK] * 12
    assert set(site.submissions().values()) == {1}
    assert len(site.submissions()) == 12
    assert site.lsf.queries <= 10
    first = site.lsf.submitted[0][0]  # one array, whatever its tasks have as numbers here
    assert {record.job_id for record in site.records()} == {f"{first}_{index}" for index in range(1, 13)}
    for output in site.project.results("jobs"):  # LSF runs a copy; the rendered file was looked at
        text = output.read_text()
        rendered = (output.parent / "job.sh").read_bytes()
        assert f"job script_sha256={hashlib.sha256(rendered).hexdigest()}\n" in text
    assert "nothing to do" in site.run().stdout
    assert "12 finished" in site.campaign("status").stdout


@pytest.mark.full
def test_nodes_with_long_names_are_judged_but_for_a_busy_one(site: Site) -> None:
    hosts = [f"cn-rack-07-node-a-{number:04}" for number in range(1, 6)]
    site.lsf.configure(host_groups={"all": hosts})
    (site.lsf.folder / "busy").write_text(hosts[-1])
    entry, placements = {"each": {"unit": "node", "nodes_per_job": 1}}, {"two": {**TWO_NODES, "nodes": 1}}
    site.write(group={"hosts": hosts}, entry=entry, placements=placements, repeats=None, time_when_busy="1 s")
    assert succeeded(done := site.run())
    assert "1 node was busy until" in done.stdout and "unknown" not in done.stderr
    assert {record.case.host_group[4:] for record in site.records() if record.status == OK} == {*hosts[:-1]}


@pytest.mark.full
def test_a_version_that_knows_no_reasons_is_asked_without(site: Site) -> None:
    site.lsf.configure(volclava=True)
    assert site.lsf.call("bjobs", "-noheader").returncode == 255
    site.write(body="sleep 1", repeats=2)
    done = site.run()
    assert done.returncode == 0, done.stderr
    assert "does not answer" not in done.stderr
    assert [record.status for record in site.records()] == [OK] * 2
    assert "2 finished" in site.campaign("status").stdout


@pytest.mark.full
def test_a_bjobs_that_is_of_no_use_ends_the_call(site: Site) -> None:
    """Its first line says why; what was submitted goes on."""
    site.write(repeats=2)
    site.lsf.bjobs_fails("bjobs: invalid option -- 'a'\nUsage: bjobs [-h] [-V]\n       [jobId ...]")
    done = site.run()
    assert done.returncode != 0
    assert "bjobs failed with exit status 255: bjobs: invalid option -- 'a'" in done.stderr
    status = site.campaign("status")
    assert status.returncode != 0 and "invalid option -- 'a'" in status.stderr
    site.lsf.bjobs_fails()
    assert succeeded(site.run())


@pytest.mark.slow
@pytest.mark.full
def test_kills_leave_the_jobs_and_the_next_call_takes_them_up(site: Site) -> None:
    site.write(repeats=6)
    site.lsf.hold()
    for word, number in (("submitted", SIGKILL), ("adopted", SIGKILL), ("adopted", SIGINT)):
        killed = site.run(before=killed_after(word, number))
        assert killed.returncode != 0
    assert "left to the scheduler" in killed.stderr
    assert "6 queued" in site.campaign("status").stdout
    site.lsf.hold(False)
    assert succeeded(site.run())
    assert set(site.submissions().values()) == {1}
    assert len(site.submissions()) == 6


@pytest.mark.full
@pytest.mark.slow
def test_a_cancelled_job_is_a_failure_with_advice(site: Site) -> None:
    site.write(body="sleep 60")
    thread = site.in_the_background()
    number = site.first_job("RUN")
    status = site.campaign("status")
    assert "1 running" in status.stdout and f"job {number}: RUN" in status.stdout, status.stdout
    cancelled = site.campaign("cancel")
    assert (cancelled.returncode, cancelled.stdout) == (0, "1 job cancelled\n"), cancelled.stderr
    thread.join(300)
    assert site.done.returncode != 0
    assert "TERM_OWNER" in site.done.stderr and "the same command runs it again" in site.done.stderr
    [record] = site.records()
    assert record.status == FAILED and "interrupted by signal 2" in record.reason
    assert "1 stopped" in site.campaign("status").stdout


@pytest.mark.slow
@pytest.mark.full
def test_the_run_limit_of_lsf_is_a_failure_with_advice(site: Site) -> None:
    """LSF's minute is shorter than the script's here: LSF warns by USR2, and the script ends itself."""
    site.lsf.configure(minute=0.5)
    site.write(body="echo half; sleep 60")
    done = site.run()
    assert done.returncode != 0
    assert "TERM_RUNLIMIT" in done.stderr and "raise time_limit" in done.stderr
    assert not site.project.results("jobs")
    [record] = site.records()
    assert (record.status, record.exit_status) == (FAILED, 140)


PASSING = {"PSUSP": "held", "UNKWN": "running", "SSUSP": "running", "USUSP": "running", "NEWER": "unknown"}


@pytest.mark.slow
@pytest.mark.full
def test_states_that_pass_are_waited_for(site: Site) -> None:
    """A lost host, a suspension, or an unknown state: neither a success nor a failure."""
    for module in ("run/cluster.py", "run/cluster_jobs.py"):
        shorten_waits(site.folder / "src/mpicampaign" / module, PATIENCE[module])
    site.write(body='while [ ! -e "$0.go" ]; do sleep 0.1; done')
    site.lsf.hold()
    thread = site.in_the_background()
    for state, shown in PASSING.items():
        number = site.first_job("PEND" if state == "PSUSP" else "RUN")
        site.lsf.show(number, state)
        queries = site.lsf.queries
        wait_until(lambda queries=queries: site.lsf.queries >= queries + 2)  # type: ignore[misc]
        assert thread.is_alive()
        assert f"1 {shown}" in site.campaign("status").stdout
        site.lsf.show(number)
        if state == "PSUSP":
            site.lsf.hold(False)
    (site.folder / "program.go").touch()
    thread.join(300)
    assert site.done.returncode == 0, site.done.stderr
    assert set(site.submissions().values()) == {1}


@pytest.mark.full
@pytest.mark.slow
def test_a_zombie_is_neither_a_success_nor_tried_again(site: Site) -> None:
    site.write(body="sleep 60")
    thread = site.in_the_background()
    number = site.first_job("RUN")
    site.lsf.show(number, "UNKWN")
    assert succeeded(site.campaign("cancel"))
    thread.join(300)
    assert site.done.returncode != 0
    assert "ZOMBI" in site.done.stderr
    assert set(site.submissions().values()) == {1}


@pytest.mark.slow
@pytest.mark.full
def test_an_outage_and_a_refusal_are_waited_out(site: Site) -> None:
    site.write(body='while [ ! -e "$0.go" ]; do sleep 0.1; done', repeats=2)
    contact = "Failed in an LSF library call: Master LIM is down; try later"
    site.lsf.bsub_fails_once(contact)
    thread = site.in_the_background()
    site.first_job("RUN")
    site.lsf.bjobs_fails("Failed in an LSF library call: Failed in sending/receiving a message")
    queries = site.lsf.queries
    wait_until(lambda: site.lsf.queries >= queries + 1)
    site.lsf.bjobs_fails()
    (site.folder / "program.go").touch()
    thread.join(300)
    assert site.done.returncode == 0, site.done.stderr
    assert f"not submitted yet ({contact}), trying again" in site.done.stderr
    assert set(site.submissions().values()) == {1}


# What is read


@pytest.mark.parametrize(
    "text",
    ["batch system daemon not responding ... still trying\n1|RUN|-|a|-\n", "JOBID|STAT\n", "1|RUN|-\n"],
)
def test_a_list_with_something_else_before_it_is_not_believed(text: str) -> None:
    with pytest.raises(UnreadableError):
        LSF.read_queue(text)


# volclava 2.2: what it printed on two hosts of a test cluster, with its own names for jobs and users


@pytest.mark.parametrize("row", ["Please wait ...", "17 RUN", "a RUN b"])
def test_a_plain_list_with_something_else_in_it_is_not_believed(row: str) -> None:
    with pytest.raises(UnreadableError, match="not a line of the job list"):
        LSF.read_queue(f"JOBID STAT JOB_NAME\n1 RUN a\n{row}\n")
