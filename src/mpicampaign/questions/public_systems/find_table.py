"""The table of public systems: reference/public-systems.csv, facts with source and licence.

docs/formats.md says what its columns are. Values of own runs and of bundles become lines of the same form.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache

from mpicampaign.base.places import shipped
from mpicampaign.base.reference import UNITS

FILE = shipped("reference/public-systems.csv")
LATENCY, BANDWIDTH, PEAK, MESSAGE_RATE = "latency", "bandwidth", "peak bandwidth", "peak message rate"
BALANCE = "random ring / HPL"  # of whole systems, whatever their size
PAIR = 2  # ranks
PING_PONG = ("IMB PingPong", "osu_latency", "osu_multi_lat")  # half a round trip of one message, of two ranks
_UNITS = UNITS | {"messages/s": 1.0, "byte/kflop": 1e-3, "%": 1e-2}


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
    """A median over ``n`` outputs of a system, the lowest and the highest of them, in SI units.

    ``rails``: adapters of a node; None where unknown. ``about``: processor, adapter, MPI library, year.
    ``unlike``: what sets it apart from all others, so that nothing is compared with it.
    ``bundle``: of an own or another site's bundle, not of the table.
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
    bundle: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        return (self.low or self.value, self.high or self.value)


@cache
def public_values() -> tuple[SystemValue, ...]:
    """All lines of the table."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return tuple(map(_value, csv.DictReader(file)))


def _value(line: dict[str, str]) -> SystemValue:
    scale, count = _UNITS[line["unit"]], {key: int(line[key]) if line[key] else None for key in _COUNTS}
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
    texts = (about, source, line["licence"], line["note"], line["unlike"])
    return SystemValue(line["system"], kind, value, n, low, high, rails, *texts)


_COUNTS = ("size_bytes", "ranks", "nodes", "n", "rails")
