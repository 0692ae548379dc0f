"""Values that the project ships in reference/, each with its source: of publications and of public systems.

docs/formats.md says what the columns of a table are. Values of own runs and of bundles become lines of the
same form.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.places import shipped
from mpicampaign.base.units import MB, MIB
from mpicampaign.base.yaml_lines import read_yaml, shown

REFERENCE = shipped("reference")
PUBLIC_SYSTEMS = "public-systems"  # outputs in public repositories; all other tables are of publications
LATENCY, BANDWIDTH, PEAK, MESSAGE_RATE = "latency", "bandwidth", "peak bandwidth", "peak message rate"
BALANCE = "random ring / HPL"  # of whole systems, whatever their size
PAIR = 2  # ranks
PING_PONG = ("IMB PingPong", "osu_latency", "osu_multi_lat")  # half a round trip of one message, of two ranks
# Factors to bytes, seconds, B/s, flop/s, messages/s and byte/flop.
UNITS = {
    **{"us": 1e-6, "s": 1.0, "MB/s": float(MB), "MiB/s": float(MIB), "GB/s": 1e9, "Gflop/s": 1e9},
    **{"messages/s": 1.0, "byte/kflop": 1e-3, "%": 1e-2},
}


@dataclass(frozen=True, slots=True)
class Likeness:
    """What two values must share to be compared."""

    benchmark: str
    metric: str
    size: int | None
    scope: str = ""
    fabric: str = ""
    ranks: int | None = None
    nodes: int | None = None

    @property
    def same(self) -> Likeness:
        """One name for suites that mean the same; no place for whole systems."""
        if self.metric == BALANCE:
            return Likeness(self.benchmark, self.metric, None)
        if self.metric == LATENCY and self.ranks == PAIR and self.benchmark in PING_PONG:
            return replace(self, benchmark=PING_PONG[0])
        return self


@dataclass(frozen=True, slots=True)
class SystemValue:
    """A value over ``n`` outputs of a system, the lowest and the highest of them, in SI units.

    ``rails``: adapters of a node; None where unknown. ``about``: processor, adapter, MPI library, year.
    ``unlike``: what sets it apart from all others, so that nothing is compared with it.
    ``host_group``, ``placement``, ``statistic`` (mean, single): of publications, as these name them.
    ``bundle``: of an own or another site's bundle, not of a table.
    """

    system: str
    kind: Likeness
    value: float
    n: int = 1
    low: float | None = None
    high: float | None = None
    rails: int | None = None
    about: str = ""
    source: str = ""
    licence: str = ""
    note: str = ""
    unlike: str = ""
    host_group: str = ""
    placement: str = ""
    statistic: str = ""
    bundle: bool = field(default=False, kw_only=True)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        return (self.low or self.value, self.high or self.value)


class Publication(NamedTuple):
    """``same``: the publication's benchmarks by the names of own series that measure the same."""

    source: str
    same: dict[str, str]
    values: tuple[SystemValue, ...]


@cache
def table_values(name: str) -> tuple[SystemValue, ...]:
    """All lines of reference/NAME.csv."""
    with (REFERENCE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(_value(defaultdict(str, line)) for line in csv.DictReader(file))


def reference_names() -> tuple[str, ...]:
    """The names of the publications that are shipped."""
    return tuple(sorted(path.stem for path in REFERENCE.glob("*.yaml")))


@cache
def load_reference(name: str) -> Publication:
    """A publication with its values.

    Raises
    ------
    UserError
        when there is no such publication.
    """
    if name not in reference_names():
        hint = did_you_mean(name, reference_names())
        raise UserError(Problem(f"unknown reference {shown(name)}", str(REFERENCE), hint=hint))
    about = read_yaml(REFERENCE / f"{name}.yaml").data
    return Publication(about["source"], about.get("same", {}), table_values(name))


def _value(line: defaultdict[str, str]) -> SystemValue:
    """The value of a line; columns that a table lacks are empty."""
    scale, count = UNITS[line["unit"]], {key: int(line[key]) if line[key] else None for key in _COUNTS}
    kind = Likeness(
        line["benchmark"],
        line["metric"],
        None if line["metric"].startswith("peak") else count["size_bytes"],
        line["scope"],
        line["fabric"],
        count["ranks"],
        count["nodes"],
    )
    low, high = (float(line[key]) * scale if line[key] else None for key in ("low", "high"))
    library = f"{line['mpi_library']} {line['mpi_version']}".strip()
    about = ", ".join(filter(None, (line["cpu"], line["adapter"], library, line["year"])))
    source = " ".join(filter(None, (line["repository"], line["commit"], line["path"])))
    value, n, rails = float(line["value"]) * scale, count["n"] or 1, count["rails"]
    about_it = (about, source, *(line[key] for key in _TEXTS))
    return SystemValue(line["system"], kind, value, n, low, high, rails, *about_it)


_COUNTS = ("size_bytes", "ranks", "nodes", "n", "rails")
_TEXTS = ("licence", "note", "unlike", "host_group", "placement", "statistic")
