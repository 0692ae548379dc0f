"""Published values that the project ships as data in reference/, each with its source and licence.

Each line of reference/NAME.csv holds one value as printed, with its true unit. reference/NAME.yaml names the
publication. docs/formats.md describes the format.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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


@entry()
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
    problems, _ = check_shape(document, schema_of(Publication))
    return Values(document).entry(Publication, ()), [*document.problems, *problems]


def _values(path: Path, problems: list[Problem]) -> tuple[PublishedValue, ...]:
    """The values of all whole lines; each damaged one is a problem."""
    values: dict[tuple[object, ...], PublishedValue] = {}
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file)
        for line in lines:
            try:
                value = _value(line)
                place = value.system, value.host_group, value.placement, value.ranks, value.benchmark
                if values.setdefault((*place, value.quantity, value.size, line["size"]), value) is not value:
                    raise ValueError("the same value twice")
            except (KeyError, TypeError, ValueError) as error:
                problems.append(Problem(f"damaged line: {error}", str(path), lines.line_num))
    if not values and not problems:
        problems.append(Problem("this file has no values", str(path)))
    return tuple(values.values())


def _value(line: dict[str, str]) -> PublishedValue:
    ranks, size, texts = line["ranks"], line["size"], [*line.values()]
    if (
        len(line) != len(COLUMNS)
        or None in texts
        or not all(line[name] for name in ("system", "host_group", "quantity"))
    ):
        raise ValueError("cells are missing, or too many")
    number, n = float(line["value"]), int(line["n"])
    if not 0 < number < math.inf or n < 1 or line["statistic"] not in STATISTICS or line["unit"] not in UNITS:
        raise ValueError(", ".join(texts[-4:]))
    return PublishedValue(
        line["system"],
        line["host_group"],
        line["placement"],
        int(ranks) if ranks else None,
        line["benchmark"],
        line["quantity"],
        int(size) if size not in ("", LARGEST) else None,
        line["statistic"],
        n,
        line["value"],
        line["unit"],
    )
