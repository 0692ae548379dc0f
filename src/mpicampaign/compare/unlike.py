"""Repeats that are not like each other: other options, versions, libraries, sizes or numbers of nodes.

Such runs are still summarised together, and counted; the note says which are which. What a run does not tell
is compared with nothing. What may differ is not looked at: dates, hosts, job numbers, folders, time limits of
jobs, seeds.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from mpicampaign.compare.findings import Side, Unlike
from mpicampaign.grouping import grouped
from mpicampaign.mpis import library_version
from mpicampaign.suites import program_names
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpicampaign.compare.findings import Note
    from mpicampaign.records import Record, Series

    # What a run tells of each key: parts, of which only those that differ are shown.
    _Facts = Mapping[str, tuple[str, ...]]

# The keys of the metadata that must be alike (docs/method.md), by what a finding calls them.
ALIKE = {
    "benchmark": ("version",),
    "MPI library": ("mpi", "mpi_library", "mpi_library_file", "mpi_version"),
    "modules": ("modules",),
    "options": (
        "options",  # of the program: calling_sequence, arguments, or the end of the command
        *("mpi_datatype", "mpi_datatype_for_reductions"),  # IMB
        *("window_size", "datatype", "window_creation", "synchronization"),  # OSU
        *("pmap", "pfact", "nbmin", "ndiv", "rfact", "bcast"),  # HPL
        *("depth", "swap", "l1", "u", "equil", "align"),
        *("hpl_n", "hpl_nb", "hpl_nprow", "hpl_npcol", "ptrans_n", "ptrans_nb"),  # HPCC
        *("mpirandomaccess_n", "mpifft_n", "dgemm_n", "stream_vectorsize", "stream_threads"),
    ),
    "launch": ("launch", "binding", "slots", "slots_per_node", "settings"),
    "nodes": ("nodes",),
    "message sizes": ("sizes",),
}
# Where they are read from.
_SOURCES = (*(key for keys in ALIKE.values() for key in keys), "command", "calling_sequence", "arguments")
_PARTS = ("modules", "settings")  # words that each stand for themselves
_UNNAMED = ("version", "mpi", "mpi_library", "mpi_library_file", *_PARTS)  # their values say what they are
_FOLDER = re.compile(r"(^|[=:,])/\S*/")
# Options of launchers that name hosts, files, jobs or time limits, each with its value.
_OF_JOB = re.compile(
    r"--?(?:hosts?|H|w|nodelist|f|hostfile|machinefile|wdir|o|output|e|error|J|job-name|jobid|t|time)(?:=.*)?"
)
_MOST = 4  # parts that a note shows of a run


def unlike_notes(curves: Sequence[tuple[Record, Series]]) -> list[Note]:
    """What of the repeats of a row is not alike, with the repeats of each kind."""
    if len({_plain(run, series) for run, series in curves}) < 2:  # as usual, and found fast
        return []
    told = {run.repeat: _facts(run, series) for run, series in curves}
    notes: list[Note] = []
    for what, keys in ALIKE.items():
        different = [key for key in keys if _differs([facts[key] for facts in told.values() if key in facts])]
        if different:
            notes.append(Unlike(what=what, sides=_sides(different, told)))
    return notes


def _plain(run: Record, series: Series) -> tuple[object, ...]:
    """All that is read of a run, as it is."""
    told = map(run.metadata.get, _SOURCES)
    return (*told, run.suite, len(run.hosts), tuple(series.columns.get("size", ())))


def _differs(values: Sequence[tuple[str, ...]]) -> bool:
    return len({frozenset(parts) for parts in values}) > 1


def _sides(keys: Sequence[str], told: Mapping[int, _Facts]) -> tuple[Side, ...]:
    """The repeats by what they alone tell: 1-3 IMB 2019.6, 4-5 IMB 2021.2."""
    common = {key: set.intersection(*(set(f[key]) for f in told.values() if key in f)) for key in keys}
    own = {
        repeat: [part for key in keys for part in facts.get(key, ()) if part not in common[key]]
        for repeat, facts in told.items()
        if any(key in facts for key in keys)
    }
    sides = grouped(own, lambda repeat: (tuple(own[repeat][:_MOST]), max(0, len(own[repeat]) - _MOST)))
    return tuple(Side(tuple(repeats), parts, more) for (parts, more), repeats in sides.items())


def _facts(run: Record, series: Series) -> dict[str, tuple[str, ...]]:
    """What a run tells of the keys that must be alike; those of which it tells nothing are absent."""
    known = {key for keys in ALIKE.values() for key in keys}
    plain = {key: value for key, value in run.metadata.items() if key in known}
    found = {key: _parts(key, value, run) for key, value in plain.items()}
    if run.hosts:
        found["nodes"] = (f"nodes {len(run.hosts)}",)
    if sizes := [size for size in series.columns.get("size", ()) if size is not None]:
        found["sizes"] = tuple(format_size(int(size)) for size in sizes)
    return found | _calls(run.metadata)


def _parts(key: str, value: str, run: Record) -> tuple[str, ...]:
    if key in _PARTS:
        return tuple(_without_folders(value).split())
    if key == "version":
        return (f"{run.case.benchmark if run.suite == 'kernel' else run.suite.upper()} {value}",)
    if key == "mpi_library":
        return (library_version(value) or value,)  # what follows names who built it, and where
    return (value if key in _UNNAMED else f"{key} {value}",)


@cache
def _programs() -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:\S*/)?(?:{program_names()})(?!\S)")


def _calls(metadata: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The options of the program, and those of its launcher."""
    command = metadata.get("command", "")
    program = _programs().search(command)
    found = {"launch": _launch(command[: program.start()])} if program else {}
    if "calling_sequence" in metadata:
        return found | {"options": _options(metadata["calling_sequence"].partition(" ")[2])}
    if "arguments" in metadata:
        return found | {"options": _options(metadata["arguments"])}
    return found | ({"options": _options(command[program.end() :])} if program else {})


def _launch(text: str) -> tuple[str, ...]:
    options = _options(text)
    return tuple(option for option in options if not _OF_JOB.fullmatch(option.split(" ", 1)[0]))


def _options(text: str) -> tuple[str, ...]:
    """Each option with its values, such as ``-msglog 0:24``: their order does not matter."""
    options: list[str] = []
    for word in _without_folders(text).split():
        if word.startswith("-") or not options:
            options.append(word)
        else:
            options[-1] += f" {word}"
    return tuple(options)


def _without_folders(text: str) -> str:
    """The same file may lie in anybody's folder."""
    return " ".join(_FOLDER.sub(r"\1", word) for word in text.split())
