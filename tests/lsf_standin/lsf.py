"""A stand-in for LSF on this machine: jobs in a state folder, and the commands bsub, bjobs and bkill.

The behaviour is that of IBM's documentation of Spectrum LSF 10.1; pages are cited by their titles. Time
runs faster where ``config.json`` in the state folder says so. What a test may do to it: see `STATE`.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from bsub_grammar import ARRAY, RefusedError, Submission, parse

# The state folder:
#   config.json       see `CONFIG`
#   submitted.txt     a line for each job that was taken, also in an array: number and name
#   queries.txt       a line for each call of bjobs
#   bsub.fails        the next bsub prints this text and fails; the file is then gone
#   bjobs.fails       bjobs prints this text and fails, as long as the file is there
#   hold              jobs are not dispatched while it is there
#   jobs/<id>/shown   bjobs shows this state instead of the job's own: SSUSP, UNKWN and so on
STATE = Path(os.environ.get("LSF_STANDIN_STATE", "/nonexistent"))
CONFIG: dict[str, Any] = {
    "minute": 60.0,  # seconds of a minute of -W
    "grace": 600.0,  # page "-W": SIGUSR2, and killed where it does not end within ten minutes
    "terminate_interval": 10.0,  # page "JOB_TERMINATE_INTERVAL": between INT, TERM and KILL
    "clean_period": 3600.0,  # page "bjobs -a": how long ended jobs are listed (CLEAN_PERIOD)
    "queues": {"normal": True},  # by name, whether -x is allowed: page "-x"
    "host_groups": {"all": [f"host{number:02d}" for number in range(1, 9)]},
    "reservations": [],
    "volclava": False,  # whether bjobs refuses what volclava 2.2 refuses, in its words
    "user": os.environ.get("LOGNAME", ""),
}
LOOK = 0.05
ENDED = ("DONE", "EXIT")
REASONS = {  # page "Termination reasons displayed by bacct, bhist, and bjobs"
    "TERM_RUNLIMIT": "TERM_RUNLIMIT: job killed after reaching LSF run time limit",
    "TERM_OWNER": "TERM_OWNER: job killed by owner",
    "TERM_FORCE_OWNER": "TERM_FORCE_OWNER: job killed by owner without time for cleanup",
}


def config() -> dict[str, Any]:
    with suppress(FileNotFoundError):
        return CONFIG | json.loads((STATE / "config.json").read_text())
    return CONFIG


def ignore_no_signal() -> None:
    """For a job, before it starts: a daemon of LSF ignores none, the shell that the tests run in may."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def fail(message: str, status: int = 255) -> int:
    print(message, file=sys.stderr)
    return status


class Job:
    """A job's folder: what was submitted, and what it is doing.

    A job of an array has a number of its own here; users see that of the array's first job, and an index.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.folder = STATE / "jobs" / str(number)

    @property
    def submitted(self) -> dict[str, Any]:
        return json.loads((self.folder / "submitted.json").read_text())

    @property
    def state(self) -> dict[str, Any]:
        found = json.loads((self.folder / "state.json").read_text())
        with suppress(FileNotFoundError):
            if found["stat"] not in ENDED:
                found["stat"] = (self.folder / "shown").read_text().strip()
        return found

    def set(self, **state: Any) -> None:
        part = self.folder / f"state.part{os.getpid()}"
        before: dict[str, Any] = {"stat": "PEND", "exit_reason": "", "pend_reason": "", "exit_code": ""}
        with suppress(FileNotFoundError):
            before |= json.loads((self.folder / "state.json").read_text())
        part.write_text(json.dumps(before | state | {"changed": time.time()}))
        part.rename(self.folder / "state.json")

    @property
    def known(self) -> bool:
        if not (self.folder / "state.json").exists():
            return False
        state = self.state
        return state["stat"] not in ENDED or time.time() - state["changed"] < config()["clean_period"]


def jobs() -> list[Job]:
    numbers = sorted(int(path.name) for path in (STATE / "jobs").glob("[0-9]*"))
    return [job for job in map(Job, numbers) if job.known]


# bsub


def bsub(arguments: list[str]) -> int:
    """Page "bsub": a job from standard input, with options of the command line and of #BSUB lines."""
    refusal = STATE / "bsub.fails"
    if refusal.exists():
        text = refusal.read_text().strip()
        refusal.unlink()
        return fail(text)
    try:
        submission = parse(arguments, sys.stdin.read())
        queue, default = _queue(submission)
        hosts = _hosts(submission)
    except RefusedError as refused:
        return fail(f"{refused}. Job not submitted.")
    job = _new_jobs(submission, queue, hosts)
    where = f"default queue <{queue}>" if default else f"queue <{queue}>"
    if "BSUB_QUIET" not in os.environ:  # page "Environment variables": BSUB_QUIET
        print(f"Job <{job.number}> is submitted to {where}.")
    return 0


def _queue(submission: Submission) -> tuple[str, bool]:
    queues: dict[str, bool] = config()["queues"]
    asked = submission.options.get("-q", "").split()
    known = [name for name in asked if name in queues]
    if asked and not known:
        raise RefusedError(f"{asked[0]}: No such queue")
    queue = (known or list(queues))[0]
    if "-x" in submission.options and not queues[queue]:
        raise RefusedError("Queue does not accept EXCLUSIVE jobs")
    return queue, not asked


def _hosts(submission: Submission) -> list[str]:
    """The host of each task; empty where the hosts do not suffice: the job then stays pending."""
    groups: dict[str, list[str]] = config()["host_groups"]
    every = list(dict.fromkeys(host for group in groups.values() for host in group))
    asked = [re.sub(r"[!+@].*", "", name) for name in submission.options.get("-m", "").split()]
    for name in asked:
        if name not in groups and name not in every:
            raise RefusedError(f"{name}: Bad host name, host group name or cluster name")
    reservation = submission.options.get("-U")
    if reservation and reservation not in config()["reservations"]:
        raise RefusedError("Specified reservation does not exist")
    candidates = [host for name in asked for host in groups.get(name, [name])] or every
    tile = submission.per_host
    wanted = -(-submission.tasks // tile)
    if len(candidates) < wanted:
        return []
    tasks = [host for host in candidates[:wanted] for _ in range(tile)]
    return tasks[: submission.tasks]


def _new_jobs(submission: Submission, queue: str, hosts: list[str]) -> Job:
    """The job, or the first one of an array (page "Job arrays")."""
    with (STATE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (STATE / "jobs").mkdir(exist_ok=True)
        number = max((int(path.name) for path in (STATE / "jobs").iterdir()), default=1000) + 1
        asked = submission.options.get("-J", submission.script.strip().splitlines()[0])
        array = ARRAY.fullmatch(asked)
        indexes = range(1, int(array["size"]) + 1) if array else [0]
        made = [
            _new_job(submission, queue, hosts, number + place, number, index, asked)
            for place, index in enumerate(indexes)
        ]
    for job in made:
        runner = [sys.executable, str(Path(__file__).resolve()), str(job.number)]
        null = subprocess.DEVNULL
        subprocess.Popen(runner, stdin=null, stdout=null, stderr=null, start_new_session=True)
    return made[0]


def _new_job(
    submission: Submission, queue: str, hosts: list[str], number: int, shown: int, index: int, asked: str
) -> Job:
    job = Job(number)
    job.folder.mkdir()
    array = ARRAY.fullmatch(asked)
    name = f"{array['name']}[{index}]" if array else asked
    described = {
        "name": name,
        "asked": asked,
        "shown": shown,
        "index": index,
        "queue": queue,
        "hosts": hosts,
        "options": submission.options,
        "script": submission.script,
        "cwd": submission.options.get("-cwd", str(Path.cwd())),
        "run_limit": submission.run_limit,
    }
    (job.folder / "submitted.json").write_text(json.dumps(described))
    job.set(
        stat="PSUSP" if "-H" in submission.options else "PEND",
        pend_reason="New job is waiting for scheduling;",
    )
    with (STATE / "submitted.txt").open("a") as log:
        log.write(f"{number} {name}\n")
    return job


# What LSF's daemons do with a job


class Execution:
    """One job from its dispatch to its end."""

    def __init__(self, job: Job) -> None:
        self.job, self.described, self.config = job, job.submitted, config()

    def follow(self) -> None:
        self.job.set(runner=os.getpid())
        if not self._wait_for_dispatch():
            return
        started = time.time()
        process = self._start()
        self.job.set(stat="RUN", pend_reason="", process=process.pid)
        reason = self._watch(process, started)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # sbatchd ends whatever is left of a job
        status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        self._write_output(status, reason)
        self.job.set(
            stat="DONE" if status == 0 else "EXIT", exit_reason=REASONS.get(reason, ""), exit_code=status
        )

    def _killed(self) -> str:
        with suppress(FileNotFoundError):
            return (self.job.folder / "kill").read_text().strip()
        return ""

    def _wait_for_dispatch(self) -> bool:
        if not self.described["hosts"]:
            reasons = "\n".join(["Not enough hosts to meet the job's spanning requirement: 8 hosts;", " "])
            self.job.set(pend_reason=reasons + "\nThe user's priority| is low;")
        while (
            (STATE / "hold").exists()
            or not self.described["hosts"]
            or self.job.state["stat"] == "PSUSP"
            or self._killed()
        ):
            if reason := self._killed():
                self.job.set(stat="EXIT", exit_reason=REASONS.get(reason, ""), exit_code=130)
                return False
            if not STATE.exists():
                return False  # the test is over
            time.sleep(LOOK)
        return True

    def _environment(self) -> dict[str, str]:
        """Page "Environment variables set for job execution"."""
        hosts, number = self.described["hosts"], str(self.described["shown"])
        counts = [(host, hosts.count(host)) for host in dict.fromkeys(hosts)]
        host_file = self.job.folder / f"{number}.hostfile"
        host_file.write_text("".join(f"{host}\n" for host in hosts))
        options = self.described["options"]
        return {
            **os.environ,
            "LSB_JOBID": number,
            "LSB_BATCH_JID": number,
            "LSB_JOBINDEX": str(self.described["index"]),
            "LSB_JOBNAME": self.described["asked"],
            "LSB_JOBFILENAME": str(self._spooled),
            "LSB_QUEUE": self.described["queue"],
            "LSB_HOSTS": " ".join(hosts),
            "LSB_MCPU_HOSTS": " ".join(f"{host} {count}" for host, count in counts),
            "LSB_DJOB_HOSTFILE": str(host_file),
            "LSB_DJOB_NUMPROC": str(len(hosts)),
            "LSB_MAX_NUM_PROCESSORS": str(len(hosts)),
            "LSB_SUB_HOST": os.uname().nodename,
            "LS_SUBCWD": self.described["cwd"],
            "LS_JOBPID": str(os.getpid()),
            **({"LSB_OUTPUTFILE": self._path(options["-o"])} if "-o" in options else {}),
            **({"LSB_ERRORFILE": self._path(options["-e"])} if "-e" in options else {}),
        }

    @property
    def _spooled(self) -> Path:
        return self.job.folder / f"{int(self.job.folder.stat().st_mtime)}.{self.job.number}"

    def _path(self, text: str) -> str:
        """Pages "-o" and "-e": %J is the job's id, %I the index in an array, 0 without one."""
        return text.replace("%J", str(self.described["shown"])).replace("%I", str(self.described["index"]))

    def _start(self) -> subprocess.Popen[bytes]:
        """A copy of the script with lines of LSF's own around it runs, in the shell of its first line."""
        first = self.described["script"].splitlines()[0]
        shell = first[2:].split() if first.startswith("#!") else ["/bin/sh"]
        spooled = self._spooled
        text = f"# LSBATCH: User input\n{self.described['script']}\nExitStat=$?\nwait\nexit $ExitStat\n"
        spooled.write_text(text)
        self.out, self.err = self.job.folder / "out", self.job.folder / "err"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            return subprocess.Popen(
                [*shell, str(spooled)],
                cwd=self.described["cwd"],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err if {"-e", "-eo"} & self.described["options"].keys() else out,
                start_new_session=True,
                preexec_fn=ignore_no_signal,
            )

    def _watch(self, process: subprocess.Popen[bytes], started: float) -> str:
        """Wait for the job's end; send what bkill and the run limit send. Why it was killed, or nothing."""
        limit = self.described["run_limit"]
        warned: float | None = None
        signals: list[signal.Signals] = []
        reason, next_signal = "", 0.0
        while process.poll() is None:
            now = time.time()
            if not reason and (asked := self._killed()):
                reason, next_signal = asked, now
                # page "bkill": INT, TERM, KILL in sequence
                signals = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
            if not reason and limit and now - started > limit * self.config["minute"]:
                # page "-W": SIGUSR2, and ten minutes later the sequence of bkill
                reason, warned = "TERM_RUNLIMIT", now
                os.killpg(process.pid, signal.SIGUSR2)
            if warned and now - warned > self.config["grace"]:
                warned, next_signal = None, now
                signals = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
            if signals and now >= next_signal:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signals.pop(0))
                next_signal = now + self.config["terminate_interval"]
            if not STATE.exists():
                os.killpg(process.pid, signal.SIGKILL)  # the test is over
            time.sleep(LOOK)
        return reason

    def _write_output(self, status: int, reason: str) -> None:
        """Page "LSB_STDOUT_DIRECT": the output is copied after the job's end, and a report added (page "-o").

        A file that can't be written to is not stored; LSF then sends mail.
        """
        options = self.described["options"]
        ended = "Successfully completed." if status == 0 else f"{reason}\nExited with exit code {status}."
        report = f"\n{'-' * 60}\nSender: LSF System\nSubject: Job {self.described['shown']}\n\n{ended}\n"
        for names, source, more in ((("-o", "-oo"), self.out, report), (("-e", "-eo"), self.err, "")):
            for name in names:
                if name not in options:
                    continue
                target = Path(self.described["cwd"]) / self._path(options[name])
                with suppress(OSError), target.open("w" if len(name) == 3 else "a") as file:
                    file.write(source.read_text(errors="replace") + more)


# bjobs

VOLCLAVA_REFUSES = Path(__file__).parents[1] / "fixtures/volclava/bjobs_refused.txt"
FIELDS_OF_VOLCLAVA = ("jobid", "stat", "job_name", "queue")
FIELDS = {  # page "bjobs -o" (and LSB_BJOBS_FORMAT): names of fields and their aliases
    "jobid": "jobid",
    "id": "jobid",
    "stat": "stat",
    "exit_reason": "exit_reason",
    "exit_code": "exit_code",
    "job_name": "name",
    "name": "name",
    "pend_reason": "pend_reason",
    "queue": "queue",
}


def bjobs(arguments: list[str]) -> int:
    """Page "bjobs": -a, -u, -noheader, -o and ids; other options are refused."""
    with (STATE / "queries.txt").open("a") as log:
        log.write("query\n")
    failure = STATE / "bjobs.fails"
    if failure.exists():
        return fail(failure.read_text().strip())
    parser = argparse.ArgumentParser(prog="bjobs", add_help=False, allow_abbrev=False)
    for name in ("-a", "-noheader"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("-o", default="jobid stat queue job_name")
    parser.add_argument("-u")
    parser.add_argument("ids", nargs="*")
    asked = parser.parse_args(arguments)
    if asked.noheader and config()["volclava"]:
        return fail(VOLCLAVA_REFUSES.read_text().rstrip())
    return _list_jobs(asked.o, not asked.noheader, asked.ids, asked.a)


def _list_jobs(layout: str, header: bool, ids: list[str], ended: bool) -> int:
    """A number is that of a job or of all jobs of an array; 12[3] is one of them."""
    named = {job: {str(job.submitted["shown"]), _address(job)} for job in jobs()}
    found = [
        job
        for job, names in named.items()
        if (names & {*ids} if ids else ended or job.state["stat"] not in ENDED)
    ]
    missing = [number for number in ids if not any(number in named[job] for job in found)]
    for number in missing:
        fail(f"Job <{number}> is not found")
    if not found:
        return 255 if missing else fail("No job found" if ended else "No unfinished job found")
    if config()["volclava"]:
        for name in layout.split():
            if name not in FIELDS_OF_VOLCLAVA:
                return fail(f"<{name.upper()}> in the format string is not a valid field name.", 99)
    match = re.search(r"\s*delimiter='(.+)'\s*$", layout)
    delimiter = match[1] if match else " "
    names = (layout[: match.start()] if match else layout).split()
    for name in names:
        if name.split(":")[0] not in FIELDS:
            return fail(f"bjobs: Illegal field name: {name}")
    if header:
        print(delimiter.join(name.upper() for name in names))
    for job in found:
        values = {"jobid": job.submitted["shown"], **job.submitted, **job.state}
        print(delimiter.join(str(values[FIELDS[name.split(":")[0]]]) or "-" for name in names))
    return 255 if missing else 0


# bkill


def _address(job: Job) -> str:
    """A job of an array is 12[3]."""
    submitted = job.submitted
    return f"{submitted['shown']}[{submitted['index']}]" if submitted["index"] else str(submitted["shown"])


def bkill(arguments: list[str]) -> int:
    """Page "bkill": ids; with -r without time to clean up. A job of a host that is lost becomes ZOMBI."""
    rest = list(arguments)
    force = "-r" in rest
    ids = [word for word in rest if word != "-r"]
    if not ids or not all(re.fullmatch(r"[0-9]+(\[[0-9]+\])?", word) for word in ids):
        return fail("bkill: Job ID or option required")
    status = 0
    known = {_address(job): job for job in jobs()}
    for number in ids:
        job = known.get(number)
        if job is None:
            status = fail(f"Job <{number}>: No matching job found")
        elif job.state["stat"] in ENDED:
            status = fail(f"Job <{number}>: Job has already finished")
        elif job.state["stat"] in ("UNKWN", "ZOMBI") and not force:
            # page "LSF terms and concepts": a kill in the state UNKWN makes it ZOMBI
            (job.folder / "shown").write_text("ZOMBI")
            print(f"Job <{number}> is being terminated")
        else:
            (job.folder / "shown").unlink(missing_ok=True)
            (job.folder / "kill").write_text("TERM_FORCE_OWNER" if force else "TERM_OWNER")
            print(f"Job <{number}> is being terminated")
    return status


if __name__ == "__main__":
    Execution(Job(int(sys.argv[1]))).follow()
