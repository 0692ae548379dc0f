"""The parsers on outputs of other people's clusters, compared with the values published from them."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from mpicampaign.statistics.modes import split
from mpicampaign.suites import detect_suite, parse

DATA = Path(__file__).parents[2] / "shared" / "data"
STFC = DATA / "stfc-2017"
MIB = 2**20

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the outputs of other clusters are not beside this clone"
)


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def placement(output: str) -> str:
    for word, name in (("-TCP", "TCP"), ("-IBV", "IBV"), ("numactl", "SHM-1"), ("MAP_CPU:0,15", "SHM-2")):
        if f" {word}" in output or f"={word}" in output:
            return name
    return "SHM"


def stfc_repeats() -> dict[tuple[str, str], list[dict[str, list[float | None]]]]:
    """The columns of every repeat, by host group and placement."""
    repeats = defaultdict(list)
    for path in sorted(STFC.glob("scarf-imb*/*.out")):
        output = text(path)
        group = re.search(r'^#BSUB -m "(\w+)"', output, re.MULTILINE)
        assert group, path
        (series,) = parse("imb", output, expected_max=2**24).series
        repeats[group[1], placement(output)].append(series.columns)
    return repeats


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def at(columns: dict[str, list[float | None]], name: str, size: int) -> float:
    value = columns[name][columns["size"].index(size)]
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("table", "size", "unit"),
    [
        ("table1_latency_us", 0, 1e-6),
        ("table2_bandwidth_1024B", 1024, MIB),
        ("table3_bandwidth_8192B", 8192, MIB),
        ("table4_bandwidth_32768B", 32768, MIB),
        ("table5_bandwidth_max", None, MIB),
    ],
)
def test_published_means_of_stfc(table: str, size: int | None, unit: float) -> None:
    repeats = stfc_repeats()
    assert sum(map(len, repeats.values())) == 175
    compared = []
    for row in csv.DictReader(text(STFC / "published" / f"{table}.csv").splitlines()):
        for name in ("SHM-1", "SHM-2", "TCP", "IBV"):
            found = repeats.get((row["host_group"], name))
            if found and row[name]:
                ours = mean([figure(columns, size) for columns in found]) / unit
                compared.append((row["host_group"], name, float(row[name]), ours))
    differing = [entry for entry in compared if abs(entry[2] - entry[3]) > 0.0051 + 1e-9 * entry[3]]
    assert len(compared) == 28
    assert not differing


def figure(columns: dict[str, list[float | None]], size: int | None) -> float:
    if size is None:
        return max(value for value in columns["bandwidth"] if value is not None)
    return at(columns, "bandwidth" if size else "time", size)


def test_unbound_repeats_of_stfc_fall_into_bands() -> None:
    """Some ranks shared a socket, others did not: two bands, and the same repeats in them at each size."""
    repeats = stfc_repeats()["scarf15", "SHM"]
    for name, size in (("time", 0), ("bandwidth", 1024), ("bandwidth", 4096)):
        bands = split([at(columns, name, size) for columns in repeats])
        assert bands is not None
        assert {bands.low.members, bands.high.members} == {(0, 3, 4), (1, 2)}


def test_message_rates_and_sizes_of_stackhpc() -> None:
    outputs = sorted((DATA / "stackhpc").glob("alaska/*/imb/IMB_Uniband_64.out"))
    assert len(outputs) == 4
    for path in outputs:
        (series,) = parse("imb", text(path), expected_max=2**22).series
        assert series.ranks == 64
        assert at(series.columns, "bandwidth", 2**20) == pytest.approx(
            at(series.columns, "message_rate", 2**20) * 2**20, rel=0.01
        )


def hpl_rates() -> dict[tuple[str, str], list[float]]:
    """HPL's rates (flop/s) of every repeat by host group and placement."""
    rates = defaultdict(list)
    for path in sorted(STFC.glob("scarf-hpl/*.out")):
        output = text(path)
        group = re.search(r'^#BSUB -m "(\w+)"', output, re.MULTILINE)
        assert group, path
        (series,) = parse("hpl", output).series
        assert series.ranks == 4
        assert series.qualifiers == {"N": "44640", "NB": "180", "grid": "2 x 2"}
        rate = series.columns["flops"][0]
        assert rate is not None
        rates[group[1], placement(output)].append(rate)
    return rates


def test_published_hpl_of_stfc() -> None:
    rates = hpl_rates()
    assert {len(found) for found in rates.values()} == {5}
    (published,) = STFC.glob("published/*hpl*.csv")
    compared = []
    for row in csv.DictReader(text(published).splitlines()):
        for name in ("SHM", "TCP", "IBV"):
            if (row["host_group"], name) in rates:
                ours = mean(rates[row["host_group"], name]) / 1e9
                compared.append((row["host_group"], name, float(row[name]), ours))
    assert len(compared) == 21
    assert not [entry for entry in compared if abs(entry[2] - entry[3]) > 0.0051]


@pytest.mark.slow
def test_every_output_is_read_or_refused_for_a_reason() -> None:
    """Suite by banner, then the values: 4 of 466 files are not outputs, and are reported as such."""
    found: Counter[tuple[str, str | None]] = Counter()
    for path in sorted(DATA.rglob("*.out")):
        output = text(path)
        suite = detect_suite(output)
        found[path.relative_to(DATA).parts[0], suite] += 1
        if suite is None:
            assert path.name == "Sysinfo.out"
        else:
            assert parse(suite, output).series, path
    assert found == {
        ("stfc-2017", "imb"): 175,
        ("stfc-2017", "hpl"): 105,
        ("stackhpc", "imb"): 100,
        ("stackhpc", "osu"): 76,
        ("stackhpc", None): 4,
        ("osu-7.4", "osu"): 10,
    }
