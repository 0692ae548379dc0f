"""How tests use the stand-in: start it, disturb it, look into it, and end all its jobs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

COMMANDS = Path(__file__).resolve().parent


class StandIn:
    """A state folder of the stand-in, and its commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def __enter__(self) -> StandIn:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for path in self.folder.glob("jobs/[0-9]*"):
            with suppress(FileNotFoundError, KeyError, ValueError):
                self.crash(path.name)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def environment(self) -> dict[str, str]:
        path = f"{COMMANDS}:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "LSF_STANDIN_STATE": str(self.folder)}

    def call(
        self, command: str, *arguments: str, given: str = "", cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(COMMANDS / command), *arguments],
            input=given,
            cwd=cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def configure(self, **values: Any) -> None:
        path = self.folder / "config.json"
        before = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(before | values))

    def hold(self, held: bool = True) -> None:
        """Dispatch no job until further notice."""
        if held:
            (self.folder / "hold").touch()
        else:
            (self.folder / "hold").unlink()

    def show(self, number: str, state: str = "") -> None:
        """Let bjobs show this state for a job; its own again without one."""
        shown = self.folder / "jobs" / number / "shown"
        if state:
            shown.write_text(state)
        else:
            shown.unlink()

    def crash(self, number: str) -> None:
        """A job whose host died: its processes are gone at once, without a trap."""
        state = json.loads((self.folder / "jobs" / number / "state.json").read_text())
        if state["stat"] in ("DONE", "EXIT"):
            return
        for process in (state["runner"], state.get("process")):
            with suppress(ProcessLookupError):
                if process:
                    os.killpg(process, signal.SIGKILL)

    def bjobs_fails(self, text: str = "") -> None:
        """Let bjobs fail with this message; work again without one."""
        failure = self.folder / "bjobs.fails"
        if text:
            failure.write_text(text)
        else:
            failure.unlink()

    def bsub_fails_once(self, text: str) -> None:
        (self.folder / "bsub.fails").write_text(text)

    def listed(self, number: str) -> list[str]:
        """Id, state, reason of the end and name, as bjobs has them; empty for a job that is not known."""
        layout = "jobid stat exit_reason job_name delimiter='|'"
        done = self.call("bjobs", "-a", "-noheader", "-o", layout, number)
        return done.stdout.splitlines()[0].split("|") if done.stdout else []

    def wait(self, number: str, state: str) -> list[str]:
        deadline = time.monotonic() + 240
        while (found := self.listed(number))[1:2] != [state]:
            assert time.monotonic() < deadline, f"job {number} is not {state}: {found}"
            time.sleep(0.05)
        return found

    @property
    def submitted(self) -> list[tuple[str, str]]:
        """Id and name of each job that was taken, in their order."""
        with suppress(FileNotFoundError):
            lines = (self.folder / "submitted.txt").read_text().splitlines()
            return [(line.split()[0], line.split()[1]) for line in lines]
        return []

    @property
    def queries(self) -> int:
        with suppress(FileNotFoundError):
            return (self.folder / "queries.txt").read_text().count("\n")
        return 0
