"""What the evidence library measured of the machine itself, at the start, within and at the end of a run.

The round trip of a cache line between ranks of a node, the rate of each rank's clock, and a copy of memory;
docs/evidence.md says how they are measured.
"""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import CLOCK_RATE, COPY, MERGED_FROM, ROUND_TRIP, Probes, Record, contradicted
from mpicampaign.evidence.evidence import Evidence, Rank
from mpicampaign.statistics.medians import median

SAME_CORE, SAME_CACHE, SAME_SOCKET, OTHER_SOCKET = "same core", "same L3 cache", "same socket", "other socket"
UNKNOWN = "unknown distance"
GAP = 1.5  # times farther, with nothing between: another distance, or another state
FEWEST = 3  # runs that show one
PAIR_GAP = 1.25  # times longer: another class of pairs, as in core_pairs
_OTHER_SOCKET = 3  # as core_pairs numbers what two ranks share
_ROUND_TRIP = re.compile(r"([0-9]{1,7}\.[0-9]) to rank ([0-9]{1,7})")
_NUMBER = re.compile(r"[0-9]{1,7}\.[0-9]{1,3}")


class _Probe(NamedTuple):
    """A value of a moment; ``place``: a host, with the distance of two ranks."""

    place: str
    moment: str
    value: float


def probes(evidence: Evidence) -> Probes:
    """What was measured, by kind: a list of values for each place, in the order of the moments.

    Round trips (s) of ``HOST, same socket``: the least and the largest of the pairs of this distance; none
    where a pair was not probed at the start or end, since what is not known may be in another state. Of
    ``HOST`` the lowest clock rate (Hz) and the lowest bandwidth of a copy (B/s).
    """
    kinds = {
        ROUND_TRIP: _by_place(_round_trips(evidence), lambda values: [min(values), max(values)]),
        CLOCK_RATE: _by_place(_of_hosts(evidence, "clock_ghz"), lambda values: [min(values)]),
        COPY: _by_place(_of_hosts(evidence, "copy_gbs"), lambda values: [min(values)]),
    }
    return {kind: places for kind, places in kinds.items() if places}


def changed(evidence: Evidence) -> list[str]:
    """What became another one while the ranks ran: their round trips, or a clock rate."""
    kinds = {ROUND_TRIP: _round_trips(evidence), CLOCK_RATE: _of_hosts(evidence, "clock_ghz")}
    least = {kind: grouped(measured, lambda probe: probe.place).values() for kind, measured in kinds.items()}
    return [kind for kind, places in least.items() if any(map(_moved, places))]


def _moved(place: Sequence[_Probe]) -> bool:
    by_moment = grouped(place, lambda probe: probe.moment).values()
    values = [min(probe.value for probe in alike) for alike in by_moment]
    return max(values) >= GAP * min(values)


def _by_place(
    measured: Sequence[_Probe], chosen: Callable[[Sequence[float]], list[float]]
) -> dict[str, list[float]]:
    """For each place and moment, the value chosen from those of all ranks."""
    places: dict[str, list[float]] = {}
    for (place, _), alike in grouped(measured, lambda probe: (probe.place, probe.moment)).items():
        places.setdefault(place, []).extend(dict.fromkeys(chosen([probe.value for probe in alike])))
    return places


def _round_trips(evidence: Evidence) -> list[_Probe]:
    trips = []
    for moment, rank, value in _recorded(evidence, "round_trip_ns"):
        match = _ROUND_TRIP.fullmatch(value)
        if match:
            partner = evidence.ranks.get(int(match[2]), {})
            place = f"{evidence.host_of(rank)}, {distance(evidence.ranks[rank], partner)}"
            trips.append(_Probe(place, moment, float(match[1]) * 1e-9))
        elif moment in ("start", "end"):
            return []
    return trips


def _of_hosts(evidence: Evidence, key: str) -> list[_Probe]:
    return [
        _Probe(evidence.host_of(rank), moment, float(value) * 1e9)
        for moment, rank, value in _recorded(evidence, key)
        if _NUMBER.fullmatch(value)
    ]


def _recorded(evidence: Evidence, key: str) -> Iterator[tuple[str, int, str]]:
    """Moment, rank and value: at the start, within the run and at the end."""
    ranks = sorted(evidence.ranks.items())
    for moment in evidence.moments:
        name = f"{moment}.{key}"
        yield from ((moment, rank, seen[name]) for rank, seen in ranks if name in seen)


def distance(one: Rank, other: Rank) -> str:
    """How far apart two ranks of a node are, as the operating system declares its topology."""
    sockets, cores, caches = (
        {seen.get(f"start.{key}") for seen in (one, other)} for key in ("socket", "core", "l3")
    )
    if None in sockets or None in cores:
        return UNKNOWN
    if len(sockets) > 1:
        return OTHER_SOCKET
    if len(cores) == 1:
        return SAME_CORE
    return SAME_CACHE if len(caches) == 1 and None not in caches else SAME_SOCKET


# ---- labels that the distance contradicts


def site_of(record: Record) -> str:
    """Whose bundle the run came with, empty for own runs: hosts of two sites may have one name."""
    return record.metadata.get(MERGED_FROM, "")


class Distances(NamedTuple):
    """Times (s) between CPUs of one socket of a host, and between sockets, sorted; of a run the least."""

    within: list[float]
    beyond: list[float]

    @property
    def are_known(self) -> bool:
        """Whether enough runs show both."""
        return min(len(self.within), len(self.beyond)) >= FEWEST

    @property
    def are_apart(self) -> bool:
        """Whether each way between sockets is far longer than most within one."""
        half = len(self.within) // 2
        return self.are_known and self.beyond[0] >= GAP * median(self.within[-1 - half : half + 1])


Hosts = dict[tuple[str, str], Distances]  # by site and host


def add_distances(hosts: Hosts, record: Record) -> None:
    """Add the round trips of a run within and between sockets."""
    for place, values in record.probes.get(ROUND_TRIP, {}).items():
        host, _, distance_ = place.rpartition(", ")
        both = hosts.setdefault((site_of(record), host), Distances([], []))
        if distance_ != UNKNOWN:
            insort(both.beyond if distance_ == OTHER_SOCKET else both.within, min(values))


def _distances(records: Iterable[Record]) -> Hosts:
    hosts: Hosts = {}
    for record in records:
        add_distances(hosts, record)
    return hosts


def mark_distances(records: Iterable[Record]) -> list[Record]:
    """The records; cases of one socket whose ranks are always as far apart as other sockets are contradicted.

    A single run may have met a virtual machine that had moved its CPUs.
    """
    records = list(records)
    hosts = _distances(records)
    reasons = {id(record): why for record in records if (why := too_far(record, hosts))}
    probed = (record for record in records if reasons and ROUND_TRIP in record.probes)
    always = {
        case
        for case, runs in grouped(probed, lambda record: record.case).items()
        if len(runs) >= FEWEST and all(id(run) in reasons for run in runs)
    }
    marked = {id(record) for record in records if record.case in always} & reasons.keys()
    return [
        contradicted(record, reasons[id(record)]) if id(record) in marked else record for record in records
    ]


class Undivided(NamedTuple):
    """A host whose declared sockets are no farther apart than their cores, by the medians (s) of ``what``."""

    host: str
    within: float
    beyond: float
    what: str


def undivided(records: Sequence[Record]) -> list[Undivided]:
    """Hosts whose declared distances differ by little, by the probes of all runs and by core_pairs."""
    kinds = (
        (_distances(records), GAP, "a cache line and back"),
        (_distances_of_pairs(records), PAIR_GAP, "8 B in core_pairs"),
    )
    return [
        Undivided(host, median(both.within), median(both.beyond), what)
        for distances, gap, what in kinds
        for (_, host), both in distances.items()
        if both.are_known and median(both.beyond) < gap * median(both.within)
    ]


def _distances_of_pairs(records: Iterable[Record]) -> Hosts:
    """The latencies (s) that core_pairs measured between CPUs of one socket, and of two, of each host."""
    hosts: Hosts = {}
    for record in records:
        for series in record.series if len(record.hosts) == 1 and record.counts else ():
            columns = (series.columns.get(f"pairs_{name}", []) for name in ("level", "latency_seconds"))
            both = hosts.setdefault((site_of(record), record.hosts[0]), Distances([], []))
            for level, latency in zip(*columns, strict=False):
                if level is not None and latency is not None:
                    insort(both.beyond if level == _OTHER_SOCKET else both.within, latency)
    return hosts


def too_far(record: Record, hosts: Hosts) -> str:
    """That ranks within a socket are as far apart as other sockets of their host; or empty."""
    for place, values in record.probes.get(ROUND_TRIP, {}).items():
        host, _, distance_ = place.rpartition(", ")
        both = hosts.get((site_of(record), host))
        if both is None or not both.are_apart or distance_ in (OTHER_SOCKET, UNKNOWN):
            continue
        if min(values) >= both.beyond[0]:
            took = f"a round trip of a cache line took {min(values) * 1e9:.0f} ns on {place}"
            return f"distance: {took}, as between sockets ({both.beyond[0] * 1e9:.0f} ns)"
    return ""
