"""Outputs that were cut, aborted or labelled line by line: what proves itself is read, the rest is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from printed_outputs import HplRow, hpl, hpl_output, imb, osu_table

from mpicampaign.collect.failure_cause import LENGTH, cause_of
from mpicampaign.suites import OutputError, ParsedOutput, detect_suite, parse, parts, without_labels
from mpicampaign.suites.aborts import TEXTS

FIXTURES = Path(__file__).parent / "fixtures"
SUITES, WITHOUT_VALUES = ("hpl", "imb", "kernel", "osu"), ("invalid", "hello")
FILES = [
    path
    for suite in SUITES
    for path in sorted(FIXTURES.glob(f"{suite}/*.out"))
    if path.stem not in WITHOUT_VALUES
]
HPCC = (FIXTURES / "hpcc" / "two_ranks.out").read_text()
KILLED = "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n"
TAILS = ("", KILLED, f"\n{KILLED}", "\nMPI_ABORT was invoked on rank 0\nwith errorcode 1.\n      7 8 9.00\n")
_CUTS = 8  # of each file


def in_part(suite: str, text: str) -> ParsedOutput | None:
    try:
        return parse(suite, text, in_part=True)
    except OutputError as error:
        assert str(error)
        return None


def is_prefix(part: ParsedOutput, whole: ParsedOutput) -> bool:
    """Whether a part holds first rows of the whole, under the same labels."""
    of = {(series.label, series.ranks): series.columns for series in whole.series}
    return all(
        without_last(values) == of[series.label, series.ranks][name][: len(without_last(values))]
        for series in part.series
        for name, values in series.columns.items()
    )


def without_last(values: list[float | None]) -> list[float | None]:
    """Without the size from which on values are missing."""
    return values[:-1] if values[-1] is None else values


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_left_of_a_cut_output_are_its_first_rows(file: Path) -> None:
    suite, text = file.parent.name, file.read_text()
    whole = parse(suite, text)
    for start in range(len(text) // _CUTS, len(text), len(text) // _CUTS):
        for end in (start, text.find("\n", start), text.find("\n", start) + 1):
            for tail in TAILS:
                found = in_part(suite, text[:end] + tail)
                if found is None or found == whole:
                    continue
                assert is_prefix(found, whole)
                assert found.lacks or suite == "osu" or file.stem == "mt"  # without a closing line


SWEEP = hpl_output([HplRow(order, 192, 2, 2, order / 500) for order in (20000, 30000, 40000)])


def read_hpl(text: str) -> tuple[list[str], str]:
    """The orders of the rows that count, and what is missing."""
    found = parse("hpl", text, in_part=True)
    return [series.qualifiers["N"] for series in found.series], found.lacks


def test_more_rows_of_hpl_than_settings_are_of_two_outputs() -> None:
    table = SWEEP[SWEEP.index("=" * 80 + "\nT/V") : SWEEP.index("=" * 80 + "\n\nFinished")]
    with pytest.raises(OutputError, match="6 rows passed, but 3 tests counted"):
        read_hpl(SWEEP[: SWEEP.index("=" * 80 + "\n\nFinished")] + table)


def test_a_table_of_an_unknown_heading_alone_is_no_part() -> None:
    assert in_part("imb", imb()) and not in_part("imb", imb().replace("Mbytes/sec", "MiBytes/s"))


def test_hpl_that_says_it_changed_a_parameter_ran_with_the_changed_one() -> None:
    adjusted = SWEEP.replace("N      :   20000 ", "N      :   20100 ")
    with pytest.raises(OutputError, match="N = 20000 is not among the parameters"):
        read_hpl(adjusted)
    for said in ("N = 20100 is no multiple of NB * Q: adjusted to 20000", "HPL-NVIDIA uses N=20000, NB=192"):
        found = parse("hpl", adjusted.replace("-" * 80, f"{'-' * 80}\nmatrix of N=30000\n{said}", 1))
        assert found.metadata["adjusted"] == said and found.series[0].qualifiers["N"] == "20000"


def test_nodes_with_errors_count_where_hpcc_reports_no_success() -> None:
    with_error = HPCC.replace("Node(s) with error 0", "Node(s) with error 1", 1)
    assert parse("hpcc", with_error) == parse("hpcc", HPCC)
    found = parse("hpcc", with_error.replace("Success=1", "Success=0"), in_part=True)
    assert found.series[0].columns["random_access_star_rate"] == [None]
    assert re.match(r"1 of 16 components is missing: line \d+: Node\(s\) with error 1", found.lacks)


def test_a_residual_of_dgemm_proves_both_of_its_components_wrong() -> None:
    residual = re.search(r"Scaled residual: \S+", HPCC)
    assert residual
    wrong = HPCC.replace(residual[0], "Scaled residual: 1.6e+01", 1)
    assert parse("hpcc", wrong) == parse("hpcc", HPCC)  # its threshold is the user's
    found = parse("hpcc", wrong.replace("Success=1", "Success=0"), in_part=True)
    columns = found.series[0].columns
    assert columns["dgemm_star_flops"] == columns["dgemm_single_flops"] == [None] != columns["hpl_flops"]
    assert re.fullmatch(r"2 of 16 components are missing: line \d+: Scaled residual: 1.6e\+01", found.lacks)


def test_what_hpcc_never_wrote_is_no_value() -> None:
    text = re.sub(r"(SingleRandomAccess_LCG_GUPs)=\S+", r"\1=2.3189e-310", HPCC)
    assert parse("hpcc", text).series[0].columns["random_access_lcg_single_rate"] == [None]


def test_what_is_shown_is_short_and_printable() -> None:
    hostile = "error \x1b[2J\u202e" + "x" * 10_000 + "\n"
    found = cause_of("".join(f"{number} {hostile}" for number in range(50)))
    assert found.isprintable()
    assert len(found) <= 3 * (LENGTH + 3)


def test_nothing_but_words_is_a_cause() -> None:
    """Open MPI 4 ends its output with NULs where a daemon is lost."""
    assert cause_of("\0\0\n\x1b[31mORTE has lost communication with a remote daemon.\x1b[0m\n\0\n") == (
        "ORTE has lost communication with a remote daemon."
    )
    assert cause_of("\x07\n\0\0\0\n____\n") == ""
    ended = "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"
    assert cause_of(f"slurmstepd: error: task_g_set_affinity: No such process\n{ended}\nbye\n") == ended[4:]


LATENCY = osu_table(
    "MPI Latency", "Latency (us)", [(s, 1.5 + s / 5000) for s in (0, *(2**k for k in range(23)))]
)
SECONDS = "{0:02d}.96{0:04d}"
LABELS = [
    *("0: ", "  0: ", "12: ", "[0] ", "   0:", "nid000012 0: ", "login: ", "launcher-1  | ", "192.0.2.1: "),
    *("[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-n1-2345@1,0]<stdout>: ", "[1,0][n1:2345]<stdout>: "),
    *("Thu Jan {0:2d} 03:04:05 2024<stdout>:", "Thu Jan {0:2d} 03:04:05 2024[1,0]<stdout>:"),
    *("2024-05-22T12:43:" + SECONDS + "Z 00O ", "build\tOSU\t2024-05-22T12:43:" + SECONDS + "7Z "),
    *("    ", "\t", "May {0:2d} 12:43:{0:02d} ", "00:00:{0:02d} ", f"17000000{SECONDS} ", "17000000{0:02d} "),
    *("[2024-05-22 12:43:{0:02d}] ", "[{1:10.4f}] ", f"12:43:{SECONDS} [0] ", "2024/05/22 12:43:{0:02d} "),
    *("May {0:2d} 12:43:{0:02d} n1 osu[123]: ", "> ", "\x1b[0;32m", "\x1b[?25l\x1b[2J\x1b[H"),
    "\x1b[0K{0:02d}:00:00 \x1b[1m0:\x1b[0m ",
]


def labelled(text: str, label: str) -> list[str]:
    """The lines with a label, whose time goes on from line to line."""
    lines = enumerate(text.rstrip("\n").split("\n"))
    return [label.format(number % 28 + 1, 3.7 * number) + line for number, line in lines]


def values(text: str) -> list[object]:
    return [(part.suite, parse(part.suite, part.to_parse).series) for part in parts(without_labels(text))]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([f"{k % 2}: {line}" for k, line in enumerate(LATENCY.splitlines())], "line 2: '1: # Size"),
        (
            labelled(LATENCY, "0: ") + labelled(LATENCY, "1: "),
            "line 27: '1: ' does not begin with the label '0: '",
        ),
        ([*labelled(LATENCY, "0: "), LATENCY], "line 27: 'the title of OSU' does not begin"),
        (
            [line.replace("00O ", "00O+", k == 9) for k, line in enumerate(labelled(LATENCY, LABELS[15]))],
            "line 10: ",
        ),
    ],
)
def test_the_refusal_names_the_line_and_the_label(lines: list[str], said: str) -> None:
    with pytest.raises(OutputError) as refused:
        without_labels("\n".join(lines) + "\n")
    assert said in str(refused.value)
    assert "several ranks or programs" in str(refused.value)


@pytest.mark.parametrize("label", ["1: ", ""])
def test_results_of_another_rank_below_are_refused(label: str) -> None:
    for text, result in ((hpl(), "WR11R2C4"), (imb(), "         1024 "), (LATENCY, "1024  ")):
        line = next(line for line in text.splitlines() if result in line)
        cut = labelled(text[: text.index(result)], "0: ")
        with pytest.raises(OutputError, match=f"line {len(cut) + 1}: "):
            without_labels("\n".join([*cut, label + line, ""]))


def test_a_title_in_a_sentence_is_no_label() -> None:
    text = "as in run 2: # OSU MPI Bandwidth Test v5.6.2\nnothing\n"
    assert without_labels(text) == text and without_labels(LATENCY) is LATENCY


ABORTS, HARMLESS = (
    (FIXTURES.parent / "golden/aborts.txt").read_text().split("# harmless\n")[k] for k in (0, 1)
)
FINISHED = [
    *(FIXTURES / "made" / f"{name}.out" for name in ("imb", "hpl_one", "kernel", "stream", "babelstream")),
    *(FIXTURES / f"{name}.out" for name in ("hpcc/two_ranks", "made/nccl_tests_2025", "osu/cas_latency")),
]
SHORT = LATENCY[: LATENCY.index("\n2048") + 1]  # without its job script nothing shows that it is whole


@pytest.mark.parametrize("text", [LATENCY, *(path.read_text() for path in FINISHED)])
def test_an_error_of_another_command_says_nothing_of_a_finished_run(text: str) -> None:
    """The closing line, or the usual last size, proves its end."""
    error = "srun: error: n1: task 0: Exited with exit code 2\nKilled\n"
    for around in (
        f"+ srun x\n{error}{text}",
        f"{text}\n{error}",
        f"{text}+ srun x\n{error}+ srun y\n{text}",
    ):
        assert not any(parse(part.suite, part.to_parse).lacks for part in parts(around))
    assert parse(detect_suite(text) or "", text, reported=error) == parse(detect_suite(text) or "", text)


def test_a_report_of_an_abort_is_why_an_output_that_may_be_cut_is_in_part() -> None:
    for line in ABORTS.splitlines():
        number = SHORT.count("\n") + 1
        lacks = parse("osu", SHORT + line, in_part=True).lacks
        assert lacks == f"line {number}: the program was aborted: {line[:120]}"
        assert parse("osu", f"{SHORT}+ srun x\n{line}\n") == parse("osu", SHORT)  # of the next command
        assert parse("osu", f"{line}\n{SHORT}") == parse("osu", SHORT)
    missing_words = [
        program
        for program, begins in TEXTS.items()
        if not any(map(re.compile("|".join(begins)).match, ABORTS.splitlines()))
    ]
    assert missing_words == []


def test_other_errors_and_words_are_no_abort() -> None:
    assert [line for line in HARMLESS.splitlines() if parse("osu", SHORT + line, in_part=True).lacks] == []
