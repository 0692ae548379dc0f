"""Notes on a row's runs and values: why some are left out, and what is doubtful.

Repeats that are not like each other have other options, versions, libraries, sizes or numbers of nodes. They
are summarised together and counted all the same; a note says which differ. A key that a run did not record is
compared with nothing. Dates, hosts, job numbers, folders, time limits of jobs and seeds may differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import (
    CHOSEN_TRANSPORT,
    CONTRADICTED,
    DECLARED,
    DISTURBED,
    IN_PART,
    OK,
    OVERSUBSCRIBED,
    QUOTED,
    REQUESTED_GROUP,
    SETTINGS_FILES,
    STATE,
    UNREAD,
    UNVERIFIED,
    VERIFIED,
    WITHOUT_LOCK,
    Record,
    Series,
)
from mpicampaign.base.units import format_size
from mpicampaign.compare import findings
from mpicampaign.compare.findings import (
    AlikeRepeats,
    Elsewhere,
    Note,
    Recorded,
    Shorter,
    Tail,
    Unlike,
    Unsettled,
    end_of,
)
from mpicampaign.compare.metrics import cut_repeats, ends_early, stopped_at
from mpicampaign.compare.metrics import end_of as last_size
from mpicampaign.mpis import library_version
from mpicampaign.questions.machine import find_causes as machine_causes
from mpicampaign.suites import SUITES, program_names

_Facts = Mapping[str, tuple[str, ...]]

_REPORTED = (
    (findings.QUOTED, QUOTED),
    (findings.SHORTENED, findings.SHORTENED),
    (findings.CHOSEN, CHOSEN_TRANSPORT),
    (findings.SHARING, OVERSUBSCRIBED),
    (findings.OTHER_STATE, STATE),
    (findings.WITHOUT_LOCK, WITHOUT_LOCK),
    (findings.SLOW_CLOCK, machine_causes.SLOW_CLOCK),
    (findings.SLOW_MEMORY, machine_causes.SLOW_MEMORY),
)
_NO_SERIES = Recorded(kind=findings.NOT_PRINTED, reason="the output has no such series")
NOTHING = "nothing"  # a budget that allowed all
WIDE = 0.1  # a tail of samples that is worth a note


def run_notes(runs: Sequence[Record], curves: Sequence[tuple[Record, Series]]) -> tuple[Note, ...]:
    """Why runs are left out or not verified, each reason once with its repeats, and which had not settled."""
    with_values = {id(run) for run, _ in curves}
    repeats: dict[Note, list[int]] = {}
    for run in runs:
        for doubt in _doubts(run, id(run) in with_values):
            repeats.setdefault(doubt, []).append(run.repeat)
    notes = [replace(doubt, repeats=tuple(of_doubt)) for doubt, of_doubt in repeats.items()]
    notes += _disturbed_notes(runs)
    return (*sorted(notes, key=lambda note: findings.KINDS.index(note.kind)), *_convergence_notes(curves))


def value_notes(runs: Iterable[Record], curves: Sequence[tuple[Record, Series]]) -> tuple[Note, ...]:
    """What is doubtful in a row's values."""
    of_curves = (*inconsistency_notes(curves), *_cut_notes(curves), *_reported_notes(curves))
    return (*of_curves, *_elsewhere_notes(runs))


def _doubts(run: Record, has_values: bool) -> list[Note]:
    """Why a run is left out, or not verified."""
    if run.status != OK:
        return [Recorded(kind=end_of(run), reason=run.reason.removeprefix(UNREAD))]
    reasons = "; ".join(run.verdict_reasons)
    if run.verdict == CONTRADICTED:
        return [Recorded(kind=CONTRADICTED, reason=reasons)]
    if run.earlier:
        return [Recorded(kind=findings.EARLIER, reason=run.earlier)]
    notes: list[Note] = [] if has_values else [_NO_SERIES]
    if run.verdict == DECLARED:
        return [*notes, Recorded(kind=DECLARED, reason=run.verdict_reasons[0])]
    return notes if run.verdict == VERIFIED else [*notes, Recorded(kind=UNVERIFIED, reason=reasons)]


def _disturbed_notes(runs: Iterable[Record]) -> list[Note]:
    """One note for all disturbed runs: the reasons differ in their numbers, and each run has its own."""
    disturbed = [run for run in runs if run.sound and run.disturbed]
    reasons = list(dict.fromkeys(run.condition_reason for run in disturbed))
    if not disturbed:
        return []
    more = f"; and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    repeats = tuple(run.repeat for run in disturbed)
    return [Recorded(kind=DISTURBED, reason=reasons[0] + more, repeats=repeats)]


def _convergence_notes(curves: Sequence[tuple[Record, Series]]) -> list[Note]:
    """Repeats whose samples had not settled when the time for some size was spent, and how wide they are."""
    unsettled = [(run, series) for run, series in curves if 0 in series.columns.get("converged", [])]
    repeats = tuple(run.repeat for run, _ in unsettled)
    notes: list[Note] = []
    if unsettled:
        widest = max((point for _, series in unsettled for point in _widths(series)), default=None)
        known = widest and Unsettled(width=widest[0], size=widest[1], repeats=repeats)
        notes.append(known or Note(kind=findings.NOT_CONVERGED, repeats=repeats))
    tails = [(run.repeat, point) for run, series in curves for point in _tails(series) if point[0] > WIDE]
    if tails:
        longest = max(point for _, point in tails)
        repeats = tuple(dict.fromkeys(repeat for repeat, _ in tails))
        notes.append(Tail(above=longest[0], size=longest[1], repeats=repeats))
    return notes


def _widths(series: Series) -> list[tuple[float, int]]:
    """Width and size (B) wherever the samples had not settled; runs of older versions have no widths."""
    columns = (series.columns.get(name, []) for name in ("converged", "width", "size"))
    return [
        (width, int(size))
        for converged, width, size in zip(*columns, strict=False)
        if converged == 0 and width is not None and size is not None
    ]


def _tails(series: Series) -> list[tuple[float, int]]:
    """By how much the 99th percentile of the samples exceeds their median, and the size (B)."""
    columns = (series.columns.get(name, []) for name in ("time_p50", "time_p99", "size"))
    return [
        (high / middle - 1, int(size))
        for middle, high, size in zip(*columns, strict=False)
        if middle and high is not None and size is not None
    ]


def _reported_notes(curves: Sequence[tuple[Record, Series]]) -> list[Note]:
    """What the time did not allow, how many ranks shared how many cores, and what the machine was like."""
    reported = [(kind, run.metadata.get(key), run.repeat) for kind, key in _REPORTED for run, _ in curves]
    return [
        Recorded(kind=kind, reason=what, repeats=tuple(repeat for *_, repeat in same))
        for (kind, what), same in grouped(reported, lambda entry: entry[:2]).items()
        if what and (kind, what) != (findings.SHORTENED, NOTHING)
    ]


def _cut_notes(curves: Iterable[tuple[Record, Series]]) -> list[Note]:
    """One finding for each size at which such repeats end or were given up, even in all of them."""
    known = [(run, series) for run, series in curves if ends_early(run)]
    cut = cut_repeats(known)
    ends = {
        run.repeat: _shorter(run, last_size(series))
        for run, series in known
        if run.repeat in cut or stopped_at(series) is not None
    }
    alike = grouped(ends, ends.__getitem__)
    return [replace(shorter, repeats=tuple(repeats)) for shorter, repeats in alike.items()]


def _shorter(run: Record, end: int) -> Shorter:
    suite, printed = SUITES[run.suite], run.metadata.get("not_measured", "")
    given_up = tuple(reason for reason in suite.given_up if reason in printed)
    return Shorter(end=end, given_up=given_up, may_be_cut=not suite.closing_line or IN_PART in run.metadata)


def _elsewhere_notes(runs: Iterable[Record]) -> list[Note]:
    """Imported repeats whose job asked for another host group than that of the hosts it ran on."""
    by_group = grouped(runs, lambda run: run.metadata.get(REQUESTED_GROUP, ""))
    return [
        Elsewhere(requested=group, repeats=tuple(run.repeat for run in of_group))
        for group, of_group in by_group.items()
        if group
    ]


# Repeats that are not like each other


# The keys of the metadata that must be alike (docs/statistics.md), by what a finding calls them. Those of a
# suite are among the options.
ALIKE = {
    "benchmark": ("version",),
    "MPI library": ("mpi", "mpi_library", "mpi_library_file", "mpi_version"),
    "modules": ("modules",),
    "options": ("options",),  # of the program: calling_sequence, arguments, or the end of the command
    "launch": ("launch", "binding", "slots", "slots_per_node", "settings"),
    "settings files": (SETTINGS_FILES,),
    "start of the ranks": ("process", "attributes"),
    "nodes": ("nodes",),
    "message sizes": ("sizes",),
}
_CALLS = ("command", "calling_sequence", "arguments")  # from which options and launch are read
_PARTS = ("modules", "settings", SETTINGS_FILES, "process", "attributes")  # their tokens are compared
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
    options = known_suite.options if (known_suite := SUITES.get(suite)) else ()
    return {what: (*keys, *options) if what == "options" else keys for what, keys in ALIKE.items()}


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
    settings = {
        repeat: [part for key in keys for part in facts.get(key, ()) if part not in common[key]]
        for repeat, facts in recorded.items()
        if any(key in facts for key in keys)
    }
    sides = grouped(
        settings, lambda repeat: (tuple(settings[repeat][:_MOST]), max(0, len(settings[repeat]) - _MOST))
    )
    return tuple(AlikeRepeats(tuple(repeats), parts, more) for (parts, more), repeats in sides.items())


def _facts(run: Record, series: Series) -> dict[str, tuple[str, ...]]:
    """What a run recorded under the keys that must be alike; other keys are absent."""
    known = [key for key in _keys(run.suite) if key in run.metadata]
    facts = {key: _parts(key, run.metadata[key], run) for key in known}
    if run.hosts:
        facts["nodes"] = (f"nodes {len(run.hosts)}",)
    sizes = [size for size in series.columns.get("size", ()) if size is not None]
    if sizes and IN_PART not in run.metadata:  # what a cut output lacks is no other setup
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
    known = {"launch": launch} if program else {}
    if "calling_sequence" in metadata:
        return known | {"options": _options(metadata["calling_sequence"].partition(" ")[2])}
    if "arguments" in metadata:
        return known | {"options": _options(metadata["arguments"])}
    return known | ({"options": _options(command[program.end() :])} if program else {})


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
    """The text without folders of paths, which differ between users."""
    return " ".join(_FOLDER.sub(r"\1", token) for token in text.split())
