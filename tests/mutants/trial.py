"""Runs tests against one planted mutant, in a fork of a process that has imported all other packages."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutants.plant import Mutant
from mutants.reach import function_of

PACKAGES = (
    "pytest",
    "hypothesis",
    "numpy",
    "yaml",
    "jinja2",
    "svglib.svglib",
    "pyarrow.parquet",
    "jsonschema",
)
LIMIT = 90.0  # seconds for all tests of a mutant; one that hangs is killed by the test that runs then


class _Killers:
    """Notes each test before it runs, and that it failed."""

    def __init__(self, notes: Path) -> None:
        self.notes = notes

    def _note(self, *words: str) -> None:
        with self.notes.open("a") as file:
            file.write(json.dumps(words) + "\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._note("began", nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._note("failed", report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._note("ended", "")


@dataclass(frozen=True)
class Tree:
    """A worker's copy of the project, with kernels of its own."""

    folder: Path

    def killers(self, mutant: Mutant, tests: Sequence[str], first_only: bool) -> list[str]:
        """Those of the tests that fail with the mutant planted; the file is as before afterwards."""
        file = self.folder / mutant.file
        source, stamp = file.read_text(), file.stat()
        notes = self.folder.with_suffix(".notes")
        notes.unlink(missing_ok=True)
        file.write_text(mutant.planted(source))
        try:
            hung = not self._run(tests, first_only, notes)
        finally:
            file.write_text(source)
            if file.suffix == ".py":  # its bytecode is that of this time; make builds again
                os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        said = [json.loads(line) for line in notes.read_text().splitlines()] if notes.is_file() else []
        killers = [function_of(test) for word, test in said if word == "failed"]
        if hung and said:
            killers.append(function_of(said[-1][1]))
        elif not said or said[-1][0] != "ended" or not any(word == "began" for word, _ in said):
            killers.append("tests/conftest.py::collection")  # the package cannot be imported any more
        return sorted(set(killers))

    def _run(self, tests: Sequence[str], first_only: bool, notes: Path) -> bool:
        child = os.fork()
        if child == 0:
            try:
                self._call_pytest(tests, first_only, notes)
            finally:
                os._exit(0)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if os.waitpid(child, os.WNOHANG)[0]:
                return True
            time.sleep(0.02)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return False

    def _call_pytest(self, tests: Sequence[str], first_only: bool, notes: Path) -> None:
        import pytest

        os.setsid()
        with self.folder.with_suffix(".log").open("w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        os.chdir(self.folder)
        paths = [str(self.folder / "src"), str(self.folder / "tests")]
        sys.path[:0] = paths
        sys.dont_write_bytecode = True
        os.environ |= {
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPICAMPAIGN_TEST_KERNELS": str(self.folder.with_suffix(".kernels")),
        }
        scratch = self.folder.with_suffix(".scratch")
        options = ["-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={scratch}"]
        pytest.main([*options, *(["-x"] if first_only else []), *tests], plugins=[_Killers(notes)])


def copy_of(project: Path, folder: Path) -> Tree:
    """A copy of what git knows of the project and of what is new in it."""
    left_out = shutil.ignore_patterns(
        ".git", ".venv", "__pycache__", "results", "build", ".*_cache", ".hypothesis"
    )
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(project, folder, ignore=left_out, symlinks=True)
    folder.with_suffix(".kernels").mkdir(exist_ok=True)
    return Tree(folder)


def import_packages() -> None:
    for name in PACKAGES:
        with suppress(ImportError):
            importlib.import_module(name)
