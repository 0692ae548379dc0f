"""Starts scripts on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

SECONDS_TO_CLEAN_UP = 20


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
        """The number of the process, which the name of its attempt ends in."""
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


def printed_by_script(text: str, seconds: float) -> str:
    """What the text of a shell script prints; empty where it does not start or does not end in time."""
    command = ["timeout", "--kill-after=2", str(seconds), "bash"]
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""
