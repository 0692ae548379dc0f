"""Repeats unlike the others: single values, whole runs, and two bands of repeats."""

from __future__ import annotations

import random
import re
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
import statistics_errors
import stfc_runs

from mpicampaign.compare.compare import compare
from mpicampaign.compare.findings import FarOff
from mpicampaign.show.sentences import reason
from mpicampaign.statistics.modes import Membership, stretches
from mpicampaign.statistics.outliers import Off, Outlier, lone_value, off, outliers, runs_off

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.compare.rows import Row

SIZES = [2**power for power in range(26)]


def quiet() -> list[list[float]]:
    source = random.Random(1)
    return [[size + 100 * source.uniform(0.98, 1.02) for _ in range(5)] for size in SIZES]


def test_a_straggler_is_found_with_its_sizes_and_distance() -> None:
    rows = quiet()
    rows[8][3] *= 2
    rows[9][3] *= 1.7
    rows[20][0] *= 0.5
    first, second = outliers(SIZES, rows)
    assert (first.position, first.sizes) == (0, (SIZES[20],)) and first.ratio == pytest.approx(0.5, rel=0.05)
    assert (second.position, second.sizes) == (3, tuple(SIZES[8:10]))
    assert second.ratio == pytest.approx(2, rel=0.05)


def test_sizes_in_modes_few_repeats_and_zero_times_are_not_judged() -> None:
    rows = quiet()
    rows[8][3] *= 2
    assert outliers(SIZES, rows, without=(SIZES[8],)) == ()
    assert outliers(SIZES, [row[:3] for row in rows]) == ()
    rows[8][0] = 0.0
    assert outliers(SIZES, rows) == ()
    rows[8][:2] = rows[8][3], 1.05 * rows[8][3]  # several that are far alike are no single ones
    assert outliers(SIZES, rows) == ()
    assert outliers([], []) == ()


def test_single_values_are_judged_by_the_gap() -> None:
    assert lone_value([10.0, 10.1, 10.05, 10.02, 6.0]) == Outlier(4, (), pytest.approx(0.6, rel=0.01))
    assert lone_value([10.0, 10.1, 10.05, 6.0]) is None  # four say too little
    assert lone_value([10.0, 10.5, 9.5, 10.2, 8.0]) is None


@stfc_runs.needed
def test_spikes_of_the_report_are_named() -> None:
    """The spikes that the plots show: 2.03, 2.26, 1.74 and 1.80 times."""
    found = {
        (row.case.host_group, row.case.placement, note.job.repeat, *far.sizes): far.ratio
        for row in compare(stfc_runs.scarf_records()).tables[0].rows
        for note in row.notes
        if isinstance(note, FarOff)
        for far in note.distances
    }
    assert found["scarf10", "TCP", 4, 256] == pytest.approx(2.03, abs=0.01)
    assert found["scarf11", "TCP", 3, 2] == pytest.approx(2.26, abs=0.01)
    assert found["scarf12", "TCP", 2, 2048] == pytest.approx(1.74, abs=0.01)
    assert found["scarf12", "TCP", 2, 16384] == pytest.approx(1.80, abs=0.01)
    assert len(found) <= 8


FAMILIES: dict[str, tuple[Callable[[random.Random], float], float]] = {
    "normal, 10 %": (lambda source: source.gauss(1, 0.1), 0.01),
    "uniform": (lambda source: 1 + source.random(), 0.01),
    "log-normal 0.5": (lambda source: source.lognormvariate(0, 0.5), 0.01),
    "1 + exponential of 10 %": (lambda source: 1 + source.expovariate(10), 0.15),
}


@pytest.mark.full
@pytest.mark.parametrize("n", [4, 5, 6, 10])
@pytest.mark.parametrize("family", FAMILIES)
def test_false_alarms_of_sweeps(family: str, n: int) -> None:
    draw, limit = FAMILIES[family]
    source = random.Random(n)
    sweeps = ([[draw(source) for _ in range(n)] for _ in SIZES] for _ in range(2000))
    rate = sum(bool(outliers(SIZES, rows)) for rows in sweeps) / 2000
    print(f"{family}, {n} repeats: {rate:.2%} of sweeps of 26 sizes")
    assert rate <= limit


COUNT = 24


def test_a_small_difference_is_not_named_however_sure() -> None:
    assert runs_off([[1.0 + n / 1e6 for n in range(9)] + [1.05]] * COUNT) == Off()


def test_far_runs_among_much_scatter_are_not_judged() -> None:
    """The effects of the 30 runs in the STFC Cloud's shared memory: those of 11:25 and 13:05 are far off."""
    others = np.linspace(-0.2, 0.2, 28)
    whole = off(np.array([*others[:9], 0.47, *others[9:14], 0.61, *others[14:]]))
    assert (whole.positions, whole.judged) == ((9, 15), False)
    assert whole.scatter == pytest.approx(0.13, abs=0.01)


# How often it errs


@pytest.mark.full
@pytest.mark.parametrize(("n", "scatter"), [*product((8, 10, 15, 30), (0.02, 0.03, 0.04))])
def test_sound_runs_are_rarely_named(n: int, scatter: float) -> None:
    source = np.random.default_rng(29)
    for noise in (statistics_errors.normal, statistics_errors.student, statistics_errors.drifting):
        assert statistics_errors.named(noise(source, (10_000, n), scatter)) <= 0.016


KIB = 1024
SWEPT_SIZES = [0] + [2**power for power in range(25)]


def sweep(levels: list[list[float]]) -> list[list[float]]:
    """Times at each size: that of a message times the level of each repeat there, with 1 % of scatter."""
    source = random.Random(1)
    return [
        [(1 + size / 4096) * level * source.uniform(0.995, 1.005) for level in row]
        for size, row in zip(SWEPT_SIZES, levels, strict=True)
    ]


def levels(slow: dict[int, tuple[int, int]]) -> list[list[float]]:
    """Factor for the repeats that are slow from one index of the sizes to another."""
    return [
        [1.7 if r in slow and slow[r][0] <= index <= slow[r][1] else 1.0 for r in range(5)]
        for index in range(len(SWEPT_SIZES))
    ]


def test_a_switch_in_mid_sweep_is_noted_for_each_repeat() -> None:
    rows = sweep(levels({0: (15, 25), 1: (15, 25), 2: (18, 25), 3: (15, 25), 4: (21, 25)}))
    [found] = stretches(SWEPT_SIZES, rows)
    low, high = SWEPT_SIZES[14], SWEPT_SIZES[15]
    assert found.memberships(0) == (Membership("low", None, low), Membership("high", high, None))
    assert found.memberships(2) == (
        Membership("low", None, SWEPT_SIZES[17]),
        Membership("high", SWEPT_SIZES[18], None),
    )
    assert found.memberships(4) == (
        Membership("low", None, SWEPT_SIZES[20]),
        Membership("high", SWEPT_SIZES[21], None),
    )


def test_times_of_zero_beside_equal_ones_are_not_an_obstacle() -> None:
    rows = [[0.0, 0.0, 0.0, 1.0, 1.01]] * 3 + [[2.0] * 5]
    assert stretches([1, 2, 4, 8], rows)[0].after is None


MODE_FAMILIES: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda source: source.gauss(100, 1),
    "uniform": lambda source: 1 + source.random(),
    "exponential": lambda source: 1 + source.expovariate(1),
    "log-normal 0.5": lambda source: source.lognormvariate(0, 0.5),
    "log-normal 1": lambda source: source.lognormvariate(0, 1),
}


def false_alarms(draw: Callable[[random.Random], float], n: int, sizes_alike: int, sweeps: int) -> float:
    """The share of single-mode sweeps with a stretch; a repeat's factor holds for this many sizes."""
    source = random.Random(n)
    found = 0
    for _ in range(sweeps):
        rows: list[list[float]] = []
        while len(rows) < len(SWEPT_SIZES):
            factors = [draw(source) for _ in range(n)]
            rows += [[f * source.gauss(1, 0.001) for f in factors] for _ in range(sizes_alike)]
        found += bool(stretches(SWEPT_SIZES, rows[: len(SWEPT_SIZES)], minimum_gap=0))
    return found / sweeps


LIMITS = {"normal": 0.04, "uniform": 0.05, "exponential": 0.06, "log-normal 0.5": 0.05, "log-normal 1": 0.11}


@pytest.mark.full
@pytest.mark.parametrize("n", [5, *(pytest.param(n, marks=pytest.mark.soak) for n in (4, 6, 8, 10, 20))])
@pytest.mark.parametrize("family", MODE_FAMILIES)
def test_false_alarms_of_modes_of_sweeps(family: str, n: int) -> None:
    whole = false_alarms(MODE_FAMILIES[family], n, 26, 1000)
    four = false_alarms(MODE_FAMILIES[family], n, 7, 300)
    each = false_alarms(MODE_FAMILIES[family], n, 1, 300)
    print(f"{family}, {n} repeats: {whole:.1%} whole sweep, {four:.1%} four segments, {each:.1%} each size")
    assert whole <= LIMITS[family]
    assert four <= 4 * LIMITS[family]
    assert each <= 0.01


@pytest.mark.full
@pytest.mark.parametrize("n", [5, *(pytest.param(n, marks=pytest.mark.soak) for n in (6, 10))])
@pytest.mark.parametrize(("scatter", "limit"), [(0.03, 0.015), (0.1, 0.06)])
def test_false_alarms_with_the_gap(scatter: float, limit: float, n: int) -> None:
    for family in ("normal", "exponential"):
        source = random.Random(n)
        found = 0
        for _ in range(1000):
            draws = (source.gauss(0, 1) if family == "normal" else source.expovariate(1) for _ in range(n))
            factors = [1 + scatter * draw for draw in draws]
            found += bool(
                stretches(SWEPT_SIZES, [[f * source.gauss(1, 0.01) for f in factors] for _ in SWEPT_SIZES])
            )
        print(f"{family} scatter of {scatter:.0%}, {n} repeats, gap of 5 %: {found / 1000:.1%}")
        assert found / 1000 <= limit


def scarf_rows() -> dict[tuple[str, str], Row]:
    rows = compare(stfc_runs.scarf_records()).tables[0].rows
    return {(row.case.host_group, row.case.placement): row for row in rows}


# What the plots of the 35 unbound runs show: by host group, sizes (KiB) at which bands are beyond doubt, and
# the repeats in the faster one. On scarf16 the repeats differ, by steps of like size: no bands.
TRUTH: dict[str, dict[float, set[int]]] = {
    "scarf10": {16: {1, 3, 4, 5}, 32: {1, 3, 4, 5}, 64: {1}},
    "scarf11": {64: {3, 5}, 128: {3, 5}, 256: {3, 5}, 512: {3, 5}},
    "scarf12": {0.125: {2, 3, 4, 5}, 1: {2, 3, 4, 5}, 8: {2, 3, 4, 5}, 64: {2}, 128: {2}, 1024: {2}},
    "scarf13": {32: {1, 2, 4}, 64: {1, 4}, 128: {1, 4}, 256: {1, 4}, 512: {4}},
    "scarf14": {32: {3, 5}, 64: {5}, 128: {5}, 256: {5}},
    "scarf15": {0.125: {1, 4, 5}, 1: {1, 4, 5}, 4: {1, 4, 5}},
    "scarf16": {},
}
TOGETHER = {"scarf10": 128, "scarf11": 2048, "scarf12": 4096, "scarf13": 1024, "scarf14": 512, "scarf15": 16}


@stfc_runs.needed
def test_unbound_runs_of_the_report_are_in_two_modes_where_they_are() -> None:
    rows = scarf_rows()
    for group, truth in TRUTH.items():
        row = rows[group, "SHM"]
        splits = {size: bands for stretch in row.stretches for size, bands in stretch.splits.items()}
        for size, fast in truth.items():
            assert {p + 1 for p in splits[int(size * KIB)].low.members} == fast, (group, size)
        assert not [size for size in splits if size >= TOGETHER.get(group, 0) * KIB], group
        assert bool(row.stretches) == bool(truth)


@stfc_runs.needed
def test_switches_in_mid_sweep_in_the_report_are_noted() -> None:
    [note] = [note for note in scarf_rows()["scarf14", "SHM"].notes if note.kind == "modes"]
    paths = re.findall(r"(repeats? [\d, -]+) (in the [^;]+)", reason(note))
    assert paths == [
        ("repeats 1-2, 4", "in the faster band up to 8 KiB, in the slower from 32 KiB on"),
        ("repeat 3", "in the faster band up to 32 KiB, in the slower from 64 KiB on"),
        ("repeat 5", "in the faster band up to 256 KiB, in the slower from 512 KiB on"),
    ]


@stfc_runs.needed
def test_bound_runs_of_the_report_have_one_mode() -> None:
    bound = [row for (_, placement), row in scarf_rows().items() if placement in ("SHM-1", "SHM-2")]
    assert len(bound) == 14
    assert [row.case for row in bound if row.stretches] == []
