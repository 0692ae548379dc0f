from __future__ import annotations

import pytest

from mpicampaign import units


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64", 64),
        ("0", 0),
        ("64B", 64),
        ("64KiB", 65536),
        ("64 KiB", 65536),
        ("64kB", 64000),
        ("64KB", 64000),
        ("1.5MiB", 1572864),
        ("0.1kB", 100),
        ("2GiB", 2**31),
        ("9007199254740993", 2**53 + 1),
    ],
)
def test_parse_size(text: str, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "KiB", "-1", "1.0001KiB", "64 kib", "1e3", "nan", "1 2", "64KiB;", "٣", "9" * 30, "1/2"]
)
def test_parse_size_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"size|whole"):
        units.parse_size(text)


def test_unknown_size_unit_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown unit 'XB'; known: B, kB"):
        units.parse_size("4XB")


def test_format_size() -> None:
    shown = [units.format_size(size) for size in (0, 1, 1000, 1024, 65536, 1536, 4 * 2**20)]
    assert shown == ["0 B", "1 B", "1000 B", "1 KiB", "64 KiB", "1536 B", "4 MiB"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90 s", 90),
        ("90", 90),
        ("1 min", 60),
        ("1.5h", 5400),
        ("0:45", 2700),
        ("1:30:05", 5405),
        ("2 days", 172800),
        ("20 ms", 0.02),
        ("3µs", 3e-6),
    ],
)
def test_parse_duration(text: str, seconds: float) -> None:
    assert units.parse_duration(text) == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize(
    "text", ["", "min", "1:60", "1:5", "1:00:61", "-3 s", "3 fortnights", "inf", "1 min 5 s"]
)
def test_parse_duration_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        units.parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.45, "450 ms"),
        (2.5, "2.5 s"),
        (90, "90 s"),
        (119.6, "2 min"),
        (750, "12 min 30 s"),
        (11100, "3 h 5 min"),
        (187200, "2 d 4 h"),
    ],
)
def test_format_duration(seconds: float, text: str) -> None:
    assert units.format_duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "less than a minute"),
        (59.9, "less than a minute"),
        (130, "about 2 min"),
        (3590, "about 1 h"),
        (4680, "about 1 h 20 min"),
        (35700, "about 10 h"),
        (86400, "about 24 h"),
        (200000, "about 2 d"),
    ],
)
def test_format_roughly(seconds: float, text: str) -> None:
    assert units.format_roughly(seconds) == text


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1 Gbit/s", 1.25e8),
        ("40 Gbit/s", 5e9),
        ("10Gbps", 1.25e9),
        ("100 MB/s", 1e8),
        ("1 MiB/s", 1048576),
        ("800 b/s", 100),
        ("8 bit/s", 1),
    ],
)
def test_parse_rate(text: str, rate: float) -> None:
    assert units.parse_rate(text) == pytest.approx(rate, rel=1e-15)


@pytest.mark.parametrize("text", ["", "40", "40 G", "40 Gbit", "i B/s", "3 iB/s", "40 gbit/s", "-1 MB/s"])
def test_parse_rate_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="is not a rate"):
        units.parse_rate(text)


def test_format_rate() -> None:
    shown = [units.format_rate(rate) for rate in (5e9, 1.25e8, 125, 7e12 / 8, 0.5)]
    assert shown == ["40 Gbit/s", "1 Gbit/s", "1 kbit/s", "7 Tbit/s", "4 bit/s"]
