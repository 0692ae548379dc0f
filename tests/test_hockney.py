"""Hockney's model by protocol segment: parameters and borders are recovered; undetermined values are None."""

from __future__ import annotations

import random

import pytest
import stfc_runs
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.hockney import FASTER_THAN_SIZE, NO_GROWTH, WITHIN_SCATTER, fit, fits
from mpicampaign.records import Case

SIZES = [0] + [2**power for power in range(25)]


def times(segments: list[tuple[int, float, float]], noise: float = 0.0, seed: int = 1) -> list[float]:
    """``segments``: up to which size, latency, bandwidth."""
    source = random.Random(seed)
    found = []
    for size in SIZES:
        latency, bandwidth = next((a, b) for last, a, b in segments if size <= last)
        found.append((latency + size / bandwidth) * (1 + source.gauss(0, noise)))
    return found


def test_one_segment_without_noise() -> None:
    [segment] = fit(SIZES, times([(2**24, 2e-6, 3e9)]))
    assert (segment.first, segment.last, segment.points) == (0, 2**24, 26)
    assert segment.latency == pytest.approx(2e-6)
    assert segment.bandwidth == pytest.approx(3e9)
    assert segment.half_length == pytest.approx(6000)
    assert segment.residual < 1e-6 and not segment.poor


@pytest.mark.parametrize("seed", range(5))
def test_three_protocols_with_noise(seed: int) -> None:
    truth = [(1024, 2e-6, 1e9), (65536, 6e-6, 2e9), (2**24, 40e-6, 6e9)]
    found = fit(SIZES, times(truth, noise=0.01, seed=seed))
    assert [segment.last for segment in found] == [1024, 65536, 2**24]
    for segment, (_, latency, bandwidth) in zip(found, truth, strict=True):
        assert segment.latency == pytest.approx(latency, rel=0.1)
        assert segment.bandwidth == pytest.approx(bandwidth, rel=0.1)
        assert segment.residual < 0.02


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_makes_no_segments(seed: int) -> None:
    assert len(fit(SIZES, times([(2**24, 2e-6, 3e9)], noise=0.03, seed=seed))) == 1


def test_times_that_do_not_grow_tell_no_bandwidth() -> None:
    [segment] = fit([0, 1, 2, 4, 8], [2e-7, 2e-7, 2.1e-7, 2e-7, 1.9e-7])
    assert segment.bandwidth is None and segment.half_length is None
    assert segment.latency == pytest.approx(2e-7, rel=0.05)
    assert segment.doubt == NO_GROWTH
    [segment] = fit([0, 1, 2, 4, 8], [2e-7, 1.9e-7, 2.1e-7, 2e-7, 2.05e-7])
    assert segment.bandwidth is None and segment.doubt == WITHIN_SCATTER


def test_times_that_grow_faster_than_size_tell_no_latency() -> None:
    [segment] = fit([2**20, 2**21, 2**22], [1e-4, 2.4e-4, 6e-4])
    assert segment.latency is None and segment.half_length is None
    assert segment.bandwidth == pytest.approx(8e9, rel=0.2)
    assert segment.doubt == FASTER_THAN_SIZE
    assert segment.poor == (segment.residual > 0.1)


def test_a_curve_that_is_not_a_line_is_called_poor() -> None:
    [segment] = fit([1, 2, 4, 8, 16], [1.0, 5.0, 1.0, 9.0, 2.0])
    assert segment.poor


def test_too_few_sizes_and_zero_times_have_no_fit() -> None:
    assert fit([0, 1], [1e-6, 1e-6]) == ()
    assert fit([0, 1, 2], [0.0, 1e-6, 1e-6]) == ()
    assert fit([], []) == ()


def test_steps_of_printing_are_not_protocols() -> None:
    printed = [round(time * 1e6, 2) / 1e6 for time in times([(2**24, 0.12e-6, 9e9)])]
    assert len(fit(SIZES, printed, resolution=1e-8)) == 1


def test_a_row_has_the_fit_of_its_medians() -> None:
    case = Case("s", "g", "TCP", "PingPong")
    runs = [synthetic.run(case, n, synthetic.pingpong(n * 1e-6, 1e9)) for n in (1, 2, 30)]
    [segment] = fits(compare(runs).tables[0].rows[0])
    assert segment.latency == pytest.approx(2e-6)


def test_rows_that_time_no_single_message_have_no_fit() -> None:
    case = Case("s", "g", "SHM", "Gather")
    gather = [synthetic.run(case, n, synthetic.collective("Gather", 1e-6, 1e9)) for n in (1, 2)]
    absent = synthetic.not_available(Case("s", "g", "TCP", "PingPong"), "no network")
    for records in (gather, absent):
        assert fits(compare(records).tables[0].rows[0]) == ()


@stfc_runs.needed
def test_gigabit_ethernet_of_the_report() -> None:
    """TCP on 1 GbE: 98 to 118 MB/s for large messages, and n½ of some tens of KiB."""
    table = compare(stfc_runs.scarf_records()).tables[0]
    rows = {(row.case.host_group, row.case.placement): row for row in table.rows}
    for group in ("scarf10", "scarf11", "scarf12", "scarf13", "scarf14"):
        last = fits(rows[group, "TCP"])[-1]
        assert last.bandwidth == pytest.approx(108e6, rel=0.1), group
    infiniband = fits(rows["scarf11", "IBV"])
    assert {128, 16384} < {segment.last for segment in infiniband}  # inline, eager and rendezvous messages
    assert infiniband[-1].bandwidth == pytest.approx(3.3e9, rel=0.05)
