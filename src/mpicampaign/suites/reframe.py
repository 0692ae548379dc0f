"""Test cases of ReFrame as imports keep them: one JSON object each, made by `mpicampaign.imports.reframe`.

A test is a benchmark, its partition the host group, its environment the placement, and each performance
variable a metric in the dimension of its unit. A variable without a number is missing. A case without any
number is a failed run with ReFrame's reason; one whose numbers missed their reference keeps them.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import ClassVar, NamedTuple

from mpicampaign.base.dimension import own_dimension
from mpicampaign.base.records import REFRAME_TEST, SESSION, OwnMetric, Series
from mpicampaign.base.units import TIME_UNITS
from mpicampaign.suites.reading import OutputError, ParsedOutput
from mpicampaign.suites.suite import Banner, Suite

_PASSED = ("pass", "xfail")
_BEGIN = '{"reframe_test_case": 1,'
_LONGEST = 64  # characters of a label
_PLAIN = re.compile(r"\w+(?: %[\w.]+=[\w.]+)*", re.ASCII)  # a test, with parameters
_BYTES = re.compile(r"([kKMGTP]?i?)(?:B|[Bb]ytes?)/s(?:ec)?")  # Mb/s may be bits: it stays as it is
_FLOPS = re.compile(r"([kmgtp]?)flop(?:s|/s|/sec)", re.IGNORECASE)
_TIMES = {f"{short}{long}": f"{short}s" for short in ("n", "u", "m") for long in ("sec", "secs", "seconds")}
# Columns by whose names tables are read otherwise
_TAKEN = re.compile(r"size|repetitions|samples|time_min|time_max|bandwidth_wire|pairs_.*")
RENAMED = " (ReFrame)"  # the end of their names here


class Variable(NamedTuple):
    """A performance variable; ``value``: of what was ``printed``, None where that is no number."""

    value: float | None
    unit: str = ""
    reference: float | None = None
    lower: float | None = None
    upper: float | None = None
    printed: str = ""

    @property
    def known_unit(self) -> str:
        """The unit by its usual name: ``MB/s`` for ``MBytes/sec``, ``Gflop/s`` for ``GFLOPS``."""
        if rate := _BYTES.fullmatch(self.unit):
            return f"{rate[1]}B/s"
        if rate := _FLOPS.fullmatch(self.unit):
            return f"{rate[1].upper().replace('K', 'k')}flop/s"
        return _TIMES.get(self.unit, _line(self.unit, 40) or "1")

    @property
    def better(self) -> str:
        """Which values are better: by the only threshold, else by the unit; empty where neither says it."""
        if (self.lower is None) != (self.upper is None):
            return "higher" if self.upper is None else "lower"
        unit = self.known_unit
        return "lower" if unit in TIME_UNITS else "higher" if unit.endswith(("/s", "/sec", "bps")) else ""

    @property
    def metric(self) -> OwnMetric:
        """``reported``: the unit as ReFrame knows it, where that is another one."""
        known = {"unit": self.known_unit, "better": self.better}
        return known if self.unit == self.known_unit else {**known, "reported": _line(self.unit, 40)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """One run of a test. ``completed``, ``session``: when its job ended and its session began (ISO 8601)."""

    test: str
    system: str
    partition: str
    environ: str
    result: str
    reason: str = ""
    completed: str = ""
    session: str = ""
    job: str = ""
    hosts: tuple[str, ...] = ()
    variables: Mapping[str, Variable] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The file that an import keeps."""
        variables = {name: variable._asdict() for name, variable in self.variables.items()}
        data = json.dumps({**asdict(self), "variables": variables}, indent=1, allow_nan=False)
        return f"{_BEGIN}{data[1:]}\n"


def label(name: str) -> str:
    """A name as a label; what it loses is replaced by a checksum, so that different tests stay apart."""
    plain = re.sub(r"[^A-Za-z0-9._+-]+", "-", name.replace(" %", "-")).strip("._+-")
    if len(plain) <= _LONGEST and plain and (plain == name or _PLAIN.fullmatch(name)):
        return plain
    beginning = plain[: _LONGEST - 9].rstrip("._+-")
    return f"{beginning or 'test'}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


def read(text: str) -> TestCase:
    """The test case of a file.

    Raises
    ------
    OutputError
        when it is none, as a file in somebody else's bundle may be.
    """
    try:
        data = json.loads(text)
        del data["reframe_test_case"]
        variables = {name: _variable(**fields) for name, fields in data.pop("variables").items()}
        hosts = tuple(map(str, data.pop("hosts")))
        return TestCase(**{name: str(text) for name, text in data.items()}, hosts=hosts, variables=variables)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise OutputError(f"not a complete test case of ReFrame: {error}") from None


def _variable(unit: object, printed: object, **numbers: float | None) -> Variable:
    known = {name: None if number is None else float(number) for name, number in numbers.items()}
    return Variable(unit=str(unit), printed=str(printed), **known)


def parse(text: str) -> ParsedOutput:
    """The values of a test case.

    Raises
    ------
    OutputError
        with ReFrame's reason, when it has none.
    """
    case = read(text)
    values = {_column(name): variable for name, variable in case.variables.items()}
    numbers = {name: _si(variable) for name, variable in values.items()}
    if not any(value is not None for value in numbers.values()):
        raise OutputError(f"ReFrame reports {_result_and_reason(case)}")
    series = Series(
        label(case.test),
        None,
        {name: [value] for name, value in numbers.items()},
        metrics={name: variable.metric for name, variable in values.items()},
    )
    missing = [f"{name}: {values[name].printed}" for name, value in numbers.items() if value is None]
    metadata = {"ReFrame": case.result, SESSION: (case.session or case.completed)[:19]}
    metadata[REFRAME_TEST] = _line(f"{case.test} @{case.system}:{case.partition}+{case.environ}", 500)
    metadata |= {
        f"reference of {name}": text for name, variable in values.items() if (text := _reference(variable))
    }
    metadata |= {"not_measured": "; ".join(missing)} if missing else {}
    return ParsedOutput("", metadata, (series,))


def _column(name: str) -> str:
    plain = _line(name, 80) or "value"
    return f"{plain}{RENAMED}" if _TAKEN.fullmatch(plain) else plain


def _si(variable: Variable) -> float | None:
    if variable.value is None:
        return None
    value = variable.value * own_dimension(variable.known_unit, variable.better).factor
    return value if 0 <= value < math.inf else None


def _reference(variable: Variable) -> str:
    """``100 GB/s, at least -5 %, at most 5 %``; empty where none is given."""
    sides = {"at least": variable.lower, "at most": variable.upper}
    given = [f"{side} {100 * limit:+.4g} %" for side, limit in sides.items() if limit is not None]
    if not given or variable.reference is None:
        return ""
    return ", ".join([f"{variable.reference:g} {variable.known_unit}", *given])


def _result_and_reason(case: TestCase) -> str:
    return ": ".join(filter(None, (_line(case.result, 40), _line(case.reason, 300))))


def _line(text: str, longest: int) -> str:
    """A text of somebody else's as one line."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(plain.split())[:longest]


class _ReFrame(Suite):
    only_imported = True
    labels: ClassVar[Mapping[str, str]] = {
        "system": "{system}",
        "host_group": "{partition}",
        "placement": "{environ}",
        "benchmark": "{benchmark}",
    }

    def names(self, text: str, program: str) -> tuple[str, str]:
        return label(read(text).test), ""

    def facts(self, text: str) -> Mapping[str, str]:
        case = read(text)
        places = {"system": case.system, "partition": case.partition, "environ": case.environ}
        return {
            **{name: label(place) for name, place in places.items()},
            "test": case.test,
            "result": _result_and_reason(case),
            "started": case.completed,
            "job": case.job,
            "hosts": " ".join(case.hosts),
            "nodes": str(len(case.hosts) or ""),
        }

    def doubt_of_end(
        self, facts: Mapping[str, str], arguments: Sequence[str] | None, tables: Iterable[Series]
    ) -> str:
        result = facts.get("result", "")
        return "" if result in _PASSED else f"ReFrame reports {result}"


SUITE = _ReFrame(
    name="reframe", title="ReFrame", banner=Banner(_BEGIN, re.compile(re.escape(_BEGIN))), parse=parse
)
