"""What `reach.py` noted, put together: for each test function its lines, its seconds and its foreign files."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from coverage.numbits import numbits_to_nums

from mutants.reach import function_of

SOURCE = re.compile(r".*/(src/(?:mpicampaign|snakemake_executor_plugin_campaign)/.*\.py)$")
Place = tuple[str, int | str]  # a file of Python and a line; a file of shell or C and a function or ""


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
