"""OpenMetrics: what Prometheus scrapes, and node_exporter reads from a file.

A family has one unit. No sample has a timestamp, since node_exporter refuses files with any: the time of
the newest run is a value. What is missing has no sample. The text is valid in the older format of
Prometheus, too, which takes ``# UNIT`` and ``# EOF`` for comments.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from mpicampaign.base.text import visible
from mpicampaign.compare.tables import Comparison
from mpicampaign.report.columns import MEDIANS
from mpicampaign.report.data import lines_of
from mpicampaign.report.exports import ExportWriter
from mpicampaign.show.document import Value, plain

Line = dict[str, Value]

_STATISTICS = {
    "median": "Median over the repeats with a value",
    "interval_low": "Lower end of the interval of the median",
    "interval_high": "Upper end of the interval of the median",
}
_COUNTS = {
    "n": ("repeats", "Repeats with a value"),
    "runs_planned": ("runs_planned", "Repeats that the campaign asks for"),
}
_NEWEST = "newest_run"
_LABELS = (
    *("system", "host_group", "placement", "benchmark", "series", "ranks", "metric", "size", "unit"),
    *("identity", "program_checksum", "mpi_library_checksum"),
)
_STATES = {  # ends of the names of columns that count runs
    "verdict": ("verified", "verified_against_declared_topology", "unverified", "contradicted"),
    "condition": ("quiet", "disturbed", "not_judged"),
}
_UNITS = {
    **{"s": "seconds", "B/s": "bytes_per_second", "1/s": "per_second", "flop/s": "flop_per_second"},
    **{"byte/flop": "bytes_per_flop", "1": "ratio"},
}
_NO_NAME = re.compile(r"[^0-9A-Za-z]+")


class Sample(NamedTuple):
    """A number of a family. ``unit``: ends the name of the family, such as ``bytes_per_second``; or empty."""

    family: str
    about: str
    unit: str
    labels: Mapping[str, Value]
    value: float


def openmetrics(samples: Iterable[Sample]) -> str:
    """The samples, those of a family together; those that are no number are left out."""
    families: dict[str, list[Sample]] = {}
    for sample in samples:
        if abs(sample.value) <= sys.float_info.max:
            name = "_".join(filter(None, ("mpicampaign", sample.family, sample.unit)))
            families.setdefault(name, []).append(sample)
    lines = (line for name, found in families.items() for line in _lines(name, found))
    return "".join([*lines, "# EOF\n"])


def _lines(name: str, samples: list[Sample]) -> Iterator[str]:
    yield f"# TYPE {name} gauge\n"
    if samples[0].unit:
        yield f"# UNIT {name} {samples[0].unit}\n"
    yield f"# HELP {name} {samples[0].about}.\n"
    seen: dict[str, int] = {}
    for sample in samples:
        labels = _labels_text(sample.labels)
        seen[labels] = seen.get(labels, 0) + 1
        if seen[labels] > 1:  # a reader refuses a file in which two samples have the same labels
            labels += f',duplicate="{seen[labels]}"'
        yield f"{name}{{{labels}}} {float(sample.value)!r}\n"


def _labels_text(labels: Mapping[str, Value]) -> str:
    filled = ((name, visible(str(value))) for name, value in labels.items() if value not in ("", None))
    escaped = ((name, text.replace("\\", "\\\\").replace('"', '\\"')) for name, text in filled)
    return ",".join(f'{name}="{text}"' for name, text in escaped)


def samples_of(comparison: Comparison, campaign: str) -> Iterator[Sample]:
    """The medians of a comparison with intervals, numbers of repeats, and the time of the newest run."""
    data = lines_of(comparison, MEDIANS)
    names = [*map(plain, data.header)]
    for values in data.values:
        yield from _samples(dict(zip(names, values, strict=True)), campaign)


def _samples(line: Line, campaign: str) -> Iterator[Sample]:
    labels = {"campaign": campaign, "mpi_library": line["library"]}
    labels |= {name: line[name] for name in _LABELS}
    labels |= {kind: _state(line, states) for kind, states in _STATES.items()}
    for name, about in _STATISTICS.items():
        if isinstance(value := line[name], (int, float)):
            yield Sample(name, about, _unit(str(line["unit"])), labels, value)
    for column, (name, about) in _COUNTS.items():
        if isinstance(value := line[column], int):
            yield Sample(name, about, "", labels, value)
    if (seconds := timestamp(str(line[_NEWEST] or ""))) is not None:
        yield Sample(f"{_NEWEST}_timestamp", "End of the newest run with a value", "seconds", labels, seconds)


def _state(line: Line, states: Iterable[str]) -> str:
    """The one that all complete runs have, or ``mixed``; empty without any."""
    found = [state for state in states if line[f"runs_{state}"]]
    return found[0] if len(found) == 1 else "mixed" if found else ""


def _unit(si: str) -> str:
    """``bytes_per_second`` for ``B/s``; of a unit of one's own what a name may have."""
    return _UNITS.get(si) or _NO_NAME.sub("_", si.replace("/", " per ")).strip("_")


def timestamp(text: str) -> float | None:
    """In seconds; ``None`` for what is no time, or has no time zone."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:  # of an import
        return None
    return time.timestamp() if time.tzinfo else None


WRITER = ExportWriter(
    ".prom", lambda comparison, campaign: openmetrics(samples_of(comparison, campaign)).encode("utf-8")
)
