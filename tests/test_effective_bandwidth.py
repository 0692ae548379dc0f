"""The formulas of b_eff, compared with the published table of the T3E, and reading its output."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.monotony import better_with_fewer
from mpicampaign.records import CLAIMED_TRANSPORT, Case, Record, Series
from mpicampaign.reference import load_reference
from mpicampaign.show.sentences import note_text
from mpicampaign.suites import OutputError, parse
from mpicampaign.suites.kernels import effective_bandwidth as formulas


def column(quantity: str) -> dict[int, float]:
    """A column of the published table in MB/s, by the number of processes."""
    figures = load_reference("b_eff-t3e").values
    return {int(f.ranks or 0): f.value / 1e6 for f in figures if f.quantity == quantity}


RING, RANDOM, B_EFF = (column(name) for name in ("b_eff_rings", "b_eff_random", "b_eff"))


# --- the published table


def not_monotonic(values: dict[int, float], rings: dict[int, float]) -> dict[int, int]:
    """Numbers of processes whose value is flagged, each with the smaller number that did best."""
    found = {count: better_with_fewer(count, value, rings[count], values) for count, value in values.items()}
    return {count: best for count, best in found.items() if best is not None}


def test_the_published_averages_follow_from_their_columns() -> None:
    assert sorted(B_EFF) == list(range(52, 69))
    for processes, published in B_EFF.items():
        figure = formulas.effective_bandwidth([RING[processes]], [RANDOM[processes]])
        assert figure == pytest.approx(published, abs=1e-3), processes


@pytest.mark.parametrize(
    ("values", "bold", "italic"),
    [
        (RING, {55}, {54}),
        (RANDOM, {58, 60, 61, 63, 64, 66, 68}, {55, 62, 67}),
        (B_EFF, {60, 61, 63, 66, 68}, {59, 62, 65, 67}),
    ],
)
def test_the_published_flags(values: dict[int, float], bold: set[int], italic: set[int]) -> None:
    flags = not_monotonic(values, RING)
    assert set(flags) == bold
    assert set(flags.values()) == italic


def test_monotony_needs_no_neighbouring_counts_and_allows_one_process() -> None:
    rings = {2: 100.0, 8: 400.0, 16: 800.0}
    assert not_monotonic({16: 749.0, 2: 100.0, 8: 800.0}, rings) == {16: 8}
    assert not_monotonic({16: 750.0, 2: 100.0, 8: 800.0}, rings) == {}
    assert not_monotonic({}, {}) == {}


# --- formulas


def test_rings_and_random_patterns_count_alike_whatever_their_number() -> None:
    assert formulas.effective_bandwidth([4.0], [9.0]) == pytest.approx(6.0)
    assert formulas.effective_bandwidth([4.0], [9.0] * 30) == pytest.approx(6.0)
    assert formulas.effective_bandwidth([2.0, 8.0], [3.0, 27.0]) == pytest.approx(6.0)


def test_means() -> None:
    assert formulas.pattern_bandwidth({1: 1.0, 2: 2.0, 4: 6.0}) == pytest.approx(3.0)
    assert formulas.first_approach(16.0, 4.0) == (10.0, 8.0)
    assert formulas.rate(1000, 4, 5, 2.0) == 10_000.0


# --- the output

LENGTHS = [*(2**k for k in range(13)), *range(5000, 5008)]
LMAX = LENGTHS[-1]
HEADER = f"""#mpicampaign-kernel 1
#@kernel=b_eff
#@version=1
#@ranks=3
#@lmax={LMAX}
#@lmax_rule=memory/128
#@columns.rates=set pattern method length repetition loops messages seconds
#@columns.patterns=set pattern processes rings smallest_ring largest_ring messages verified
"""
RINGS = ["ring-2", "ring-4", "ring-8", "ring-quarter", "ring-half", "ring-all"]
RANDOMS = ["random-1", "random-2"]


def pattern_rows(group: str, name: str, lengths: list[int], methods: tuple[str, ...], speed: float) -> str:
    """Rates at the speed (B/s) with the last method in repetition 1, slower ones elsewhere."""
    rows = []
    for repetition in (0, 1):
        for number, method in enumerate(methods):
            slower = 1 if (number, repetition) == (len(methods) - 1, 1) else 2
            rows += [
                f"rates {group} {name} {method} {length} {repetition} 5 6 {slower * length * 30 / speed:.9e}"
                for length in lengths
            ]
    return "\n".join([*rows, f"patterns {group} {name} 3 1 3 3 6 1\n"])


def output(speeds: dict[str, float] | None = None, end: str = "") -> str:
    """An output in which each pattern has one speed at all lengths: 100 B/s, or that of its name."""
    methods = ("sendrecv", "alltoallv", "nonblocking")
    groups = {"ring": RINGS, "random": RANDOMS, "cartesian": ["1d-x", "3d-xyz"]}
    rows = ""
    for group, names in groups.items():
        for name in names:
            rows += pattern_rows(group, name, LENGTHS, methods, (speeds or {}).get(name, 100.0))
    for name in ("best", "worst"):
        powers = [2**k for k in range(21)]
        rows += pattern_rows("first", name, powers, ("ping_pong",), (speeds or {}).get(name, 100.0))
    rows += pattern_rows("pair", "ranks-0-1", [1, LMAX], ("ping_pong",), 50.0)
    trailer = f"#@random_patterns={len(RANDOMS)}\n#@shortened=2 of 30 random patterns\n"
    return HEADER + rows + trailer + (end or f"#@end rows={rows.count(chr(10))} status=ok\n")


def test_a_pair_that_was_measured_once_has_no_value() -> None:
    """Outputs of version 1 on a short budget: one interruption made 0.25 µs into 21.8 ms."""
    once = [line for line in output().splitlines(keepends=True) if not re.match("rates pair .* 1 5 6 ", line)]
    end = f"#@end rows={sum(line.startswith(('rates', 'patterns')) for line in once)} status=ok\n"
    columns = parse("kernel", "".join([*once[:-1], end])).series[0].columns
    assert [columns[name] for name in ("b_eff_latency", "ping_pong_at_lmax")] == [[None], [None]]
    assert columns["b_eff"] == [pytest.approx(100.0)]


SPEEDS = {"ring-2": 200.0, "random-1": 900.0, "random-2": 100.0, "best": 160.0, "worst": 40.0, "1d-x": 400.0}


def test_metrics_of_an_output() -> None:
    main, first, cartesian = parse("kernel", output(SPEEDS)).series
    rings = 2 ** (1 / 6) * 100.0
    assert main.label == "b_eff" and main.ranks == 3
    assert main.columns == {
        "b_eff": [pytest.approx(math.sqrt(rings * 300.0))],
        "b_eff_rings": [pytest.approx(rings)],
        "b_eff_random": [pytest.approx(300.0)],
        "b_eff_at_lmax": [pytest.approx(math.sqrt(rings * 300.0))],
        "ping_pong_at_lmax": [pytest.approx(50.0)],
        "b_eff_latency": [pytest.approx(1 / 50.0)],
        "random_patterns": [2],
    }
    assert first.label == "b_eff (patterns first approach)"
    assert {name: values[0] for name, values in first.columns.items()} == {
        "first_approach": pytest.approx(100.0),
        "first_approach_logarithmic": pytest.approx(80.0),
        "first_approach_best": pytest.approx(160.0),
        "first_approach_worst": pytest.approx(40.0),
    }
    assert cartesian.columns == {
        "cartesian": [pytest.approx(200.0)],
        "cartesian_1d_x": [pytest.approx(400.0)],
        "cartesian_3d_xyz": [pytest.approx(100.0)],
    }


def test_at_lmax_only_the_longest_message_counts() -> None:
    text = output().replace(f" {LMAX} 1 5 6 ", f" {LMAX} 1 10 6 ")  # twice the loops in the same time
    columns = parse("kernel", text).series[0].columns
    assert columns["b_eff_at_lmax"] == [pytest.approx(200.0)]
    assert columns["b_eff"] == [pytest.approx(100.0 * 22 / 21)]


def test_a_given_lmax_is_a_metric_of_its_own() -> None:
    text = output().replace("lmax_rule=memory/128", "lmax_rule=given")
    labels = [series.label for series in parse("kernel", text).series]
    assert labels[0].startswith("b_eff (Lmax ") and labels[0].endswith(" given)")
    assert labels[1] == "b_eff (patterns first approach)"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("patterns ring ring-2 3 1 3 3 6 1", "patterns ring ring-2 3 1 3 3 6 0", "the data was not verified"),
        ("patterns ring ring-2 3 1 3 3 6 1", "patterns ring ring-2 3 1 3 3 5 1", "contradict the pattern"),
        ("rates ring ring-2 sendrecv 1 0", "rates ring ring-4 sendrecv 1 0", "some are missing or double"),
        ("rates ring ring-2 sendrecv 2 0", "rates ring ring-2 sendrecv 1 0", "some are missing or double"),
        ("rates ring ring-2 sendrecv 1 0 5", "rates ring ring-2 sendrecv 1 0 0", "contradict the pattern"),
        ("random_patterns=2", "random_patterns=3", "2 random patterns, not 3"),
        ("random_patterns=2", "random_patterns=-2", "random_patterns is '-2'"),
        ("#@random_patterns=2\n", "", "random_patterns is ''"),
        (f"#@lmax={LMAX}", "#@lmax=4096", "the largest message is 5007 B, Lmax 4096 B"),
        ("#@end rows", "#end rows", "the closing line is missing"),
    ],
)
def test_damage_is_refused_with_a_reason(old: str, new: str, reason: str) -> None:
    assert old in output()
    with pytest.raises(OutputError, match=reason):
        parse("kernel", output().replace(old, new, 1))


@pytest.mark.parametrize("group", ["ring", "first", "pair"])
def test_a_missing_pattern_is_refused(group: str) -> None:
    lines = output().splitlines(keepends=True)
    name = {"ring": "ring-8", "first": "worst", "pair": "ranks-0-1"}[group]
    kept = [line for line in lines if f" {group} {name} " not in line]
    rows = sum(line.startswith(("rates ", "patterns ")) for line in kept)
    text = "".join(kept[:-1]) + f"#@end rows={rows} status=ok\n"
    with pytest.raises(OutputError, match=f"{group} patterns, not"):
        parse("kernel", text)


def test_a_measurement_without_time_is_refused() -> None:
    row = next(line for line in output().splitlines() if line.startswith("rates ring"))
    with pytest.raises(OutputError, match="took no time at all"):
        parse("kernel", output().replace(row, " ".join([*row.split()[:-1], "0"]), 1))


def test_a_rate_that_is_there_twice_is_refused() -> None:
    lines = output().splitlines(keepends=True)
    place = next(k for k, line in enumerate(lines) if line.startswith("rates ring"))
    lines.insert(place, lines[place])
    rows = sum(line.startswith(("rates ", "patterns ")) for line in lines)
    with pytest.raises(OutputError, match="some are missing or double"):
        parse("kernel", "".join(lines[:-1]) + f"#@end rows={rows} status=ok\n")


# --- in a comparison


def test_tables_of_a_campaign() -> None:
    parsed = parse("kernel", output(SPEEDS))
    case = Case("s", "g", "SHM-full", "b_eff")
    runs = [synthetic.run(case, n, *parsed.series, suite="kernel") for n in (1, 2)]
    runs[1] = replace(runs[1], metadata={"shortened": parsed.metadata["shortened"]})
    tables = compare(runs).tables
    names = ["b_eff", "ring patterns", "random patterns", "b_eff at Lmax", "ping-pong at Lmax", "latency"]
    assert [metric.name for metric in tables[0].metrics] == names
    assert [metric.name for metric in tables[0].metrics if metric.headline] == ["b_eff"]
    assert [len(table.metrics) for table in tables] == [6, 4, 3]
    assert all(metric.group == metric.name for table in tables for metric in table.metrics)
    notes = [note_text(note) for note in tables[0].rows[0].notes]
    assert notes == ["shortened by its budget: 2 of 30 random patterns (repeat 2)"]
    assert tables[0].rows[0].counted == 2


def b_eff_run(
    ranks: int, b_eff: float, transport: str = "tcp eth0", group: str = "g", rings: float = 100e6
) -> Record:
    case = Case("s", group, f"{transport} {ranks}".strip(), "b_eff")
    series = Series("b_eff", ranks, {"b_eff": [b_eff], "b_eff_rings": [rings]})
    metadata = {CLAIMED_TRANSPORT: transport} if transport else {}
    return replace(synthetic.run(case, 1, series, suite="kernel"), metadata=metadata)


def monotony_notes(*runs: Record) -> dict[str, str]:
    rows = compare(runs).tables[0].rows
    return {row.case.placement: note_text(n) for row in rows for n in row.notes if n.kind == "not_monotonic"}


def test_rows_that_fewer_ranks_outdo_are_noted() -> None:
    runs = [b_eff_run(2, 90e6), b_eff_run(4, 120e6), b_eff_run(8, 107e6), b_eff_run(10, 111e6)]
    assert monotony_notes(*runs) == {
        "tcp eth0 8": "not monotonic: 8 ranks reach 107.0 MB/s, 4 ranks (tcp eth0 4) 120.0 MB/s: "
        "the drop exceeds the ring patterns' share of one rank"
    }


@pytest.mark.parametrize(
    "other",
    [
        b_eff_run(4, 120e6, "shm"),
        b_eff_run(4, 120e6, group="h"),
        b_eff_run(8, 120e6, "tcp  eth0"),
        b_eff_run(16, 120e6),
    ],
)
def test_other_networks_host_groups_and_larger_numbers_are_not_compared_with_a_row(other: Record) -> None:
    assert monotony_notes(b_eff_run(8, 100e6), other) == {}


def test_rows_of_unknown_transport_are_not_compared() -> None:
    assert monotony_notes(b_eff_run(4, 120e6, ""), b_eff_run(8, 100e6, "")) == {}
