"""The parsers on outputs of other people's clusters, against the figures that were published from them."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest

from mpicampaign.parsers import OutputError, parse
from mpicampaign.statistics import modes

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
    """The columns of every repeat by host group and placement."""
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
        bands = modes([at(columns, name, size) for columns in repeats])
        assert {band.members for band in bands} == {(0, 3, 4), (1, 2)}


def test_every_output_of_stackhpc() -> None:
    refused = {}
    read = 0
    for path in sorted((DATA / "stackhpc").glob("alaska/*/*/*.out")):
        suite = "imb" if path.parent.name == "imb" else "osu"
        try:
            assert parse(suite, text(path)).series
            read += 1
        except OutputError as error:
            refused[path.name] = str(error)
    assert read == 100 + 76
    assert set(refused) == {"Sysinfo.out"}
    assert "header of the Intel MPI Benchmarks is missing" in refused["Sysinfo.out"]


def test_message_rates_and_sizes_of_stackhpc() -> None:
    outputs = sorted((DATA / "stackhpc").glob("alaska/*/imb/IMB_Uniband_64.out"))
    assert len(outputs) == 4
    for path in outputs:
        (series,) = parse("imb", text(path), expected_max=2**22).series
        assert series.ranks == 64
        assert at(series.columns, "bandwidth", 2**20) == pytest.approx(
            at(series.columns, "message_rate", 2**20) * 2**20, rel=0.01
        )


def test_every_output_of_osu_7() -> None:
    outputs = sorted((DATA / "osu-7.4").glob("*.out"))
    assert len(outputs) == 10
    for path in outputs:
        parsed = parse("osu", text(path))
        assert parsed.version == "7.4"
        printed = [line.split() for line in text(path).splitlines() if line.strip()[:1].isdigit()]
        (series,) = parsed.series
        assert len(next(iter(series.columns.values()))) == len(printed)


@pytest.mark.slow
def test_no_real_output_survives_being_cut() -> None:
    for path in sorted(STFC.glob("scarf-imb/*.out"))[:5]:
        output = text(path)
        end = output.index("# All processes entering MPI_Finalize")
        for where in range(0, end, 97):
            with pytest.raises(OutputError):
                parse("imb", output[:where])
