"""Every displayed number agrees with the records, to the digits shown.

Records are random; what is to be shown is computed from them here, without the program's own summaries. Texts
are read back: the terminal's table, Markdown, CSV, JSON, LaTeX and the tables of the report page. A reader
gives `Shown`; whatever else shows numbers, such as the data of charts, needs a reader and a call of
`check_all`.
"""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
import statistics
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import build_records as make
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpicampaign.base.records import Record
from mpicampaign.compare.compare import compare
from mpicampaign.report.make import tables, to_csv, to_markdown
from mpicampaign.report.write import write_report
from mpicampaign.show.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NUMBER = r"[0-9]+(?:\.[0-9]+)?"
UNITS = {"µs": 1e-6, "MB/s": 1e6, "MiB/s": 2.0**20, "Gflop/s": 1e9, "%": 1e-2}
SI = {"µs": "s", "MB/s": "B/s", "MiB/s": "B/s", "Gflop/s": "flop/s", "%": "1"}
MESSAGES = [0.0, 1024.0, 8192.0, 32768.0, 1048576.0]
LINE_RATE = 1.25e9

# What a number belongs to: benchmark, host group, placement, metric.
Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Expected:
    """The statistics of a metric over its repeats, in SI units."""

    values: tuple[float, ...]
    low: float | None
    high: float | None

    @property
    def summary(self) -> tuple[float, float, float, float]:
        """Median, mean, minimum, maximum."""
        found = self.values
        return statistics.median(found), statistics.fmean(found), min(found), max(found)


def interval(values: Iterable[float]) -> tuple[float, float] | tuple[None, None]:
    """The k-th smallest and largest, k the largest for which 95 % are covered, or else 1."""
    ordered = sorted(values)
    n = len(ordered)
    if n == 1:
        return None, None
    covered = [1 - 2 * sum(math.comb(n, j) for j in range(k)) / 2**n for k in range(1, n // 2 + 1)]
    k = max([k for k, coverage in enumerate(covered, start=1) if coverage >= 0.95], default=1)
    return ordered[k - 1], ordered[n - k]


def expected(records: Iterable[Record]) -> dict[Key, Expected]:
    """Everything to be shown, computed from the records alone."""
    found: dict[Key, list[float]] = defaultdict(list)
    for record in records:
        for metric, value in values_of(record).items():
            case = record.case
            found[case.benchmark, case.host_group, case.placement, metric].append(value)
    return {key: Expected(tuple(values), *interval(values)) for key, values in found.items()}


def values_of(record: Record) -> dict[str, float]:
    (series,) = record.series
    if record.case.benchmark == "HPL":
        return {"flop rate": float(series.columns["flops"][0] or 0)}
    times = dict(zip(MESSAGES, series.columns["time"], strict=True))
    rates = dict(zip(MESSAGES, series.columns["bandwidth"], strict=True))
    assert all(rate is not None for rate in rates.values())
    known = {size: rate for size, rate in rates.items() if rate is not None}
    found = {
        "latency at 0 B": float(times[0.0] or 0),
        "bandwidth at 1 KiB": known[1024.0],
        "bandwidth at 8 KiB": known[8192.0],
        "bandwidth at 32 KiB": known[32768.0],
        "maximum bandwidth": max(known.values()),
    }
    return found | ({"fraction of line rate": known[1048576.0] / LINE_RATE} if record.line_rate else {})


def magnitude(low: float, high: float) -> st.SearchStrategy[float]:
    """Of any size between these, each power of ten alike."""
    return st.floats(math.log10(low), math.log10(high)).map(lambda power: 10.0**power)


@st.composite
def campaigns(draw: st.DrawFn) -> list[Record]:
    """PingPong, over a link of known rate or not, and HPL in up to 2 host groups and 3 placements."""
    records = []
    groups, placements = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    linked = draw(st.booleans())
    for group in range(groups):
        for placement in range(placements):
            latency, bandwidth = draw(magnitude(1e-7, 1e-3)), draw(magnitude(1e6, 1e11))
            for repeat in range(1, draw(st.integers(1, 8)) + 1):
                factor = draw(st.sampled_from((1.0, 1.5)) | st.floats(0.8, 1.25))
                case = make.case(f"P{placement}", group=f"g{group}")
                series = make.pingpong(latency * factor, bandwidth / factor, MESSAGES)
                link = {"hosts": ("n1", "n2"), "line_rate": LINE_RATE} if linked else {}
                records.append(make.run(case, repeat, series, **link))
                rate = make.series("HPL", flops=bandwidth * factor)
                records.append(make.run(replace(case, benchmark="HPL"), repeat, rate, suite="hpl"))
    return records


def agrees(text: str, value: float, unit: str) -> bool:
    """Whether the text is the value in this unit, rounded to its digits."""
    decimals = len(text.partition(".")[2])
    shown = value / UNITS[unit]
    return abs(float(text) - shown) <= 0.5 * 10.0**-decimals * (1 + 1e-9) + 1e-12 * shown


def check(texts: list[str], key: Key, unit: str, wanted: dict[Key, Expected], ends: list[str]) -> None:
    """Median, mean, minimum, maximum, and the ends of the interval."""
    found = wanted[key]
    for text, value in zip(texts, found.summary, strict=True):
        assert agrees(text, value, unit), (key, unit, text, value)
    assert bool(ends) == (found.low is not None), key
    for text, end in zip(ends, (found.low, found.high), strict=False):
        assert end is not None and agrees(text, end, unit), (key, unit, text, end)


Shown = dict[Key, tuple[str, list[str], list[str]]]  # unit; median, mean, minimum, maximum; interval


def in_page(text: str) -> Shown:
    """What the page's tables of all metrics show."""
    found: Shown = {}
    for table in re.findall(r'<table class="comparison full.*?</table>', text, re.DOTALL):
        benchmark = re.findall(r"<caption>(.*?):", table)[0]
        heads = re.findall(r'<th scope="col" data-kind="number"[^>]*>([^<]+) <small>(.*?)</small>', table)
        for row in table.partition("<tbody>")[2].split("<tr>")[1:]:
            group, placement = re.findall(r">(g\d) <b>(P\d)</b>", row)[0]
            cells = row.split("<td data-head")[1:]
            for (metric, unit), cell in zip(heads, cells, strict=True):
                text = html.unescape(" ".join(re.findall(r">([^<]+)<", cell)))
                first, *ends, mean, low, high = re.findall(NUMBER, re.split(" at | of ", text)[0])
                found[benchmark, group, placement, metric] = (unit, [first, mean, low, high], ends)
    return found


def check_all(shown: Shown, wanted: dict[Key, Expected]) -> None:
    """Everything is shown, nothing else, and each number is right."""
    assert shown.keys() == wanted.keys()
    for key, (unit, texts, ends) in shown.items():
        check(texts, key, unit, wanted, ends)


RELAXED = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@RELAXED
@given(campaigns(), st.sampled_from(("MB/s", "MiB/s")))
def test_comparisons_in_sentences_agree_with_the_records(records: list[Record], unit: str) -> None:
    medians = defaultdict(set)
    for (_, group, placement, metric), found in expected(records).items():
        medians[metric, placement].add(found.summary[0])
        medians[metric, group].add(found.summary[0])
    lines = to_markdown(compare(records), View(unit)).replace("\\", "").splitlines()
    for line in (line for line in lines if " is " in line or "no significant difference" in line):
        metric = line.removeprefix("- ").partition(":")[0]
        for name, text, shown_in in re.findall(rf"\b([gP]\d) ({NUMBER}) ([A-Zµ%]\S*s|%)", line):
            values = medians[metric, name]
            assert any(agrees(text, value, shown_in) for value in values), (line, values)


@RELAXED
@given(campaigns())
def test_data_agree_with_the_records(records: list[Record]) -> None:
    comparison, wanted = compare(records), expected(records)
    for rows in (
        list(csv.DictReader(io.StringIO(to_csv(comparison)))),
        json.loads(tables(comparison, "json"))["rows"],
    ):
        names = ("benchmark", "host_group", "placement", "metric")
        assert {tuple(row[name] for name in names) for row in rows} == wanted.keys()
        for row in rows:
            found = wanted[row["benchmark"], row["host_group"], row["placement"], row["metric"]]
            assert row["unit"] in SI.values()
            columns = ("median", "mean", "minimum", "maximum", "interval_low", "interval_high")
            for column, value in zip(columns, (*found.summary, found.low, found.high), strict=True):
                shown = row[f"{column}"]
                assert (shown in ("", None)) == (value is None)
                assert value is None or math.isclose(float(shown), value, rel_tol=1e-12)


@settings(RELAXED, max_examples=5, suppress_health_check=list(HealthCheck))
@given(campaigns(), st.sampled_from(("MB/s", "MiB/s")))
def test_the_page_agrees_with_the_records(tmp_path: Path, records: list[Record], unit: str) -> None:
    comparison = compare(records)
    write_report(tmp_path / "report.html", comparison, records, view=View(unit))
    check_all(in_page((tmp_path / "report.html").read_text(encoding="utf-8")), expected(records))
