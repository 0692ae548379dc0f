"""mpicampaign doctor as it is called: on a plain machine, and on stand-ins for schedulers that misbehave.

The stand-ins are shell scripts. A real Slurm is in test_doctor_campaign.py; no real LSF was at hand.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import executable, succeeded, wait_until, within
from default_signals import popen_with_default_signals
from test_doctor_outputs import BHOSTS, BQUEUES, LSHOSTS, TWO_KINDS

from mpicampaign.base.commands import call
from mpicampaign.site import examine

TOOLS = ("bash", "sh", "cat", "uname", "timeout", "mv", "rm", "sleep", "env", "touch", "id")
Done = subprocess.CompletedProcess[str]


class Desk:
    """A working folder, and a PATH with basic tools and stand-ins only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.programs = folder / "bin"
        for each in (self.folder, self.programs):
            each.mkdir()
        for tool in TOOLS:
            (self.programs / tool).symlink_to(str(shutil.which(tool)))

    @property
    def site(self) -> Path:
        return self.folder / "site.yaml"

    @property
    def calls(self) -> list[str]:
        """The arguments of the stand-ins' calls."""
        log = self.folder.parent / "calls"
        return log.read_text().splitlines() if log.exists() else []

    def stand_in(self, name: str, output: str = "", script: str = "", status: int = 0) -> None:
        text = f'#!/bin/sh\necho "{name} $*" >>"{self.folder.parent}/calls"\n{script}\n'
        text += f"cat <<'END_OF_OUTPUT'\n{output}END_OF_OUTPUT\nexit {status}\n"
        executable(self.programs / name, text)

    def slurm(self, nodes: str = TWO_KINDS, state: str = "PENDING|Resources") -> None:
        self.stand_in("sinfo", nodes)
        self.stand_in("scontrol")
        self.stand_in(
            "sbatch", script="n=$(cat jobs 2>/dev/null); n=$((${n:-6}+1)); echo $n | cat >jobs; echo $n"
        )
        self.stand_in("squeue", "".join(f"{job}|{state}|probe\n" for job in (7, 8, 9)))
        self.stand_in("scancel")

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "mpicampaign.cli", *arguments]

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": str(self.programs), "HOME": str(self.folder)}

    def call(self, *arguments: str) -> Done:
        return within(self.folder, self.environment, *arguments)

    def demand_campaign(self) -> None:
        """The usual commands check and plan the written file."""
        for command in ("check", "plan"):
            assert succeeded(self.call(command, "--campaign", "site.yaml"))

    def demand_nothing_left(self) -> None:
        assert [path.name for path in self.folder.iterdir() if path.name.startswith(".")] == []


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# ---- A machine without a scheduler


def test_a_file_that_came_while_nodes_were_asked_is_kept(desk: Desk) -> None:
    desk.slurm()
    desk.stand_in("sbatch", script="echo other >site.yaml; exit 1")
    done = desk.call("doctor")
    assert done.returncode == 2 and "this file exists already" in done.stderr
    assert desk.site.read_text() == "other\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "no/such/folder/x.yaml"], "its folder does not exist"),
        (["--time-limit", "soon"], "--time-limit: 'soon' is not a duration"),
        (["--partition", "all"], "no scheduler was found"),
    ],
)
def test_errors_in_the_call_are_reported(desk: Desk, arguments: list[str], message: str) -> None:
    done = desk.call("doctor", *arguments)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


def test_a_module_command_that_fails_is_not_taken_for_one_without_modules(desk: Desk) -> None:
    (desk.folder / ".bash_profile").write_text("module() { echo broken >&2; return 1; }\n")
    (line,) = [line for line in desk.call("doctor").stdout.splitlines() if line.startswith("modules")]
    assert line.startswith("modules: not examined: bash failed with exit status 1: ") and "broken" in line


@pytest.mark.parametrize(
    ("load", "note"),
    [
        ("echo unknown >&2; return 1", r"module load openmpi/5\.0\.3 failed on \S+: unknown; choose another"),
        ("CC=none; return 0", r"no C compiler is on \S+, so kernels cannot be built: load the module"),
        ("CC=bash; return 0", ""),
    ],
)
def test_a_module_that_does_not_load_and_no_compiler_are_noted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, load: str, note: str
) -> None:
    monkeypatch.setattr(examine, "_has_wheel", lambda: False)
    listed = 'printf "openmpi/5.0.3\\n" >&2'
    profile = f"module() {{ case $1 in load) {load} ;; *) {listed} ;; esac; }}\n"
    (desk.folder / ".bash_profile").write_text(profile)
    said = desk.call("doctor").stdout
    assert re.search(note, said) and bool(note) == ("no C compiler" in said or "failed on" in said), said


# ---- Slurm that does not answer, or answers something else


@pytest.mark.parametrize(
    "output",
    [
        "",
        "PARTITION AVAIL TIMELIMIT\n",
        "\x1b[2J\n",
        "n|p|p|up|1|f|1|1|1|1|down\n",
        "n|p|p|up|1|f|1+|1|1|1|idle\n",
        "n|p|p|up|1|a|b|1|1|1|1|idle\n",
    ],
)
def test_answers_that_cannot_be_used_write_nothing(desk: Desk, output: str) -> None:
    desk.slurm(output)
    done = desk.call("doctor")
    assert (
        done.returncode == 2 and "this site cannot be examined: " in done.stderr and "\x1b" not in done.stderr
    )
    assert "Traceback" not in done.stderr and not desk.site.exists()


def test_a_partition_that_is_not_there(desk: Desk) -> None:
    desk.slurm()
    done = desk.call("doctor", "--partition", "bleu")
    assert done.returncode == 2
    assert "no partition or queue 'bleu'; there are: all, blue, night, old" in done.stderr


def interrupt_until_it_ends(process: subprocess.Popen[bytes], number: signal.Signals, pause: float) -> int:
    """The exit status; a stalled machine is not a failure of the program."""
    for _ in range(int(120 / pause)):
        process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(pause)
    process.send_signal(signal.SIGABRT)  # PYTHONFAULTHANDLER: where it hangs
    return process.wait()


@pytest.mark.parametrize(
    ("number", "pause"), [(signal.SIGINT, 10), (signal.SIGINT, 0.1), (signal.SIGTERM, 10)]
)
def test_a_signal_cancels_the_probes(desk: Desk, number: signal.Signals, pause: float) -> None:
    """Each probe once, whether the user waits or keeps pressing Ctrl-C."""
    desk.slurm()
    desk.stand_in("scancel", script="sleep 0.3")
    environment = {**desk.environment, "PYTHONFAULTHANDLER": "1"}
    process = popen_with_default_signals(
        desk.command("doctor"), cwd=desk.folder, env=environment, stdout=subprocess.DEVNULL
    )
    wait_until(lambda: any(line.startswith("squeue") for line in desk.calls))
    assert interrupt_until_it_ends(process, number, pause) == 128 + number, desk.calls
    assert [line for line in desk.calls if line.startswith("scancel")] == [
        "scancel 7",
        "scancel 8",
        "scancel 9",
    ]
    assert not desk.site.exists()
    desk.demand_nothing_left()


def test_a_site_that_refuses_the_probe_is_quoted(desk: Desk) -> None:
    desk.slurm()
    desk.stand_in("sbatch", script="echo 'sbatch: error: Invalid account' >&2", status=1)
    done = desk.call("doctor")
    assert "not examined: sbatch failed with exit status 1: sbatch: error: Invalid account" in done.stdout
    assert succeeded(done)
    desk.demand_campaign()


@pytest.mark.full
@pytest.mark.slow
def test_a_probe_that_ends_without_output_is_not_waited_for(desk: Desk) -> None:
    desk.slurm(state="FAILED|NonZeroExitCode")
    done = desk.call("doctor", "--partition", "blue")
    assert "probe job 7 ended (FAILED, NonZeroExitCode), and its output is not seen" in done.stdout
    assert not any(line.startswith("scancel") for line in desk.calls)


def test_an_output_that_is_not_the_probe_s_is_not_believed(desk: Desk) -> None:
    desk.slurm()
    writes = 'for last; do :; done; for a; do case $a in *.txt) echo rubbish >"$a" ;; esac; done; echo 7'
    desk.stand_in("sbatch", script=writes)
    done = desk.call("doctor", "--partition", "blue")
    assert "not examined: not a complete output of the probe" in done.stdout
    desk.demand_campaign()


RUNS_PROBE = 'while [ "${1#-}" != "$1" ]; do shift; done; bash "$@" >/dev/null 2>&1; echo 7'


def test_a_probe_that_ran_on_another_node_is_not_believed(desk: Desk) -> None:
    desk.slurm()
    desk.stand_in("sbatch", script=RUNS_PROBE)
    (desk.programs / "uname").unlink()
    desk.stand_in("uname", "n3.example.org\n")
    done = desk.call("doctor", "--time-limit", "20 s")
    wrong = "not examined: the probe job ran on n3.example.org, which is not one of these nodes"
    assert done.stdout.count(wrong) == 1 and "(seen on n3.example.org)" in done.stdout
    desk.demand_campaign()


def test_hostile_names_are_left_out_and_reported(desk: Desk) -> None:
    lines = ["n1|$(touch pwned)|x|up|1|f|1|2|1|1|idle", "n2|good|good*|up|1|a b';touch pwned;'|1|2|1|1|idle"]
    lines += ["$(touch pwned)|good|good*|up|1|fine;touch pwned|1|4|1|1|idle"]
    desk.slurm("\n".join(lines) + "\n")
    done = desk.call("doctor", "--no-probe")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("cannot be used in a job script") == 1
    assert "nothing separates these nodes from others of the queue" in done.stdout
    assert not (desk.folder / "pwned").exists()
    assert "touch" not in "".join(line for line in desk.site.read_text().splitlines() if "#" not in line)
    desk.demand_campaign()


# ---- LSF, by stand-ins only


def test_a_probe_on_a_host_that_lsf_does_not_hear_of_is_not_left_behind(desk: Desk) -> None:
    """UNKWN is not an end: the job continues when its host answers again."""
    for name, output in (("bqueues", BQUEUES), ("lshosts", LSHOSTS), ("bhosts", BHOSTS)):
        desk.stand_in(name, output)
    desk.stand_in("bparams", "Default Queues:  normal\n")
    desk.stand_in("bsub", "Job <7> is submitted to queue <normal>.\n")
    desk.stand_in("bjobs", "7|UNKWN|-|probe|-\n")
    desk.stand_in("bkill")
    done = desk.call("doctor", "--time-limit", "2 s")
    assert done.returncode == 0, done.stderr
    assert "probe job 7 had not ended after 2 s (UNKWN) and was cancelled" in done.stdout
    assert "bkill 7" in desk.calls
    desk.demand_nothing_left()


def test_an_lsf_that_does_not_answer(desk: Desk) -> None:
    desk.stand_in("bqueues", script="echo 'LSF is down. Please wait ...' >&2", status=255)
    done = desk.call("doctor")
    assert done.returncode == 2 and "LSF is down" in done.stderr and not desk.site.exists()


# ---- Calls


def test_a_command_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    file = tmp_path / "process"
    answer = call(["bash", "-c", f"sleep 300 & echo $! >'{file}'; wait"], seconds=1)
    assert "did not answer within 1 s" in answer.failure
    wait_until(lambda: not _alive(int(file.read_text())))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_command_that_is_not_there() -> None:
    answer = call(["no-such-command"])
    assert answer.failure == "no-such-command: No such file or directory" and answer.status is None
