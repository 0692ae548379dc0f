"""Calls of a site's own commands for the doctor: short, bounded in time, without input."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.yaml_lines import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """What a command printed; ``failure`` says in words why it is of no use, and is empty where it is."""

    output: str
    failure: str = ""
    status: int | None = 0


def call(command: Sequence[str], seconds: float = SECONDS) -> CommandOutput:
    """A command's answer; with all that it started it is ended after so many seconds."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return CommandOutput("", f"{command[0]}: {error.strerror}", None)
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return CommandOutput("", f"{command[0]} did not answer within {seconds:g} s", None)
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return CommandOutput(
        output, _failure(command[0], process.returncode, f"{errors}\n{output}"), process.returncode
    )


def _failure(name: str, status: int, words: str) -> str:
    if status == 0:
        return ""
    told = [printable(line.strip()) for line in words.splitlines() if line.strip()]
    return f"{name} failed with exit status {status}" + (f": {' / '.join(told[-3:])[:300]}" if told else "")
