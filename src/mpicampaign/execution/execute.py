"""The only place that starts processes: job scripts on this machine, and Snakemake itself."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from mpicampaign.execution.interrupts import SIGNALS
from mpicampaign.places import shipped, working_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECONDS_TO_CLEAN_UP = 20
SECONDS_BETWEEN_LOOKS = 0.1


class LocalJob:
    """One job script that runs on this machine, in a session of its own so that only we signal it."""

    def __init__(self, script: Path, log_file: Path) -> None:
        with log_file.open("ab") as log:
            self._process = subprocess.Popen(
                ["bash", str(script)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> int:
        """The script's exit status, when it has ended."""
        return self._process.wait()

    def stop(self) -> None:
        """Ask the script to end; it stops its ranks and keeps what it has as a failed attempt."""
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(SECONDS_TO_CLEAN_UP)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


def wait_for_measurement(
    lock: Path, say: Callable[[str], None], stop: Callable[[], bool] = lambda: False
) -> None:
    """Return when no job script holds the machine; before a wait, ``say`` is told whom it is for."""
    told = False
    while _is_held(lock) and not stop():
        if not told:
            say(lock.read_text(encoding="utf-8", errors="replace").strip())
            told = True
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _is_held(lock: Path) -> bool:
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def run_script(text: str) -> int:
    """A shell script given as text, with our own output; its exit status."""
    return subprocess.run(["bash", "-s"], input=text, text=True, check=False).returncode


def run_snakemake(profile: str, arguments: list[str]) -> int:
    """Snakemake of this very environment, in the working folder; its exit status.

    A signal that ends this process is handed on, and Snakemake waited for: a call that follows must
    not meet one that is still ending. Ctrl-C reaches it twice; it takes notice of the first only.
    """
    ours = ["--snakefile", str(shipped("Snakefile")), "--profile", _profile(profile)]
    # -P: a file of the user's that is called like a Python module is none
    command = [sys.executable, "-P", "-m", "snakemake", *ours, *arguments]
    process = subprocess.Popen(command, cwd=working_folder())

    def hand_on(number: int, _: object) -> None:
        with suppress(ProcessLookupError):
            process.send_signal(number)

    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, hand_on)
    status = process.wait()
    return status if status >= 0 else 128 - status


def _profile(name: str) -> str:
    """A profile in the working folder, else the shipped one, else what Snakemake finds by this name."""
    found = shipped(name)
    return str(found) if found.is_dir() and not (working_folder() / name).exists() else name
