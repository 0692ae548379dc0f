"""A text with several outputs: cut at their titles where each has ended above the next, refused elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from foreign_outputs import hpl, imb
from printed_outputs import osu_table

from mpicampaign.suites import OutputError, parse, parts

FIXTURES = Path(__file__).parent / "fixtures"
HPCC = (FIXTURES / "hpcc" / "two_ranks.out").read_text()
IMB_ENDS, HPL_ENDS = "# All processes entering MPI_Finalize", "End of Tests."
LATENCY = osu_table("MPI Latency", "Latency (us)", [(2**k, 1.5 + k) for k in range(8)])
BANDWIDTH = osu_table("MPI Bandwidth", "Bandwidth (MB/s)", [(2**k, 100.0 + k) for k in range(8)])


def why(text: str) -> str:
    with pytest.raises(OutputError) as refused:
        parts(text)
    return str(refused.value).removeprefix("several outputs that cannot be separated: ")


def split(text: str) -> tuple[str, str]:
    """In the middle, between two lines."""
    middle = text.index("\n", len(text) // 2) + 1
    return text[:middle], text[middle:]


def test_an_aborted_output_without_values_is_not_what_was_printed_above_the_next_one() -> None:
    ended = "slurmstepd: error: *** STEP 1.0 ON n1 CANCELLED ***\n"
    assert parts(f"{hpl()[: hpl().index('WR')]}{ended}over IBV\n{LATENCY}")[1].above == "over IBV\n"


def test_an_output_that_began_long_after_the_one_above_is_no_other_rank_of_it() -> None:
    started, ends = HPCC.index("Begin of"), "Current time (1000) is"
    above = re.sub(r"Current time \(\d+\) is", ends, HPCC[:started], count=1)
    for began, said in ((1003, "each rank printed it"), (1004, "")):
        text = above + above.replace("1000", str(began)) + HPCC[started:]
        if said:
            assert said in why(text)
        else:
            first, second = parts(text)
            assert first.output.endswith("16.0\n\n" + "#" * 72 + "\n") and not second.above


def test_a_failure_of_nccl_tests_ends_its_output() -> None:
    begin = "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20\n#\n"
    failed = "n1: Test NCCL failure common.cu:401 'exited'\n .. n1 pid 4: Test failure common.cu:5\n"
    assert [part.lines for part in parts(begin + failed + begin)] == ["1-4", "5-6"]
    assert "line 3: the title of line 1 again" in why(begin + begin)
    with pytest.raises(OutputError) as refused:
        parse("nccl_tests", begin + failed * 8)
    assert str(refused.value).count("aborted") == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (imb().join(split(imb())), "imb is closed below the title of the output of imb"),
        (LATENCY.join(split(hpl())), "hpl is closed below the title of the output of osu"),
        (hpl()[:300] + hpl(), r"line \d: the title of line 2 again, without values in between"),
        (LATENCY[:60] + "\n" + LATENCY, "line 3: the title of line 1 again, without values in between"),
        (f"{LATENCY.splitlines()[0]}\n" * 4 + LATENCY, "line 2: the title of line 1 again"),
        (imb() + "64          1.23\n" + LATENCY, r"line \d+: a row below the output of imb .*title is lost"),
        (
            LATENCY + "[1,0]<stdout>:" + BANDWIDTH + LATENCY,
            r"some lines have a label, such as '\[1,0\]<stdout>:'",
        ),
    ],
)
def test_what_cannot_be_cut_safely_is_refused(text: str, reason: str) -> None:
    assert re.search(reason, why(text))


def test_outputs_printed_at_the_same_time_are_refused_or_cannot_be_read() -> None:
    begin, end = LATENCY.splitlines(keepends=True)[:6], LATENCY.splitlines(keepends=True)[6:]
    assert "imb is closed below the title" in why(imb().replace(IMB_ENDS, LATENCY + IMB_ENDS))
    mixed = "".join(begin) + imb().replace("# List of", "".join(end) + "# List of")
    assert re.search(r"line \d+: not a row of the output of imb \(line 8\)", why(mixed))
    other = BANDWIDTH.splitlines(keepends=True)
    for at in range(1, len(other)):
        *_, last = parts("".join(begin) + "".join(other[:at]) + "".join(end) + "".join(other[at:]))
        with pytest.raises(OutputError):
            parse("osu", last.to_parse)
