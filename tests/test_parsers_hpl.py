from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import strategies as st
from printed_outputs import (
    HplRow,
    hpl_of_amd,
    hpl_of_nvidia,
    hpl_output,
)

from mpicampaign.suites import OutputError, parse

# A real run of the HPL 2.0 that HPCC holds, on two ranks.
FIXTURE = Path(__file__).parent / "fixtures" / "hpl" / "eight_rows.out"

ONE = HplRow(44640, 180, 2, 2, 1735.76)
TWO = [ONE, HplRow(44640, 180, 1, 4, 1700.0)]


def change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def refused(text: str) -> str:
    with pytest.raises(OutputError) as caught:
        parse("hpl", text)
    return str(caught.value)


def test_progress_is_not_a_result() -> None:
    """Its rates are higher than the result's and say nothing about the whole."""
    assert parse("hpl", hpl_output([ONE], progress=20)).series == parse("hpl", hpl_output([ONE])).series


def test_more_than_eight_orders() -> None:
    rows = [HplRow(1000 * k, 64, 1, 2, 5.0 * k**2) for k in range(1, 20)]
    assert [s.qualifiers["N"] for s in parse("hpl", hpl_output(rows)).series] == [
        str(1000 * k) for k in range(1, 20)
    ]


def test_a_time_too_short_to_be_printed_is_missing() -> None:
    (series,) = parse("hpl", hpl_output([HplRow(100, 32, 1, 2, 0.002)])).series
    assert series.columns["time"] == [None]
    assert series.columns["flops"][0] is not None


def test_skipped_tests_are_reported() -> None:
    text = hpl_output([ONE])
    text = change(text, "Finished      1", "Finished      2")
    text = change(text, "0 tests skipped", "1 tests skipped")
    failure = (
        "HPL ERROR from process # 0, on line 170 of function HPL_pdtest:\n>>> [0,0] Memory allocation failed"
    )
    text = change(text, "=" * 80 + "\nT/V", f"{failure} for A, x and b. Skip. <<<\n\n" + "=" * 80 + "\nT/V")
    assert re.fullmatch(
        r"1 tests skipped: line \d+: \[0,0\] Memory allocation failed for A, x and b. Skip.",
        parse("hpl", text).metadata["not_measured"],
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("PASSED", "FAILED", r"line \d+: the solution did not pass: .* FAILED"),
        ("PASSED", "PASED", r"line \d+: the solution did not pass"),
        ("||Ax-b||_oo/(", "|Ax-b||_oo/(", r"line 24: no check of the solution below the row"),
        ("End of Tests.", "", "ends after 2 rows; the closing line is missing"),
        ("Finished", "Finishes", "the count of the tests is missing"),
        ("2 tests completed and passed", "1 tests completed and passed", "rows are missing"),
        ("2 tests completed and passed", "3 tests completed and passed", "rows are missing"),
        ("Finished      2", "Finished      3", "rows are missing"),
        ("0 tests completed and failed", "1 tests completed and failed", "1 tests failed"),
        ("HPLinpack", "Hpinpack", "the header of HPL is missing"),
        ("WR11R2C4", "WR11X2C4", "line 24: unknown HPL variant 'WR11X2C4'"),
        ("WR11R2C4", "R11R2C4", "rows are missing"),
        ("1735.76", "1935.76", r"line 24: order 44640 in 1935.76 s is not 3.417e\+01 Gflop/s"),
        ("3.417e+01", "3.497e+01", r"line 24: order 44640 in 1735.76 s is not 3.497e\+01 Gflop/s"),
        ("3.417e+01", "      nan", "Gflops is 'nan', not a number"),
        ("1735.76 ", "-735.76 ", "Time is '-735.76', not a number"),
        ("1735.76", "1735.6", "the row's columns are not where the header's are"),
        (" 1735.76 ", "         ", "row has 6 columns, the header names 7"),
        ("T/V    ", "T/X    ", "line 24: a row above the table's header"),
    ],
)
def test_damage_is_refused_with_a_reason(old: str, new: str, reason: str) -> None:
    assert re.search(reason, refused(change(hpl_output(TWO), old, new)))


def test_unchecked_solutions() -> None:
    text = change(hpl_output([ONE]), "passed residual checks", "without checking")
    text = change(text, "completed and without", "completed without")
    assert "were not checked" in refused(text)


def test_two_outputs_in_one_file() -> None:
    whole = hpl_output([ONE])
    assert "a second header: two outputs in one file" in refused(whole + whole)
    headless = whole[whole.index("T/V ") :]
    assert "a row after the closing line: two outputs in one file" in refused(whole + headless)
    assert "a second closing line" in refused(whole + whole[whole.index("Finished") :])


NVIDIA = hpl_of_nvidia(HplRow(92160, 1024, 2, 2, 20.5, "WC0"))
AMD = hpl_of_amd(HplRow(184900, 384, 1, 2, 480.5, "WRC11C2R4o"))


@pytest.mark.parametrize(
    ("text", "old", "new", "reason"),
    [
        (NVIDIA, "( 6.364e+03)", "", "the rate per GPU is missing: cut"),
        (NVIDIA, "( 6.364e+03)", "( 6.364e+0", "the rate per GPU is missing: cut"),
        (NVIDIA, "( 6.364e+03)", "( 6.369e+03)", r"2.546e\+04 Gflop/s of 4 GPUs are not 6.369e\+03 of each"),
        (NVIDIA, "20.50", "22.50", "order 92160 in 22.50 s is not"),
        (NVIDIA, "WC0 ", " WC0", "no rows"),
        (NVIDIA, "20.50 ", "20.5  ", "the row's columns are not where the header's are"),
        (NVIDIA, " (   per GPU)", "", "row has 9 columns, the header names 7"),
        (NVIDIA, "N      :   92160", "N      :   99160", "N = 92160 is not among the parameters to run"),
        (AMD, "480.50", "490.50", "order 184900 in 490.50 s is not"),
        (AMD, "C11C2R4o", "C11X2R4o", "unknown HPL variant 'WRC11X2R4o 002'"),
        (AMD, " 002 ", "     ", "row has 7 columns, the header names 8"),
        (AMD, " 002 ", " 02  ", "unknown HPL variant 'WRC11C2R4o 02'"),
        (hpl_output([ONE]), "WR11R2C4", "WC0     ", "unknown HPL variant 'WC0'"),
        (hpl_output([ONE]), "N      :   44640", "N      :   44641", "N = 44640 is not among the parameters"),
    ],
)
def test_damage_to_other_builds_is_refused(text: str, old: str, new: str, reason: str) -> None:
    assert re.search(reason, refused(change(text, old, new)))


def test_wrong_number_of_processes_is_named() -> None:
    text = (
        "HPL ERROR from process # 0, on line 419 of function HPL_pdinfo:\n"
        ">>> Need at least 4 processes for these tests <<<\n"
    )
    assert "line 2: Need at least 4 processes for these tests" in refused(text)


orders = st.integers(100, 10**6)
rows = st.builds(
    HplRow,
    orders,
    st.integers(1, 999),
    st.integers(1, 99),
    st.integers(1, 99),
    st.floats(0.01, 10**6),
    st.from_regex(r"W[RC][0-9][0-9][LCR][0-9][LCR][0-9]", fullmatch=True),
)
