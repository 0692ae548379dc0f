"""Outputs of one's own cluster and of others: changed digits, joined files, text added by schedulers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from printed_outputs import (
    IMB_MEBIBYTE_VERSION,
    HplRow,
    hpl_output,
    imb_pingpong,
    osu_table,
)
from test_parsers_hostile import OUTPUTS, TEXTS, Output, check, figures, outputs, positions, row_numbers

from mpicampaign.suites import OutputError, parse, reading

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


def test_rows_of_another_output_above_the_header() -> None:
    """The end of an output whose beginning is lost, and a whole one behind it."""
    for suite, name in (("osu", "latency"), ("imb", "pingpong")):
        text = TEXTS[suite, name]
        rows = [text.split("\n")[k] for k in row_numbers(suite, text.split("\n"))]
        with pytest.raises(OutputError, match="line 1: a row above the header: the rest of another output"):
            parse(suite, rows[-1] + "\n" + text)


LINES = {
    "imb": f"{8:>13}{1000:>13}{1.0:>13.2f}{8.0:>13.2f}\n",
    "osu": f"{8:<10}{1.0:>18.2f}\n",
    "hpl": "Column=000000180 Fraction= 0.4% Gflops=3.102e+03\n",
    "hpcc": "PTRANS_GBs=1.44378\n",
    "kernel": "samples mpi_gather root 0 8 1.751600e-05\n",
}


def test_a_table_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MOST_ROWS", 300)
    text = TEXTS["imb", "pingpong"]
    heading = text.index("Mbytes/sec\n") + len("Mbytes/sec\n")
    with pytest.raises(OutputError, match="more than 300 rows in one table"):
        parse("imb", text[:heading] + LINES["imb"] * 20_000 + text[heading:])


PIECES = ["x", "\n", "1 ", "# ", "#@a=b\n", "  8  8\n", "[0] MPI startup(): text\n", "\x01\x02\xff\xfe\n\x0b"]


@pytest.mark.full
@pytest.mark.parametrize("piece", ["its own lines", *PIECES])
@pytest.mark.parametrize("suite", sorted(LINES))
def test_a_megabyte_of_anything(suite: str, piece: str) -> None:
    """One pass over it; a quadratic step would take many minutes."""
    line = piece if piece in PIECES else LINES[suite]
    large = line * (10**6 // len(line))
    name = next(name for s, name, _ in OUTPUTS if s == suite)
    text = TEXTS[suite, name]
    check((suite, name, None), large + text)
    check((suite, name, None), text[: len(text) // 2] + "\n" + large + text[len(text) // 2 :])
