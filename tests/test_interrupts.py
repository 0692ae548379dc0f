"""Ctrl-C and SIGTERM, sent once or twice, end a campaign in order, with the exit status of the signal."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from build_campaigns import write_trivial
from conftest import ProjectCopy, wait_until
from default_signals import popen_with_default_signals

pytestmark = pytest.mark.slow

COMMANDS = {
    "run": ["-m", "mpicampaign.cli", "run", "--campaign", "trivial.yaml"],
    "tick": ["-m", "mpicampaign.cli", "tick", "trivial.yaml"],
    "snakemake": ["-m", "snakemake", "--config", "campaign=trivial.yaml"],
}

INT, TERM = signal.SIGINT, signal.SIGTERM
CASES = [  # any two of command, signal and number of signals meet
    ("run", TERM, 2),
    ("snakemake", INT, 1),
    *(pytest.param(*case, marks=pytest.mark.full) for case in (("run", INT, 1), ("snakemake", TERM, 2))),
    *(pytest.param("tick", *case, marks=pytest.mark.full) for case in ((INT, 2), (TERM, 1))),
]


def started(project: ProjectCopy, command: str, log: Path) -> subprocess.Popen[bytes]:
    """A campaign whose second run waits for a file; it is in that run."""
    done, go_on = project.folder / "done", project.folder / "go on"
    body = f'[ -e "{done}" ] || {{ touch "{done}"; SLOW=no; }}\n'
    body += f'[ -n "$SLOW" ] || while [ ! -e "{go_on}" ]; do sleep 0.05; touch "{done}.second"; done'
    write_trivial(project, body=body, schedule={"every": "1 d", "series": "repeats"})
    process = called(project, command, log)
    wait_until(done.with_name("done.second").exists)
    return process


def called(project: ProjectCopy, command: str, log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as out:
        return popen_with_default_signals(
            [sys.executable, *COMMANDS[command]],
            cwd=project.folder,
            env=project.environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )


@pytest.mark.parametrize(("command", "number", "times"), CASES)
def test_a_signal_ends_a_campaign_in_order(
    project: ProjectCopy, command: str, number: signal.Signals, times: int, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    process = started(project, command, log)
    for _ in range(times):
        process.send_signal(number)
        time.sleep(0.3)
    assert process.wait(240) == 128 + number, log.read_text()
    assert "Traceback" not in log.read_text()
    assert "KeyboardInterrupt" not in log.read_text()
    assert len(project.results("trivial")) == 1
    attempts = list((project.folder / "results/trivial").glob("runs/*/*/*/*/attempt-*.txt"))
    assert ["interrupted by signal 15" in path.read_text() for path in attempts] == [True]
    (project.folder / "go on").touch()
    project.succeed("run", "--campaign", "trivial.yaml")
    assert len(project.results("trivial")) == 4


# Ctrl-C while a module is looked for.
IMPORTING = """
import os, signal, sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupted())
from mpicampaign.cli import main; main()
"""


def test_an_import_that_is_interrupted_ends_without_a_traceback() -> None:
    command = [sys.executable, "-c", IMPORTING, "mpicampaign.cli.call"]
    process = popen_with_default_signals(command, stderr=subprocess.PIPE)
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == -signal.SIGINT


TWICE = """
import os, signal, time
from mpicampaign.base.interrupts import end_in_order
end_in_order()
try:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
except KeyboardInterrupt:
    os.kill(os.getpid(), signal.SIGINT)
    print("all ended")
"""


def test_a_second_signal_does_not_cut_the_end_short() -> None:
    process = popen_with_default_signals([sys.executable, "-c", TWICE], stdout=subprocess.PIPE)
    assert process.communicate(timeout=60)[0] == b"all ended\n"
    assert process.returncode == 128 + signal.SIGTERM
