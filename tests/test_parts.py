"""A text with several outputs: cut at their titles where each has ended above the next, refused elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from foreign_outputs import hpl, imb, prot
from printed_outputs import osu_table

from mpicampaign.suites import OutputError, parse, parts

FIXTURES = Path(__file__).parent / "fixtures"
HPCC = (FIXTURES / "hpcc" / "two_ranks.out").read_text()
HPCC_BEGINS = "This is the DARPA/DOE HPC Challenge Benchmark"
IMB_ENDS, HPL_ENDS = "# All processes entering MPI_Finalize", "End of Tests."
LATENCY = osu_table("MPI Latency", "Latency (us)", [(2**k, 1.5 + k) for k in range(8)])
BANDWIDTH = osu_table("MPI Bandwidth", "Bandwidth (MB/s)", [(2**k, 100.0 + k) for k in range(8)])
INIT = (FIXTURES / "osu" / "init.out").read_text()
KERNEL = next((FIXTURES / "kernel").glob("*.out")).read_text()
WHOLE = {
    "imb": imb(),
    "osu latency": LATENCY,
    "osu init": INIT,
    "hpl": hpl(),
    "hpcc": HPCC,
    "kernel": KERNEL,
}


def why(text: str) -> str:
    with pytest.raises(OutputError) as refused:
        parts(text)
    return str(refused.value).removeprefix("several outputs that cannot be separated: ")


@pytest.mark.parametrize("text", [*WHOLE.values(), "", "nothing that a benchmark printed\n"])
def test_a_text_with_one_output_or_none_is_one_part(text: str) -> None:
    (part,) = parts(text)
    assert (part.text, part.above, part.output, part.lines) == (text, "", text, "")


@pytest.mark.parametrize("first", sorted(WHOLE))
@pytest.mark.parametrize("second", sorted(WHOLE))
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_two_outputs_have_the_values_that_each_has_alone(first: str, second: str, end: str) -> None:
    one, other = WHOLE[first], WHOLE[second]
    text = f"node1\n{one}+ mpirun -n 2 program\n{other}real 0m1.2s\n".replace("\n", end)
    cut = parts(text)
    assert [part.suite for part in cut] == [first.split()[0], second.split()[0]]
    assert parse(cut[0].suite, cut[0].to_parse) == parse(cut[0].suite, one)
    assert parse(cut[1].suite, cut[1].to_parse) == parse(cut[1].suite, other)
    assert "".join(part.text for part in cut) == text
    assert "mpirun" in cut[1].above and "mpirun" not in cut[0].output


def test_the_lines_of_each_part() -> None:
    text = f"first\n{LATENCY}between\n{INIT}{BANDWIDTH}last"
    lines = text.split("\n")
    cut = parts(text)
    assert [part.lines for part in cut] == ["1-12", "13-14", "15-25"]
    for part in cut:
        assert part.text.rstrip("\n").split("\n") == lines[part.first - 1 : part.last]


def test_what_is_printed_above_a_title_belongs_to_the_output_below() -> None:
    first, second, third = parts(prot("TCP", 2) + LATENCY + prot("IBV", 2) + imb() + "\n" + BANDWIDTH)
    assert "TCP" in first.above + first.output and "IBV" not in first.above + first.output
    assert "IBV" in second.above and "TCP" not in second.above + second.output
    assert "TCP" not in third.above + third.output and "IBV" not in third.above + third.output


def test_an_abort_between_outputs_is_for_the_parser_of_the_upper_one() -> None:
    abort = "mpirun noticed that process rank 1 with PID 9 exited on signal 11 (Segmentation fault).\n"
    first, second = parts(LATENCY + abort + BANDWIDTH)
    with pytest.raises(OutputError, match="aborted"):
        parse("osu", first.to_parse)
    assert parse("osu", second.to_parse) == parse("osu", BANDWIDTH)
    first, _ = parts(LATENCY + "DATA VALIDATION ERROR: exited with status 1\n" + BANDWIDTH)
    with pytest.raises(OutputError, match="VALIDATION"):
        parse("osu", first.to_parse)


def test_a_table_of_the_next_launch_is_not_a_row_of_the_output_above() -> None:
    table = " host | 0    1\n======|===========\n    0 : SHM  TCP\n    1 : TCP  SHM\n"
    first, second = parts(LATENCY + table + BANDWIDTH)
    assert second.above == table and first.output == LATENCY
    assert parse("osu", first.to_parse) == parse("osu", LATENCY)
    for damaged in ("256", "256   1", "256   1.5 x"):
        first, _ = parts(f"{LATENCY}{damaged}\n{table}{BANDWIDTH}")
        with pytest.raises(OutputError, match="line 11"):
            parse("osu", first.to_parse)


def test_hpl_inside_hpcc_is_not_an_output_of_its_own() -> None:
    assert "HPLinpack " in HPCC
    assert [part.suite for part in parts(HPCC + hpl() + HPCC)] == ["hpcc", "hpl", "hpcc"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            imb().replace(IMB_ENDS, "") + LATENCY,
            r"line \d+: osu begins above the closing line",
        ),
        (imb()[:900] + imb(), r"line \d+: imb begins above the closing line of the output of imb \(line 2\)"),
        (hpl().replace(HPL_ENDS, "") + hpl(second=9), r"line \d+: hpl begins above the closing line"),
        (HPCC[: HPCC.index("End of HPC Ch")] + HPCC, r"line \d+: hpcc begins above the closing line"),
        (KERNEL[: KERNEL.index("#@end")] + LATENCY, r"line \d+: osu begins above the closing line"),
        (LATENCY[:60] + "\n" + LATENCY, "line 3: the title of line 1 again, without values in between"),
        (f"{LATENCY.splitlines()[0]}\n" * 4 + LATENCY, "line 2: the title of line 1 again"),
        (imb() + "64          1.23\n" + LATENCY, r"line \d+: a row below the output of imb .*title is lost"),
        (
            LATENCY + "[1,0]<stdout>:" + BANDWIDTH + LATENCY,
            r"some lines have a prefix, such as '\[1,0\]<stdout>:'",
        ),
    ],
)
def test_what_cannot_be_cut_safely_is_refused(text: str, reason: str) -> None:
    assert re.search(reason, why(text))


def test_outputs_printed_at_the_same_time_are_refused_or_cannot_be_read() -> None:
    begin, end = LATENCY.splitlines(keepends=True)[:6], LATENCY.splitlines(keepends=True)[6:]
    assert "osu begins above the closing line" in why(imb().replace(IMB_ENDS, LATENCY + IMB_ENDS))
    mixed = "".join(begin) + imb().replace("# List of", "".join(end) + "# List of")
    assert re.search(r"line \d+: not a row of the output of imb \(line 8\)", why(mixed))
    other = BANDWIDTH.splitlines(keepends=True)
    for at in range(1, len(other)):
        *_, last = parts("".join(begin) + "".join(other[:at]) + "".join(end) + "".join(other[at:]))
        with pytest.raises(OutputError):
            parse("osu", last.to_parse)


def test_many_titles_and_long_lines_are_read_line_by_line() -> None:
    """Would not end within the tests' limit if each title looked at the whole text."""
    title, other = LATENCY.splitlines()[0], BANDWIDTH.splitlines()[0]
    text = "".join(f"{title}\n1 1.00\n{other}\n1 2.00\n" for _ in range(10_000))
    cut = parts(text)
    assert len(cut) == 20_000 and cut[-1].lines == "39999-40000"
    assert len(parts(text + "x" * 10_000_000 + "\n" + " 1" * 1_000_000)) == 20_000
    inside = (
        f"{HPCC_BEGINS} version 1.5\n" * 20_000 + "HPLinpack 2.2  --  High-Performance Linpack\n" * 20_000
    )
    assert "line 2: hpcc begins" in why(inside)
    assert why(f"{imb()}\n" + "# x\n" * 300_000 + imb()[:900] + imb()).startswith("line 300084: imb begins")
