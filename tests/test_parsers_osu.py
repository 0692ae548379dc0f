from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpicampaign.suites import OutputError, parse

FIXTURES = Path(__file__).parent / "fixtures" / "osu"  # real runs of OSU 7.4, short on purpose


def read(name: str) -> str:
    return (FIXTURES / f"{name}.out").read_text(encoding="utf-8")


def row(size: int, *values: float) -> str:
    return f"{size:<10}" + "".join(f"{value:18.2f}" for value in values)


def latency(values: tuple[float, ...] = (1.0, 1.02, 1.05, 1.5), first: int = 0) -> str:
    """An output with the header style of the 5 series."""
    sizes = [first * 2**k if first else (2**k) // 2 for k in range(len(values))]
    rows = [row(size, value) for size, value in zip(sizes, values, strict=True)]
    return "\n".join(["# OSU MPI Latency Test v5.6.2", "# Size          Latency (us)", *rows, ""])


def test_varied_windows_damaged() -> None:
    text = read("mbw_mr_windows")
    with pytest.raises(OutputError, match="bandwidths and message rates are of different sizes"):
        parse("osu", text.rstrip("\n").rsplit("\n", 1)[0] + "\n")
    with pytest.raises(OutputError, match="rows are missing"):
        parse("osu", re.sub(r"\n4 .*", "", text, count=1))
    with pytest.raises(OutputError, match="row has 8 columns, the header names 9: '"):
        parse("osu", re.sub(r"\n4      +[0-9.]+", "\n4      ", text, count=1))


def test_start_up_times() -> None:
    (series,) = parse(
        "osu", "# OSU MPI Init Test v7.4\nnprocs: 2, min: 271 ms, max: 279 ms, avg: 275 ms\n"
    ).series
    assert series.ranks == 2
    assert series.columns == {"time": [0.275], "time_min": [0.271], "time_max": [0.279]}
    assert parse("osu", "nprocs: 4, min: 5, max: 7, avg: 6\n").series[0].ranks == 4  # no title before 5.4
    assert parse("osu", read("init")).series[0].columns["time"][0]
    with pytest.raises(OutputError, match="prints no values"):
        parse("osu", read("hello"))


def change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        ("latency", "\n4 ", "\n5 ", "line 7: 5 B follows 2 B: rows are missing"),
        ("latency", "# Size ", "# Sizes", "line 5: a row above the table's header"),
        ("latency", "Avg Latency(us)", "Avg Latency(ms)", "unknown heading"),
        ("latency", "# OSU MPI", "# MPI", "the title of an OSU benchmark is missing"),
        ("latency_percentiles", "P90 Tail Lat(us)", "P90 Tail Max(us)", "unknown heading 'P90'"),
        ("mbw_mr_validated", "Pass", "Fail", "validation of 1 B: 'Fail'"),
        ("mbw_mr_validated", "Pass", "Skip", "validation of 1 B: 'Skip'"),
        ("mbw_mr_validated", "Pass", "    ", "columns, the header names"),
        ("barrier", "(us)\n", "(us)\n              1.00\n", "2 rows below the header, not one"),
        ("latency", "\n1 ", "\n# Size       Avg Latency(us)\n1 ", "second header of one table"),
        ("latency", "\n4 ", "\n4\0", "NUL byte"),
        (
            "latency",
            "\n4 ",
            "\nDATA VALIDATION ERROR: osu_latency exited with status 1 on message size 4.\n4 ",
            "DATA VALIDATION ERROR",
        ),
        (
            "latency",
            "\n4 ",
            "\nslurmstepd: error: *** STEP CANCELLED ***\n4 ",
            "the program was aborted: slurmstepd",
        ),
    ],
)
def test_damage_is_refused_with_a_reason(name: str, old: str, new: str, reason: str) -> None:
    with pytest.raises(OutputError, match=reason):
        parse("osu", change(read(name), old, new))


def test_a_title_alone_is_not_a_result() -> None:
    with pytest.raises(OutputError, match="OSU MPI Latency printed no table"):
        parse("osu", "# OSU MPI Latency Test v5.6.2\n")
    with pytest.raises(OutputError, match="line 2: no rows below the header"):
        parse("osu", latency(()))


@pytest.mark.parametrize(
    ("title", "meant"),
    [
        ("MPI Latncy", "osu_latency"),
        ("MPI Latencyy", "osu_latency"),
        ("MPI Bandwitdh", "osu_bw"),
        ("MPI_Putt Latency", "osu_put_latency"),
        ("MPI Non-bloking Allreduce Latency", "osu_iallreduce"),
        ("One Sided MPI_Get latencey", "osu_get_latency"),
    ],
)
def test_a_misspelt_title_is_no_new_benchmark(title: str, meant: str) -> None:
    text = latency().replace("MPI Latency", title)
    with pytest.raises(OutputError, match=f"no OSU benchmark has the title .*; did you mean that of {meant}"):
        parse("osu", text)


def test_two_outputs_in_one_file() -> None:
    with pytest.raises(OutputError, match="a second title: two outputs in one file"):
        parse("osu", latency() + latency())


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=24), st.sampled_from([0, 1, 4, 3]))
def test_what_is_printed_is_what_is_parsed(hundredths: list[int], first: int) -> None:
    values = tuple(value / 100 for value in hundredths)
    columns = parse("osu", latency(values, first)).series[0].columns
    assert columns["time"] == [pytest.approx(value * 1e-6) for value in values]


def test_a_message_takes_time() -> None:
    """0 B may be faster than what two decimals show; a byte is not, as IMB's bandwidth would say."""
    with pytest.raises(OutputError, match=r"line 5: 2 B in 0\.00 us"):
        parse("osu", latency((0.0, 1.0, 0.0, 1.0)))
    assert parse("osu", latency((0.0, 1.0, 1.0))).series[0].columns["time"][0] == 0


def test_a_bandwidth_too_small_to_print_comes_from_the_message_rate_or_is_missing() -> None:
    head = "# OSU MPI Multiple Bandwidth / Message Rate Test v5.3\n# [ pairs: 1 ] [ window size: 64 ]"
    headings = "# Size                  MB/s        Messages/s"
    text = "\n".join([head, headings, row(1, 0.0, 40.5), row(2, 0.0, 40.5), ""])
    assert parse("osu", text).series[0].columns["bandwidth"] == [40.5, 81.0]
    headings = "# OSU MPI Bandwidth Test v5.3\n# Size      Bandwidth (MB/s)"
    text = "\n".join([headings, row(1, 0.0), row(2, 0.01), ""])
    assert parse("osu", text).series[0].columns["bandwidth"] == [None, 1e4]
