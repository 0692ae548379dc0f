"""Short commands of a site, such as those of its scheduler: bounded in time, without a terminal to ask on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mpicampaign.base.yaml_lines import printable

SECONDS = 60.0  # a busy controller answers late
# How getopt, Slurm and LSF say that they do not know an option or a field.
_MISUSED = re.compile(
    r"^(usage:|try .*--help)|(unrecognized|unknown|invalid|illegal) (option|field)|not a valid field name",
    re.I | re.M,
)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command printed; ``status`` is None where it did not start or did not end in time."""

    name: str
    status: int | None
    out: str = ""
    err: str = ""

    @property
    def last_line(self) -> str:
        """The last line that it printed, for messages."""
        return next(reversed(self._lines), f"exit status {self.status}")

    @property
    def misused(self) -> bool:
        """Whether it refused its options, as it will each time: its version does not know them."""
        return bool(self.status) and _MISUSED.search(f"{self.out}\n{self.err}") is not None

    @property
    def failure(self) -> str:
        """Why the command is of no use, with lines that it printed; empty where it succeeded.

        They are the last ones, but a usage text has the reason above it.
        """
        if self.status == 0:
            return ""
        end = " / ".join(self._lines[:3] if self.misused else self._lines[-3:])[:300]
        if self.status is None:
            return end
        return f"{self.name} failed with exit status {self.status}" + (f": {end}" if end else "")

    @property
    def _lines(self) -> list[str]:
        lines = f"{self.out}\n{self.err}".splitlines()
        return [printable(line.strip()) for line in lines if line.strip()]


def call(
    command: Sequence[str],
    seconds: float = SECONDS,
    *,
    script: Path | None = None,
    keep_open: Sequence[int] = (),
    without: Callable[[str], bool] = lambda variable: False,
) -> CommandResult:
    """Run a command to its end; after ``seconds`` it is killed, with all processes that it started.

    ``script`` is its standard input. It inherits the file descriptors of ``keep_open``, so that a lock
    lives as long as the command, and our environment, but for variables for which ``without`` is true.
    """
    name = command[0]
    try:
        with (
            (script or Path(os.devnull)).open("rb") as standard_input,
            subprocess.Popen(
                command,
                stdin=standard_input,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                pass_fds=tuple(keep_open),
                env={name: value for name, value in os.environ.items() if not without(name)},
                start_new_session=True,  # Ctrl-C is for us: a submission in progress is finished
            ) as process,
        ):
            out, err = _read(process, seconds)
    except subprocess.TimeoutExpired:
        return CommandResult(name, None, err=f"{name} did not answer within {seconds:g} s")
    except OSError as error:
        return CommandResult(name, None, err=f"{name}: {error.strerror}")
    return CommandResult(name, process.returncode, out, err)


def _read(process: subprocess.Popen[str], seconds: float) -> tuple[str, str]:
    try:
        return process.communicate(timeout=seconds)
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
