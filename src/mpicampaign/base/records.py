"""Records: what is known of each run after its files were read; docs/formats.md describes the format.

A record is one run (one launch of one case). All values are in bytes, seconds and bytes per second; a missing
value is ``None``, never 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from mpicampaign.base.errors import UserError
from mpicampaign.base.files import whole

if TYPE_CHECKING:
    import msgspec

RECORDS = "records.jsonl"  # in a campaign's folder
FORMAT = "mpicampaign-records"
VERSION = 3

# status
OK = "ok"
FAILED = "failed"
NOT_AVAILABLE = "not_available"
MISSING = "missing"
STOPPED = "stopped"  # of a failed run that a signal ended: the way a call ends its own, or a user a job
INTERRUPTED = "interrupted by signal"  # begins the reason of such a run

TIME_LIMIT_MET = 124  # the exit status of such a run

UNREAD = "not read: "  # begins the reason of a run that ended well, but whose output has no values

# verdict
VERIFIED = "verified"
DECLARED = "verified against the declared topology"  # a folder replaced the node's /sys
CONTRADICTED = "contradicted"
UNVERIFIED = "unverified"

# condition
QUIET = "quiet"
DISTURBED = "disturbed"
NOT_JUDGED = "not judged"

# In the names of a system and of its host groups, in front of one of several MPI libraries: ``milan with
# openmpi5``. Names in a campaign file have no spaces.
WITH = " with "

# What becomes of disturbed runs: a value of the campaign's key busy_machine
UNRANKED = "unranked"
RANKED = "rank"

# What a scheduled tick makes: a value of the campaign's key schedule.series
REPEATS = "repeats"  # one repeat of each case
NEW_SERIES = "new"

# What is compared in blocks: a value of the key blocks of a matrix entry; and how many blocks there are then.
TO_REFERENCE = "reference"  # each candidate with the first
ALL_PAIRS = "all pairs"
BLOCKS = 8
RACE_WITHIN = "race within "  # of a race of settings, in front of its rules: ``race within 0.02, one of 3``
_RACE = re.compile(rf"{RACE_WITHIN}([01](?:\.[0-9]{{1,6}})?)(?:, one of ([1-9][0-9]{{0,3}}))?")

# Keys of the metadata: the transport that the label claims, with its interface or device
CLAIMED_TRANSPORT = "claimed transport"
CHOSEN_TRANSPORT = "the library chose"  # where the label claims none, with what shows it
# more ranks on a host than cores or CPUs for them: how many of each
OVERSUBSCRIBED = "oversubscribed ranks"
WITHOUT_LOCK = "without the machine's lock"  # why: others may have measured at the same time
STATE = "state of the machine"  # where it is another one than that of the answers
SESSION = "session"  # of imported runs: when the call that made them began; a history has a point for each
APART = (OVERSUBSCRIBED, STATE)  # such runs are compared with no others
# of a run in a block: the name of its block design, and what is compared there; kernels print a key "block"
BLOCK, COMPARED = "block design", "compared in blocks"
# of a run repeated until it is decided: with which candidates; since when its looks were planned (UTC)
DECIDED_WITH, LOOKS_SINCE = "decided with", "looks planned"
DECIDED_IN_BLOCKS = "decided in blocks"  # of such a run in a block: true
TO_DECIDE = "until decided"  # what is compared in such blocks
# of a run of `each`: node or pair, the declared names of its nodes, its round, the tolerance as a fraction,
# and the switches that the scheduler knows of these nodes; of absent nodes their state
EACH, EACH_NODES, ROUND, EACH_TOLERANCE = "each", "nodes of a member", "round", "tolerance"
EACH_SWITCHES, NODE_STATE = "switches of the nodes", "state of the node"
SCHEDULER = "scheduler"
NODE, PAIR = "node", "pair"
MPI_LIBRARY = "MPI library checksum"  # of what the ranks mapped
# what files set; variables that nobody read
SETTINGS_FILES, UNREAD_SETTINGS = "settings_files", "settings_unread"
NO_SETTINGS = "none"
BLAS = "BLAS"  # the BLAS library that the ranks mapped
REFERENCE_BLAS = "reference BLAS"  # Netlib's, which is not tuned for any machine
MERGED_FROM = "merged from bundle"  # in the metadata of runs of other systems
REFRAME_TEST = "ReFrame test"  # NAME @SYSTEM:PARTITION+ENVIRONMENT, as ReFrame writes it
# of imported runs: the original path of the file, and the requested host group if the job ran on another one
IMPORTED_FROM = "imported from"
REQUESTED_GROUP = "requested host group"
QUOTED = "quoted"  # of imported runs: the document that holds the output
IN_PART = "in part"  # of imported runs: what is missing of the output, and why


# What a benchmark keeps with more ranks, the problem or its share of each rank: a value of its key scaling;
# the key of the same in the metadata of its runs
SCALING = "declared scaling"
STRONG, WEAK = "strong", "weak"

# Keys of the probes of the machine (mpicampaign.evidence.machine_state)
ROUND_TRIP, CLOCK_RATE, COPY = "round trip", "clock rate", "copy"
Probes = dict[str, dict[str, list[int | float]]]

_MOST_KNOWN = 100_000  # texts and values that records share
COUNTS = ("size", "repetitions", "samples")  # columns that are alike in all repeats
OwnMetric = dict[str, str]  # unit, and better: higher or lower


class RaceRules(NamedTuple):
    """Smaller differences than ``tolerance`` do not matter; so many ``races`` share one error."""

    tolerance: float
    races: int


def race_rules(compared: str) -> RaceRules | None:
    """The rules of a race by the name of its design; ``None`` for other designs."""
    match = _RACE.fullmatch(compared)
    return RaceRules(float(match[1]), int(match[2] or 1)) if match else None


@dataclass(frozen=True, slots=True)
class Series:
    """One table that a benchmark printed.

    ``columns`` maps a column's name to its values, all of one length; those whose names begin with ``pairs_``
    have a length of their own, a value for each pair of ranks. Names with a meaning:
    ``size`` (B), ``time``, ``time_min``, ``time_max`` (s), ``bandwidth``, ``bandwidth_wire`` (B/s),
    ``message_rate`` (1/s), ``flops`` (flop/s), ``repetitions``, ``samples`` (counts), ``overlap``
    (fraction). Suites name further columns that are metrics.
    ``qualifiers`` distinguishes series of one benchmark, such as ``{"tree": "max-inter"}``.
    ``metrics``: what the campaign file says of the columns of a program of one's own.
    """

    benchmark: str
    ranks: int | None
    columns: dict[str, list[int | float | None]]  # a count stays one in files
    qualifiers: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, OwnMetric] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The benchmark with its qualifiers, such as ``tree_gather (tree max-inter)``."""
        inner = ", ".join(f"{key} {value}" for key, value in self.qualifiers.items())
        return f"{self.benchmark} ({inner})" if inner else self.benchmark


@dataclass(frozen=True, slots=True)
class Case:
    """What is repeated: one benchmark on one host group in one placement."""

    system: str
    host_group: str
    placement: str
    benchmark: str

    def __str__(self) -> str:
        return f"{self.system}/{self.host_group} {self.placement} {self.benchmark}"

    @property
    def library(self) -> str:
        """The MPI library, where its system has several; empty where it has one."""
        return self.host_group.partition(WITH)[2]

    @property
    def machine(self) -> tuple[str, str]:
        """The system and the host group, with whichever MPI library."""
        return self.system.partition(WITH)[0], self.host_group.partition(WITH)[0]


@dataclass(frozen=True, slots=True)
class Record:
    """One run. ``reason`` says why, for every status but ``ok``."""

    case: Case
    suite: str
    repeat: int
    status: str
    reason: str = ""
    earlier: str = ""  # why it belongs to an earlier state of its program or MPI library
    verdict: str | None = None
    verdict_reasons: tuple[str, ...] = ()
    series: tuple[Series, ...] = ()
    order: int | None = None
    identity: str = ""
    hosts: tuple[str, ...] = ()
    job_id: str = ""
    started: str = ""
    ended: str = ""
    exit_status: int | None = None
    files: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    line_rate: int | float | None = None  # B/s of one direction of the link between the nodes
    condition: str = NOT_JUDGED
    condition_reason: str = ""
    ranks_busy: bool = False  # its campaign ranks disturbed runs, too, as its machine is never quiet
    further: bool = False  # beyond the repeats that the campaign asks for
    looks: int = 0  # how many reports had been read before it was planned
    probes: Probes = field(default_factory=dict)  # of the machine below the operating system
    attributes: dict[str, str] = field(default_factory=dict)  # of its host group, as declared
    startup: dict[str, int | float] = field(default_factory=dict)  # see mpicampaign.collect.startup
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)  # see mpicampaign.evidence.node_facts

    @property
    def sound(self) -> bool:
        """Whether the metrics are what the label says: complete, not contradicted, of the present state."""
        return self.status == OK and self.verdict != CONTRADICTED and not self.earlier

    @property
    def disturbed(self) -> bool:
        """Whether others disturbed the run, and its campaign does not rank such runs."""
        return self.condition == DISTURBED and not self.ranks_busy

    @property
    def end(self) -> str:
        """How it ended: its status; of a complete run that is left out of all numbers, why."""
        if self.status == OK and self.verdict == CONTRADICTED:
            return CONTRADICTED
        if self.status == FAILED and self.reason.startswith(INTERRUPTED):
            return STOPPED
        return DISTURBED if self.status == OK and self.disturbed else self.status

    @property
    def stopped(self) -> bool:
        """Whether it met its time limit while others used the CPUs: no failure of the benchmark."""
        return self.status == FAILED and self.condition == DISTURBED

    @property
    def timed_out(self) -> bool:
        """Whether it met its time limit, whatever others did."""
        return self.status == FAILED and self.exit_status == TIME_LIMIT_MET

    @property
    def unread(self) -> bool:
        """Whether it ended well, and the campaign's patterns do not fit its output: it is not repeated."""
        return self.status == FAILED and self.reason.startswith(UNREAD)

    @property
    def counts(self) -> bool:
        """Whether the run's metrics may enter averages and rankings: sound and not disturbed."""
        return self.sound and not self.disturbed


def defined_name(name: str) -> str:
    """The name in the campaign file of a variant's definition; names there have no spaces."""
    return name.partition(" ")[0]


def observed(record: Record, key: str) -> set[str]:
    """The values of a key of the metadata; with a colon in front of it, those of all hosts."""
    of_hosts = key.startswith(":")
    return {v for k, v in record.metadata.items() if (k.endswith(key) if of_hosts else k == key)}


def contradicted(record: Record, reason: str) -> Record:
    """The record, contradicted by one thing more."""
    reasons = record.verdict_reasons if record.verdict == CONTRADICTED else ()
    return replace(record, verdict=CONTRADICTED, verdict_reasons=(*reasons, reason))


def sharing(record: Record, known: dict[object, Any]) -> Record:
    """The record; words and values that earlier ones have, too, are one object with theirs: half of its size.

    ``known``: what those said.
    """
    if len(known) > _MOST_KNOWN:
        known.clear()  # runs of a case follow each other
    one = known.setdefault

    def texts(said: dict[str, str]) -> dict[str, str]:
        return {one(key, key): one(text, text) for key, text in said.items()} or one(dict, said)

    def column(name: str, values: list[int | float | None]) -> Any:
        if name in COUNTS:
            return one((record.suite, name, *values), values)
        values[:] = [one(value, value) if type(value) is float and value else value for value in values]
        return values

    def table(series: Series) -> Series:
        shared = {one(name, name): column(name, values) for name, values in series.columns.items()}
        said = texts(series.qualifiers), series.metrics or one(dict, series.metrics)
        return Series(one(series.benchmark, series.benchmark), series.ranks, shared, *said)

    nodes = tuple((host, tuple(facts.items())) for host, facts in record.nodes.items())
    probes = {
        kind: one(tuple((place, *values) for place, values in places.items()), places)
        for kind, places in record.probes.items()
    }
    same = ("suite", "case", "status", "verdict", "hosts", "condition", "condition_reason")
    return replace(
        record,
        **{name: one(said, said) for name in same if (said := getattr(record, name))},
        verdict_reasons=tuple(one(reason, reason) for reason in record.verdict_reasons),
        metadata=texts(record.metadata),
        attributes=texts(record.attributes),
        nodes=one(nodes or dict, record.nodes),
        probes=probes,
        series=tuple(map(table, record.series)),
    )


def plain_fields(data: Any) -> dict[str, Any]:
    """The fields of a dataclass as they are: `asdict` copies every list, which takes most of the time."""
    return {name: getattr(data, name) for name in data.__dataclass_fields__}


def record_line(record: Record) -> bytes:
    """The record as a line of a file, without its end."""
    import msgspec  # commands without records start without it

    data = plain_fields(record)
    for name in ("attributes", "startup", "nodes", "looks"):  # most records, and all early ones, have none
        if not data[name]:
            del data[name]
    return msgspec.json.encode(data)


def record_from(line: bytes) -> Record:
    """The inverse of `record_line`; fields of earlier versions are left out.

    Raises
    ------
    ValueError
        naming a field that is missing or of a wrong type, which would stop a later calculation.
    """
    import msgspec

    try:
        record = _decoder().decode(line)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error
    if any(one <= 0 for places in record.probes.values() for values in places.values() for one in values):
        raise ValueError("a probe is not a positive number")
    if any(time < 0 for time in record.startup.values()):
        raise ValueError("a time of the start-up is negative")
    return record


@cache
def _decoder() -> msgspec.json.Decoder[Record]:
    import msgspec

    return msgspec.json.Decoder(Record)


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a records file; early files have only the name."""

    campaign: str
    title: str = ""
    table_sizes: tuple[int, ...] = ()  # B


def write_records(path: Path, header: Header, records: Iterable[Record]) -> None:
    """Write one JSON object per line: a header with format and version, then the records."""
    first = json.dumps({"format": FORMAT, "version": VERSION, **plain_fields(header)}).encode()
    with whole(path) as part, part.open("wb") as file:
        file.writelines(b"%b\n" % line for line in chain([first], map(record_line, records)))


def read_records(path: Path) -> tuple[Header, list[Record]]:
    """The header and the records of a file.

    Raises
    ------
    UserError
        when the file is of another format or version, or damaged; the line is named.
    """
    with path.open("rb") as file:
        return _read(file, str(path))


def records_from(content: bytes, path: str) -> tuple[Header, list[Record]]:
    """The header and the records of a file's content; ``path`` is for messages.

    Raises
    ------
    UserError
        as `read_records`.
    """
    return _read(BytesIO(content), path)


def _read(lines: IO[bytes], path: str) -> tuple[Header, list[Record]]:
    known: dict[object, Any] = {}
    return _header(path, lines.readline()), [sharing(record, known) for record in _records(lines, path)]


def each_record(path: Path) -> Iterator[Record]:
    """The records of a file, one after the other; raises as `read_records`."""
    with path.open("rb") as lines:
        _header(str(path), lines.readline())
        yield from _records(lines, str(path))


def _records(lines: Iterable[bytes], path: str) -> Iterator[Record]:
    for number, line in enumerate(lines, start=2):
        try:
            yield record_from(line)
        except ValueError as error:
            raise UserError(f"{path}:{number}: damaged record: {error}") from error


def _header(path: str, line: bytes) -> Header:
    try:
        data = json.loads(line)
        if data["format"] != FORMAT or data["version"] not in range(1, VERSION + 1):
            raise ValueError("another format")
    except (ValueError, KeyError, TypeError) as error:
        message = f"{path}:1: not a records file of version 1 to {VERSION} of this program"
        raise UserError(message) from error
    try:
        sizes = tuple(map(int, data.get("table_sizes", ())))
    except (TypeError, ValueError) as error:
        raise UserError(f"{path}:1: damaged header: {error}") from error
    return Header(str(data.get("campaign", "")), str(data.get("title", "")), sizes)
