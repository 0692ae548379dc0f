"""What launchers, clocks and CI systems print before each line: taken off where all have it, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_outputs import hpl, imb
from printed_outputs import osu_table

from mpicampaign.suites import OutputError, parse, parts, without_labels

HPCC = (Path(__file__).parent / "fixtures" / "hpcc" / "two_ranks.out").read_text()
LATENCY = osu_table(
    "MPI Latency", "Latency (us)", [(s, 1.5 + s / 5000) for s in (0, *(2**k for k in range(23)))]
)
SECONDS = "{0:02d}.96{0:04d}"
LABELS = [
    *("0: ", "  0: ", "12: ", "[0] ", "   0:", "nid000012 0: ", "login: ", "launcher-1  | ", "192.0.2.1: "),
    *("[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-n1-2345@1,0]<stdout>: ", "[1,0][n1:2345]<stdout>: "),
    *("Thu Jan {0:2d} 03:04:05 2024<stdout>:", "Thu Jan {0:2d} 03:04:05 2024[1,0]<stdout>:"),
    *("2024-05-22T12:43:" + SECONDS + "Z 00O ", "build\tOSU\t2024-05-22T12:43:" + SECONDS + "7Z "),
    *("May {0:2d} 12:43:{0:02d} ", "00:00:{0:02d} ", "17000000" + SECONDS + " ", "17000000{0:02d} "),
    *(
        "[2024-05-22 12:43:{0:02d}] ",
        "[{1:10.4f}] ",
        "12:43:" + SECONDS + " [0] ",
        "2024/05/22 12:43:{0:02d} ",
    ),
    *(
        "May {0:2d} 12:43:{0:02d} n1 osu[123]: ",
        "\x1b[0;32m",
        "\x1b[?25l\x1b[2J\x1b[H",
        "\x1b[0K{0:02d}:00:00 \x1b[1m0:\x1b[0m ",
    ),
]


def labelled(text: str, label: str) -> list[str]:
    """The lines with a label, whose time goes on from line to line."""
    lines = enumerate(text.rstrip("\n").split("\n"))
    return [label.format(number % 28 + 1, 3.7 * number) + line for number, line in lines]


def values(text: str) -> list[object]:
    return [(part.suite, parse(part.suite, part.to_parse).series) for part in parts(without_labels(text))]


@pytest.mark.parametrize("label", LABELS)
def test_a_label_of_every_line_is_taken_off(label: str) -> None:
    for text in (LATENCY, imb(), hpl(), HPCC):
        lines = labelled(text, label)
        around = "\n".join(["module osu loaded", *lines, lines[1][:0], "Job 12 finished", ""])
        assert without_labels(around).count("\n") == around.count("\n")
        assert values(around) == values(text)
    both = "\n".join(["+ srun", *labelled(LATENCY, label), "+ srun", *labelled(imb(), label), ""])
    assert values(both) == values(LATENCY) + values(imb())


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
