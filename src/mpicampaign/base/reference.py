"""Published values that the project ships as data in reference/, each with its source and licence.

Each line of reference/NAME.csv holds one value as printed, with its true unit. reference/NAME.yaml names the
publication. docs/formats.md describes the format.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.keys import Kind, Values, entry, key, mapping, schema_of
from mpicampaign.base.places import shipped
from mpicampaign.base.records import plain_fields
from mpicampaign.base.shape import check_shape
from mpicampaign.base.units import MB, MIB
from mpicampaign.base.yaml_lines import read_yaml, shown

REFERENCE = shipped("reference")
COLUMNS = (
    "system",
    "host_group",
    "placement",
    "ranks",
    "benchmark",
    "quantity",
    "size",
    "statistic",
    "n",
    "value",
    "unit",
)
STATISTICS = ("mean", "median", "minimum", "maximum", "single", "derived")
LARGEST = "max"  # in the column size: the largest value over all message sizes
# Factors to bytes, seconds, B/s and flop/s.
UNITS = {
    "us": 1e-6,
    "s": 1.0,
    "MB/s": float(MB),
    "MiB/s": float(MIB),
    "GB/s": 1e9,
    "Gflop/s": 1e9,
}
_TEXT = Kind(
    {"type": "string", "pattern": r"^\s*\S[\s\S]*$", "x-message": "must be a text"},
    lambda values, path: values.text(path).strip(),
)


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """One published value. ``size`` (B) is None for maxima over sizes and where there are no sizes."""

    system: str
    host_group: str
    placement: str
    ranks: int | None
    benchmark: str
    quantity: str
    size: int | None
    statistic: str
    n: int
    printed: str
    unit: str

    @property
    def value(self) -> float:
        """The value in bytes, seconds, B/s or flop/s."""
        return float(self.printed) * UNITS[self.unit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """The keys of reference/NAME.yaml."""

    title: str = key(_TEXT, "Title of the publication", required=True)
    source: str = key(_TEXT, "Author, title and place of the publication", required=True)
    licence: str = key(_TEXT, "Licence of the values", required=True)
    note: str = key(_TEXT, "What a reader must know to compare the values", required=True)
    address: str = key(_TEXT, "Web address")
    same: dict[str, str] = key(
        mapping(None, _TEXT),
        "Benchmarks by the names of own series that measure the same",
        "Own series have their options in their names, such as another Lmax.",
        default={},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(Publication):
    """A publication with all its values."""

    name: str
    values: tuple[PublishedValue, ...]


def reference_names(folder: Path = REFERENCE) -> tuple[str, ...]:
    """The names of the publications that are shipped."""
    return tuple(sorted(path.stem for path in folder.glob("*.yaml")))


@cache
def load_reference(name: str, folder: Path = REFERENCE) -> Reference:
    """One publication with its values.

    Raises
    ------
    UserError
        with every damaged line, or when there is no such publication.
    """
    if name not in reference_names(folder):
        hint = did_you_mean(name, reference_names(folder))
        raise UserError(Problem(f"unknown reference {shown(name)}", str(folder), hint=hint))
    publication, problems = _publication(folder / f"{name}.yaml")
    values = _values(folder / f"{name}.csv", problems)
    if problems:
        raise UserError(problems)
    return Reference(name=name, values=values, **plain_fields(publication))


def _publication(path: Path) -> tuple[Publication, list[Problem]]:
    document = read_yaml(path)
    if not isinstance(document.data, dict):
        raise UserError(Problem("must be a mapping with title, source, licence and note", str(path), 1))
    problems, _ = check_shape(document, schema_of(entry(Publication, "", "", "")))
    return Values(document).entry(Publication, ()), [*document.problems, *problems]


def _values(path: Path, problems: list[Problem]) -> tuple[PublishedValue, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(Problem(f"this file cannot be read: {error}", str(path))) from error
    lines = csv.reader(io.StringIO(text))
    if tuple(next(lines, ())) != COLUMNS:
        raise UserError(Problem("the first line must be " + ",".join(COLUMNS), str(path), 1))
    line_of: dict[tuple[object, ...], int] = {}
    values = []
    for cells in lines:
        problem = _problem(cells, line_of, lines.line_num)
        if problem:
            problems.append(Problem(problem[0], str(path), lines.line_num, value=shown(problem[1])))
        else:
            values.append(_value(cells))
    if not values and not problems:
        problems.append(Problem("this file has no values", str(path)))
    return tuple(values)


def _problem(cells: list[str], line_of: dict[tuple[object, ...], int], line: int) -> tuple[str, str] | None:
    """What is wrong with a line, and the value in question."""
    if len(cells) != len(COLUMNS):
        return f"must have {len(COLUMNS)} columns", str(len(cells))
    named = dict(zip(COLUMNS, cells, strict=True))
    for column in ("system", "host_group", "benchmark", "quantity"):
        if not named[column].strip():
            return f"{column} is missing", named[column]
    checks = (
        ("ranks", _count(named["ranks"]) or not named["ranks"], "must be a whole number from 1 on, or empty"),
        ("size", _size(named["size"]), f"must be a number of bytes, '{LARGEST}' or empty"),
        ("statistic", named["statistic"] in STATISTICS, "must be one of " + ", ".join(STATISTICS)),
        ("n", _count(named["n"]), "must be a whole number from 1 on"),
        ("value", _positive(named["value"]), "must be a positive number"),
        ("unit", named["unit"] in UNITS, "must be one of " + ", ".join(UNITS)),
    )
    for column, right, rule in checks:
        if not right:
            return f"{column} {rule}", named[column]
    first = line_of.setdefault(tuple(cells[:7]), line)
    return None if first == line else (f"the same value as in line {first}", named["value"])


def _count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) > 0


def _size(text: str) -> bool:
    return text in ("", LARGEST) or (text.isascii() and text.isdecimal())


def _positive(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and float(text) > 0
    except ValueError:
        return False


def _value(cells: list[str]) -> PublishedValue:
    named: dict[str, Any] = dict(zip(COLUMNS, cells, strict=True))
    named["ranks"] = int(named["ranks"]) if named["ranks"] else None
    named["size"] = int(named["size"]) if named["size"].isdecimal() else None
    named["n"] = int(named["n"])
    return PublishedValue(printed=named.pop("value"), **named)
