"""What the parsers refuse, and why; what they read from outputs, real ones and others.

golden/damages.jsonl: an output of tests/fixtures, what is replaced in it once, by what, and the message.
golden/parsed.txt: what each output of a real run says of itself, and one line for a column of a table.
After a change on purpose, or with a new output: MPICAMPAIGN_UPDATE_GOLDEN=1 pytest tests/test_parsers.py,
then read the difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import golden_messages
import pytest
from printed_outputs import HplRow, hpl_output, imb_line, imb_pingpong, osu_table

from mpicampaign.base.records import Series
from mpicampaign.imports.facts import read_facts
from mpicampaign.suites import SUITES, OutputError, detect_suite, parse, parts
from mpicampaign.suites.hpcc import _COLUMNS
from mpicampaign.suites.reading import column

FIXTURES = Path(__file__).parent / "fixtures"


def text_of(name: str) -> str:
    return (FIXTURES / f"{name}.out").read_text(encoding="utf-8")


def change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def refused(suite: str, text: str) -> str:
    with pytest.raises(OutputError) as caught:
        parse(suite, text)
    return str(caught.value)


def test_damage_is_refused_with_a_reason() -> None:
    def said(output: str, old: str, new: str) -> str:
        return refused(detect_suite(text_of(output)) or "", change(text_of(output), old, new))

    golden_messages.check("damages", said)


IMB, HPL, KERNEL = text_of("made/imb"), text_of("made/hpl_one"), text_of("made/kernel")
HPCC = text_of("hpcc/two_ranks")


def osu_latency(*values: float) -> str:
    sizes = [(2**k) // 2 for k in range(len(values))]
    return osu_table("MPI Latency", "Latency (us)", list(zip(sizes, values, strict=True)))


def without_values(keys: Iterator[str]) -> str:
    text = HPCC
    for key in keys:
        text = re.sub(rf"^{key}=.*$", f"{key}=-1", text, flags=re.MULTILINE)
    return text


@pytest.mark.parametrize(
    ("suite", "text", "reason"),
    [
        ("osu", "# OSU MPI Latency Test v5.6.2\n", "OSU MPI Latency printed no table"),
        ("osu", osu_latency(), "line 2: no rows below the header"),
        ("osu", osu_latency(1.0) + osu_latency(1.0), "a second title: two outputs in one file"),
        # 0 B may be faster than what two decimals show; a byte is not.
        ("osu", osu_latency(0.0, 1.0, 0.0, 1.0), r"line 5: 2 B in 0\.00 us"),
        ("imb", IMB + IMB, "two outputs in one file"),
        ("imb", IMB[IMB.index("# Benchmarking") :] + IMB, "header of the Intel MPI Benchmarks is missing"),
        ("ibm", "", "no parser for suite 'ibm'; did you mean 'imb'"),
        ("hpcc", without_values(iter(_COLUMNS)), "no values: none of the benchmarks was run"),
        ("hpcc", HPCC[HPCC.index("Begin of Summary") :], "take the whole hpccoutf.txt$"),
        ("hpl", HPCC, "a second header"),
        ("hpl", HPL + HPL, "a second header: two outputs in one file"),
        (
            "hpl",
            "HPL ERROR from process # 0, on line 419 of function HPL_pdinfo:\n"
            ">>> Need at least 4 processes for these tests <<<\n",
            "line 2: Need at least 4 processes for these tests",
        ),
        ("kernel", KERNEL + KERNEL, "two outputs in one file"),
    ],
)
def test_what_is_no_single_whole_output_is_refused(suite: str, text: str, reason: str) -> None:
    assert re.search(reason, refused(suite, text))


def one(suite: str, text: str) -> Series:
    (series,) = parse(suite, text).series
    return series


@pytest.mark.parametrize("largest", [2**20, 2**22])
def test_an_osu_table_without_its_last_newline_is_whole_at_the_usual_size(largest: int) -> None:
    sizes = [0, *(2**k for k in range(largest.bit_length()))]
    text = osu_table("MPI Latency", "Latency (us)", [(size, 1.5 + size / 5000) for size in sizes])
    if largest == 2**22:
        assert parse("osu", text[:-1]) == parse("osu", text)
    for cut in text[: -1 - (largest == 2**22)], text[:-4]:
        with pytest.raises(OutputError, match=r"ends (inside|with) line \d+|not where those above are"):
            parse("osu", cut)
    whole_row = parse("osu", text[:-1], in_part=True).series
    assert whole_row == parse("osu", text).series


def test_start_up_times_of_releases_before_5_4_have_no_title() -> None:
    assert one("osu", "nprocs: 4, min: 5, max: 7, avg: 6\n").ranks == 4


def test_values_too_small_to_print() -> None:
    """A bandwidth comes from the message rate, or is missing; 0 B may take no time."""
    assert one("osu", osu_latency(0.0, 1.0, 1.0)).columns["time"][0] == 0
    head = "# OSU MPI Multiple Bandwidth / Message Rate Test v5.3\n# [ pairs: 1 ] [ window size: 64 ]"
    rates = f"{head}\n# Size                  MB/s        Messages/s\n1  0.00  40.50\n2  0.00  40.50\n"
    rates = re.sub(r"(\d)  (\S+)  (\S+)", lambda row: f"{row[1]:<10}{row[2]:>18}{row[3]:>18}", rates)
    assert one("osu", rates).columns["bandwidth"] == [40.5, 81.0]
    bandwidths = osu_table("MPI Bandwidth", "Bandwidth (MB/s)", [(1, 0.0), (2, 0.01)], "5.3")
    assert one("osu", bandwidths).columns["bandwidth"] == [None, 1e4]
    columns = one("hpl", hpl_output([HplRow(100, 32, 1, 2, 0.002)])).columns
    assert columns["time"] == [None]
    assert columns["flops"][0] is not None


@pytest.mark.parametrize(
    ("version", "megabyte"),
    [
        ("2017", 2**20),
        ("2017 update 1", 2**20),
        ("4.1 Update 1", 2**20),
        ("2018", 1e6),
        ("2019 Update 5", 1e6),
        ("2021.11", 1e6),
        ("unheard-of", 2**20),  # the rows prove it
        ("unheard-of", 1e6),
        ("2019 Update 5", 2**20),  # all rows prove the version's habit wrong
    ],
)
def test_megabyte_of_version(version: str, megabyte: float) -> None:
    text = imb_pingpong(version, [0.24, 0.3, 0.61, 1.25, 2.97], megabyte, first=10)
    assert one("imb", text).columns["bandwidth"][-1] == pytest.approx(8192 / 2.97e-6, rel=1e-5)


def test_a_row_without_time_gave_up() -> None:
    row = next(line for line in IMB.splitlines() if line.split()[:1] == ["8192"])
    columns = one("imb", IMB.replace(row, imb_line(8192, 0, "0.00", "0.00"))).columns
    assert [columns[name][-1] for name in ("size", "time", "bandwidth")] == [8192, None, None]


def test_hpcc_among_other_texts() -> None:
    assert detect_suite(HPCC) == "hpcc"  # its own HPL is not a second suite
    assert detect_suite(HPCC[: HPCC.index("Begin of Summary")]) == "hpcc"
    with pytest.raises(OutputError, match=r"outputs of hpcc .* and of hpl"):
        detect_suite(HPCC + "HPLinpack 2.2  --  High-Performance Linpack benchmark\n")
    wrapped = "Job 1 <b>\n\n" + HPCC.replace("\n", "\r\n") + "\nPS:\n"
    assert parse("hpcc", wrapped) == parse("hpcc", HPCC)


def test_imported_runs_of_unlike_linear_systems_are_cases_of_their_own() -> None:
    names, larger = SUITES["hpcc"].names, re.sub("(?m)^HPL_N=.*$", "HPL_N=800", HPCC)
    assert names(HPCC, "") == ("HPCC-N400-NB32-1x2", "")
    assert names(larger, "hpcc") == ("HPCC-N800-NB32-1x2", "hpcc")
    assert names(re.sub("(?m)^(HPL_NB=|NB  ).*", "", HPCC), "") == ("HPCC", "")


def test_skipped_tests_of_hpl_are_reported() -> None:
    text = change(change(HPL, "Finished      1", "Finished      2"), "0 tests skipped", "1 tests skipped")
    error = (
        "HPL ERROR from process # 0, on line 170 of function HPL_pdtest:\n>>> [0,0] Memory allocation failed"
    )
    rule = "=" * 80 + "\nT/V"
    text = change(text, rule, f"{error} for A, x and b. Skip. <<<\n\n{rule}")
    assert re.fullmatch(
        r"1 tests skipped: line \d+: \[0,0\] Memory allocation failed for A, x and b. Skip.",
        parse("hpl", text).metadata["not_measured"],
    )


TESTS = Path(__file__).parent
KEPT = TESTS / "golden/parsed.txt"


def lines(path: Path) -> Iterator[str]:
    """What it says of itself; of each column the first and last value in SI units, and their number."""
    text = path.read_text(encoding="utf-8")
    suite = detect_suite(text)
    assert suite is not None
    try:
        parsed = parse(suite, text)
    except OutputError as error:
        yield f"refused: {error}"
        return
    names, facts = SUITES[suite].names(text, ""), SUITES[suite].facts(text)
    said = {"benchmark": names[0], "program": names[1], "version": parsed.version, **facts, **parsed.metadata}
    yield ", ".join(f"{name} {value!r}" for name, value in said.items() if value)
    for series in parsed.series:
        for name, values in series.columns.items():
            ends = " ".join("none" if each is None else f"{each:.10g}" for each in (values[0], values[-1]))
            yield f"{series.label}, {series.ranks} ranks: {name} {len(values)} {ends}"


def test_the_values_of_each_output() -> None:
    outputs = sorted(path for path in TESTS.glob("fixtures/*/*.out"))
    now = "".join(f"{path.parent.name}/{path.stem}: {line}\n" for path in outputs for line in lines(path))
    if os.environ.get("MPICAMPAIGN_UPDATE_GOLDEN"):
        KEPT.write_text(now)
    assert now.splitlines() == KEPT.read_text().splitlines()


MADE = Path(__file__).parent / "fixtures/made"
STREAM, BABEL, CSV = (
    (MADE / f"{name}.out").read_text() for name in ("stream", "babelstream", "babelstream_csv")
)


def read(text: str, *, in_part: bool = False) -> tuple[Series, ...]:
    return parse(detect_suite(text) or "", text, in_part=in_part).series


def test_ranks_that_printed_at_once_are_refused() -> None:
    with pytest.raises(OutputError, match="each rank printed it, as where a program is started without MPI"):
        parts((MADE / "stream_at_once.out").read_text())
    assert len(parts(STREAM * 3)) == 3  # one after the other


def test_babelstream_without_its_last_newline_or_values() -> None:
    assert read(BABEL.rstrip()) == read(BABEL)
    cut = read(CSV.rstrip(), in_part=True)[-1]  # it may have had more digits
    assert "time_max" in cut.columns
    assert "time" not in cut.columns
    assert read_facts("a/b.out", f"BabelStream\n{CSV}")["benchmark"] == "BabelStream"


def test_outputs_one_below_the_other() -> None:
    assert not parts(BABEL * 2)[0].below
    suites = [part.suite for part in parts(f"{STREAM}{BABEL}{BABEL}")]
    assert suites == ["stream", "babelstream", "babelstream"]


def test_a_wrong_sum_is_of_dot_alone() -> None:
    wrong = "Validation failed on sum. Error 5.1e-08\n"
    for text in (BABEL.replace("Function", f"{wrong}Function"), BABEL + wrong):
        with pytest.raises(OutputError, match="Validation failed on sum"):
            read(text)
        assert read(text, in_part=True) == read(BABEL)[:-1]


def test_a_column_is_as_strict_as_each_of_its_numbers() -> None:
    with pytest.raises(OutputError, match=r"line 7: #bytes is '9{19}', not a whole number"):
        column(["1", "9" * 19], [6, 7], "#bytes", counts=True)
