"""States of a machine: what the round trips of a cache line show, and which runs they set apart.

A virtual machine's CPUs may move between one cache and two: a factor in every message, which nothing that the
guest shows explains. States are found in the probes of all runs, never declared. Values of several states are
never averaged, nor those of a single run that was in another one.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import (
    MISSING,
    NOT_AVAILABLE,
    OK,
    OVERSUBSCRIBED,
    ROUND_TRIP,
    STATE,
    Case,
    Record,
)
from mpicampaign.evidence.machine_state import FEWEST, GAP, site_of

SWITCH = "MPICAMPAIGN_STATES"  # off: all runs count as of one state
SERIES = "series of the history"  # which finished series a run is of, where there are several
ODD = 0.05  # times the runs of each state beside it: so few between two states do not make them one
RETURNS = 3  # to a state that was left: fewer are a lasting change
UNKNOWN, NOT_PROBED = "distance changed", "not probed"


@dataclass(frozen=True, slots=True)
class ProbedPlace:
    """One place of the probes, a host of a site with a distance of its CPUs; its states, fastest first.

    ``bands``: the least and the largest round trip (s) that showed each state. ``alternates``: whether runs
    return to states that were left; else the state changed for good. ``changed``: when the first run after
    the last change began. ``names``: of ``several`` states. ``mixed``:
    else the cases with runs in their state, and others, too few for one.
    """

    site: str
    name: str
    bands: tuple[tuple[float, float], ...]
    alternates: bool
    changed: str = ""
    several: bool = False
    names: tuple[str, ...] = ()
    mixed: frozenset[Case] = frozenset()

    def probed(self, record: Record) -> list[float]:
        """The round trips (s) that the run probed at this place."""
        of = record.probes.get(ROUND_TRIP, {}) if site_of(record) == self.site else {}
        return of.get(self.name, [])

    def name_of(self, values: Iterable[float], case: Case) -> str:
        """The name of the state that holds all values; empty for the only one."""
        number = self.state_of(values)
        if number is None:
            return UNKNOWN if self.names or case in self.mixed else ""
        return self.names[number] if self.names else ""

    def state_of(self, values: Iterable[float]) -> int | None:
        """The state that holds all values; None where they are of several, or of none."""
        states = {_band_of(value, self.bands) for value in values}
        return states.pop() if len(states) == 1 else None


def _band_of(value: float, bands: Sequence[tuple[float, float]]) -> int | None:
    """The band that holds the value, or the only one that is nearer to it than a gap."""
    near = []
    for number, (low, high) in enumerate(bands):
        if low <= value <= high:
            return number
        if low / GAP < value < high * GAP:
            near.append(number)
    return near[0] if len(near) == 1 else None


@dataclass(frozen=True, slots=True)
class States:
    """The states of the machine in a campaign's runs.

    ``places``: those with several, or with single runs in another one. ``names``: fastest first; empty where
    there is one state. ``headline``: the one whose runs are ranked.
    """

    places: tuple[ProbedPlace, ...]
    names: tuple[str, ...] = ()
    headline: str = ""

    def name_of(self, record: Record) -> str:
        """The state that the run was in throughout; empty where its places have one state only."""
        probed = [(place, place.probed(record)) for place in self.places]
        names = {place.name_of(values, record.case) for place, values in probed if values}
        if not names:
            return NOT_PROBED
        names = names - {""} or names
        return names.pop() if len(names) == 1 else UNKNOWN


NO_STATES = States(())


def find_states(records: Sequence[Record]) -> States:
    """The states of all places that the runs probed; one state where the environment says so.

    Raises
    ------
    UserError
        where the environment says anything but ``on`` or ``off``.
    """
    if (switch := os.environ.get(SWITCH, "on")) == "off":
        return NO_STATES
    if switch != "on":
        raise UserError(Problem("this variable takes on or off", key=SWITCH, value=switch))
    places = [_place(*place, runs) for place, runs in _runs_by_place(records).items()]
    mixed = tuple(place for place in places if place.mixed)
    several = _named([place for place in places if place.several])
    if not several:
        return States(mixed)
    nearest = sorted(
        (band, name) for place in several for band, name in zip(place.bands, place.names, strict=True)
    )
    states = States((*several, *mixed), tuple(dict.fromkeys(name for _, name in nearest)))
    return replace(states, headline=_headline(states, records))


def states_of_both(before: Sequence[Record], after: Sequence[Record]) -> States:
    """The states of one machine in two series; none where each had one: the change is what is asked for."""
    if not (find_states(before).names or find_states(after).names):
        return NO_STATES
    both = find_states([*before, *after])
    return both if both.names else NO_STATES


def _named(places: Sequence[ProbedPlace]) -> tuple[ProbedPlace, ...]:
    """The places with the names of their states, ``60 ns apart``; near bands of several places share one."""
    middles = sorted(_middle(band) for place in places for band in place.bands)
    alike: list[list[float]] = []
    for middle in middles:
        if not alike or middle > GAP * alike[-1][-1]:
            alike.append([])
        alike[-1].append(middle)
    names: list[str] = []
    for digits in (1, 2, 3):
        names = [
            f"{float(f'{1e9 * _middle((group[0], group[-1])):.{digits}g}'):g} ns apart" for group in alike
        ]
        if len(set(names)) == len(names):
            break
    of = {middle: name for group, name in zip(alike, names, strict=True) for middle in group}
    return tuple(replace(place, names=tuple(of[_middle(band)] for band in place.bands)) for place in places)


def _middle(band: tuple[float, float]) -> float:
    return math.sqrt(band[0] * band[1])


def _runs_by_place(records: Iterable[Record]) -> dict[tuple[str, str], list[Record]]:
    """The runs of each site and place in the order of their begin."""
    places: dict[tuple[str, str], list[Record]] = {}
    for record in sorted(records, key=lambda record: (record.started, record.order or 0)):
        for name in record.probes.get(ROUND_TRIP, {}):
            places.setdefault((site_of(record), name), []).append(record)
    return places


def _place(site: str, name: str, runs: Sequence[Record]) -> ProbedPlace:
    values = [run.probes[ROUND_TRIP][name] for run in runs]
    series = grouped(enumerate(values), lambda numbered: runs[numbered[0]].metadata.get(SERIES, ""))
    place = ProbedPlace(site, name, _bands(series.values()) or _most(values), alternates=False)
    known = [
        (state, run)
        for state, run in zip(map(place.state_of, values), runs, strict=True)
        if state is not None
    ]
    # what differs between the cases alone is their layout
    of_cases = grouped(known, lambda state_run: state_run[1].case)
    if all(len({state for state, _ in of_case}) == 1 for of_case in of_cases.values()):
        made = Counter(run.case for run in runs)
        return replace(place, mixed=frozenset(case for case in of_cases if len(of_cases[case]) < made[case]))
    changes = [after for before, after in pairwise(known) if before[0] != after[0]]
    left_states, returns = {known[0][0]}, 0
    for state, _ in changes:
        returns += state in left_states
        left_states.add(state)
    return replace(place, several=True, alternates=returns >= RETURNS, changed=changes[-1][1].started)


def _most(runs: Sequence[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    """The ends of the state of most runs, of as many the fastest: too few to be sure of others."""
    ordered = sorted((value, number) for number, values in enumerate(runs) for value in values)
    groups = [ordered[:1]]
    for before, after in pairwise(ordered):
        groups += [[]] if after[0] >= GAP * before[0] else []
        groups[-1].append(after)
    most = max(groups, key=_runs_of)
    return ((most[0][0], most[-1][0]),)


def _bands(series: Iterable[Sequence[tuple[int, Sequence[float]]]]) -> tuple[tuple[float, float], ...]:
    """The ends of the states, from one series of runs after the other.

    ``series``: each run's number and values. A state that a series showed stays as it is: what comes later
    may show further ones, but merges and moves none.
    """
    bands: list[tuple[float, float]] = []
    loose: list[tuple[float, int]] = []
    for runs in series:
        loose += [(value, number) for number, values in runs for value in values]
        loose = [
            value for value in loose if not any(low / GAP < value[0] < high * GAP for low, high in bands)
        ]
        bands = sorted([*bands, *_new_bands(sorted(loose))])
    return tuple(bands)


def _new_bands(ordered: Sequence[tuple[float, int]]) -> Iterable[tuple[float, float]]:
    """The ends of groups of at least three runs with a gap between; ``ordered``: values with their runs.

    A few odd values in a gap (`ODD`) are in none.
    """
    start, below, most = 0, 0, ODD * _runs_of(ordered) / 2
    between: Counter[int] = Counter()  # runs with values that are less than a gap below the present one
    for after, (value, number) in enumerate(ordered):
        while ordered[below][0] <= value / GAP:
            run = ordered[below][1]
            between[run] -= 1
            if not between[run]:
                del between[run]
            below += 1
        if below > start and len(between) <= most:
            lower, right = ordered[start:below], ordered[after:]
            if len(between) <= ODD * min(_runs_of(lower), _runs_of(right)):
                yield from _band(lower)
                start = after
        between[number] += 1
    yield from _band(ordered[start:])


def _band(values: Sequence[tuple[float, int]]) -> Iterable[tuple[float, float]]:
    if _runs_of(values) >= FEWEST:
        yield values[0][0], values[-1][0]


def _runs_of(values: Iterable[tuple[float, int]]) -> int:
    return len({number for _, number in values})


def _headline(states: States, records: Iterable[Record]) -> str:
    """The state in which most cases are complete, then that of most runs that count, then of most others."""
    records = list(records)
    cases = [_counts(states, runs) for runs in grouped(records, lambda record: record.case).values()]
    disturbed = Counter(states.name_of(run) for run in records if run.sound and run.disturbed)

    def rank(name: str) -> tuple[int, int, int]:
        counts = [(count[name], needed) for count, needed in cases]
        complete = sum(count >= needed > 0 for count, needed in counts)
        return complete, sum(count for count, _ in counts), disturbed[name]

    return max(states.names, key=rank)


def _counts(states: States, runs: Iterable[Record]) -> tuple[Counter[str], int]:
    """How many runs of a case count in each state, and how many the campaign asks for."""
    runs = list(runs)
    return Counter(states.name_of(run) for run in runs if run.counts), sum(not run.further for run in runs)


def lacks_repeats(records: Iterable[Record], states: States) -> bool:
    """Whether any case has fewer repeats in the headline state than the campaign asks for."""
    cases = grouped(records, lambda record: record.case).values()
    counts = (_counts(states, runs) for runs in cases)
    return any(count[states.headline] < needed for count, needed in counts)


def states_apart(
    records: Sequence[Record], states: States, ranked: Collection[str] = ()
) -> tuple[Record, ...]:
    """The records; those of other states than the headline's in placements of their own.

    Cases that were never probed are as they would be without states.

    Parameters
    ----------
    ranked : states whose values are compared; that of the headline where empty
    """

    def placed(record: Record, name: str) -> Record:
        is_missing = record.status in (MISSING, NOT_AVAILABLE) or not record.sound
        if is_missing or name in ("", states.headline):
            return record
        record = _in_separate_row(record, name)
        return record if name in ranked else replace(record, metadata={**record.metadata, STATE: name})

    return tuple(map(placed, records, named_states(records, states)))


def named_states(records: Sequence[Record], states: States) -> list[str]:
    """The name of each run's state: of cases that were seen in several; of others only of runs in none."""
    if not states.places:
        return [""] * len(records)
    named = [states.name_of(record) for record in records]
    in_states, steady = (
        {record.case for record, name in zip(records, named, strict=True) if name in among}
        for among in (states.names, ("",))
    )

    def shown(case: Case, name: str) -> str:
        if case in in_states:
            return name or NOT_PROBED
        return UNKNOWN if case in steady and name == UNKNOWN else ""

    return [shown(record.case, name) for record, name in zip(records, named, strict=True)]


# ---- rows of their own


def oversubscribed_apart(records: Sequence[Record]) -> tuple[Record, ...]:
    """The records, with oversubscribed runs in a placement that is marked as such.

    A sound run is judged by itself, disturbed or not. Others follow the sound runs of their case if these are
    all oversubscribed; if there are none, what the campaign declares for runs to come. Contradicted runs
    may share cores although their placement does not.
    """
    shared = set()
    for case, runs in grouped(records, lambda record: record.case).items():
        decisive = [run for run in runs if run.sound] or [run for run in runs if run.status != OK]
        if decisive and all(OVERSUBSCRIBED in run.metadata for run in decisive):
            shared.add(case)
    return tuple(
        _in_separate_row(record, "oversubscribed")
        if (OVERSUBSCRIBED in record.metadata if record.sound else record.case in shared)
        else record
        for record in records
    )


def _in_separate_row(record: Record, why: str) -> Record:
    """The record, in a placement that says what sets it apart."""
    placement = f"{record.case.placement} ({why})"
    return replace(record, case=replace(record.case, placement=placement))


# ---- over a history


def states_in_time(records: Sequence[Record]) -> States:
    """The states of a history: those that alternate have names; a lasting change is found like any other."""
    states = find_states(records)
    if any(place.alternates for place in states.places):
        return states
    unnamed = (replace(place, names=("",) * len(place.names)) for place in states.places)
    return States(tuple(unnamed))


def lasting_text(record: Record, states: States) -> str | None:
    """``45 to 67 ns``: the round trips of the run's state, where the states changed for good; else None."""
    for place in () if states.names else states.places:
        if place.several and (number := place.state_of(place.probed(record))) is not None:
            return nanoseconds(place.bands[number])
    return None


def nanoseconds(band: tuple[float, float]) -> str:
    """``45 to 67 ns``."""
    low, high = (f"{end * 1e9:.0f}" for end in band)
    return f"{low} ns" if low == high else f"{low} to {high} ns"
