"""Rates of calculations and of memory updates as they are chosen, ranked and written."""

from __future__ import annotations

import pytest

from mpicampaign.base.dimension import (
    BANDWIDTH,
    DURATION,
    FLOPS,
    MESSAGE_RATE,
    UPDATE_RATE,
    Dimension,
    own_dimension,
)
from mpicampaign.base.records import Series
from mpicampaign.compare.metrics import choose_metrics
from mpicampaign.show.view import quantity


@pytest.mark.parametrize(
    ("dimension", "value", "text"),
    [
        (FLOPS, 34.17e9, "34.17 Gflop/s"),
        (FLOPS, 1.2933e12, "1293 Gflop/s"),
        (UPDATE_RATE, 5.20032e6, "5.200 Mupdate/s"),
        (DURATION, 1735.76, "1736 s"),
        (DURATION, 1.0, "1.000 s"),
        (DURATION, 0.00038512, "0.0003851 s"),
    ],
)
def test_rates_as_text(dimension: Dimension, value: float, text: str) -> None:
    assert quantity(value, dimension) == text
    assert f"{dimension.number(value)} {dimension.unit().name}" == text
    assert dimension.si_unit in ("flop/s", "1/s", "s")


def test_the_time_of_a_message_is_still_ranked() -> None:
    (time,) = choose_metrics("imb", [Series("Barrier", 4, {"time": [1e-6]})], ())
    assert time.headline
    assert quantity(1e-6, time.dimension) == "1.00 µs"


def test_large_rates_have_a_prefix() -> None:
    shown = [quantity(rate, MESSAGE_RATE) for rate in (111_234_567.0, 2_345.6, 0.0)]
    assert shown == ["111.2 M msg/s", "2346 msg/s", "0.000 msg/s"]
    own = own_dimension("cells/s", "higher")
    shown = [quantity(rate, own) for rate in (111_234_567.0, 2.5e9, 987_654.0, 1e-7, 0.0)]
    assert shown == ["111.2 M cells/s", "2.500 G cells/s", "987654 cells/s", "1e-07 cells/s", "0.000 cells/s"]


def test_bandwidths_in_either_unit() -> None:
    assert BANDWIDTH.number(2756.8e6) == "2757"
    assert BANDWIDTH.number(2629.12 * 2**20, "MiB/s") == "2629"
    assert BANDWIDTH.number(3.4567e6) == "3.457"
    with pytest.raises(ValueError, match="known: MB/s, MiB/s"):
        BANDWIDTH.number(1.0, "Mbytes/sec")
