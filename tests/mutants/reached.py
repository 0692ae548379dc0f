"""Runs the quick tests with `reach.py`, and puts together what it noted: lines and seconds of each test."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import sysconfig
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from coverage.numbits import numbits_to_nums

from mutants.reach import function_of, mark_c, mark_shell

SOURCE = re.compile(r".*/(src/(?:mpicampaign|snakemake_executor_plugin_campaign)/.*\.py)$")
Place = tuple[str, int | str]  # a file of Python and a line; a file of shell or C and a function or ""


QUICK = "not full and not soak and not alone"
SETTINGS = """\
[run]
parallel = true
data_file = {folder}/data/c
source_pkgs = mpicampaign, snakemake_executor_plugin_campaign
context = ${{PYTEST_CURRENT_TEST-}}
concurrency = multiprocessing, thread
"""
START = 'import os; os.environ.get("COVERAGE_PROCESS_START") and __import__("coverage").process_startup()'


def run(tree: Path, folder: Path) -> None:
    """The quick tests in a copy of the project, whose shell and C files are marked; some minutes."""
    for file in sorted(tree.glob("templates/**/*.sh")):
        mark_shell(file, str(file.relative_to(tree)), folder / "native.log")
    for file in sorted([*tree.glob("kernels/*.c"), *tree.glob("kernels/[ce]*/*.c")]):
        mark_c(file, str(file.relative_to(tree)), folder / "native.log")
    (folder / "data").mkdir()
    (folder / "settings").write_text(SETTINGS.format(folder=folder))
    paths = os.pathsep.join([str(tree / "src"), str(tree / "tests")])
    variables = {"PYTHONPATH": paths, "COVERAGE_PROCESS_START": str(folder / "settings")}
    variables |= {"MUTANTS_NOTES": str(folder / "notes")}
    start = Path(sysconfig.get_path("purelib")) / "mutants.pth"  # in each process that a test starts, too
    start.write_text(START)
    try:
        command = [sys.executable, "-m", "pytest", "-p", "mutants.reach", "-n", "2", "-m", QUICK]
        subprocess.run(command, cwd=tree, env=os.environ | variables, check=False)
    finally:
        start.unlink()


@dataclass(frozen=True)
class Reached:
    seconds: dict[str, float]
    tests_of: dict[Place, set[str]]
    places_of: dict[str, set[Place]]


def _python(folder: Path) -> dict[str, set[Place]]:
    places = defaultdict(set)
    for path in folder.glob("c.*"):
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute(
                "select file.path, context.context, line_bits.numbits from line_bits"
                " join file on file.id = file_id join context on context.id = context_id"
            )
            for file, context, bits in rows:
                source = SOURCE.match(file)
                test = function_of(context.split("|")[-1])
                if source and test:
                    places[test] |= {(source[1], line) for line in numbits_to_nums(bits)}
    return places


def _foreign(log: Path) -> dict[str, set[Place]]:
    places = defaultdict(set)
    for line in set(log.read_text(errors="replace").splitlines()):
        test, _, place = line.partition("\t")
        if "::" in test and place:
            file, _, name = place.partition(" ")
            places[function_of(test)].add((file, name))
    return places


def read(folder: Path) -> Reached:
    """From the notes of a run: data/ of coverage, native.log, notes."""
    seconds: dict[str, float] = defaultdict(float)
    fixtures: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "notes").read_text().splitlines():
        note = json.loads(line)
        test = function_of(note["test"])
        seconds[test] += note["seconds"]
        fixtures[test].update(note["fixtures"])
    by_context = _python(folder / "data")
    for context, reached in _foreign(folder / "native.log").items():
        by_context[context] |= reached
    places_of = {
        test: set().union(by_context.get(test, ()), *(by_context.get(one, ()) for one in fixtures[test]))
        for test in seconds
    }
    tests_of: dict[Place, set[str]] = defaultdict(set)
    for test, reached in places_of.items():
        for place in reached:
            tests_of[place].add(test)
    return Reached(dict(seconds), dict(tests_of), places_of)
