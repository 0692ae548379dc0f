from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpicampaign.suites import SUITES, OutputError, detect_suite, parse
from mpicampaign.suites.hpcc.parser import _COLUMNS

# Real runs of HPCC 1.5.0, small on purpose.
FIXTURES = Path(__file__).parent / "fixtures" / "hpcc"
TEXT = (FIXTURES / "two_ranks.out").read_text(encoding="utf-8")
ONE_RANK = (FIXTURES / "one_rank.out").read_text(encoding="utf-8")


def change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def with_value(key: str, value: str) -> str:
    """The output with another value in its summary."""
    changed, count = re.subn(rf"^{key}=.*$", f"{key}={value}", TEXT, flags=re.MULTILINE)
    assert count == 1
    return changed


def refused(text: str) -> str:
    with pytest.raises(OutputError) as caught:
        parse("hpcc", text)
    return str(caught.value)


def test_a_summary_without_a_single_value() -> None:
    text = TEXT
    for key in _COLUMNS:
        text = re.sub(rf"^{key}=.*$", f"{key}=-1", text, flags=re.MULTILINE)
    assert "no values: none of the benchmarks was run" in refused(text)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Success=1", "Success=0", r"line \d+: HPCC reports Success=0"),
        ("Success=1", "Success=", r"line \d+: HPCC reports Success="),
        ("Success=1\n", "", "the summary lacks Success"),
        ("PTRANS_GBs=", "PTRANS_GB=", "the summary lacks PTRANS_GBs"),
        ("CommWorldProcs=2", "CommWorldProcs=two", r"CommWorldProcs is 'two', not a whole number"),
        ("End of HPC Challenge tests.", "", "it did not end"),
        ("End of Summary section.", "", "it did not end"),
        ("Begin of Summary section.", "", "it did not end"),
        ("This is the DARPA", "This is a", "the header of HPCC is missing"),
        ("PASSED    1.444", "FAILED    1.444", r"line \d+: a check failed: WALL"),
        ("...... PASSED", "...... FAILED", r"line \d+: the solution did not pass: \|\|Ax-b"),
        (
            "0.0081691 ......",
            "17.0081691 ......",
            "the residual 17.0081691 is not below 16.0",
        ),
        ("0.0081691 ......", "-nan ......", "the residual -nan is not a number, but"),
        ("131072 locations (passed)", "131072 locations (failed)", r"line \d+: a check failed: Found 0"),
        ("StarSTREAM_Copy=93.2174", "StarSTREAM_Copy=nan", "StarSTREAM_Copy is 'nan', not a number"),
        ("StarSTREAM_Copy=93.2174", "StarSTREAM_Copy=-nan", "StarSTREAM_Copy is 'nan', not a number"),
        ("HPL_time=0.017395", "HPL_time=0.018395", r"line \d+: HPL_Tflops=0.00246661 contradicts HPL_N"),
        ("MPIRandomAccess_time=0.1", "MPIRandomAccess_time=0.2", "MPIRandomAccess_GUPs=0.00520032 contra"),
        ("AvgPingPongLatency_usec=0.408", "AvgPingPongLatency_usec=0.508", "contradict each other"),
        ("HPL_N=400\n", "HPL_N=400\nHPL_N=400\n", "HPL_N a second time: two outputs in one file"),
        ("Begin of PTRANS", "\nSegmentation fault\nBegin of PTRANS", "the program was aborted"),
    ],
)
def test_damage_is_refused_with_a_reason(old: str, new: str, reason: str) -> None:
    assert re.search(reason, refused(change(TEXT, old, new)))


def test_its_own_hpl_is_not_a_second_suite() -> None:
    assert detect_suite(TEXT) == "hpcc"
    assert detect_suite(TEXT[: TEXT.index("Begin of Summary")]) == "hpcc"
    with pytest.raises(OutputError, match=r"outputs of hpcc .* and of hpl"):
        detect_suite(TEXT + "HPLinpack 2.2  --  High-Performance Linpack benchmark\n")
    assert "a second header" in _refused_as_hpl(TEXT)


def _refused_as_hpl(text: str) -> str:
    with pytest.raises(OutputError) as caught:
        parse("hpl", text)
    return str(caught.value)


def test_wrapped_and_with_windows_line_ends() -> None:
    assert parse("hpcc", "Job 1 <b>\n\n" + TEXT.replace("\n", "\r\n") + "\nPS:\n") == parse("hpcc", TEXT)


FREE = [
    key for key in _COLUMNS if "PingPong" not in key and key not in ("HPL_Tflops", "HPL_time")
]  # those that no other line contradicts
FREE.remove("MPIRandomAccess_GUPs")


def test_a_summary_alone_is_recognised() -> None:
    assert refused(TEXT[TEXT.index("Begin of Summary") :]).endswith("take the whole hpccoutf.txt")


def test_imported_runs_of_unlike_linear_systems_are_cases_of_their_own() -> None:
    assert SUITES["hpcc"].names(TEXT, "") == ("HPCC-N400-NB32-1x2", "")
    assert SUITES["hpcc"].names(with_value("HPL_N", "800"), "hpcc") == ("HPCC-N800-NB32-1x2", "hpcc")
    assert SUITES["hpcc"].names(re.sub("^HPL_NB=.*", "", TEXT, flags=re.MULTILINE), "") == ("HPCC", "")
