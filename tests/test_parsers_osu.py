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


@pytest.mark.parametrize(
    ("name", "columns", "rows"),
    [
        ("latency", "size time", 7),
        ("bibw", "size bandwidth", 7),
        ("mbw_mr", "size bandwidth message_rate", 7),
        ("mbw_mr_no_rate", "size bandwidth", 5),
        ("mbw_mr_validated", "size bandwidth message_rate", 5),
        ("multi_lat", "size time", 7),
        ("allreduce", "size time", 7),
        ("barrier", "time", 1),
        ("barrier_full", "time time_min time_max repetitions", 1),
        ("gather_full", "size time time_min time_max repetitions time_p50 time_p99", 5),
        ("ibarrier", "time_overall time_compute time overlap", 1),
        ("ialltoall", "size time_overall time_compute time overlap", 7),
        (
            "ialltoall_full",
            "size time_overall time_compute time_init time_test time_wait time time_min time_max overlap",
            5,
        ),
        ("neighbor_allgather", "size time", 7),
        ("put_bibw", "size bandwidth", 7),
        ("get_acc_latency", "size time", 7),
        ("cas_latency", "size time", 1),
        ("latency_mp", "size time", 7),
        ("latency_percentiles", "size time time_p50 time_p90 time_p99", 7),
        ("bw_percentiles", "size bandwidth bandwidth_p50 bandwidth_p90 bandwidth_p99", 7),
        ("latency_derived_type", "size time transmit_size", 7),
    ],
)
def test_every_table(name: str, columns: str, rows: int) -> None:
    parsed = parse("osu", read(name))
    (series,) = parsed.series
    assert parsed.version == "7.4"
    assert list(series.columns) == columns.split()
    assert {len(values) for values in series.columns.values()} == {rows}


def test_si_units_and_metadata() -> None:
    (series,) = parse("osu", latency()).series
    assert series.benchmark == "MPI Latency"
    assert series.columns == {
        "size": [0, 1, 2, 4],
        "time": [pytest.approx(v * 1e-6) for v in (1, 1.02, 1.05, 1.5)],
    }
    parsed = parse("osu", read("mbw_mr"))
    assert parsed.metadata == {"pairs": "1", "window_size": "64", "datatype": "MPI_CHAR"}
    assert parsed.series[0].ranks == 2
    first = read("mbw_mr").splitlines()[-7].split()
    assert parsed.series[0].columns["bandwidth"][0] == pytest.approx(float(first[1]) * 1e6)
    assert parsed.series[0].columns["message_rate"][0] == pytest.approx(float(first[2]))
    assert parse("osu", read("put_bibw")).metadata["window_creation"] == "MPI_Win_allocate"
    last = float(read("bibw").split()[-1])
    for heading in ("   Bandwidth (MB/s)", "Bi-Bandwidth (MB/s)"):
        (series,) = parse("osu", read("bibw").replace("   Bandwidth (MB/s)", heading)).series
        assert series.columns["bandwidth"][-1] == pytest.approx(last * 1e6)


def test_overlap_is_a_fraction() -> None:
    (series,) = parse("osu", read("ialltoall_full")).series
    printed = [float(line.split()[-2]) for line in read("ialltoall_full").splitlines() if line[:1].isdigit()]
    assert series.columns["overlap"] == [pytest.approx(value / 100) for value in printed]


def test_varied_windows_are_series() -> None:
    parsed = parse("osu", read("mbw_mr_windows"))
    assert [series.qualifiers["window_size"] for series in parsed.series] == [str(2**k) for k in range(8)]
    assert {tuple(series.columns) for series in parsed.series} == {("size", "bandwidth", "message_rate")}
    assert {len(series.columns["message_rate"]) for series in parsed.series} == {5}
    assert {series.ranks for series in parsed.series} == {2}


def test_varied_windows_damaged() -> None:
    text = read("mbw_mr_windows")
    with pytest.raises(OutputError, match="bandwidths and message rates are of different sizes"):
        parse("osu", text.rstrip("\n").rsplit("\n", 1)[0] + "\n")
    with pytest.raises(OutputError, match="rows are missing"):
        parse("osu", re.sub(r"\n4 .*", "", text, count=1))
    with pytest.raises(OutputError, match="row has 8 columns, the header names 9: '"):
        parse("osu", re.sub(r"\n4      +[0-9.]+", "\n4      ", text, count=1))


def test_several_datatypes_are_distinguished() -> None:
    parsed = parse("osu", read("latency_datatypes"))
    assert [series.qualifiers["datatype"] for series in parsed.series] == ["MPI_CHAR", "MPI_INT", "MPI_FLOAT"]
    with pytest.raises(OutputError, match="second header of one table"):
        parse("osu", read("latency_datatypes").replace("MPI_INT", "MPI_CHAR"))


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


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("1.05", " nan", "is 'nan', not a number"),
        ("1.05", " inf", "is 'inf', not a number"),
        ("              1.05", "             -1.05", "is '-1.05', not a number"),
        ("1.05", "1.0", "not where those above are"),
        ("1.05", "1.05 7", r"row has 3 columns, the header names 2: '2 1\.05 7'$"),
        ("1.05", "1.05 \x1b[0m" + 90 * "7", r"the header names 2: '2 1\.05 \\x1b\[0m7{20,40}\.\.\.'$"),
        ("1.05", "", "row has 1 columns, the header names 2"),
        ("1.50\n", "1.5", "ends inside line 6: cut|not where"),
        ("1.50\n", "1.50", "ends inside line 6: cut"),
    ],
)
def test_damaged_rows(old: str, new: str, reason: str) -> None:
    with pytest.raises(OutputError, match=reason):
        parse("osu", change(latency(), old, new))


def test_rate_that_contradicts_the_bandwidth() -> None:
    head = "# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2\n# [ pairs: 2 ] [ window size: 64 ]\n"
    head += "# Size                  MB/s        Messages/s\n"
    assert parse("osu", head + row(1, 12.24, 12240493.18) + "\n").series[0].ranks == 4
    with pytest.raises(OutputError, match=r"messages/s of 1 B are not 21.24 MB/s"):
        parse("osu", head + row(1, 21.24, 12240493.18) + "\n")


def test_minimum_average_maximum_that_contradict() -> None:
    head = "# OSU MPI Gather Latency Test v7.4\n"
    head += "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
    assert parse("osu", f"{head}{row(1, 2, 1, 3)}          50\n").series[0].columns["repetitions"] == [50]
    with pytest.raises(OutputError, match=r"minimum 1.0, average 4.0, maximum 3.0 contradict"):
        parse("osu", f"{head}{row(1, 4, 1, 3)}          50\n")


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


@pytest.mark.parametrize(
    "title", ["MPI Brandnew Latency", "MPI Iallgather Latency", "MPI_Rput latency", "MPI Partitioned Latency"]
)
def test_a_new_title_is_a_new_benchmark(title: str) -> None:
    (series,) = parse("osu", latency().replace("MPI Latency", title)).series
    assert series.benchmark == title


def test_two_outputs_in_one_file() -> None:
    with pytest.raises(OutputError, match="a second title: two outputs in one file"):
        parse("osu", latency() + latency())


def test_messages_in_between_and_around() -> None:
    text = change(latency(), "\n2 ", "\n[1599.1] [node1:7] UCX  WARN something\n2 ")
    text = "Job <42> is submitted\nmpirun osu_latency\n\n" + text + "\nPS:\n"
    assert parse("osu", text).series == parse("osu", latency()).series


def test_a_cut_between_two_lines_shows_against_the_largest_size() -> None:
    cut = latency().rsplit("\n", 2)[0] + "\n"
    assert parse("osu", cut).series[0].columns["size"] == [0, 1, 2]
    with pytest.raises(OutputError, match="MPI Latency ends at 2 B; 4 B was asked for"):
        parse("osu", cut, expected_max=4)
    assert parse("osu", latency(), expected_max=4).series


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=24), st.sampled_from([0, 1, 4, 3]))
def test_what_is_printed_is_what_is_parsed(hundredths: list[int], first: int) -> None:
    values = tuple(value / 100 for value in hundredths)
    columns = parse("osu", latency(values, first)).series[0].columns
    assert columns["time"] == [pytest.approx(value * 1e-6) for value in values]


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((1, 2, 2, 4), "line 5: 2 B follows 2 B: the row is there twice"),
        ((4, 2, 1), "line 4: 2 B follows 4 B: the rows are not in order"),
        ((1, 2, 8), "line 5: 8 B follows 2 B: rows are missing"),
    ],
)
def test_rows_out_of_step_are_reported_as_such(sizes: tuple[int, ...], said: str) -> None:
    rows = [row(size, 1.0) for size in sizes]
    text = "\n".join(["# OSU MPI Latency Test v5.6.2", "# Size          Latency (us)", *rows, ""])
    with pytest.raises(OutputError, match=said):
        parse("osu", text)


def test_a_message_takes_time() -> None:
    """0 B may be faster than what two decimals show; a byte is not, as IMB's bandwidth would say."""
    with pytest.raises(OutputError, match=r"line 5: 2 B in 0\.00 us"):
        parse("osu", latency((0.0, 1.0, 0.0, 1.0)))
    assert parse("osu", latency((0.0, 1.0, 1.0))).series[0].columns["time"][0] == 0


@pytest.mark.parametrize(
    "line",
    [
        "0.50user 0.10system 0:12.34elapsed 5%CPU (0avgtext+0avgdata 9808maxresident)k",
        "0inputs+0outputs (0major+2303minor)pagefaults 0swaps",
        "slurmstepd: error: couldn't chdir to `/home/x': No such file or directory: going to /tmp instead",
    ],
)
def test_what_the_surroundings_say_is_neither_a_row_nor_an_abort(line: str) -> None:
    text = read("latency")
    assert parse("osu", f"{line}\n{text}{line}\n") == parse("osu", text)


def test_a_bandwidth_too_small_to_print_comes_from_the_message_rate_or_is_missing() -> None:
    head = "# OSU MPI Multiple Bandwidth / Message Rate Test v5.3\n# [ pairs: 1 ] [ window size: 64 ]"
    headings = "# Size                  MB/s        Messages/s"
    text = "\n".join([head, headings, row(1, 0.0, 40.5), row(2, 0.0, 40.5), ""])
    assert parse("osu", text).series[0].columns["bandwidth"] == [40.5, 81.0]
    headings = "# OSU MPI Bandwidth Test v5.3\n# Size      Bandwidth (MB/s)"
    text = "\n".join([headings, row(1, 0.0), row(2, 0.01), ""])
    assert parse("osu", text).series[0].columns["bandwidth"] == [None, 1e4]
