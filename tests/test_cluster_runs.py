"""Campaigns through a real Slurm: jobs submitted once, adopted after kills, and faults of clusters."""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import signal
import threading
from datetime import datetime
from pathlib import Path

import pytest
from cluster_site import Site, killed_after
from conftest import succeeded, wait_until
from minicluster import BLUE, MiniCluster

from mpicampaign.base.records import FAILED, OK, UNVERIFIED
from mpicampaign.evidence.evidence import read_evidence
from mpicampaign.run.cluster_jobs import GRACE_SECONDS

pytestmark = pytest.mark.slow

LATER = "--begin=now+1hour"  # until `start_now`


@pytest.mark.full
def test_one_failed_run_hides_no_other_and_is_run_again_by_the_next_call(site: Site) -> None:
    site.write(body='[ -e "$0.fixed" ] || [ "${SLURM_JOB_ID}" != "$(cat "$0.victim")" ] || exit 7', repeats=3)
    (site.folder / "program.victim").write_text("none")
    scripts = site.scripts()
    number = site.submit(scripts[0], LATER)
    (site.folder / "program.victim").write_text(number)
    thread = in_the_background(site)
    log = site.folder / "results/jobs/submissions.txt"
    wait_until(lambda: log.exists() and f"adopted {number}\n" in log.read_text())
    site.start_now(number)
    thread.join(300)
    assert site.done.returncode != 0
    assert f"job {number} is in the queue already" in site.done.stderr
    records = site.records()
    assert sorted(record.status for record in records) == [FAILED, OK, OK]
    failed = next(record for record in records if record.status == FAILED)
    assert failed.exit_status != 0
    assert failed.job_id == number
    (site.folder / "program.fixed").touch()
    assert succeeded(site.run())
    assert [record.status for record in site.records()] == [OK] * 3
    assert sorted(site.submissions().values()) == [1, 1, 2]


OF_THE_SHELL = {
    **{"SBATCH_PARTITION": "blue", "SBATCH_EXPORT": "ALL", "SBATCH_BEGIN": "now+1hour"},
    **{"SLURM_HINT": "nomultithread", "SLURM_TIME_FORMAT": "%s", "SQUEUE_FORMAT": "%i"},
    **{"SQUEUE_STATES": "PENDING", "SQUEUE_PARTITION": "blue"},
    **{"UCX_TLS": "tcp", "I_MPI_SHM_CELL_FWD_SIZE": "256"},
}


def test_variables_of_the_submitting_shell_change_no_job(site: Site) -> None:
    """Another partition, all variables for the ranks, another form of the list of jobs."""
    site.write(body='env >"$0.seen"', repeats=2, group={"partition": "all"})
    setting = ("env", *(f"{name}={value}" for name, value in OF_THE_SHELL.items()))
    assert succeeded(done := site.run(before=setting))
    assert done.stderr.count("ignored from your shell: I_MPI_SHM_CELL_FWD_SIZE, SBATCH_BEGIN, ") == 1
    assert {job["Partition"] for job in site.cluster.completed_jobs()} == {"all"}
    seen = (site.folder / "program.seen").read_text().splitlines()
    assert not OF_THE_SHELL.keys() & {line.partition("=")[0] for line in seen}
    assert "2 finished" in site.call("status", before=setting).stdout


def in_the_background(site: Site) -> threading.Thread:
    """The campaign's call, so that the test can do something to the cluster meanwhile."""
    thread = threading.Thread(target=lambda: setattr(site, "done", site.run()))
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("runs", "more", "kills"),
    [
        pytest.param(40, {}, 6, marks=pytest.mark.full),
        pytest.param(300, {"max_queued": 40}, 16, marks=pytest.mark.soak),
    ],
)
def test_random_kills_submit_nothing_twice(site: Site, runs: int, more: dict[str, int], kills: int) -> None:
    """Kills of a campaign at one of its next 20 actions; counted in Slurm's own log.

    Twenty jobs end meanwhile; the others wait for the last kill, however fast the machine is.
    """
    wait = 'while [ ! -e "$0.killed" ]; do sleep 0.2; done'
    first = 'echo >> "$0.jobs"; [ "$(wc -l < "$0.jobs")" -le 20 ]'
    site.write(
        body=f"{{ {first}; }} || {wait}",
        repeats=runs,
        system={"launcher": "srun", **more},
        time_limit="10 min",
    )
    generator = random.Random(11)
    kinds = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
    for _ in range(kills):
        number = generator.choice(kinds)
        killed = site.run(before=killed_after("", number, generator.randrange(1, 21)), timeout=60)
        assert killed.returncode % 128 in (number, 128 - number), killed.stderr
    (site.folder / "program.killed").touch()
    assert succeeded(site.run())
    counted = site.submissions()
    print(f"{len(counted)} runs, {sum(counted.values())} submissions, {kills} kills")
    assert site.submitted_while_alive() == []
    assert len(counted) == runs
    assert [record.status for record in site.records()] == [OK] * runs


@pytest.mark.full
def test_a_dead_node_means_another_try(site: Site) -> None:
    # the node of the script itself: when another one dies, srun may end the script before Slurm knows
    site.write(body="sleep 5", repeats=1, system={"launcher": "srun", "directives": ["--no-requeue"]})
    thread = in_the_background(site)
    wait_until(lambda: "RUNNING" in site.states().values())
    site.cluster.kill_node("n1")
    wait_until(lambda: "NODE_FAIL" in site.states().values(), 120)
    site.cluster.boot_node("n1")
    thread.join(300)
    assert site.done.returncode == 0, site.done.stderr
    assert "NODE_FAIL" in site.done.stderr and "submitted again" in site.done.stderr
    assert sum(site.submissions().values()) == 2
    [record] = site.records()
    assert (record.status, record.metadata["submissions"]) == (OK, "2, again after node failure")


@pytest.mark.full
def test_a_node_that_cannot_start_jobs_holds_nothing_up(site: Site) -> None:
    """Slurm holds a job whose node could not start it, until somebody notices."""
    site.write(repeats=2)
    site.cluster.administer(["sh", "-c", "mv /run/slurmd /run/aside && touch /run/slurmd"], "n1")
    thread = in_the_background(site)
    wait_until(lambda: "CANCELLED" in site.states().values())
    site.cluster.administer(["sh", "-c", "rm /run/slurmd && mv /run/aside /run/slurmd"], "n1")
    thread.join(300)
    assert succeeded(site.done)
    assert "launch failed requeued held): submitted again" in site.done.stderr
    assert [record.status for record in site.records()] == [OK] * 2


@pytest.mark.full
def test_a_requeued_job_stays_one_job(site: Site) -> None:
    site.write(body='[ -e "$0.second" ] || { touch "$0.second"; sleep 30; }', repeats=1)
    thread = in_the_background(site)
    wait_until((site.folder / "program.second").exists)
    number = next(number for number, state in site.states().items() if state == "RUNNING")
    site.cluster.administer(["scontrol", "requeue", number])
    thread.join(300)
    assert site.done.returncode == 0, site.done.stderr
    assert [record.job_id for record in site.records()] == [number]


@pytest.mark.full
def test_a_cancelled_job_is_a_failure_with_advice(site: Site) -> None:
    """Cancelled once its program runs: a job whose script has not written anything leaves no evidence."""
    site.write(body='echo begun; touch "$0.started"; sleep 60', repeats=1)
    thread = in_the_background(site)
    wait_until((site.folder / "program.started").exists)
    status = site.call("status")
    assert "1 running" in status.stdout and "trivial r01" in status.stdout, status.stdout + status.stderr
    [(node, folder)] = re.findall(r"RUNNING; its files are in (n\d):(/tmp/\S+)$", status.stdout, re.M)
    assert site.cluster.call_on(node, ["cat", f"{folder}/output.txt"]).stdout == "begun\n"
    cancelled = site.call("cancel")
    assert cancelled.returncode == 0, cancelled.stderr
    assert "1 job cancelled" in cancelled.stdout
    thread.join(300)
    assert site.done.returncode != 0
    assert "CANCELLED" in site.done.stderr
    [record] = site.records()
    assert record.status == FAILED
    assert "1 stopped" in site.call("status").stdout


# As Lmod: a module that the login node has, and the others lack.
LMOD = """\
module() {
    [ -n "${SLURM_JOB_ID-}" ] || return 0
    printf 'Lmod has detected the following error: The following module(s) are unknown: "%s"\\n' "$2" >&2
    return 1
}
"""


@pytest.mark.full
def test_a_module_that_nodes_lack_is_one_sentence_in_call_and_status(site: Site) -> None:
    modules = site.folder / "modules.sh"
    modules.write_text(LMOD)
    site.write(system={"launcher": "srun", "source": str(modules), "modules": ["foo/1.2"]})
    done, status = site.run(), site.call("status")
    said = "not run: module load foo/1.2 failed on n[0-9]: unknown module; "
    assert (done.returncode, status.returncode) == (1, 1)
    assert re.search(f"FAILED: {said}", done.stderr)
    assert re.search(f"failed job [0-9]+: {said}", status.stdout)
    assert not re.search("Traceback|Exception|Error|backup", done.stdout + done.stderr)


@pytest.mark.full
def test_a_refusal_shows_the_schedulers_message(site: Site) -> None:
    site.write(repeats=2, group={"constraint": "nonsense"})
    done = site.run()
    assert done.returncode != 0
    assert "Invalid feature specification" in done.stderr
    assert "not submitted after 3 tries" in done.stderr
    assert not site.submissions()


@pytest.mark.full
def test_queue_queries_are_few_and_nodes_run_the_script_alone(site: Site) -> None:
    site.write(body='ps -eo args >>"$0.processes"', repeats=20)
    site.replace("squeue", 'echo >>"$0.calls"\nexec /usr/bin/squeue "$@"')
    assert succeeded(site.run())
    calls = (site.folder / "bin/squeue.calls").read_text().count("\n")
    print(f"20 jobs: {calls} queue queries")
    assert calls <= 15
    assert list(site.submissions().values()) == [1] * 20
    assert "nothing to do" in site.run().stdout
    processes = (site.folder / "program.processes").read_text()
    assert "slurmstepd" in processes
    assert "python" not in processes and "snakemake" not in processes


@pytest.mark.full
def test_jobs_of_a_file_that_was_corrected_meanwhile_are_shown_and_cancelled(site: Site) -> None:
    site.write(body="sleep 60")
    [script] = site.scripts()
    number = site.submit(script)
    site.write(body="sleep 60", group={"directives": "--nice=1"})
    status = site.call("status").stdout
    assert "1 not submitted" in status
    assert f"job {number}" in status and "its run is no longer in the campaign file" in status
    assert "1 job cancelled" in site.call("cancel").stdout
    wait_until(lambda: site.states()[number] == "CANCELLED")


@pytest.mark.full
def test_threads_memory_and_requeue_as_slurm_shows_the_job(site: Site) -> None:
    """Its srun gets them as well; nothing of the submitting environment is exported."""
    site.environment = {"FROM_THE_LOGIN_NODE": "yes"}
    group = {"hint": "nomultithread", "memory": "1M", "requeue": False, "switches": "1@00:00:01"}
    site.write(body='env >"$0.environment"', group=group)
    [script] = site.scripts()
    number = site.submit(script, LATER)
    shown = site.cluster.call(["scontrol", "show", "job", number]).stdout
    for words in ("ReqB:S:C:T=0:0:*:1\n", "MinMemoryNode=1M ", "Requeue=0 ", "Switches=1@00:00:01\n"):
        assert words in shown, shown
    assert succeeded(site.call("cancel"))
    assert succeeded(site.run())
    lines = (site.folder / "program.environment").read_text().splitlines()
    assert "SLURM_HINT=nomultithread" in lines
    assert not [line for line in lines if line.startswith("FROM_THE_LOGIN_NODE")]


@pytest.mark.full
def test_two_clones_of_one_user_leave_each_other_alone(cluster_parts: None, tmp_path: Path) -> None:
    """The same campaign in two folders at the same time: the same identities, but each has its own jobs."""
    with MiniCluster(tmp_path / "cluster", [BLUE]) as cluster:
        sites = [Site(cluster, name) for name in ("one", "other")]
        for site in sites:
            site.write(repeats=2)
        shutil.copy(sites[0].folder / "jobs.yaml", sites[1].folder)
        threads = [in_the_background(site) for site in sites]
        for thread in threads:
            thread.join(300)
        for site in sites:
            assert succeeded(site.done)
            assert "in the queue already" not in site.done.stderr
            assert [record.status for record in site.records()] == [OK] * 2
            assert sorted(site.submissions().values()) == [1, 1]
            (site.folder / "results/jobs/runs").rename(site.folder / "results/jobs/done")
        ours, theirs = ([site.submit(script, LATER) for script in site.scripts()] for site in sites)
        assert "2 queued" in sites[1].call("status").stdout
        assert "2 jobs cancelled" in sites[0].call("cancel").stdout
        states = cluster.queue()
        assert [states[number] for number in (*ours, *theirs)] == ["CANCELLED"] * 2 + ["PENDING"] * 2
        [same] = {tuple(sorted(path.parent.name for path in site.scripts())) for site in sites}
        assert len(same) == 2


@pytest.mark.full
def test_removed_results_are_made_again_by_the_same_command(site: Site) -> None:
    """Slurm still lists ended jobs of the same names: a new folder must ignore them."""
    site.write(repeats=3)
    assert succeeded(site.run())
    shutil.rmtree(site.folder / "results/jobs")
    done = site.run()
    assert succeeded(done)
    assert "submitted again" not in done.stderr and "in the queue already" not in done.stderr
    assert [record.status for record in site.records()] == [OK] * 3
    assert set(site.submissions().values()) == {1}  # the earlier array is no longer known
    assert len({job["JobId"] for job in site.cluster.completed_jobs()}) == 6
    planned = (site.folder / "results/jobs/plan.json").stat().st_mtime
    lines = (site.folder / "results/jobs/submissions.txt").read_text().splitlines()
    assert sum(" submitted " in line for line in lines) == 3
    assert datetime.fromisoformat(lines[0].split()[0]).timestamp() - planned < GRACE_SECONDS


@pytest.mark.full
def test_a_job_that_waits_while_the_program_is_upgraded_is_not_an_edited_one(site: Site) -> None:
    site.write()
    [script] = site.scripts()
    before = script.read_text()
    number = site.submit(script, LATER)
    library = site.folder / "templates/job/library/run.sh"
    library.write_text(library.read_text() + "# a newer version\n")
    assert site.scripts() == [script]
    assert script.read_text() != before
    site.start_now(number)
    assert succeeded(site.run())
    [record] = site.records()
    assert (record.job_id, sum(site.submissions().values())) == (number, 1)
    evidence = read_evidence((script.parent / "result.txt").read_text()).job
    assert evidence["script_sha256"] == hashlib.sha256(before.encode()).hexdigest()
    # nothing is missing but the evidence of ranks: the program that stands for a benchmark is no MPI program
    assert record.verdict == UNVERIFIED
    missing = ["program", "MPI library", "ranks", "hosts", "binding"]
    assert [reason.partition(":")[0] for reason in record.verdict_reasons] == missing


@pytest.mark.full
def test_a_job_that_slurm_ends_at_its_limit_is_a_failure_with_advice(site: Site) -> None:
    """The benchmark's own limit comes five minutes before Slurm's, which is moved to the present here."""
    site.write(body='touch "$0.started"; sleep 200', time_limit="4 min")
    thread = in_the_background(site)
    wait_until((site.folder / "program.started").exists)
    [number] = site.states()
    site.cluster.administer(["scontrol", "update", f"JobId={number}", "EndTime=now"])
    thread.join(300)
    assert site.done.returncode != 0
    assert "TIMEOUT" in site.done.stderr and "raise time_limit" in site.done.stderr
    [record] = site.records()
    assert record.status == FAILED
    assert "interrupted by signal 15" in record.reason


# No accounting here: these refuse, and answer, as Slurm 22.05 did with slurmdbd.
SACCTMGR = r"""
case "${*:4}" in
assoc\ user=*\ format=Account,DefaultQOS,MaxWall,MaxSubmitJobs,GrpSubmitJobs) echo "tests||00:45:00||" ;;
qos\ format=Name,MaxWall,MaxSubmitJobsPerUser,MaxSubmitJobsPerAccount,GrpSubmitJobs)
    echo "debug|00:20:00|3||" ;;
*) exit 1 ;;
esac
"""
STRICT = r"""
[ "$(sed -n 's/^#SBATCH --time=\([0-9]*\).*/\1/p' "$2")" -le LONGEST ] || exit 1
tasks=$(sed -n 's/^#SBATCH --array=1-//p' "$2")
jobs=$(/usr/bin/squeue --noheader --array --me --states=PD,R,CG,CF | wc -l)
[ $((jobs + ${tasks:-1})) -gt 3 ] || exec /usr/bin/sbatch "$@"
echo "sbatch: error: Job violates accounting/QOS policy (job submit limit)" >&2; exit 1
"""


@pytest.mark.full
@pytest.mark.parametrize(("sacctmgr", "longest", "most"), [(SACCTMGR, "20", 3), ("exit 1", "60", 15)])
def test_a_site_gets_no_more_jobs_than_it_allows(site: Site, sacctmgr: str, longest: str, most: int) -> None:
    site.cluster.administer(["sh", "-c", "echo MaxArraySize=3 >>/etc/slurm/slurm.conf"])
    site.cluster.stop_controller()
    site.cluster.start_controller()
    site.write(repeats=30, group={"hosts": ["n1", "n2"], "qos": "debug"})
    site.replace("sbatch", STRICT.replace("LONGEST", longest))
    site.replace("sacctmgr", sacctmgr)
    assert succeeded(done := site.run())
    assert "the site allows 3 jobs at a time: up to " in done.stderr and "array" not in done.stderr
    assert set(site.submissions().values()) == {1} and len(site.submissions()) == 30
    assert len(site.cluster.completed_jobs()) <= most
