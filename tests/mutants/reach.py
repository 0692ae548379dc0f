"""Which test reaches which line of Python, and which file of shell and C; as a plugin of pytest, too.

Python: coverage, one context for each test function, also in processes that a test starts. What a fixture of
several tests reaches counts for all tests of its file or folder. Shell and C: the copy of the tree is marked,
so that what runs writes the test's name to a file.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import coverage
import pytest
from coverage.numbits import numbits_to_nums

from mutants.plant import NATIVE

TEST = "PYTEST_CURRENT_TEST"  # in the environment
QUICK = "not full and not soak and not alone"
SETTINGS = f"""\
[run]
parallel = true
data_file = {{}}/data/c
patch = subprocess
source_pkgs = mpicampaign
context = ${{{{{TEST}-}}}}
concurrency = multiprocessing, thread
"""
MARK_OF_SHELL = rf"""\g<0> printf '%%s\\t%s\\n' "${{{TEST}-}}" >>%s 2>/dev/null || :;"""
MARK_OF_C = f"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void reached_by_test(void)
{{
    const char *test = getenv("{TEST}");
    FILE *log = test ? fopen("%s", "a") : NULL;
    if (log) {{
        fprintf(log, "%%s\\t%s\\n", test);
        fclose(log);
    }}
}}
"""


def function_of(test: str) -> str:
    """A test's id without phase and parameters."""
    return test.split("|")[-1].split(" (")[0].split("[")[0]


def _switch(context: str) -> None:
    os.environ[TEST] = context
    if current := coverage.Coverage.current():
        current.switch_context(context)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    test = os.environ[TEST]
    _switch(function_of(test) if fixturedef.scope == "function" else fixturedef.baseid)
    try:
        return (yield)
    finally:
        _switch(function_of(test))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    test, began = function_of(item.nodeid), time.monotonic()
    _switch(test)
    result = yield
    with Path(os.environ["MUTANTS_SECONDS"]).open("a") as file:
        file.write(f"{time.monotonic() - began:.3f} {test}\n")
    return result


def run(tree: Path, folder: Path) -> None:
    """The quick tests in a copy of the project, whose shell functions and programs note who called them."""
    for file in (file for pattern in NATIVE for file in tree.glob(pattern)):
        text, name, log = file.read_text(), file.relative_to(tree), folder / "native"
        if file.suffix == ".c":
            file.write_text(text + MARK_OF_C % (log, name))
        else:
            file.write_text(re.sub(r"(?m)^[a-z_]+\(\) \{(?!.*\}$)", MARK_OF_SHELL % (name, log), text))
    (folder / "data").mkdir()
    (folder / "settings").write_text(SETTINGS.format(folder))
    paths = {"PYTHONPATH": f"{tree}/src:{tree}/tests", "MUTANTS_SECONDS": str(folder / "seconds")}
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={folder}/settings", "-m", "pytest"]
    command += ["-p", "mutants.reach", "-n", "2", "-m", QUICK]
    subprocess.run(command, cwd=tree, env=os.environ | paths, check=False)


class Reached:
    """From the notes of a run; a file of shell or C is reached in line 0."""

    def __init__(self, folder: Path) -> None:
        reached = defaultdict[str, set[tuple[str, int]]](set)
        for test, *place in _places(folder):
            reached[test].add((place[0], place[1]))
        self.seconds = defaultdict[str, float](float)
        for line in (folder / "seconds").read_text().splitlines():
            took, _, test = line.partition(" ")
            self.seconds[test] += float(took)
        self._places = {
            test: reached[test] | reached[test.partition("::")[0]] | reached["tests"] for test in self.seconds
        }
        self.lines = {test: len(places) for test, places in self._places.items()}

    def tests_of(self, file: str, line: int) -> set[str]:
        """Those that reach this line; for one that is run at import, those that reach any of its file."""
        at = {test for test, places in self._places.items() if (file, line) in places}
        return at or {
            test for test, places in self._places.items() if any(name == file for name, _ in places)
        }


def _places(folder: Path) -> Iterator[tuple[str, str, int]]:
    """Each test, or the file or folder of a fixture, with what it reached."""
    for path in folder.glob("data/c.*"):
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute(
                "select file.path, context.context, line_bits.numbits from line_bits"
                " join file on file.id = file_id join context on context.id = context_id"
            )
            for file, context, bits in rows:
                source = file[file.rindex("/src/") + 1 :]
                yield from ((function_of(context), source, line) for line in numbits_to_nums(bits))
    for line in set((folder / "native").read_text(errors="replace").splitlines()):
        test, _, file = line.partition("\t")
        if "::" in test:
            yield function_of(test), file, 0
