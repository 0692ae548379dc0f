"""Data as OpenMetrics: for Prometheus and what reads its text files, such as node_exporter.

Texts, ranks and sizes become labels, numbers become samples in the unit that the label ``unit`` names. What
is missing has no sample.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.show.document import plain
from mpicampaign.show.writer import DataWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpicampaign.show.document import Grid, Value

_PREFIX = "mpicampaign"
_NUMBERS = ("ranks", "size")  # that tell lines apart
_LONG = ("notes", "missing_because")  # texts that change with each repeat
_SAMPLES = {
    "median": "Median over the repeats that count, in the unit of its label",
    "interval_low": "Lower end of the median's interval",
    "interval_high": "Upper end of the median's interval",
    "n": "Repeats with a value",
    "runs_planned": "Runs that the campaign asks for",
    "runs_counted": "Runs that count",
}
_STATES = {"verdict": ("verified", "verified_against_declared_topology", "unverified", "contradicted")}
_STATES |= {"condition": ("quiet", "disturbed", "not_judged")}


def data_to_openmetrics(data: Grid, campaign: str) -> str:
    """One family for each statistic, with a sample for each line that has it."""
    names = [_name(plain(each)) for each in data.header]
    lines = [dict(zip(names, line, strict=True)) for line in data.values]
    texts = {name for name, kind in zip(names, data.kinds, strict=True) if kind is str} - {*_LONG}
    labelled = [({"campaign": campaign, **_labels(line, texts)}, line) for line in lines]
    families = (_family(name, about, labelled) for name, about in _SAMPLES.items() if name in names)
    return "".join([*(line for family in families for line in family), "# EOF\n"])


def _name(column: str) -> str:
    """The name of a column without its unit, as a label."""
    return re.sub(r"\W", "_", column.split(" [")[0], flags=re.ASCII)


def _labels(line: Mapping[str, Value], texts: set[str]) -> dict[str, Value]:
    found = {name: value for name, value in line.items() if name in texts or name in _NUMBERS}
    states = {
        kind: _state({name: line.get(f"runs_{name}") for name in states}) for kind, states in _STATES.items()
    }
    return {name: value for name, value in (found | states).items() if value not in ("", None)}


def _state(counts: Mapping[str, Value]) -> str:
    """The only one that runs have, or ``mixed``; empty without runs."""
    found = [name for name, count in counts.items() if count]
    return found[0] if len(found) == 1 else "mixed" if found else ""


def _family(
    name: str, about: str, lines: list[tuple[dict[str, Value], dict[str, Value]]]
) -> Iterator[str]:
    yield f"# TYPE {_PREFIX}_{name} gauge\n# HELP {_PREFIX}_{name} {about}.\n"
    for labels, line in lines:
        value = line[name]
        if isinstance(value, (int, float)):
            inner = ",".join(f'{label}="{_escaped(str(text))}"' for label, text in labels.items())
            yield f"{_PREFIX}_{name}{{{inner}}} {value!r}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


WRITER = DataWriter(".prom", lambda data, campaign: data_to_openmetrics(data, campaign).encode("utf-8"))
