"""A stand-in for PBS on this machine: qsub, qstat, qdel and pbsnodes over a folder of jobs.

After the reference guide of PBS Professional 2022 and OpenPBS's manual pages (qsub, qstat, qdel, pbsnodes).
What they do not document is refused. Jobs run one after another here. `PBS_STANDIN` names the folder:
There `jobs/N.json` is a job: its name, state, directives and exit status.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(os.environ["PBS_STANDIN"])
JOBS = FOLDER / "jobs"
SERVER = "pbs-server"
# qsub: options with the pattern of their values; none: an option without a value.
OPTIONS = {
    "-N": r"[A-Za-z_][\x21-\x7e]{0,229}",
    "-l": r"(select=[1-9][0-9]*(:(ncpus|mpiprocs)=[1-9][0-9]*)*|place=(pack|scatter|free)(:excl(host)?)?"
    r"|walltime=[0-9]+:[0-5][0-9]:[0-5][0-9])",
    "-q": r"workq",
    "-A": r"\S+",
    "-j": r"oe|eo|n",
    "-o": r"/\S+",
    "-r": r"[yn]",
    "-z": None,
}


def main() -> int:
    command, arguments = Path(sys.argv[1]).name, sys.argv[2:]
    JOBS.mkdir(parents=True, exist_ok=True)
    return {"qsub": qsub, "qstat": qstat, "qdel": qdel, "pbsnodes": pbsnodes}[command](arguments)


def refuse(message: str, status: int = 1) -> int:
    print(message, file=sys.stderr)
    return status


def qsub(arguments: list[str]) -> int:
    if "--" in arguments:  # a command instead of a script
        given, program = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
        words: list[str] = []
    else:
        given, program = arguments[:-1], ["bash", arguments[-1]]
        lines = Path(arguments[-1]).read_text().splitlines()
        words = [word for line in lines if line.startswith("#PBS ") for word in shlex.split(line[5:])]
    options: dict[str, list[str]] = {}
    rest = words + given
    while rest:
        name = rest.pop(0)
        if name not in OPTIONS:
            return refuse(f"qsub: invalid option -- '{name}'", 2)
        pattern = OPTIONS[name]
        value = rest.pop(0) if pattern is not None else ""
        if pattern is not None and not re.fullmatch(pattern, value):
            return refuse(f"qsub: illegal -{name} value: {value}", 2)
        options.setdefault(name, []).append(value)
    with locked():
        number = len(list(JOBS.iterdir())) + 1
        job = {
            "Job_Name": options.get("-N", [Path(program[-1]).name])[0],
            "job_state": "Q",
            "program": program,
        }
        write(number, job | {"options": options})
    runner = [sys.executable, __file__, "run", str(number)]
    if os.fork() == 0:
        os.setsid()
        with Path(os.devnull).open("r+b") as nowhere:
            subprocess.run(runner, stdin=nowhere, stdout=nowhere, stderr=nowhere, check=False)
        os._exit(0)
    print(f"{number}.{SERVER}")
    return 0


def run(number: str) -> None:
    """A job, after those before it; its signal is that of qdel."""
    with (FOLDER / "machine.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        job = read(number)
        if job["job_state"] != "Q":
            return
        log = Path(job["options"].get("-o", [os.devnull])[0]).open("wb")  # noqa: SIM115
        kept = {name: os.environ[name] for name in ("HOME", "USER", "LOGNAME") if name in os.environ}
        environment = kept | {
            "PATH": os.defpath,
            "PBS_JOBID": f"{number}.{SERVER}",
            "PBS_ENVIRONMENT": "PBS_BATCH",
        }
        process = subprocess.Popen(
            job["program"], stdout=log, stderr=log, env=environment, start_new_session=True
        )
        write(number, job | {"job_state": "R", "session_id": process.pid})
        status = process.wait()
        write(
            number, read(number) | {"job_state": "F", "Exit_status": status if status >= 0 else 256 - status}
        )


def qstat(arguments: list[str]) -> int:
    if arguments == ["-Q", "-f", "-F", "json"]:
        queue = {"queue_type": "Execution", "enabled": "True", "started": "True"}
        print(json.dumps({"pbs_server": SERVER, "Queue": {"workq": queue}}))
        return 0
    if arguments[:4] != ["-x", "-f", "-F", "json"]:
        return refuse(f"qstat: invalid option -- {arguments}", 2)
    jobs = {}
    for path in JOBS.iterdir():
        job = json.loads(path.read_text())
        state = job["job_state"]
        wanted = [each.partition(".")[0] for each in arguments[4:]]
        if wanted and path.stem not in wanted:
            continue
        found = {"Job_Name": job["Job_Name"], "job_state": state, "queue": "workq"}
        found |= {"Exit_status": job["Exit_status"]} if state == "F" and "Exit_status" in job else {}
        jobs[f"{path.stem}.{SERVER}"] = found
    print(json.dumps({"pbs_server": SERVER, "Jobs": jobs}))
    return 0


def qdel(arguments: list[str]) -> int:
    for each in arguments:
        number = each.partition(".")[0]
        job = read(number)
        if job["job_state"] == "R":
            os.killpg(job["session_id"], signal.SIGTERM)
        elif job["job_state"] == "Q":
            write(number, job | {"job_state": "F", "Exit_status": 271})
        else:
            return refuse(f"qdel: Job has finished {each}", 35)
    return 0


def pbsnodes(arguments: list[str]) -> int:
    if arguments != ["-a", "-F", "json"]:
        return refuse(f"pbsnodes: invalid option -- {arguments}", 2)
    node = {"state": "free", "pcpus": 2, "resources_available": {"ncpus": 2}}
    print(json.dumps({"pbs_server": SERVER, "nodes": {os.uname().nodename: node}}))
    return 0


def read(number: str | int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((JOBS / f"{number}.json").read_text())
    return found


def write(number: str | int, job: dict[str, Any]) -> None:
    part = FOLDER / f"{number}.part"
    part.write_text(json.dumps(job))
    part.replace(JOBS / f"{number}.json")


@contextmanager
def locked() -> Iterator[None]:
    with (FOLDER / "qsub.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(sys.argv[2])
    else:
        sys.exit(main())
