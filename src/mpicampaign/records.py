"""Records: what is known of each run after its files were read; docs/formats.md describes the format.

A record is one run (one launch of one case). All values are in bytes, seconds and bytes per second; a missing
value is ``None``, never 0.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from mpicampaign.errors import UserError
from mpicampaign.files import whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

RECORDS = "records.jsonl"  # in a campaign's folder
FORMAT = "mpicampaign-records"
VERSION = 3

# status
OK = "ok"
FAILED = "failed"
NOT_AVAILABLE = "not_available"
MISSING = "missing"

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

_Kind = type | tuple[type, ...]
_KINDS: dict[str, _Kind] = {
    **dict.fromkeys(("suite", "status", "reason", "earlier", "identity", "job_id", "started", "ended"), str),
    **dict.fromkeys(("condition", "condition_reason"), str),
    **dict.fromkeys(("ranks_busy", "further"), bool),
    "verdict": (str, NoneType),
    "repeat": int,
    **dict.fromkeys(("order", "exit_status"), (int, NoneType)),
    **dict.fromkeys(("files", "metadata", "probes", "attributes", "startup", "nodes"), dict),
    "line_rate": (int, float, NoneType),
}
_KINDS_OF_CASE: dict[str, _Kind] = dict.fromkeys(("system", "host_group", "placement", "benchmark"), str)
_KINDS_OF_SERIES: dict[str, _Kind] = {
    "benchmark": str,
    "ranks": (int, NoneType),
    **dict.fromkeys(("columns", "qualifiers", "metrics"), dict),
}

# Keys of the metadata: the transport that the label claims, with its interface or device
CLAIMED_TRANSPORT = "claimed transport"
CHOSEN_TRANSPORT = "the library chose"  # where the label claims none, with what shows it
# more ranks on a host than cores or CPUs for them: how many of each
OVERSUBSCRIBED = "oversubscribed ranks"
STATE = "state of the machine"  # where it is another one than that of the answers
SESSION = "session"  # of imported runs: when the call that made them began; a history has a point for each
APART = (OVERSUBSCRIBED, STATE)  # such runs are compared with no others
# of a run in a block: the name of its block design, and what is compared there; kernels print a key "block"
BLOCK, COMPARED = "block design", "compared in blocks"
# of a run of `each`: node or pair, the declared names of its nodes, its round, the tolerance as a fraction,
# and the switches that the scheduler knows of these nodes; of absent nodes their state
EACH, EACH_NODES, ROUND, EACH_TOLERANCE = "each", "nodes of a member", "round", "tolerance"
EACH_SWITCHES, NODE_STATE = "switches of the nodes", "state of the node"
SCHEDULER = "scheduler"
NODE, PAIR = "node", "pair"
MPI_LIBRARY = "MPI library checksum"  # of what the ranks mapped
BLAS = "BLAS"  # the BLAS library that the ranks mapped
REFERENCE_BLAS = "reference BLAS"  # Netlib's, which is not tuned for any machine
MERGED_FROM = "merged from bundle"  # in the metadata of runs of other systems
REFRAME_TEST = "ReFrame test"  # NAME @SYSTEM:PARTITION+ENVIRONMENT, as ReFrame writes it
# of imported runs: the original path of the file, and the requested host group if the job ran on another one
IMPORTED_FROM = "imported from"
REQUESTED_GROUP = "requested host group"
IN_PART = "in part"  # of imported runs: what is missing of the output, and why


# Keys of the probes of the machine (mpicampaign.verdict.machine_state)
ROUND_TRIP, CLOCK_RATE, COPY = "round trip", "clock rate", "copy"
Probes = dict[str, dict[str, list[float]]]

OwnMetric = dict[str, str]  # unit, and better: higher or lower


class RaceRules(NamedTuple):
    """Smaller differences than ``tolerance`` do not matter; so many ``races`` share one error."""

    tolerance: float
    races: int


def race_rules(compared: str) -> RaceRules | None:
    """Those of a race; ``None`` of other designs."""
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
    columns: dict[str, list[float | None]]
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
    line_rate: float | None = None  # B/s of one direction of the link between the nodes
    condition: str = NOT_JUDGED
    condition_reason: str = ""
    ranks_busy: bool = False  # its campaign ranks disturbed runs, too, as its machine is never quiet
    further: bool = False  # beyond the repeats that the campaign asks for
    probes: Probes = field(default_factory=dict)  # of the machine below the operating system
    attributes: dict[str, str] = field(default_factory=dict)  # of its host group, as declared
    startup: dict[str, float] = field(default_factory=dict)  # see mpicampaign.collect.startup
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)  # see mpicampaign.verdict.node_facts

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


def record_to_json(record: Record) -> dict[str, Any]:
    """The record as plain JSON types; mappings and lists are the record's own, not copies."""
    case, series = plain_fields(record.case), [plain_fields(each) for each in record.series]
    data = {**plain_fields(record), "case": case, "series": series}
    for name in ("attributes", "startup", "nodes"):  # most records, and all early ones, have none
        if not data[name]:
            del data[name]
    return data


def plain_fields(data: Any) -> dict[str, Any]:
    """The fields of a dataclass as they are: `asdict` copies every list, which takes most of the time."""
    return {name: getattr(data, name) for name in data.__dataclass_fields__}


def record_from_json(data: dict[str, Any]) -> Record:
    """The inverse of `record_to_json`.

    Raises
    ------
    KeyError, TypeError
        at a field that is missing, unknown or of the wrong type.
    """
    fields = dict(data)
    fields.pop("script_hash", None)  # identified a run in version 1
    fields["case"] = Case(**fields["case"])
    fields["series"] = tuple(Series(**series) for series in fields["series"])
    fields["verdict_reasons"] = tuple(fields["verdict_reasons"])
    fields["hosts"] = tuple(fields["hosts"])
    return _checked(Record(**fields))


def _checked(record: Record) -> Record:
    """The record; a value of a wrong type, which would stop a later calculation, is refused."""
    _check(record, _KINDS)
    _check(record.case, _KINDS_OF_CASE)
    probed = (values for places in record.probes.values() for values in places.values())
    if not all(isinstance(value, (int, float)) and value > 0 for values in probed for value in values):
        raise TypeError("a probe is not a positive number")
    times = record.startup.values()
    if not all(isinstance(value, (int, float)) and 0 <= value <= sys.float_info.max for value in times):
        raise TypeError("a time of the start-up is not a number")
    facts = record.nodes.values()
    if not all(
        isinstance(each, dict) and all(isinstance(value, str) for value in each.values()) for each in facts
    ):
        raise TypeError("a fact about a node is not a text")
    for series in record.series:
        _check(series, _KINDS_OF_SERIES)
        kinds = {kind for column in series.columns.values() for kind in map(type, column)}
        if not all(issubclass(kind, (int, float, NoneType)) for kind in kinds):
            raise TypeError(f"a value of {series.benchmark} is not a number")
    return record


def _check(data: Any, kinds: Mapping[str, _Kind]) -> None:
    for name, kind in kinds.items():
        value = getattr(data, name)
        if not isinstance(value, kind):
            raise TypeError(f"{name} is {str(value)[:40]!r}")


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a records file; early files have only the name."""

    campaign: str
    title: str = ""
    table_sizes: tuple[int, ...] = ()  # B


def write_records(path: Path, header: Header, records: Iterable[Record]) -> None:
    """Write one JSON object per line: a header with format and version, then the records."""
    write_lines(path, header, record_lines(records))


def record_lines(records: Iterable[Record]) -> list[str]:
    """The records as lines of a file, without their ends."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    return [encode(record_to_json(each)) for each in records]


def write_lines(path: Path, header: Header, lines: Iterable[str]) -> None:
    """As `write_records`, of `record_lines`."""
    with whole(path) as part, part.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"format": FORMAT, "version": VERSION, **plain_fields(header)}) + "\n")
        file.writelines(f"{line}\n" for line in lines)


def read_records(path: Path, without: Collection[str] = ()) -> tuple[Header, list[Record]]:
    """The header and the records of a file, ``without`` those of some lines.

    Raises
    ------
    UserError
        when the file is of another format or version, or damaged; the line is named.
    """
    return records_from(path.read_bytes(), str(path), without)


def records_from(content: bytes, path: str, without: Collection[str] = ()) -> tuple[Header, list[Record]]:
    """The header and the records of a file's content; ``path`` is for messages.

    Raises
    ------
    UserError
        as `read_records`.
    """
    lines = _text(content, path).removesuffix("\n").split("\n")
    header = _header(path, lines[0])
    records = []
    for number, line in enumerate(lines[1:], start=2):
        if line in without:
            continue
        try:
            records.append(record_from_json(_json_line(path, number, line)))
        except (KeyError, TypeError) as error:
            raise UserError(f"{path}:{number}: damaged record: {error}") from error
    return header, records


def _text(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}:{number}: line is not valid UTF-8") from error


def _header(path: str, line: str) -> Header:
    data = _json_line(path, 1, line)
    if data.get("format") != FORMAT or data.get("version") not in range(1, VERSION + 1):
        raise UserError(f"{path}:1: not a records file of version 1 to {VERSION} of this program")
    try:
        sizes = tuple(map(int, data.get("table_sizes", ())))
    except (TypeError, ValueError) as error:
        raise UserError(f"{path}:1: damaged header: {error}") from error
    return Header(str(data.get("campaign", "")), str(data.get("title", "")), sizes)


def _json_line(path: str, number: int, line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise UserError(f"{path}:{number}: damaged line: {error}") from error
    if not isinstance(data, dict):
        raise UserError(f"{path}:{number}: damaged line: not a JSON object")
    return data
