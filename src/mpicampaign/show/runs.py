"""Runs as readers see them: states, conditions, what is not available, facts, addresses of their cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, count
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import (
    DISTURBED,
    IMPORTED_FROM,
    MISSING,
    NOT_AVAILABLE,
    NOT_JUDGED,
    OK,
    QUIET,
    RANKED,
    ROUND_TRIP,
    STATE,
    UNREAD_SETTINGS,
    UNVERIFIED,
    WITH,
    WITHOUT_LOCK,
    Case,
    Record,
)
from mpicampaign.base.text import listed, visible
from mpicampaign.compare.findings import TuningCliff, end_of
from mpicampaign.compare.rows import Row, with_values
from mpicampaign.compare.states import UNKNOWN, ProbedPlace, States, nanoseconds
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.evidence.condition import QUOTA
from mpicampaign.evidence.machine_state import undivided
from mpicampaign.show import sentences

# Of values of a busy machine, which are shown and never tested.
MARK = "†"
MEANING = "of a busy machine: too few runs of the row were quiet, and no test compares it"
LEFT_OUT = (
    "Disturbed runs are left out where enough others were quiet; elsewhere they are marked and not tested."
)
LONG = 10  # s: of such runs 6 % changed their state unseen, measured on a virtual machine
_FIRST_NUMBER = re.compile(r"^[0-9]+(?:\.[0-9]+)?(?= )")
RUNS_FILE = "tables/runs.csv"  # beside the page of many runs
_ON_A_PAGE = 1000
NAMED = 3  # placements, reasons or cliffs
_MANY = 3  # host groups above which they are counted


def are_many(records: Sequence[Record]) -> bool:
    """Whether a page with all of them would be too large for mail and browsers."""
    return len(records) > _ON_A_PAGE


def run_counts(records: Iterable[Record]) -> dict[str, int]:
    """How many runs ended in each state."""
    return dict(Counter(map(state_of, records)).most_common())


def state_of(record: Record) -> str:
    """The verdict of a complete run; how any other ended."""
    if record.status == OK:
        return record.verdict or UNVERIFIED
    return end_of(record)


def how_many(records: Sequence[Record]) -> str:
    """``60 runs planned, 544 runs imported``; imported runs are not planned."""
    imported = sum(IMPORTED_FROM in record.metadata for record in records)
    planned = len(records) - imported
    parts = [f"{planned} runs planned"] if planned or not imported else []
    return ", ".join([*parts, *([f"{imported} runs imported"] if imported else [])])


def period(records: Iterable[Record]) -> tuple[str, str] | None:
    """When the first run started and the last one ended, as recorded; ISO times sort as text."""
    times = sorted(time for record in records for time in (record.started, record.ended) if time)
    return (times[0], times[-1]) if times else None


def facts(records: Iterable[Record]) -> dict[str, str]:
    """Metadata that runs recorded: each key with its values, the commonest first."""
    found: dict[str, Counter[str]] = {}
    for record in records:
        for key, value in record.metadata.items():
            found.setdefault(key, Counter())[value] += 1
    return {key: _values_text(values) for key, values in sorted(found.items())}


def _values_text(values: Counter[str]) -> str:
    common = values.most_common(4)
    text = "; ".join(f"{value} ({count} runs)" for value, count in common)
    return text + (f"; and {len(values) - 4} other values" if len(values) > 4 else "")


def anchors(records: Iterable[Record]) -> dict[Case, str]:
    """A unique identifier for each case, fit for an address."""
    named: dict[Case, str] = {}
    for case in dict.fromkeys(record.case for record in records):
        name = re.sub(r"[^A-Za-z0-9]+", "-", str(case)).strip("-")
        named[case] = unused(f"case-{name}", named.values())
    return named


def unused(name: str, taken: Collection[str]) -> str:
    """The name, with a number where it is taken: ``name-2``."""
    return next(each for each in chain([name], (f"{name}-{n}" for n in count(2))) if each not in taken)


def runs_are(records: Sequence[Record]) -> str:
    """What the runs are: ``planned`` by the campaign, ``imported`` from outputs of others, or both."""
    imported = sum(IMPORTED_FROM in record.metadata for record in records)
    if imported == 0:
        return "planned"
    return "imported" if imported == len(records) else "planned or imported"


def condition_text(records: Iterable[Record]) -> str:
    """How many complete runs were quiet, disturbed and not judged, and why; which of them are ranked."""
    runs = [run for run in records if run.status == OK]
    counted = Counter(run.condition for run in runs)
    states = [f"{counted[state]} {state}" for state in (QUIET, DISTURBED, NOT_JUDGED) if counted[state]]
    if not states:
        return ""
    why = _why_not_judged(runs, most=3, counted=True)
    text = f"Condition of the runs: {', '.join(states)}"
    text += f"; not judged: {why}. " if why else ". "
    if any(run.ranks_busy for run in runs):
        return text + f"busy_machine: {RANKED}: disturbed runs are averaged and ranked like quiet ones."
    return text + (LEFT_OUT if counted[DISTURBED] else "")


def _why_not_judged(runs: Iterable[Record], most: int, counted: bool = False) -> str:
    reasons = (run.condition_reason for run in runs if run.condition == NOT_JUDGED)
    return _commonest((reason or "no waiting time was recorded" for reason in reasons), most, counted)


def _commonest(reasons: Iterable[str], most: int, counted: bool = False) -> str:
    """The commonest reasons, with their counts where asked for, and how many more there are.

    Those that differ only in the number that they begin with share a line: ``0.045 to 0.099 s between …``.
    """
    alike = grouped(reasons, lambda reason: _FIRST_NUMBER.sub("", reason))
    found = sorted(alike.values(), key=len, reverse=True)
    named = [visible(_over_numbers(several)) + f" ({len(several)})" * counted for several in found]
    what = f"reason{'s' * (len(found) - most > 1)}"
    return "; ".join(sentences.first_few(named, most, what))


def _over_numbers(reasons: Sequence[str]) -> str:
    """Reasons that are alike but for the number that they begin with."""
    low, high = min(reasons, key=_first_number), max(reasons, key=_first_number)
    return low if low == high else _FIRST_NUMBER.sub(rf"\g<0> to {_first_number(high)[1]}", low)


def _first_number(reason: str) -> tuple[float, str]:
    found = _FIRST_NUMBER.match(reason)
    return (float(found[0]), found[0]) if found else (0.0, "")


def condition_note(records: Iterable[Record]) -> str:
    """The condition of the runs; empty where all were quiet and the campaign ranks no others."""
    runs = [run for run in records if run.status == OK]
    is_said = any(run.ranks_busy or run.condition != QUIET for run in runs)
    return condition_text(runs) if is_said else ""


# What a reader must know of the runs, in short


def cliffs(comparison: Comparison) -> Iterator[str]:
    """The largest tuning cliffs, and how many more there are."""
    found = [(row, note) for _, row, note in comparison.notes() if isinstance(note, TuningCliff)]
    found.sort(key=lambda pair: -pair[1].factor)
    for row, note in found[:NAMED]:
        where = f"{comparison.place(row)} {visible(row.case.placement)} {visible(row.case.benchmark)}"
        yield f"Tuning cliff, {where}: {sentences.reason(note)}."
    if len(found) > NAMED:
        yield f"{len(found) - NAMED} more tuning cliffs: see Left out and in doubt."


def not_read(runs: Iterable[Record]) -> Iterator[str]:
    """``2 runs not read: output.txt: rate: no line matches …``, for the commonest reasons."""
    unread = grouped((run for run in runs if run.unread), lambda run: run.reason)
    for reason, of_reason in list(unread.items())[:NAMED]:
        count = f"{len(of_reason)} run{'' if len(of_reason) == 1 else 's'}"
        yield f"{count} {visible(reason)}."


def unread_settings(runs: Iterable[Record]) -> list[str]:
    """The variables in names of rows that no rank of their runs asked for, so far as all these runs know."""
    unread = [
        (f"{run.case.placement} {run.case.benchmark}", run.metadata.get(UNREAD_SETTINGS, "").split())
        for run in runs
        if run.status == OK
    ]
    named = {name: [of for row, of in unread if f" {name}=" in row] for _, names in unread for name in names}
    return sorted(name for name, of_runs in named.items() if of_runs and all(name in of for of in of_runs))


def quiet_text(records: Iterable[Record]) -> str:
    """``The machine was quiet in 80 of 81 runs; 1 run was disturbed and left out.``; empty without runs."""
    runs = [run for run in records if run.status == OK]
    if not runs:
        return ""
    counted = Counter(run.condition for run in runs)
    several = len({host for run in runs for host in run.hosts}) > 1
    machine = "hosts were" if several else "machine was"
    text = (
        f"The {machine} busy" if counted[DISTURBED] else f"Nothing recorded shows whether the {machine} quiet"
    )
    if counted[QUIET]:
        quiet = f"{counted[QUIET]} of {len(runs)}" if counted[QUIET] < len(runs) else f"all {len(runs)}"
        text = f"The {machine} quiet in {quiet} runs"
    if counted[DISTURBED]:
        ranked = any(run.ranks_busy for run in runs)
        fate = f" and counted all the same (busy_machine: {RANKED})" if ranked else _fate(runs)
        quotas = [by[0] for run in runs if (by := re.search(rf"{QUOTA} \S+ CPUs?", run.condition_reason))]
        by_quota = f" ({len(quotas)} by {listed([*dict.fromkeys(quotas)])})" if quotas else ""
        text += f"; {were(counted[DISTURBED])} disturbed{by_quota}{fate}"
    if counted[NOT_JUDGED]:
        text += f"; {were(counted[NOT_JUDGED])} not judged ({_why_not_judged(runs, most=2)})"
    return f"{text}."


def quiet_mark(records: Iterable[Record]) -> str:
    """``quiet``, ``3 of 81 disturbed`` or ``quiet?``, where nothing shows whether it was."""
    runs = [run for run in records if run.status == OK]
    counted = Counter(run.condition for run in runs)
    if counted[DISTURBED]:
        return f"{counted[DISTURBED]} of {len(runs)} disturbed"
    return "quiet" if counted[QUIET] == len(runs) else "quiet?"


def beside_text(runs: Sequence[Record]) -> str:
    """How many complete runs were made without the lock of the machine, and why; empty where none was."""
    done = [run for run in runs if run.status == OK]
    if reasons := [run.metadata[WITHOUT_LOCK] for run in done if WITHOUT_LOCK in run.metadata]:
        why = _commonest(reasons, most=2)
        return f"Another measurement may have run beside {len(reasons)} of {len(done)} runs: {why}."
    return ""


def ranked_state(states: States) -> str:
    """``Without a state in the name: CPUs 60 ns apart.``; empty where there is one."""
    return f"Without a state in the name: CPUs {states.headline}." if states.names else ""


def state_texts(comparison: Comparison) -> Iterable[str]:
    """In which states the machine was, by the round trips of a cache line; nothing where it was in one."""
    states = comparison.states
    if states.names:
        runs = _with_values(comparison.records)
        ranked = [run for run in runs if STATE not in run.metadata]
        rest = "" if len(ranked) == len(runs) else " The others stand in rows of their own, not ranked."
        yield f"The answers use {len(ranked)} of {len(runs)} runs: {_distances(ranked, states)}.{rest}"
        near = [run for run in ranked if states.name_of(run) == states.headline]
        if unseen := sum(run.suite != "kernel" and _seconds(run) >= LONG for run in near):
            took = f"took {LONG} s or more and {'was' if unseen == 1 else 'were'} probed at both ends only"
            yield f"{unseen} of those with CPUs {states.headline} {took}: the CPUs may have moved within."
    for place in states.places:
        if not place.several:
            yield from _single_runs_texts(comparison, place)
            continue
        took = listed(
            [f"{nanoseconds(band)} ({name})" for band, name in zip(place.bands, place.names, strict=True)]
        )
        then = f"it changed last with the run of {place.changed}"
        if place.alternates:
            then = "its CPUs move, so labels are proved only as far as it shows its topology"
        yield f"On {visible(place.name)}, a round trip of a cache line took {took}: {then}."
    for one in undivided(comparison.records):
        ends = f"{one.beyond * 1e9:.0f} and {one.within * 1e9:.0f} ns for {one.what}"
        yield (
            f"On {visible(one.host)}, CPUs of two sockets are as near as those of one ({ends}): only what "
            "the machine says tells them apart."
        )


def _distances(ranked: Sequence[Record], states: States) -> str:
    """How many of the runs had their CPUs at the distance that is ranked; a run without a reading had not."""

    def distance_of(run: Record) -> str:
        if (name := states.name_of(run)) == states.headline:
            return f"whose CPUs were {name}"
        if not run.probes.get(ROUND_TRIP):
            return "without a reading of that distance"
        return "whose CPUs moved" if name == UNKNOWN else "on hosts whose CPUs did not move"

    counted = Counter(map(distance_of, ranked))
    if len(counted) == 1:
        return f"those {next(iter(counted))}"
    return listed([f"{number} {distance}" for distance, number in counted.most_common()])


def _single_runs_texts(comparison: Comparison, place: ProbedPlace) -> Iterator[str]:
    """Runs in another state than the rest, too few for one."""
    probed = [(values, STATE in run.metadata) for run in comparison.records if (values := place.probed(run))]
    apart, rest = ([values for values, is_apart in probed if is_apart == which] for which in (True, False))
    if apart and rest:
        took, usual = (nanoseconds((min(map(min, runs)), max(map(max, runs)))) for runs in (apart, rest))
        yield (
            f"On {visible(place.name)}, a round trip of a cache line took {usual}, but {took} in "
            f"{len(apart)} of {len(probed)} runs: these stand in rows of their own, not ranked."
        )


def _seconds(run: Record) -> float:
    """How long the run took, 0 where that is unknown."""
    try:
        return (datetime.fromisoformat(run.ended) - datetime.fromisoformat(run.started)).total_seconds()
    except (ValueError, TypeError):  # no times, or of two kinds
        return 0


def _fate(runs: Sequence[Record]) -> str:
    """What becomes of disturbed runs: shown where a case has too few quiet ones."""
    shown = len(_shown(runs))
    out = sum(run.sound and run.disturbed for run in runs) - shown
    if not shown:
        return " and left out"
    marked = f"shown with {MARK} and not tested"
    return f" ({shown} {marked}, {out} left out)" if out else f", {marked}"


def _shown(runs: Iterable[Record]) -> list[Record]:
    """The disturbed runs of cases that have too few quiet ones."""
    return [run for run in _with_values(runs) if run.disturbed]


def _with_values(runs: Iterable[Record]) -> list[Record]:
    return [run for of_case in grouped(runs, lambda run: run.case).values() for run in with_values(of_case)]


def help_text(records: Iterable[Record]) -> str:
    """What would give values that count; empty where none are those of a busy machine."""
    if not _shown(records):
        return ""
    rank = f"set busy_machine: {RANKED}, which ranks disturbed runs, too"
    return f"For values that count, use a quiet machine, an exclusive node, or {rank}."


def not_made(runs: Sequence[Record]) -> Iterable[str]:
    """How many planned runs were not made, and why, so far as it is known."""
    if missing := [run for run in runs if run.status == MISSING]:
        reasons = _commonest((run.reason for run in missing), most=2)
        later = "; the same command makes them, best on a quieter machine" if _shown(runs) else ""
        yield f"Not made: {len(missing)} of {len(runs)} planned runs ({reasons}){later}."


def were(count: int) -> str:
    return "1 run was" if count == 1 else f"{count} runs were"


# Placements that a machine cannot offer: each once, however many benchmarks and repeats ask for it


class NotAvailable(NamedTuple):
    """A placement that host groups cannot offer for one reason; ``runs``: how many were planned."""

    placement: str
    host_groups: tuple[str, ...]
    benchmarks: tuple[str, ...]  # empty where it is none at all
    reason: str
    runs: int

    @property
    def name(self) -> str:
        """The placement with its host groups."""
        benchmarks = f" for {listed(self.benchmarks)}" if self.benchmarks else ""
        return f"{listed(self.host_groups)} {self.placement}{benchmarks}"

    def __str__(self) -> str:
        """``local SHM-2 is not available: needs 2 sockets``."""
        few = len(self.host_groups) <= _MANY
        name = self.name if few else f"{self.placement} of {len(self.host_groups)} host groups"
        return f"{name} is not available: {self.reason}"


def not_available(comparison: Comparison) -> list[NotAvailable]:
    """Every placement that any host group cannot offer; with its benchmarks where it offers it to others."""
    absent = [record for record in comparison.records if record.status == NOT_AVAILABLE]
    offered = {_place(record) for record in comparison.records if record.status != NOT_AVAILABLE}
    found: dict[tuple[str, tuple[str, ...], str], list[tuple[str, int]]] = {}
    by_reason = grouped(absent, lambda run: (*_place(run), run.reason))
    for (system, group, placement, reason), runs in by_reason.items():
        some = (system, group, placement) in offered
        benchmarks = tuple(dict.fromkeys(visible(run.case.benchmark) for run in runs)) if some else ()
        place = visible(f"{system.partition(WITH)[0]}/{group}" if comparison.several else group)
        key = (visible(placement), benchmarks, visible(reason))
        found.setdefault(key, []).append((place, len(runs)))
    return [
        NotAvailable(placement, tuple(place for place, _ in of), benchmarks, reason, sum(n for _, n in of))
        for (placement, benchmarks, reason), of in found.items()
    ]


def _place(record: Record) -> tuple[str, str, str]:
    return record.case.system, record.case.host_group, record.case.placement


def is_offered(row: Row) -> bool:
    """Whether the row has values, or lacks them for another reason."""
    return not row.absence or any(note.kind != NOT_AVAILABLE for note in row.absence)


def offered(table: Table) -> list[Row]:
    """The rows of a table without those of placements that are not available."""
    return [row for row in table.rows if is_offered(row)]


# Values of disturbed runs


def mark_of(row: Row) -> str:
    """The mark of the row's values; empty where they are of other runs."""
    return MARK if row.disturbed else ""


def explained(rows: Iterable[Row]) -> tuple[tuple[str, str], ...]:
    """The footnote of a table with such values."""
    return ((MARK, MEANING),) if any(row.disturbed for row in rows) else ()
