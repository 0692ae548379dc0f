"""The fate of a run for each answer of a scheduler, or none; with a simulated clock."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from build_campaigns import PLACEMENTS, campaign, prepared_in
from build_records import write_result

from mpicampaign.base.commands import CommandResult
from mpicampaign.base.errors import UnreadableError
from mpicampaign.jobs.prepare import write_scripts
from mpicampaign.jobs.render import run_folder
from mpicampaign.jobs.run import Run
from mpicampaign.run import cluster as run_cluster
from mpicampaign.run.cluster import FIRST_WAIT, Ended
from mpicampaign.run.cluster_jobs import CUT_SECONDS, SETTLE_SECONDS, ClusterJobs
from mpicampaign.run.scheduler_calls import Query
from mpicampaign.run.submission import PATIENT_TRIES, SUBMIT_TRIES
from mpicampaign.schedulers.listings import FAILED, HELD, LAUNCH_FAILED, MANY
from mpicampaign.schedulers.lsf import SCHEDULER as LSF
from mpicampaign.schedulers.slurm import SCHEDULER as SLURM


def shown_job(number: str, state: str, why: str, name: str, exit_status: int = 0) -> str:
    """A job as scontrol shows it."""
    array, _, task = number.partition("_")
    ids = f"JobId={array} " + (f"ArrayJobId={array} ArrayTaskId={task} " if task else "")
    end = f"Dependency=(null) Restarts=0 ExitCode={exit_status}:0 RunTime=00:00:00 Command=job.sh"
    return f"{ids}JobName={name} UserId=me(1) Priority=1 JobState={state} Reason={why} {end}\n"


WRITABLE = "mpicampaign.run.faults.why_not_writable"


class Cluster:
    """A scheduler with scripted answers; each step takes longer than any wait."""

    def __init__(self, scripts: tuple[Run, ...], lock: Path) -> None:
        self.scripts, self.now = scripts, 0.0
        self.queue: dict[str, tuple[str, str, str]] = {}  # id: state, reason, name
        self.refusal, self.silent = "", False
        self.site = dict.fromkeys(("config", "assoc", "qos", "partition"), "")  # what it says of its limits
        self.allowed = 1000  # jobs at a time
        self.exit_status = 0  # of each job, as scontrol shows it
        self.calls, self.submissions = 0, 0  # of the command, and runs
        self.submitted: list[list[list[Run]]] = []  # the tasks of each call
        self.said: list[str] = []
        self.jobs = self.new_jobs(lock, self.answer)
        for script in scripts:
            self.jobs.take(script)

    def new_jobs(self, lock: Path, answer: Callable[..., CommandResult]) -> ClusterJobs:
        """Those of a call."""
        return ClusterJobs(run_cluster.Cluster(SLURM, lock, self.said.append, lambda: self.now, answer))

    def answer(self, command: list[str], **options: Any) -> CommandResult:
        if self.silent:
            return CommandResult(
                command[0], 1, "", "slurm_load_jobs error: Unable to contact slurm controller"
            )
        for word in self.site.keys() & set(command):
            return CommandResult(command[0], 0, self.site[word], "")
        if command[0] == "squeue":
            assert f"--user={getpass.getuser()}" in command
            lines = [f"{n}|{state}|{why}|{name}" for n, (state, why, name) in self.queue.items()]
            return CommandResult(command[0], 0, "".join(line + "\n" for line in lines), "")
        if command[0] == "scontrol":
            asked = [(n, *job) for n, job in self.queue.items() if command[-1] in (n, n.split("_")[0])]
            shown = [shown_job(*job, self.exit_status) for job in asked]
            return CommandResult(command[0], 0 if shown else 1, "".join(shown), "Invalid job id specified")
        if command[0] == "scancel":
            assert self.queue[command[1]][0] == "PENDING"
            self.becomes("CANCELLED", command[1])
            return CommandResult(command[0], 0, "", "")
        if self.refusal:
            return CommandResult(command[0], 1, "", f"sbatch: error: {self.refusal}")
        assert options["keep_open"]  # the lock lives as long as the command, if we are killed
        tasks = self.tasks(Path(command[-1]))
        if sum(job[0] == "PENDING" for job in self.queue.values()) + len(tasks) > self.allowed:
            return CommandResult(command[0], 1, "", "sbatch: error: QOSMaxSubmitJobPerUserLimit")
        self.calls += 1
        self.submitted.append(tasks)
        for script in (script for task in tasks for script in task):
            self.submissions += 1
            # noted before it is done: a killed call leaves a job that the next one must know
            notes = (script.campaign_folder / "submissions.txt").read_text().splitlines()
            assert [line for line in notes if script.identity in line][-1].endswith(" submitting")
        name = Path(command[-1]).stem if sum(map(len, tasks)) > 1 else tasks[0][0].job_name
        numbers = [f"{self.calls}_{index}" for index in range(1, len(tasks) + 1)]
        for number in numbers if len(tasks) > 1 else [str(self.calls)]:
            self.queue[number] = ("PENDING", "Priority", name)
        return CommandResult(command[0], 0, f"{self.calls}\n", "")

    def tasks(self, submitted: Path) -> list[list[Run]]:
        """The runs that a submitted script makes, by task of its array."""
        by_folder = {run_folder(script): script for script in self.scripts}
        if submitted.name == "job.sh":
            return [[script for script in self.scripts if script.path == submitted]]
        lines = submitted.with_suffix(".runs").read_text().splitlines()
        return [[by_folder[folder] for folder in line.split("\t")] for line in lines]

    def step(self, seconds: float = 100.0) -> list[Ended]:
        self.now += seconds
        return self.jobs.step()

    def becomes(self, state: str, number: str = "1", reason: str = "None") -> None:
        self.queue[number] = (state, reason, self.queue[number][2])

    @property
    def runs(self) -> list[Run]:
        """The scripts in the order in which they were submitted."""
        return [script for found in self.submitted for task in found for script in task]


def cluster_of(folder: Path, runs: int, **system: Any) -> Cluster:
    """A campaign's runs on the scheduler."""
    campaign_of_runs = campaign(repeats=runs, scheduler="slurm", **system)
    prepared = prepared_in(folder / "results", campaign_of_runs)
    write_scripts(prepared)
    return Cluster(prepared.runs[:runs], prepared.folder / "submitting.lock")


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Cluster]:
    return partial(cluster_of, tmp_path)


def leave(script: Run, status: int | None, result: bool = False, number: str = "1") -> None:
    """The files of the job with this number: its result, or an attempt with its exit status."""
    if result:
        script.result.touch()
    if status is not None:
        attempt = script.folder / f"attempt-20260101T00000{len(number)}Z-{number}.txt"
        write_result(attempt, f"job exit_status={status}", output="")


def test_a_job_that_is_not_cancelled_is_not_submitted_again(make: Callable[[int], Cluster]) -> None:
    cluster = make(1)
    cluster.step()
    cluster.becomes("PENDING", reason="launch failed requeued held")
    answer = cluster.answer

    def refuse(command: list[str], **options: Any) -> CommandResult:
        busy = CommandResult(command[0], 1, "", "busy")
        return busy if command[0] == "scancel" else answer(command, **options)

    cluster.jobs.cluster.run = refuse
    assert cluster.step() == []
    assert cluster.submissions == 1
    assert "job 1 is not cancelled (busy), trying again" in cluster.said[-1]


def test_a_purged_job_with_an_exit_status_has_failed(make: Callable[[int], Cluster]) -> None:
    cluster = make(1)
    cluster.step()
    cluster.queue.clear()
    leave(cluster.scripts[0], 7)
    assert [ended.status for ended in cluster.step()] == [7]


@pytest.mark.parametrize(
    ("state", "submissions", "problem"),
    [("", 3, "no longer known to the scheduler"), ("COMPLETED", 1, "COMPLETED; no exit status was written")],
)
def test_a_job_that_ends_without_files_is_no_success(
    make: Callable[[int], Cluster], state: str, submissions: int, problem: str
) -> None:
    """One that is no longer known is submitted again, but not for ever."""
    cluster = make(1)
    ended = cluster.step()
    while not ended:
        for number in [*cluster.queue]:
            cluster.becomes(state, number) if state else cluster.queue.pop(number)
        ended = cluster.step()
    assert [run.status for run in ended] == [None] and problem in ended[0].problem
    assert cluster.submissions == submissions


@pytest.mark.parametrize(("printed", "submissions", "status"), [("", 3, None), ("# OSU", 1, 1)])
def test_a_launcher_that_does_not_reach_the_controller_has_measured_nothing(
    make: Callable[[int], Cluster], printed: str, submissions: int, status: int | None
) -> None:
    """Its run is made again, but for one that has printed anything."""
    cluster = make(1)
    ended: list[Ended] = []
    for number in ("1", "2", "3"):
        cluster.step()
        if number in cluster.queue:
            leave(cluster.scripts[0], 1, number=number)
            [attempt] = cluster.scripts[0].folder.glob(f"attempt-*-{number}.txt")
            errors = (
                f"srun: error: Unable to confirm allocation for job {number}: Unable to contact slurm "
                "controller (connect failure)\nsrun: Check SLURM_JOB_ID environment variable.\n"
            )
            write_result(attempt, "job exit_status=1", output=printed, errors=errors)
            cluster.becomes("FAILED", number, "NonZeroExitCode")
            ended += cluster.step()
    assert (cluster.submissions, [end.status for end in ended]) == (submissions, [status])


def test_a_limit_on_jobs_is_waited_for_while_own_jobs_go_on(make: Callable[[int], Cluster]) -> None:
    cluster = make(2)
    first = cluster.scripts[0]
    cluster.queue["9"] = ("RUNNING", "None", first.job_name)
    cluster.refusal = "QOSMaxSubmitJobPerUserLimit"
    for _ in range(3 * PATIENT_TRIES):
        assert cluster.step() == []
    cluster.refusal = ""
    leave(first, 0, result=True)
    assert len(cluster.step()) == 1
    cluster.step()
    assert cluster.submissions == 1


def test_packs_hold_different_cases_in_the_plans_order(make: Callable[..., Cluster]) -> None:
    cluster = make(30, pack=4)
    cluster.step()
    packs = [task for tasks in cluster.submitted for task in tasks]
    assert max(map(len, packs)) > 1
    for pack in packs:
        assert len({script.case for script in pack}) == len(pack) <= 4
        assert [script.place for script in pack] == sorted(script.place for script in pack)
    assert len(cluster.runs) == 30
    text = Path(cluster.scripts[0].campaign_folder / "batches").glob("*.sh")
    assert any("timeout --kill-after=60" in each.read_text() for each in text)


@pytest.mark.parametrize(
    ("config", "sizes"),
    [
        ("MaxArraySize            = 1001\n", [250]),
        ("MaxArraySize = 1001\nMaxJobCount = 300\nSchedulerParameters = a=2,max_array_tasks=50\n", [50] * 3),
        ("", [100, 100, 50]),
    ],
)
def test_how_large_arrays_are(make: Callable[..., Cluster], config: str, sizes: list[int]) -> None:
    cluster = make(250)
    cluster.site["config"] = config
    while cluster.step(0.1) or cluster.jobs.submits:
        pass
    assert [len(tasks) for tasks in cluster.submitted] == sizes


@pytest.mark.parametrize(("association", "calls"), [("me|normal||500|\n", 19), ("", 23)])
def test_few_jobs_make_many_runs_each(make: Callable[..., Cluster], association: str, calls: int) -> None:
    """The site says how many, or its refusals show it; a job has time for ten runs."""
    cluster = make(200, group={"hosts": ("n1",), "qos": "debug"})
    of_qos, longest = (
        ("normal|||600|\ndebug|01:00:00|4||\n", "UNLIMITED") if association else ("", "01:00:00")
    )
    partition = f"PartitionName=all Default=YES QoS=N/A MaxTime={longest} MinNodes=0\n"
    cluster.site |= {"assoc": association, "qos": of_qos, "partition": partition}
    cluster.allowed, ended = 4, 0
    while (ended := ended + len(cluster.step())) < 200:
        for number in [number for number, job in cluster.queue.items() if job[0] == "PENDING"][:1]:
            call, _, task = number.partition("_")
            for run in cluster.submitted[int(call) - 1][int(task or 1) - 1][:10]:
                leave(run, None, result=True)
            cluster.becomes("COMPLETED", number)
    assert (cluster.calls, cluster.jobs.summary()) == (calls, [])
    assert "the site allows 4 jobs at a time: up to 25 runs a job" in cluster.said
    assert any(line.endswith("COMPLETED before all its runs: the next one goes on") for line in cluster.said)
    scripts = [path.read_text() for path in cluster.scripts[0].campaign_folder.glob("batches/*.sh")]
    assert any('[ "$SECONDS" -le 3240 ] || break' in text for text in scripts)


def test_it_is_said_why_repeats_of_one_case_are_not_packed(make: Callable[..., Cluster]) -> None:
    cluster = make(30, placements={"SHM": PLACEMENTS["SHM"]})
    cluster.site["assoc"] = "me|normal||4|\n"
    cluster.step()
    assert [len(task) for tasks in cluster.submitted for task in tasks] == [1] * 4
    assert "the site allows 4 jobs at a time: one run a job, so that repeats get other " in cluster.said[0]


def test_it_is_said_once_that_a_job_is_longer_than_the_site_allows(make: Callable[..., Cluster]) -> None:
    cluster = make(30, group={"qos": "debug"})
    cluster.site |= {"qos": "debug|00:05:00||500|\n", "config": "MaxArraySize = 11\n"}
    cluster.step()
    [said] = [line for line in cluster.said if "for ever" in line]
    assert said.endswith(
        ": it asks for 6 min, and partition, QOS or account allow 5; lower time_limit, or name "
        "another partition or qos"
    )


def test_a_pack_asks_for_a_day_at_most_and_is_split_where_it_is_refused_for_its_time(
    make: Callable[..., Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no other job of ours in the queue, the message cannot mean too many jobs."""
    monkeypatch.setattr("mpicampaign.run.submission.A_DAY", 3 * 6)
    cluster = make(200, group={"hosts": ("n1",), "qos": "debug"})
    cluster.site |= {"assoc": "me|normal||500|\n", "qos": "normal|||600|\ndebug||4||\n"}
    answer = cluster.answer

    def refuse_packs(command: list[str], **options: Any) -> CommandResult:
        if command[0] == "sbatch" and len(cluster.tasks(Path(command[-1]))[0]) > 1:
            return CommandResult(command[0], 1, "", "Job violates QOS policy (job submit limit, time limits)")
        return answer(command, **options)

    cluster.jobs.cluster.run = refuse_packs
    for _ in range(8):
        cluster.step()
    assert "the site allows 4 jobs at a time: up to 3 runs a job" in cluster.said
    assert cluster.submissions > 0


# As Slurm 22.05 and its slurmdbd print them.
PARTITIONS = """\
PartitionName=all AllowGroups=ALL Default=YES QoS=N/A DefaultTime=NONE MaxTime=1-12:00:00 MinNodes=0
PartitionName=short AllowGroups=ALL Default=NO QoS=OfPart DefaultTime=NONE MaxTime=UNLIMITED MinNodes=0
"""
ASSOCIATIONS = "tests||00:45:00||\nother|debug|2-00:00:00|9|\n"
QUALITIES = "a notice\nnormal||||\ndebug|02:00:00|3||\nlong|7-00:00:00|200||\nofpart|00:30:00|||50\n"


def test_the_first_of_qos_of_partition_and_job_and_association_limits_a_job() -> None:
    site = ["MaxJobCount             = 10000\n", PARTITIONS, ASSOCIATIONS, QUALITIES]
    for asked, least in {
        ("", "", ""): (5000, 45),
        ("", "other", ""): (3, 120),
        ("all", "Other", "normal"): (9, 36 * 60),
        ("all", "other", "long"): (200, 36 * 60),
        ("short", "other", "normal"): (50, 30),
        ("all,short", "tests", "long"): (50, 30),
    }.items():
        assert SLURM.read_limits(site, *asked) == (100, *least)
        assert SLURM.read_limits([""] * 4, *asked) == (100, MANY // 2, MANY)


def test_limits_and_lists_of_hosts_are_as_schedulers_write_them() -> None:
    answers = [" MAX_JOB_ARRAY_SIZE = 500\n", "USER/GROUP MAX PEND MPJOBS\nme - 0 20\n"]
    assert LSF.read_limits(answers, "", "", "")[:2] == (500, 20)
    assert SLURM.state_query(["n2-ib", "n2", "n1", "n1-ib"])[3] == "--nodes=n[1-2],n1-ib,n2-ib"
    assert len(SLURM.state_query([f"n{n:04}.a-cluster.example.org" for n in range(5000)])) == 4


def test_after_a_timeout_of_the_command_the_job_may_still_appear(make: Callable[..., Cluster]) -> None:
    cluster = make(1)
    cluster.refusal = "Batch job submission failed: Socket timed out on send/recv operation"
    cluster.step(0.1)
    cluster.refusal = ""
    cluster.step(FIRST_WAIT)
    assert cluster.submissions == 0
    cluster.queue["1"] = ("PENDING", "Priority", cluster.scripts[0].job_name)
    cluster.step(SETTLE_SECONDS)
    assert cluster.submissions == 0
    assert "job 1 is in the queue already" in cluster.said[-1]


def test_a_part_of_an_array_without_numbers_is_not_an_answer(make: Callable[..., Cluster]) -> None:
    """Nobody knows then which runs are in the queue."""
    cluster = make(3)
    cluster.step()
    name = cluster.queue["1_1"][2]
    cluster.queue = {"1_[1-3]": ("PENDING", "Priority", name)}
    for _ in range(5):
        assert cluster.step() == []
    assert cluster.submissions == 3
    assert "not a single task of its array" in cluster.said[-1]


@pytest.mark.parametrize(
    "text", ["slurm_load_jobs error: timed out\n", "1|RUNNING|None|x\nerror: half a list", "1|RUNNING\n"]
)
def test_a_list_that_may_not_be_whole_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError, match="not a line of the job list"):
        SLURM.read_queue(text)


def test_single_jobs_as_scontrol_shows_them() -> None:
    """From Slurm 22.05: a task that ended has a number of its own, waiting ones share a line."""
    rest = "UserId=me(1) Priority=0 JobState={} Dependency=(null) Restarts=0 ExitCode={}:0 RunTime=0"
    ended = "JobId=2 ArrayJobId=1 ArrayTaskId=1 JobName=a " + rest.format("FAILED Reason=NonZeroExitCode", 73)
    waiting = "JobId=1 ArrayJobId=1 ArrayTaskId=4-6%2 ArrayTaskThrottle=2 JobName=a b " + rest.format(
        "PENDING Reason=JobHeldUser", 0
    )
    lost = "JobId=9 JobName=c " + rest.format("PENDING Reason=launch_failed_requeued_held", 0)
    jobs = SLURM.read_jobs(f"{ended}\n{waiting}\n\n{lost}\n")
    assert [(job.id, job.name, job.state, job.exit_status) for job in jobs] == [
        ("1_1", "a", FAILED, 73),
        ("1_4-6%2", "a b", HELD, 0),
        ("9", "c", LAUNCH_FAILED, 0),
    ]
    with pytest.raises(UnreadableError, match="no line of a job"):
        SLURM.read_jobs("JobId=9 JobName=c")


# ---- Faults of the cluster, and what is told of them


def next_call(cluster: Cluster) -> None:
    """The same campaign in a new call, which knows what submissions.txt says."""
    lock = cluster.scripts[0].submitting_lock
    cluster.jobs = cluster.new_jobs(lock, cluster.answer)
    for script in cluster.scripts:
        cluster.jobs.take(script)


def cut(cluster: Cluster, whole: int) -> None:
    """From now on, lists of jobs end after so many characters."""
    answer = cluster.answer

    def cut_answer(command: list[str], **options: Any) -> CommandResult:
        given = answer(command, **options)
        return replace(given, out=given.out[:whole]) if command[0] == "squeue" else given

    cluster.jobs.cluster.run = cluster.jobs.cluster.query._run = cut_answer


@pytest.mark.parametrize("whole", [0, 7])
@pytest.mark.parametrize("again", [False, True])
def test_a_job_that_a_cut_list_lacks_is_not_submitted_again(
    make: Callable[..., Cluster], whole: int, again: bool
) -> None:
    """A list that is empty looks whole; another one ends within a line."""
    cluster = make(3)
    cluster.step()
    if again:
        next_call(cluster)
    cut(cluster, whole)
    for _ in range(5):
        assert cluster.step() == []
    assert cluster.submissions == 3
    words = "within a line" if whole else "which is cut"
    assert len([line for line in cluster.said if words in line]) == 1
    [line] = cluster.jobs.summary()
    assert ("5 lists of jobs were incomplete" in line) == (not whole), line


def test_a_job_that_is_always_missing_holds_up_no_other_run_for_ever(make: Callable[..., Cluster]) -> None:
    """Such as one of another user's call."""
    cluster = make(2)
    first, second = cluster.scripts
    cluster.queue["7"] = ("RUNNING", "None", first.job_name)
    log = first.campaign_folder / "submissions.txt"
    log.write_text(f"2026-01-01T00:00:00Z {first.identity} submitted 7\n")
    cut(cluster, 0)
    assert cluster.step() == [] and cluster.submissions == 0
    assert cluster.step(CUT_SECONDS) == []
    assert cluster.submitted == [[[second]]]


def test_nothing_is_submitted_while_results_cannot_be_written(
    make: Callable[..., Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor reported to Snakemake; a job that failed then without an exit status does not fail its run."""
    cluster = make(3, max_queued=2)
    cluster.step()
    leave(cluster.scripts[1], None, result=True)
    with monkeypatch.context() as patch:
        patch.setattr(WRITABLE, lambda folder, write: f"{folder}: Disk quota exceeded, 7.0 MB free")
        cluster.becomes("FAILED", "1_1", reason="NonZeroExitCode")
        for _ in range(3):
            assert cluster.step(10) == []
            assert not cluster.jobs.submits
    assert cluster.submissions == 2
    assert [ended.run for ended in cluster.step()] == [cluster.scripts[1]]
    assert cluster.submissions == 4
    assert cluster.jobs.summary()[0] == "results could not be written for 2 min, once"
    assert cluster.jobs.summary()[1] == "1 job was lost (results not written) and submitted again"
    folder = cluster.scripts[0].campaign_folder
    assert (
        f"results can't be written: {folder}: Disk quota exceeded, 7.0 MB free; jobs go on" in cluster.said[0]
    )


def test_a_submission_that_cannot_be_noted_is_not_made(make: Callable[..., Cluster]) -> None:
    """The next call would know nothing of it."""
    cluster = make(1)
    log = cluster.scripts[0].campaign_folder / "submissions.txt"
    log.symlink_to("/nowhere/submissions.txt")
    found = [ended for _ in range(SUBMIT_TRIES) for ended in cluster.step()]
    assert cluster.submissions == 0
    assert "submissions.txt: No such file" in found[0].problem


def test_a_scheduler_that_was_silent_and_requeued_jobs_are_reported(make: Callable[..., Cluster]) -> None:
    cluster = make(1)
    cluster.step()
    assert cluster.jobs.summary() == []
    for _ in range(2):
        cluster.silent = True
        cluster.step()
        cluster.silent = False
        cluster.step()
    leave(cluster.scripts[0], None, result=True)
    (cluster.scripts[0].folder / "attempt-20260101T000000Z-1.txt").touch()
    assert len(cluster.step()) == 1
    silent = "the scheduler did not answer for 3 min 20 s in all, twice"
    assert cluster.jobs.summary() == [silent, "1 job was requeued by the scheduler"]


def test_what_is_waited_for_is_said_once(make: Callable[..., Cluster]) -> None:
    cluster = make(1)
    cluster.step()
    for state, reason in (("RUNNING", "None"), ("PENDING", "BeginTime"), ("RUNNING", "None")):
        cluster.becomes(state, reason=reason)
        cluster.step()
    cluster.becomes("COMPLETED")
    for _ in range(2):
        cluster.step(5)
    leave(cluster.scripts[0], None, result=True)
    assert len(cluster.step(5)) == 1
    requeued, waited = (line.partition(": ")[2] for line in cluster.said)
    assert requeued == "job 1 was requeued, PENDING (BeginTime)"
    assert waited == "job 1 COMPLETED: its files may not be visible yet; waiting for up to 30 s"


# ---- Options that the scheduler's version does not know

REFUSALS = {
    "squeue": "squeue: unrecognized option '--format'\nTry \"squeue --help\" for more information",
    "sbatch": "sbatch: unrecognized option '--parsable'\nTry \"sbatch --help\" for more information",
}


@pytest.mark.parametrize("command", REFUSALS)
def test_a_command_that_refuses_its_options_ends_the_call(
    command: str, make: Callable[[int], Cluster]
) -> None:
    """It is not waited for, and its first line says why."""
    cluster = make(2)
    right, wrong = cluster.answer, CommandResult(command, 1, err=REFUSALS[command])
    cluster.jobs = cluster.new_jobs(
        cluster.scripts[0].submitting_lock,
        lambda words, **options: wrong if words[0] == command else right(words, **options),
    )
    for script in cluster.scripts:
        cluster.jobs.take(script)
    leave(cluster.scripts[0], 0, result=True)
    ended = cluster.step() + cluster.step()
    assert [found.status for found in ended] == [0, None]
    assert "see above" in ended[1].problem and not cluster.jobs.names
    [said] = [line for line in cluster.said if "unrecognized" in line]
    assert f"{command} failed with exit status 1: {command}: unrecognized option" in said


def test_options_that_were_refused_are_not_tried_again() -> None:
    asked: list[list[str]] = []
    folder = Path(__file__).parent / "fixtures/volclava"

    def volclava(words: list[str]) -> CommandResult:
        asked.append(words)
        if "-noheader" in words:
            return CommandResult("bjobs", 255, err=(folder / "bjobs_refused.txt").read_text())
        return CommandResult("bjobs", 0, (folder / "bjobs.txt").read_text())

    query = Query(LSF, volclava)
    assert len(query.jobs()[0]) == len(query.jobs()[0]) == 8
    assert ["-noheader" in words for words in asked] == [True, False, False]
