"""A stand-in for PBS on this machine: qsub, qstat, qdel and pbsnodes over a folder of jobs, `PBS_STANDIN`.

After the reference guide of PBS Professional 2022 and OpenPBS's manual pages (qsub, qstat, qdel, pbsnodes).
What they do not document is refused. qsub returns when its job has ended: N.json is what qstat says of it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ["PBS_STANDIN"])
SERVER = "pbs-server"
OPTIONS = {  # of qsub, with the pattern of their values
    "-N": r"[A-Za-z_][\x21-\x7e]{0,229}",
    "-l": r"(select=[1-9][0-9]*(:(ncpus|mpiprocs)=[1-9][0-9]*)*|place=(pack|scatter|free)(:excl(host)?)?"
    r"|walltime=[0-9]+:[0-5][0-9]:[0-5][0-9])",
    "-q": r"workq",
    "-A": r"\S+",
    "-j": r"oe|eo|n",
    "-o": r"/\S+",
    "-r": r"[yn]",
}
QUEUE = {"queue_type": "Execution", "enabled": "True", "started": "True"}
NODE = {"state": "free", "pcpus": 2, "resources_available": {"ncpus": 2}}


def qsub(arguments: list[str]) -> str:
    """Runs a command behind ``--``, or a script, after the jobs before it; gives the job's number."""
    words, _, command = " ".join(map(shlex.quote, arguments)).partition(" -- ")
    if not command:
        lines = Path(arguments[-1]).read_text().splitlines()
        directives = [line.removeprefix("#PBS ") for line in lines if line.startswith("#PBS ")]
        words, command = " ".join([*directives, *arguments[:-1]]), f"bash {arguments[-1]}"
    given = shlex.split(words)
    options = [*zip(given[::2], given[1::2], strict=True)]
    for name, value in options:
        if not re.fullmatch(OPTIONS.get(name, "$."), value):
            sys.exit(f"qsub: illegal {name} value: {value}")
    with (FOLDER / "lock").open("w") as lock, Path(dict(options).get("-o", os.devnull)).open("wb") as log:
        fcntl.flock(lock, fcntl.LOCK_EX)
        number = f"{len([*FOLDER.glob('*.json')]) + 1}.{SERVER}"
        kept = {name: os.environ[name] for name in ("HOME", "USER", "LOGNAME") if name in os.environ}
        environment = {"PATH": os.defpath, "PBS_JOBID": number, "PBS_ENVIRONMENT": "PBS_BATCH"}
        status = subprocess.run(
            shlex.split(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=kept | environment,
            check=False,
        ).returncode
        job = {
            "Job_Name": dict(options).get("-N", Path(arguments[-1]).name),
            "job_state": "F",
            "queue": "workq",
        }
        job |= {"Exit_status": status if status >= 0 else 256 - status}
        (FOLDER / f"{number}.json").write_text(json.dumps(job))
    return number


def main(command: str, arguments: list[str]) -> str:
    """What a command prints."""
    match command, arguments:
        case "qsub", _:
            return qsub(arguments)
        case "qstat", ["-Q", "-f", "-F", "json"]:
            answer = {"Queue": {"workq": QUEUE}}
        case "qstat", ["-x", "-f", "-F", "json", *wanted]:
            jobs = {path.stem: json.loads(path.read_text()) for path in FOLDER.glob("*.json")}
            answer = {"Jobs": {number: job for number, job in jobs.items() if not wanted or number in wanted}}
        case "qdel", [number, *_]:
            sys.exit(f"qdel: Job has finished {number}")
        case "pbsnodes", ["-a", "-F", "json"]:
            answer = {"nodes": {os.uname().nodename: NODE}}
        case _:
            sys.exit(f"{command}: invalid option -- {arguments}")
    return json.dumps({"pbs_server": SERVER, **answer})


if __name__ == "__main__":
    print(main(Path(sys.argv[1]).name, sys.argv[2:]))
