"""Outputs of one's own cluster and of others: changed digits, joined files, text added by schedulers."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from printed_outputs import (
    IMB_MEBIBYTE_VERSION,
    IMB_MEGABYTE_VERSION,
    LSF_TRAILER,
    HplRow,
    hpl_output,
    imb_pingpong,
    in_failed_lsf_report,
    in_lsf_report,
    osu_table,
)
from test_parsers_hostile import OUTPUTS, TEXTS, Output, check, figures, outputs, positions, row_numbers

from mpicampaign.suites import OutputError, detect_suite, parse

WHOLE = [*OUTPUTS, ("osu", "two_columns", 2), ("imb", "mebibytes", None), ("hpl", "one_row", None)]
TEXTS |= {
    ("osu", "two_columns"): osu_table("MPI Latency", "Latency (us)", [(0, 1.2), (1, 1.3), (2, 1.4)]),
    ("imb", "mebibytes"): imb_pingpong(IMB_MEBIBYTE_VERSION, [2.5, 2.6, 2.7, 3.1, 4.5], 2.0**20),
    ("hpl", "one_row"): hpl_output([HplRow(44640, 180, 2, 2, 1735.76)], progress=10),
}


def values_of(found: list[tuple[object, ...]]) -> list[float | None]:
    return [value for _, _, columns in found for values in columns.values() for value in values]  # type: ignore[attr-defined]


def size_labels(found: list[tuple[object, ...]]) -> list[object]:
    return [(name, kept, columns.get("size")) for name, kept, columns in found]  # type: ignore[attr-defined]


def with_digit(text: str, line: int, place: float, digit: str) -> str:
    """The text with one digit of a line replaced."""
    lines = text.split("\n")
    where = [k for k, character in enumerate(lines[line]) if character.isdigit()]
    k = where[int(place * len(where))]
    lines[line] = lines[line][:k] + digit + lines[line][k + 1 :]
    return "\n".join(lines)


@given(outputs, positions, positions, st.sampled_from("0123456789"))
def test_a_changed_digit_changes_one_value_or_is_refused(
    output: Output, where: float, place: float, digit: str
) -> None:
    """The result is another value that could have been printed; its labels never change."""
    suite, name, largest = output
    if suite == "kernel":
        return  # its values are computed from many rows
    text = TEXTS[suite, name]
    rows = row_numbers(suite, text.split("\n"))
    changed = figures(suite, with_digit(text, rows[int(where * len(rows))], place, digit), largest)
    whole = figures(suite, text, largest)
    assert whole is not None
    if changed is None or suite == "hpl":
        return  # a variant has digits, too: see the tests of HPL
    assert size_labels(changed) == size_labels(whole)
    pairs = zip(values_of(whole), values_of(changed), strict=True)
    assert sum(before != after for before, after in pairs) <= 1


@pytest.mark.parametrize(("suite", "name", "largest"), WHOLE)
def test_cut_after_any_line(suite: str, name: str, largest: int | None) -> None:
    text = TEXTS[suite, name]
    ends = [k + 1 for k, character in enumerate(text) if character == "\n"]
    for end in random.Random(1).sample(ends, min(60, len(ends))):
        check((suite, name, largest), text[:end])
        check((suite, name, largest), text[end:])


@given(outputs, outputs, positions, positions)
def test_parts_of_two_outputs_in_one_file(first: Output, second: Output, one: float, other: float) -> None:
    """The head of one before another, the tail of one behind another: refused, or nothing of it is read."""
    if first[0] != second[0]:
        return
    whole, part = TEXTS[first[:2]], TEXTS[second[:2]]
    start, end = int(one * len(part)), int(other * len(part))
    if first[:2] == second[:2]:
        check(first, part[:end] + "\n" + whole)
        check(first, whole + part[start:])
    else:
        for joined in (part[:end] + "\n" + whole, whole + part[start:], part[start:] + whole):
            found = figures(first[0], joined, first[2])
            assert found is None or found == figures(first[0], whole, first[2])


@given(outputs, outputs)
def test_two_suites_in_one_file_are_named(first: Output, second: Output) -> None:
    text = TEXTS[first[:2]] + TEXTS[second[:2]]
    if first[0] == second[0]:
        assert detect_suite(text) == first[0]
        return
    with pytest.raises(OutputError, match=r"outputs of \w+ \(line \d+\) and of \w+ \(line \d+\) in one file"):
        detect_suite(text)


OPEN_MPI_WARNING = """--------------------------------------------------------------------------
[[7,1],0]: A high-performance Open MPI point-to-point messaging module
was unable to find any relevant network interfaces:

Module: OpenFabrics (openib)
  Host: node1

Another transport will be used instead, although this may result in
lower performance.
--------------------------------------------------------------------------
"""
AROUND = {
    "cron": ("#HOSTS=2\n", ""),
    "cron with date": ("#HOSTS=2 \nMon 21 Nov 16:20:01 GMT 2016\n2016-11-21 16:20:01\n", ""),
    "German date": ("Mo 21. Nov 16:20:01 CET 2016\nSa 3. Mär 04:05:06 2018\n", "Fr 1. Jän 2016\n"),
    "Open MPI": (
        OPEN_MPI_WARNING,
        "[node1:123] 1 more process has sent help message help-mpi-btl-base.txt\n",
    ),
    "Intel MPI": ("[0] MPI startup(): Intel(R) MPI Library, Version 5.1.3  Build 20160120\n", "\n"),
    "versions": ("mpirun (Open MPI) 1.10.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n", ""),
    "LSF": (in_lsf_report("", ""), LSF_TRAILER),
    "LSF without trailer": (in_lsf_report("", ""), ""),
    "Slurm": ("Loading intel-mpi/2019\n  Loading requirement: gcc/9\nnode[1-2]\n", "\nsacct: done\n"),
    "dates": ("2016-11-21T16:20:01+00:00\n", "2016-11-21 16:21:01\n21/11/2016\n 16:21:01 up 3 days\n"),
    "time": ("", "\nreal\t0m1.234s\nuser\t0m2.000s\nsys\t0m0.100s\n"),
}


@pytest.mark.parametrize("around", sorted(AROUND))
@pytest.mark.parametrize(("suite", "name", "largest"), WHOLE)
def test_what_is_printed_around_changes_nothing(
    suite: str, name: str, largest: int | None, around: str
) -> None:
    before, after = AROUND[around]
    text = before + TEXTS[suite, name] + after
    assert detect_suite(text) == suite
    expected = figures(suite, TEXTS[suite, name], largest)
    assert expected
    assert figures(suite, text, largest) == expected
    assert figures(suite, text.replace("\n", "\r\n"), largest) == expected


FAILURES = (
    "TERM_RUNLIMIT: job killed after reaching LSF run time limit.\nExited with exit code 140.",
    "TERM_OWNER: job killed by owner.\nExited with signal termination: Killed.",
    "Exited with exit code 1.",
    "Exited with signal termination: Killed.",
)


@pytest.mark.parametrize("result", FAILURES)
@pytest.mark.parametrize("suite", ["imb", "osu", "hpl", "hpcc"])
def test_jobs_that_failed(suite: str, result: str) -> None:
    """LSF reports the failure above the output: however much output there is, the job failed."""
    name = next(name for s, name, _ in OUTPUTS if s == suite)
    text = TEXTS[suite, name]
    for output in (text, text[: len(text) // 2], ""):
        with pytest.raises(OutputError, match=r"line \d+: the program was aborted: (TERM_|Exited with)"):
            parse(suite, in_failed_lsf_report(output, result))


@pytest.mark.parametrize(
    "message",
    [
        "slurmstepd: error: *** JOB 42 ON node1 CANCELLED AT 2020-01-01T00:00:00 DUE TO TIME LIMIT ***",
        "=>> PBS: job killed: walltime 3660 exceeded limit 3600",
        "MPI Application rank 0 killed before MPI_Finalize() with signal 9",
        "Primary job  terminated normally, but 1 process returned",
        "mpirun noticed that process rank 1 with PID 0 on node node2 exited on signal 9 (Killed).",
        "flux-job: task(s) exited with exit code 143",
        "[node2:00070] *** Process received signal ***",
        "[node2:6031 :0:6031] Caught signal 11 (Segmentation fault: address not mapped to object)",
        "[node2:mpi_rank_1][error_sighandler] Caught error: Bus error (signal 7)",
        "TACC:  MPI job exited with code: 139",
        "mpiexec noticed that process rank 1 with PID 0 on node node2 exited on signal 9 (Killed).",
        "prterun detected that one or more processes exited with non-zero status,",
    ],
)
@pytest.mark.parametrize("suite", ["imb", "osu", "hpl", "hpcc"])
def test_programs_that_were_ended(suite: str, message: str) -> None:
    name = next(name for s, name, _ in OUTPUTS if s == suite)
    half = TEXTS[suite, name][: len(TEXTS[suite, name]) * 2 // 3].rsplit("\n", 1)[0]
    with pytest.raises(OutputError, match=r"line \d+: the program was aborted"):
        parse(suite, f"{half}\n{message}\n")


def test_rows_of_another_output_above_the_header() -> None:
    """The end of an output whose beginning is lost, and a whole one behind it."""
    for suite, name in (("osu", "latency"), ("imb", "pingpong")):
        text = TEXTS[suite, name]
        rows = [text.split("\n")[k] for k in row_numbers(suite, text.split("\n"))]
        with pytest.raises(OutputError, match="line 1: a row above the header: the rest of another output"):
            parse(suite, rows[-1] + "\n" + text)


@given(
    st.lists(st.floats(0.2, 9e6), min_size=3, max_size=30),
    st.sampled_from([(IMB_MEBIBYTE_VERSION, 2.0**20), (IMB_MEGABYTE_VERSION, 1e6), ("2018", 1e6)]),
)
def test_imb_as_printed_is_as_parsed(times: list[float], version: tuple[str, float]) -> None:
    name, unit = version
    (series,) = parse("imb", imb_pingpong(name, times, unit)).series
    assert series.columns["time"] == [pytest.approx(time * 1e-6, abs=0.51e-8) for time in times]
    assert series.columns["size"] == [0, *(2**k for k in range(len(times) - 1))]
    bandwidths = [size / time * 1e6 for size, time in zip(series.columns["size"], times, strict=True)]
    half_digit = 0.0051 * unit
    assert series.columns["bandwidth"] == [pytest.approx(value, abs=half_digit) for value in bandwidths]


OSU_TABLES = {
    ("MPI Latency", "Latency (us)"): ("time", 1e-6),
    ("MPI Bandwidth", "Bandwidth (MB/s)"): ("bandwidth", 1e6),
    ("MPI Bi-Directional Bandwidth", "Bandwidth (MB/s)"): ("bandwidth", 1e6),
}


@given(
    st.sampled_from(sorted(OSU_TABLES)),
    st.lists(st.floats(0.01, 1e8), min_size=2, max_size=24),
    st.sampled_from(["5.0", "5.6.2", "6.2", "7.4"]),
)
def test_osu_as_printed_is_as_parsed(kind: tuple[str, str], values: list[float], version: str) -> None:
    column, factor = OSU_TABLES[kind]
    rows = [(2**k, value) for k, value in enumerate(values)]
    parsed = parse("osu", osu_table(*kind, rows, version), expected_max=2 ** (len(rows) - 1))
    assert parsed.version == version
    (series,) = parsed.series
    printed = [float(f"{value:.2f}") * factor for value in values]
    assert series.columns[column] == [pytest.approx(value) for value in printed]


LINES = {
    "imb": f"{8:>13}{1000:>13}{1.0:>13.2f}{8.0:>13.2f}\n",
    "osu": f"{8:<10}{1.0:>18.2f}\n",
    "hpl": "Column=000000180 Fraction= 0.4% Gflops=3.102e+03\n",
    "hpcc": "PTRANS_GBs=1.44378\n",
    "kernel": "samples mpi_gather root 0 8 1.751600e-05\n",
}


@pytest.mark.slow
def test_a_table_does_not_grow_without_end() -> None:
    text = TEXTS["imb", "pingpong"]
    heading = text.index("Mbytes/sec\n") + len("Mbytes/sec\n")
    with pytest.raises(OutputError, match="more than 300000 rows in one table"):
        parse("imb", text[:heading] + LINES["imb"] * 300_001 + text[heading:])


@pytest.mark.full
@pytest.mark.parametrize("piece", ["its own lines", "one line", "binary"])
@pytest.mark.parametrize("suite", sorted(LINES))
def test_a_hundred_megabytes(suite: str, piece: str) -> None:
    """One pass over them; a quadratic step would take days."""
    line = {"its own lines": LINES[suite], "one line": "0123456789", "binary": "\x01\x02\xff\xfe\n\x0b"}[
        piece
    ]
    large = line * (10**8 // len(line))
    name = next(name for s, name, _ in OUTPUTS if s == suite)
    text = TEXTS[suite, name]
    check((suite, name, None), large + text)
    check((suite, name, None), text[: len(text) // 2] + "\n" + large + text[len(text) // 2 :])
