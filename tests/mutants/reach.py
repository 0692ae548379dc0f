"""A pytest plugin: which test reaches which line of Python, shell function and C file.

Python: coverage, one context for each test function; in processes that a test starts, too, by a .pth file and
PYTEST_CURRENT_TEST. A fixture shared by several tests has a context of its own; each of its tests is noted.
Shell and C: the copy of the tree is marked, so that what runs writes the test's name to a file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NOTES = os.environ.get("MUTANTS_NOTES", "/dev/null")  # some tests empty the environment
CONTEXT = "PYTEST_CURRENT_TEST"
SHELL_FUNCTION = re.compile(r"^([a-z_]+)\(\) \{(.*)$")
REACHED = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void reached_by_test(void)
{
    const char *test = getenv("PYTEST_CURRENT_TEST");
    FILE *log = test ? fopen("%s", "a") : NULL;
    if (log) {
        fprintf(log, "%%s\\t%s\\n", test);
        fclose(log);
    }
}
"""


def mark_shell(file: Path, name: str, log: Path) -> None:
    """Each function of a shell library notes that it was called."""
    marked = []
    for line in file.read_text().splitlines():
        found = SHELL_FUNCTION.match(line)
        if found and not found[2].rstrip().endswith("}"):
            note = f"printf '%s\\t%s\\n' \"${{{CONTEXT}-}}\" '{name} {found[1]}' >>{log} 2>/dev/null || :"
            line = f"{found[1]}() {{ {note}; {found[2]}"
        marked.append(line)
    file.write_text("\n".join(marked) + "\n")


def mark_c(file: Path, name: str, log: Path) -> None:
    """A program with this file in it notes that it was started."""
    file.write_text(file.read_text() + REACHED % (log, name))


def function_of(test: str) -> str:
    """A test's id without phase and parameters."""
    return test.split(" (")[0].split("[")[0]


def _switch(context: str) -> None:
    import coverage

    current = coverage.Coverage.current()
    if current is not None:
        current.switch_context(context)


@contextmanager
def _within(context: str) -> Iterator[None]:
    before = os.environ.get(CONTEXT, "")
    _switch(context)
    os.environ[CONTEXT] = context
    try:
        yield
    finally:
        os.environ[CONTEXT] = before
        _switch(function_of(before))


def _context_of(fixture: pytest.FixtureDef[Any]) -> str:
    return f"fixture {fixture.baseid}::{fixture.argname}"


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    if fixturedef.scope == "function":
        return (yield)
    with _within(_context_of(fixturedef)):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _switch(function_of(item.nodeid))
    result = yield
    _switch("")
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: Any = yield
    fixtures = [
        _context_of(definitions[-1])
        for definitions in item._fixtureinfo.name2fixturedefs.values()
        if definitions and definitions[-1].scope != "function"
    ]
    line = {"test": item.nodeid, "phase": call.when, "seconds": round(call.duration, 3)}
    line |= {"outcome": report.outcome, "fixtures": fixtures}
    with Path(NOTES).open("a") as notes:
        notes.write(json.dumps(line) + "\n")
    return report
