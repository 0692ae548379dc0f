"""Repeats that are not like each other: other options, versions, libraries, sizes or numbers of nodes.

They are summarised together and counted all the same; a note says which differ. A key that a run did not
record is compared with nothing. Dates, hosts, job numbers, folders, time limits of jobs and seeds may differ.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from mpicampaign.base.grouping import grouped
from mpicampaign.base.units import format_size
from mpicampaign.compare.findings import AlikeRepeats, Unlike
from mpicampaign.mpis import library_version
from mpicampaign.suites import SUITES, program_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpicampaign.base.records import Record, Series
    from mpicampaign.compare.findings import Note

    # What a run recorded under each key: parts, of which only those that differ are shown.
    _Facts = Mapping[str, tuple[str, ...]]

# The keys of the metadata that must be alike (docs/statistics.md), by what a finding calls them. Those of a
# suite are among the options.
ALIKE = {
    "benchmark": ("version",),
    "MPI library": ("mpi", "mpi_library", "mpi_library_file", "mpi_version"),
    "modules": ("modules",),
    "options": ("options",),  # of the program: calling_sequence, arguments, or the end of the command
    "launch": ("launch", "binding", "slots", "slots_per_node", "settings"),
    "start of the ranks": ("process",),
    "nodes": ("nodes",),
    "message sizes": ("sizes",),
}
_CALLS = ("command", "calling_sequence", "arguments")  # from which options and launch are read
_PARTS = ("modules", "settings", "process")  # tokens that are compared one by one
_UNNAMED = ("version", "mpi", "mpi_library", "mpi_library_file", *_PARTS)  # shown without their key
_FOLDER = re.compile(r"(^|[=:,])/\S*/")
# Options of launchers that name hosts, files, jobs or time limits, each with its value.
_OF_JOB = re.compile(
    r"--?(?:hosts?|H|w|nodelist|f|hostfile|machinefile|wdir|o|output|e|error|J|job-name|jobid|t|time)(?:=.*)?"
)
_MOST = 4  # parts that a note shows of a run


def inconsistency_notes(curves: Sequence[tuple[Record, Series]]) -> list[Note]:
    """What differs between the repeats of a row, with the repeats of each kind."""
    if len({_plain(run, series) for run, series in curves}) < 2:  # as usual, and found fast
        return []
    recorded = {run.repeat: _facts(run, series) for run, series in curves}
    notes: list[Note] = []
    for what, keys in _alike(curves[0][0].suite).items():
        of = {key: {frozenset(facts[key]) for facts in recorded.values() if key in facts} for key in keys}
        different = [key for key in keys if len(of[key]) > 1]
        if different:
            notes.append(Unlike(what=what, sides=_sides(different, recorded)))
    return notes


@cache
def _alike(suite: str) -> dict[str, tuple[str, ...]]:
    """The keys that must be alike, those of the suite among the options."""
    own = found.options if (found := SUITES.get(suite)) else ()
    return {what: (*keys, *own) if what == "options" else keys for what, keys in ALIKE.items()}


@cache
def _keys(suite: str) -> tuple[str, ...]:
    return tuple(key for keys in _alike(suite).values() for key in keys)


def _plain(run: Record, series: Series) -> tuple[object, ...]:
    """All that is read of a run, as it is."""
    recorded = map(run.metadata.get, (*_keys(run.suite), *_CALLS))
    return (*recorded, run.suite, len(run.hosts), tuple(series.columns.get("size", ())))


def _sides(keys: Sequence[str], recorded: Mapping[int, _Facts]) -> tuple[AlikeRepeats, ...]:
    """The repeats by what they alone have: 1-3 IMB 2019.6, 4-5 IMB 2021.2."""
    common = {key: set.intersection(*(set(f[key]) for f in recorded.values() if key in f)) for key in keys}
    own = {
        repeat: [part for key in keys for part in facts.get(key, ()) if part not in common[key]]
        for repeat, facts in recorded.items()
        if any(key in facts for key in keys)
    }
    sides = grouped(own, lambda repeat: (tuple(own[repeat][:_MOST]), max(0, len(own[repeat]) - _MOST)))
    return tuple(AlikeRepeats(tuple(repeats), parts, more) for (parts, more), repeats in sides.items())


def _facts(run: Record, series: Series) -> dict[str, tuple[str, ...]]:
    """What a run recorded under the keys that must be alike; other keys are absent."""
    known = [key for key in _keys(run.suite) if key in run.metadata]
    facts = {key: _parts(key, run.metadata[key], run) for key in known}
    if run.hosts:
        facts["nodes"] = (f"nodes {len(run.hosts)}",)
    if sizes := [size for size in series.columns.get("size", ()) if size is not None]:
        facts["sizes"] = tuple(format_size(int(size)) for size in sizes)
    return facts | _calls(run.metadata)


def _parts(key: str, value: str, run: Record) -> tuple[str, ...]:
    if key in _PARTS:
        return tuple(_without_folders(value).split())
    if key == "version":
        return (f"{_versioned(run)} {value}",)
    if key == "mpi_library":
        return (library_version(value) or value,)  # what follows names who built it, and where
    return (value if key in _UNNAMED else f"{key} {value}",)


def _versioned(run: Record) -> str:
    """What has the version: the suite, or each of its programs."""
    suite = SUITES.get(run.suite)
    if suite is None:
        return run.suite
    return run.case.benchmark if suite.versions else suite.called


@cache
def _programs() -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:\S*/)?(?:{program_names()})(?!\S)")


def _calls(metadata: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The options of the program, and those of its launcher."""
    command = metadata.get("command", "")
    program = _programs().search(command)
    launcher = _options(command[: program.start()]) if program else ()
    launch = tuple(option for option in launcher if not _OF_JOB.fullmatch(option.split(" ", 1)[0]))
    found = {"launch": launch} if program else {}
    if "calling_sequence" in metadata:
        return found | {"options": _options(metadata["calling_sequence"].partition(" ")[2])}
    if "arguments" in metadata:
        return found | {"options": _options(metadata["arguments"])}
    return found | ({"options": _options(command[program.end() :])} if program else {})


def _options(text: str) -> tuple[str, ...]:
    """Each option with its values, such as ``-msglog 0:24``: their order does not matter."""
    options: list[str] = []
    for token in _without_folders(text).split():
        if token.startswith("-") or not options:
            options.append(token)
        else:
            options[-1] += f" {token}"
    return tuple(options)


def _without_folders(text: str) -> str:
    """The same file may lie in anybody's folder."""
    return " ".join(_FOLDER.sub(r"\1", token) for token in text.split())
