"""Real runs of job scripts, with a launcher and a program that misbehave like real ones."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from builders import BENCHMARK, PLACEMENTS, campaign, plan
from default_signals import popen_with_default_signals

from mpicampaign.campaign.model import Placement
from mpicampaign.collect.runs import evidence_in
from mpicampaign.execution.execute import wait_for_measurement
from mpicampaign.jobs.prepare import Prepared, write_scripts
from mpicampaign.jobs.render import script_text
from mpicampaign.jobs.run import Run
from mpicampaign.verdict.evidence import Evidence

END = 'echo "#@end rows=1 status=ok"\n'
ONE_RANK = {"SHM": replace(PLACEMENTS["SHM"], ranks_per_node=1)}
LAUNCHER = '#!/bin/bash\n[ "$1" != --version ] || exit\nshift 4\nexport PMI_RANK=0 MPI_LOCALRANKID=0\n'


def prepared(
    folder: Path,
    program: str,
    launcher: str = 'exec "$@"\n',
    suite: str = "kernel",
    placements: dict[str, Placement] = ONE_RANK,
    **system: object,
) -> Prepared:
    """A campaign of one run whose program and launcher are the given shell texts."""
    commands = {"mpirun": LAUNCHER + launcher, "program": "#!/bin/bash\n" + program}
    (folder / "bin").mkdir()
    for name, text in commands.items():
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    benchmark = replace(BENCHMARK, suite=suite, program="program", arguments=())
    made = campaign(placements, benchmark, repeats=1, prefix=str(folder), **system)
    planned = plan(made)
    run = replace(planned.runs[0], program=str(folder / "bin/program"), program_sha256="", time_limit=1)
    found = Prepared(made, replace(planned, runs=(run,)), folder / "results")
    write_scripts(found)
    return found


def execute(script: Run, **options: object) -> int:
    command = ["bash", str(script.path)]
    return subprocess.run(command, check=False, timeout=240, capture_output=True, **options).returncode  # type: ignore[call-overload,no-any-return]


def evidence(script: Run, kind: str = "result") -> Evidence:
    return evidence_in(next(script.folder.glob(f"{kind}/evidence.txt")).parent)


def processes_of(folder: Path) -> list[str]:
    """The processes whose environment names the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"={folder}/".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


def left_of(folder: Path) -> list[str]:
    """The same, without those that end soon: a killed rank may have started a `sleep 0.1`."""
    deadline = time.monotonic() + 30
    while (left := processes_of(folder)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def test_interrupted_script_ends_its_ranks_too(tmp_path: Path) -> None:
    stubborn = "trap '' TERM HUP INT\necho started >\"$0.started\"\nwhile :; do sleep 0.1; done\n"
    script = prepared(tmp_path, stubborn, 'setsid "$@" & sleep 60\n', environment={"X": "1"}).runs[0]
    script.path.write_text(script.path.read_text().replace("time_limit=1\n", "time_limit=60\n"))
    process = popen_with_default_signals(["bash", str(script.path)], start_new_session=True)
    while not (tmp_path / "bin/program.started").exists():
        time.sleep(0.02)
    process.terminate()
    assert process.wait(30) == 143  # long before the time limit
    assert left_of(script.folder) == []


def test_a_waiting_run_reports_what_it_waits_for(tmp_path: Path) -> None:
    found = prepared(tmp_path, END)
    script = found.runs[0]
    holder = found.measuring_lock.open("w")
    holder.write("process 4711, /somewhere\n")
    holder.flush()
    fcntl.flock(holder, fcntl.LOCK_EX)
    process = subprocess.Popen(["bash", str(script.path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert "another measurement on this machine to end: process 4711" in process.stdout.readline()
    said: list[str] = []
    wait_for_measurement(found.measuring_lock, said.append, stop=lambda: bool(said))
    assert said == ["waiting for another measurement on this machine to end: process 4711, /somewhere"]
    time.sleep(0.3)
    assert not (script.folder / "attempts").exists()
    holder.close()
    assert process.wait(240) == 0
    wait_for_measurement(found.measuring_lock, said.append)
    assert len(said) == 1
    assert f"{process.pid}, {script.folder}" in found.measuring_lock.read_text()


def submitted(script: Run) -> None:
    """Make the script one of a scheduler's."""
    text = script.path.read_text()
    script.path.write_text(re.sub(r"(?m)^(job=.* lock=).*$", r"\1''", text))


def test_a_launcher_that_ignores_the_time_limit_is_killed(tmp_path: Path) -> None:
    """Otherwise it would end at any time, and `timeout` with 124."""
    script = prepared(tmp_path, END, "trap '' TERM\nfor n in {1..60}; do sleep 0.1; done\n").runs[0]
    text = script_text(script, inline=True)
    script.path.write_text(text.replace("--kill-after=10 ", "--kill-after=0.1 "))
    assert execute(script) == 124
    assert evidence(script, "attempts/*").job["reason"] == "stopped at the time limit of 1 s"


def test_a_module_that_does_not_load_fails_the_run(tmp_path: Path) -> None:
    script = prepared(tmp_path, END, modules=("no/such",)).runs[0]
    assert execute(script) == 69
    assert evidence(script, "attempts/*").job["reason"] == "module load no/such failed"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_disk_that_is_full_before_the_run_leaves_no_attempt(tmp_path: Path) -> None:
    script = prepared(tmp_path, END).runs[0]
    text = script.path.read_text()
    small = (
        'mount -t tmpfs -o size=100k tmpfs "$1" && printf %s "$2" >"$1/job.sh"; cat /dev/zero >"$1/fill"; '
    )
    small += 'bash "$1/job.sh"; s=$?; ls "$1/attempts"; exit $s'
    command = ["unshare", "--mount", "bash", "-c", small, "bash", str(script.folder), text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout) == (73, "")
    assert f"results could not be written: is the file system of {script.folder} full" in done.stderr


def test_evidence_that_cannot_be_written_is_not_a_success(tmp_path: Path) -> None:
    script = prepared(tmp_path, END).runs[0]
    text = script_text(script, inline=True).replace('exec 3>"$evidence"', "exec 3>/dev/full")
    script.path.write_text(text)
    assert execute(script) == 74
    assert not script.output.exists()
