"""What is expected of a campaign's results: limits per metric, host group and placement."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NamedTuple

from mpicampaign.base.keys import LINE, NAME, NAME_RULE, NAMES, Kind, entry, key, text
from mpicampaign.base.units import parse_flop_rate, parse_percent, parse_plain, parse_rate, parse_seconds

# Numbers of repeats after which a case is looked at, whether it is known well enough.
REPEAT_STAGES = (6, 10, 15, 20)
UNTIL_KNOWN, UNTIL_DECIDED = 0, -1  # repeats of a case that go on until then
# Repeats from which on there is an interval of 95 %: of a median, and of the ratio of two groups of as many.
FEWEST_OF_VALUE, FEWEST_OF_RATIO = 6, 4

FEWEST_ROWS = 4  # of runs side by side, of which a comparison is tested

LOOKS = (8, 12, 16, 24)  # rows, or blocks, after which candidates leave until it is decided
MOST_TO_DECIDE = 12  # candidates: more were not simulated


def looks_to_decide(candidates: int) -> tuple[int, ...]:
    """The looks at so many: complete agreement of the rows of the first one shows a pair."""
    return tuple(look + (2 if candidates > 3 else 0) for look in LOOKS)


BEFORE = "before"  # as the other side of a comparison: the last finished series

# How a limit is written, by the SI unit of the metric; any other metric takes a plain number.
_PARSERS = {"s": parse_seconds, "B/s": parse_rate, "flop/s": parse_flop_rate}


def limit_value(text: str, si_unit: str) -> float:
    """A limit in SI units: ``2 us`` for a metric in s.

    Raises
    ------
    ValueError
        when the text is not a quantity of this unit.
    """
    return _PARSERS.get(si_unit, parse_plain)(text)


def _any_limit(text: str) -> str:
    """The text, if it is a quantity of any unit."""
    for parse in (*_PARSERS.values(), parse_plain):
        try:
            parse(text)
        except ValueError:
            continue
        return text
    unit = re.fullmatch(r"[0-9.]+ *([^0-9.\s]\S*)", text.strip(), re.ASCII)
    unknown = f": unknown unit {unit[1]!r}" if unit else ""
    raise ValueError(f"{text!r} is not a quantity such as 2 us, 10 GB/s, 40 Gflop/s or 1.5{unknown}")


_LIMIT = Kind(
    {"type": ["string", "number"], "x-type": "quantity"},
    lambda values, path: values.parsed(path, _any_limit) or "",
)
PERCENT = Kind(
    {"type": ["string", "number"], "x-type": "per cent"},
    lambda values, path: values.parsed(path, parse_percent) or 0.0,
    absent=0.0,
)


@entry(
    "against",
    "Comparison",
    "The source alone may be given as a text.",
    text={"x-type": "text or mapping", **NAME_RULE},
)
@dataclass(frozen=True, slots=True)
class Against:
    """What a metric is compared with.

    ``host_group``, ``placement``: those of the judged case where empty.
    """

    source: str = key(
        NAME,
        "Where the values come from",
        "before: the last finished series. Else a publication in reference/, or a system of a merged bundle.",
        BEFORE,
        "stfc-2017",
        required=True,
    )
    host_group: str = key(LINE, "Host group there", "Default: that of the case.", "scarf15")
    placement: str = key(LINE, "Placement there", "Default: that of the case.", "TCP")


class AlarmRule(NamedTuple):
    """An alarm: ``beyond`` of the newest ``of`` values are beyond a limit."""

    beyond: int
    of: int

    def __str__(self) -> str:
        return f"{self.beyond} of {self.of}"


def _rule(text: str) -> AlarmRule:
    match = re.fullmatch(r"([1-9]) of ([1-9])", text.strip(), re.ASCII)
    if not match or match[1] > match[2]:
        raise ValueError(f"{text!r} is not a rule such as 3 of 3")
    return AlarmRule(int(match[1]), int(match[2]))


@entry("alarm", "Alarm")
@dataclass(frozen=True, slots=True)
class Alarm:
    """Judges a limit by the newest ticks after the history that it is from; `judge --propose` writes it."""

    rule: AlarmRule = key(
        Kind(
            {"type": "string", "x-type": "rule"},
            lambda values, path: values.parsed(path, _rule),
            instead=AlarmRule(1, 1),
        ),
        "Rule of re-tests",
        "Failed: so many of the newest ticks are beyond the limit.",
        "3 of 3",
        required=True,
    )
    curve: str = key(
        text("^[0-9a-f]{12}$", "must be 12 hexadecimal digits"),
        "Curve of the history",
        "",
        "3f0c5a9e1b27",
        required=True,
    )
    after: str = key(
        text(
            "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
            "must be a time in UTC such as 2026-11-26T04:00:00Z",
        ),
        "Last tick of the past",
        "Later ticks are judged.",
        "2026-11-26T04:00:00Z",
        required=True,
    )
    apart: int = key(
        Kind({"type": "string", "x-type": "duration"}, lambda values, path: values.seconds(path), instead=1),
        "Time between two ticks that count",
        "Half the median gap of the past.",
        "12 h",
        required=True,
    )


@entry("limit", "Limit (`expect: [{…}]`)")
@dataclass(frozen=True, slots=True)
class Limit:
    """One limit, for each of its host groups and placements.

    Exactly one of ``at_most``, ``at_least`` and ``against`` is given. ``tolerance``: a fraction.
    """

    benchmark: str = key(NAME, "Benchmark", "", "PingPong", required=True)
    metric: str = key(LINE, "Metric", "As the tables name it.", "latency at 0 B", required=True)
    host_groups: tuple[str, ...] = key(
        NAMES, "Host groups", "Default: all that have the benchmark.", ["milan"]
    )
    placements: tuple[str, ...] = key(NAMES, "Placements", "Default: all that have the benchmark.", ["TCP"])
    at_most: str = key(_LIMIT, "Largest value", "", "2 us")
    at_least: str = key(_LIMIT, "Smallest value", "", "10 GB/s")
    against: Against | None = key(Against, "Values that it is compared with", "", BEFORE)
    tolerance: float = key(PERCENT, "How much worse than those it may be", "", "5 %", default="5 %")
    alarm: Alarm | None = key(
        Alarm,
        "How a limit from the history is judged",
        "",
        {"rule": "3 of 3", "curve": "3f0c5a9e1b27", "after": "2026-11-26T04:00:00Z", "apart": "12 h"},
    )


FEWEST_REPEATS = 4  # of each that is tested
WITHIN, WITHIN_MANY, FEW_CANDIDATES = 8, 16, 4  # rows from which on candidates are ranked within them
_MOST_IN_FAMILY = 16  # candidates whose pairs share an error


def fewest_repeats(candidates: int) -> int:
    """How many repeats can show a difference of two of the candidates even if one repeat disagrees."""
    family = min(candidates, _MOST_IN_FAMILY)
    level = 1 - 0.95 ** (2 / family if family > 3 else 1)
    rows = WITHIN if family <= FEW_CANDIDATES else WITHIN_MANY
    n = FEWEST_REPEATS
    # the second smallest probability of each test is twice the smallest
    while 2 * (2.0 ** (1 - n) if n >= rows else 2 / math.comb(2 * n, n)) > level:
        n += 1
    return n


def fewest_blocks(candidates: int, *, all_pairs: bool) -> int:
    """How many blocks can show a difference of two of the candidates."""
    if candidates > _MOST_IN_FAMILY:
        level = 0.05 / (math.comb(candidates, 2) if all_pairs else candidates - 1)
    else:
        level = 1 - 0.95 ** (2 / candidates if all_pairs and candidates > 3 else 1)
    return math.ceil(1 - math.log2(level))
