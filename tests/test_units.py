"""Sizes, durations and rates: how they are read, chosen, ranked and written."""

from __future__ import annotations

from collections.abc import Callable

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
from mpicampaign.base.units import (
    format_duration,
    format_rate,
    format_roughly,
    format_size,
    parse_duration,
    parse_rate,
    parse_size,
)
from mpicampaign.compare.metrics import choose_metrics
from mpicampaign.show.view import quantity

REFUSED: dict[Callable[[str], float], tuple[str, list[str]]] = {
    parse_size: (
        "size|whole",
        ["", "KiB", "-1", "1.0001KiB", "64 kib", "1e3", "nan", "1 2", "64KiB;", "٣", "9" * 30, "1/2"],
    ),
    parse_duration: (
        "is not a duration",
        ["", "min", "1:60", "1:5", "1:00:61", "-3 s", "3 fortnights", "inf", "1 min 5 s"],
    ),
    parse_rate: ("is not a rate", ["", "40", "40 G", "40 Gbit", "i B/s", "3 iB/s", "40 gbit/s", "-1 MB/s"]),
}


@pytest.mark.parametrize("read", REFUSED)
def test_what_is_refused(read: Callable[[str], float]) -> None:
    message, texts = REFUSED[read]
    for text in texts:
        with pytest.raises(ValueError, match=message):
            read(text)


WRITTEN: dict[Callable[..., str], dict[float, str]] = {
    format_size: {
        **{0: "0 B", 1: "1 B", 1000: "1000 B", 1024: "1 KiB", 65536: "64 KiB", 1536: "1536 B"},
        **{4 * 2**20: "4 MiB"},
    },
    format_rate: {
        5e9: "40 Gbit/s",
        1.25e8: "1 Gbit/s",
        125: "1 kbit/s",
        7e12 / 8: "7 Tbit/s",
        0.5: "4 bit/s",
    },
    format_duration: {
        **{0: "0 s", 0.45: "450 ms", 2.5: "2.5 s", 90: "90 s", 119.6: "2 min", 750: "12 min 30 s"},
        **{11100: "3 h 5 min", 187200: "2 d 4 h"},
    },
    format_roughly: {
        **{0: "less than a minute", 59.9: "less than a minute", 130: "about 2 min", 3590: "about 1 h"},
        **{4680: "about 1 h 20 min", 35700: "about 10 h", 86400: "about 24 h", 200000: "about 2 d"},
    },
}


@pytest.mark.parametrize("written", WRITTEN)
def test_what_is_written(written: Callable[..., str]) -> None:
    assert {value: written(value) for value in WRITTEN[written]} == WRITTEN[written]


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
