#!/usr/bin/env python3
"""Stands in for Slurm: a step starts nothing, but puts recorded outputs into the folders of its runs.

It is called sbatch, srun, squeue, sinfo or scontrol, and knows just the calls that mpicampaign makes. Its
folder has a file for each job: the job's name, and `ended` once its script has ended. Others use the nodes in
`busy`; its clock is ahead by the minutes in `later`.
"""

import hashlib
import math
import os
import random
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mpicampaign.base.host_lists import expand

COMMANDS = ("sbatch", "srun", "squeue", "sinfo", "scontrol")
SLOW = {"n0007": 1.09}
NOISE = 0.01
OSU = "\n# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n"
STARTUP = "[0] MPI startup(): Intel(R) MPI Library, Version 2021.18.1\n"
SECONDS, MOMENT = timedelta(seconds=9), "%Y-%m-%dT%H:%M:%SZ"  # of a run
SIZES = [2**power for power in range(23)]
HERE = Path(sys.argv[0]).parent
_JOB = 'bash "$1"; times >"${3%/*}/times-${3##*/}"; echo "$2 ended" >"$3"'
_LAUNCH = (
    r"--nodes=(\d+) --ntasks=\1 --ntasks-per-node=1 --nodelist=(\S+) --overlap --no-kill "
    r"--kill-on-bad-exit=0 --wait=0 --cpu-bind=none --mpi=none --input=none bash (\S+)\.sh on_node (\d+)"
)


def sbatch(script: str) -> None:
    """Starts the script, which outlives this call."""
    text = Path(script).read_text(encoding="utf-8")
    [name] = re.findall(r"^#SBATCH --job-name=(\S+)$", text, re.MULTILINE)
    [nodes] = re.findall(r"^#SBATCH --nodelist=(\S+)$", text, re.MULTILINE)
    job = HERE / str(1 + len([*HERE.glob("[0-9]*")]))
    job.write_text(name, encoding="utf-8")
    allocation = {"SLURM_JOB_ID": job.name, "SLURM_JOB_NODELIST": nodes, "SLURMD_NODENAME": expand(nodes)[0]}
    with Path(f"{HERE}/log").open("a", encoding="utf-8") as log:
        subprocess.Popen(
            ["bash", "-c", _JOB, "job", script, name, job],
            env={**os.environ, **allocation},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    print(job.name)


def srun(nodes: str, of: str, batch: str, step: str) -> None:
    """The runs of a step whose nodes are in the file."""
    allowed = set(Path(of).read_text(encoding="utf-8").split())
    assert len(allowed) == int(nodes)
    campaign = Path(batch).parents[1]
    begin = datetime.now(UTC) + timedelta(minutes=sum(map(int, listed("later"))))
    with Path(f"{batch}.rounds").open(encoding="utf-8") as lines:
        for line in lines:
            number, node, role, _, folder, members = line.rstrip("\n").split("\t")
            if (number, role) == (step, "run") and node in allowed:
                finish(campaign / folder, members.split(" "), begin)


def finish(folder: Path, hosts: list[str], begin: datetime) -> None:
    """The file of a finished run."""
    noise = random.Random(str(folder))
    latency = math.prod(SLOW.get(host, 1.0) for host in hosts) * math.exp(noise.gauss(0, NOISE))
    lines = (folder / "claim").read_text(encoding="utf-8").splitlines()[1:]
    claims = {key: value for key, _, value in (line.removeprefix("claim ").partition("=") for line in lines)}
    rows = "".join(f"{size:<10} {latency * (1 + size / 9000):14.4f}\n" for size in SIZES)
    raw = {"stderr.txt": STARTUP, "output.txt": OSU + rows}
    told = evidence("/".join(folder.parts[-4:]), claims, raw, hosts, begin)
    told += "".join(f"\n==> {name}, {len(text.encode())} bytes <==\n{text}" for name, text in raw.items())
    (folder / "result.txt").write_text(told, encoding="utf-8")


def evidence(
    name: str, claims: dict[str, str], raw: dict[str, str], hosts: list[str], begin: datetime
) -> str:
    """The evidence file of a run of two ranks that matches its claim, with these raw files.

    ``name``: the run's folder below runs/.
    """
    lines = ["#mpicampaign-evidence 2", f"job run={name}", f"job script_sha256={claims['scripts']}"]
    lines += [f"job {key}={claims[key]}" for key in ("launch", "arguments", "program_sha256")]
    lines += [f"job env.{k.removeprefix('setting.')}={v}" for k, v in claims.items() if "setting." in k]
    lines += [f"job started={begin:{MOMENT}}", f"job host={hosts[0]}", "job id=1", "job env.PATH=/usr/bin"]
    lines += [line for host in hosts for line in _node(host)]
    lines += [f"job sha256.{name}={hashlib.sha256(raw[name].encode()).hexdigest()}" for name in raw]
    end = (f"job ended={begin + SECONDS:{MOMENT}}", "job exit_status=0", "end of evidence")
    return "\n".join([*lines, *end]) + "\n"


def _node(host: str) -> list[str]:
    facts = ["kernel=Linux 6.1", "cpu_model=Invented CPU", "cores=8"]
    for moment in ("before", "after"):
        facts.append(f"{moment}.load=0.10 0.20 0.30")
        for name, count in (("eth0", 5000), ("eth1", 0), ("lo", 1000)):
            facts += [f"{moment}.net.{name}.{way}_bytes={count}" for way in ("rx", "tx")]
    return [f"node {host} {fact}" for fact in facts]


def squeue(*_: str) -> None:
    for name, state, job in _jobs():
        print(f"{job}|{state}|None|{name}")


def show_job(number: str) -> None:
    for name, state, job in _jobs():
        if job == number:
            print(f"JobId={job} JobName={name} UserId=0 JobState={state} Reason=None ExitCode=0:0")


def _jobs() -> list[tuple[str, str, str]]:
    jobs = []
    for file in HERE.glob("[0-9]*"):
        name, _, ended = file.read_text(encoding="utf-8").strip().partition(" ")
        jobs.append((name, "COMPLETED" if ended else "RUNNING", file.name))
    return jobs


def sinfo(nodes: str, form: str) -> None:
    """Nodes are free, or others use them."""
    shown, busy = {"%N %t": "{} {:.5}", "%N|%T|%E": "{}|{}|none"}[form], listed("busy")
    for node in expand(nodes):
        print(shown.format(node, "allocated" if node in busy else "idle"))


def listed(name: str) -> list[str]:
    """The words in a file of its folder; none without it."""
    file = HERE / name
    return file.read_text(encoding="utf-8").split() if file.exists() else []


CALLS = {
    r"sbatch --parsable (\S+)": sbatch,
    rf"srun {_LAUNCH}": srun,
    r"squeue --noheader --array --states=all --user=\S+ --format=%i\|%T\|%r\|%j": squeue,
    r"sinfo --noheader --Node --nodes=(\S+) --format=(.+)": sinfo,
    r"scontrol (?:show topology|--all --oneliner show (?:config|partition))": lambda: None,
    r"scontrol --oneliner show job (\d+)": show_job,
}


def main() -> None:
    """Answers a call, or refuses it."""
    call = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    for pattern, answer in CALLS.items():
        if match := re.fullmatch(pattern, call):
            answer(*match.groups())
            return
    sys.exit(f"the stand-in does not know: {call}")


if __name__ == "__main__":
    main()
