"""Starts job scripts on this machine, and Snakemake."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
import subprocess
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from mpicampaign.execution.quiet_snakemake import snakemake_process
from mpicampaign.interrupts import EXIT_SIGNALLED, SIGNALS
from mpicampaign.places import shipped, working_folder
from mpicampaign.this_machine import measuring_lock, who_measures

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECONDS_TO_CLEAN_UP = 20
SECONDS_BETWEEN_LOOKS = 0.1


class LocalJob:
    """A job script on this machine, in a session of its own: Ctrl-C in the terminal does not reach it."""

    def __init__(self, script: Path, log_file: Path) -> None:
        with log_file.open("ab") as log:
            self._process = subprocess.Popen(
                ["bash", str(script)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def id(self) -> str:
        """As its attempt is named."""
        return str(self._process.pid)

    def wait(self) -> int:
        """Wait for the script's end; returns its exit status."""
        return self._process.wait()

    def stop(self) -> None:
        """Ask the script to end: it stops its ranks and keeps its files as a failed attempt."""
        with suppress(ProcessLookupError):
            self._process.terminate()
        _wait_or_kill(self._process)


def _wait_or_kill(process: subprocess.Popen[Any]) -> None:
    """Wait for the end of a process that was asked to end; after a while kill its whole group."""
    try:
        process.wait(SECONDS_TO_CLEAN_UP)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def wait_for_measurement(say: Callable[[str], None], stop: Callable[[], bool] = lambda: False) -> None:
    """Return when no job script holds the machine; before a wait, ``say`` gets one message."""
    lock, announced = measuring_lock(), False
    while _is_held(lock) and not stop():
        if not announced:
            say(f"waiting for another measurement on this machine to end: {who_measures(lock)}")
            announced = True
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _is_held(lock: Path) -> bool:
    try:
        folder = os.open(lock, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False  # as long as no job script has made it; one that cannot open it says so
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(folder)
    return False


def run_script(text: str) -> int:
    """Run the text of a shell script with our own output; returns its exit status.

    All that it starts is one process group: at a signal to this process it ends as a whole.
    """
    with subprocess.Popen(["bash", "-s"], stdin=subprocess.PIPE, text=True, start_new_session=True) as script:
        try:
            script.communicate(text)
        except KeyboardInterrupt:
            with suppress(ProcessLookupError):
                os.killpg(script.pid, signal.SIGTERM)
            _wait_or_kill(script)
            raise
    return script.returncode


def run_snakemake(profile: str, arguments: list[str], *, verbose: bool = False, report: bool = True) -> int:
    """Run Snakemake in the working folder, in a copy of this process; its exit status (or `busy.LEFT_OUT`).

    ``report``: whether it makes the report, too.

    A signal to this process is passed on, and Snakemake is waited for: the next call must not meet one that
    is still ending. Ctrl-C reaches Snakemake twice; only the first counts.
    """
    ours = ["--snakefile", str(shipped("Snakefile"))]
    ours += ["--verbose"] * verbose + ["--nocolor"] * bool(os.environ.get("NO_COLOR"))
    work = partial(snakemake_process, _profile(profile), [*ours, *arguments], working_folder(), report)
    process = multiprocessing.get_context("fork").Process(target=work)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # also its own, until it can handle them
    process.start()

    def pass_on(number: int, _: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(process.pid or 0, number)

    handled = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, pass_on) for number in handled}
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    process.join()
    code = 1 if process.exitcode is None else process.exitcode  # unknown is no success
    status = code if code >= 0 else 128 - code
    for number, handler in before.items():  # a second signal does not cut the end short
        signal.signal(number, signal.SIG_IGN if status in EXIT_SIGNALLED else handler)
    return status


def _profile(name: str) -> str:
    """A profile in the working folder, else the shipped one, else one that Snakemake finds."""
    ours = shipped(name)
    return str(ours) if ours.is_dir() and not (working_folder() / name).exists() else name
