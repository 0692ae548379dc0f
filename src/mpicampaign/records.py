"""Records: what is known of each run after its files were read; format in docs/formats.md.

A record is one run (one launch of one case). All figures are in bytes, seconds and bytes per second;
a missing figure is ``None``, never 0.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from mpicampaign.errors import UserError
from mpicampaign.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FORMAT = "mpicampaign-records"
VERSION = 1

# status
OK = "ok"
FAILED = "failed"
NOT_AVAILABLE = "not_available"
MISSING = "missing"

# verdict
VERIFIED = "verified"
DECLARED = "verified against the declared topology"  # a folder stood for the node's own /sys
CONTRADICTED = "contradicted"
UNVERIFIED = "unverified"

# A key of the metadata: the transport that the label claims, with its interface or device
CLAIMED_TRANSPORT = "claimed transport"


@dataclass(frozen=True, slots=True)
class Series:
    """One table of figures that a benchmark printed.

    ``columns`` maps a column's name to its values, all of one length. Names with a meaning:
    ``size`` (B), ``time``, ``time_min``, ``time_max`` (s), ``bandwidth``, ``bandwidth_wire`` (B/s),
    ``message_rate`` (1/s), ``repetitions``, ``samples`` (counts), ``overlap`` (fraction), and the single
    figures of benchmarks without sizes that `mpicampaign.metrics` names.
    ``qualifiers`` tells apart series of one benchmark, such as ``{"tree": "max-inter"}``.
    """

    benchmark: str
    ranks: int | None
    columns: dict[str, list[float | None]]
    qualifiers: dict[str, str] = field(default_factory=dict)

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


@dataclass(frozen=True, slots=True)
class Record:
    """One run. ``reason`` says why, for every status but ``ok``."""

    case: Case
    suite: str
    repeat: int
    status: str
    reason: str = ""
    verdict: str | None = None
    verdict_reasons: tuple[str, ...] = ()
    series: tuple[Series, ...] = ()
    order: int | None = None
    script_hash: str = ""
    hosts: tuple[str, ...] = ()
    job_id: str = ""
    started: str = ""
    ended: str = ""
    exit_status: int | None = None
    files: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    line_rate: float | None = None  # B/s of one direction of the link between the nodes

    @property
    def counts(self) -> bool:
        """Whether the run's figures may enter averages: complete and not contradicted."""
        return self.status == OK and self.verdict != CONTRADICTED


def record_to_json(record: Record) -> dict[str, Any]:
    """The record as plain JSON types."""
    return asdict(record)


def record_from_json(data: dict[str, Any]) -> Record:
    """The inverse of `record_to_json`."""
    fields = dict(data)
    fields["case"] = Case(**fields["case"])
    fields["series"] = tuple(Series(**series) for series in fields["series"])
    fields["verdict_reasons"] = tuple(fields["verdict_reasons"])
    fields["hosts"] = tuple(fields["hosts"])
    return Record(**fields)


def write_records(path: Path, campaign: str, records: Iterable[Record]) -> None:
    """One JSON object a line: a header with format and version, then the records."""
    header = {"format": FORMAT, "version": VERSION, "campaign": campaign}
    lines = [json.dumps(header)]
    lines += [json.dumps(record_to_json(record), ensure_ascii=False) for record in records]
    write_whole(path, "\n".join(lines) + "\n")


def read_records(path: Path) -> tuple[str, list[Record]]:
    """The campaign's name and its records.

    Raises
    ------
    UserError
        when the file is of another format or version, or damaged; the line is named.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    header = _json_line(path, 1, lines[0] if lines else "")
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise UserError(f"{path}:1: not a records file of version {VERSION} of this program")
    records = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            records.append(record_from_json(_json_line(path, number, line)))
        except (KeyError, TypeError) as error:
            raise UserError(f"{path}:{number}: damaged record: {error}") from error
    return str(header.get("campaign", "")), records


def _json_line(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise UserError(f"{path}:{number}: damaged line: {error}") from error
    if not isinstance(data, dict):
        raise UserError(f"{path}:{number}: damaged line: not a JSON object")
    return data
