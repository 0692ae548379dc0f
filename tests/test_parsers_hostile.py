"""Whatever happens to an output on its way, it yields no wrong value: the same values or a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from printed_outputs import HplRow, hpl_output, imb_pingpong, osu_table

from mpicampaign.suites import SUITES, OutputError, parse, reading
from mpicampaign.suites.hpcc import _COLUMNS as HPCC_KEYS

FIXTURES = Path(__file__).parent / "fixtures"

# suite, fixture, largest size asked for (OSU prints no end mark)
OUTPUTS = [
    ("imb", "pingpong", None),
    ("imb", "mpi1", None),
    ("imb", "nbc", None),
    ("imb", "p2p", None),
    ("imb", "bandwidth", None),
    ("imb", "multi", None),
    ("osu", "latency", 64),
    ("osu", "mbw_mr", 64),
    ("osu", "gather_full", 16),
    ("osu", "ialltoall_full", 16),
    ("kernel", "tree_merge", None),
    ("kernel", "latency_bandwidth", None),
    ("kernel", "core_pairs", None),
    ("kernel", "point_to_point", None),
    ("kernel", "b_eff", None),
    ("hpl", "eight_rows", None),
    ("hpcc", "two_ranks", None),
]
TEXTS = {
    (suite, name): (FIXTURES / suite / f"{name}.out").read_text(encoding="utf-8")
    for suite, name, _ in OUTPUTS
}

Output = tuple[str, str, int | None]
outputs = st.sampled_from(OUTPUTS)
positions = st.floats(0, 1, exclude_max=True)


def figures(suite: str, text: str, largest: int | None) -> list[tuple[object, ...]] | None:
    """All values with their labels; None if the output is refused."""
    try:
        parsed = parse(suite, text, largest)
    except OutputError as error:
        assert str(error)
        return None
    return [(s.benchmark, sorted(s.qualifiers.items()), s.columns) for s in parsed.series]


def check(output: Output, changed: str) -> None:
    suite, name, largest = output
    found = figures(suite, changed, largest)
    assert found is None or found == figures(suite, TEXTS[suite, name], largest)


KERNEL_ROWS = ("samples ", "levels ", "sizes ", "ping_pong ", "pairs ", "rings ", "core_pairs ")
KERNEL_ROWS += ("contention ", "pairs_seconds ", "rates ", "patterns ")
ROWS = {"kernel": KERNEL_ROWS, "hpl": ("WR",), "hpcc": tuple(f"{key}=" for key in HPCC_KEYS)}


def row_numbers(suite: str, lines: list[str]) -> list[int]:
    """The positions of the values that a parser reads."""
    if suite in ROWS:
        return [k for k, line in enumerate(lines) if line.startswith(ROWS[suite])]
    return [k for k, line in enumerate(lines) if line.lstrip()[:1].isdigit()]


@given(outputs, positions)
def test_cut_at_any_character(output: Output, where: float) -> None:
    text = TEXTS[output[:2]]
    check(output, text[: int(where * len(text))])
    check(output, text[int(where * len(text)) + 1 :])


@given(outputs, positions)
def test_a_row_lost(output: Output, where: float) -> None:
    lines = TEXTS[output[:2]].split("\n")
    rows = row_numbers(output[0], lines)
    if output[0] == "osu":
        rows = rows[1:]  # OSU does not print the first size of a table
    del lines[rows[int(where * len(rows))]]
    assert figures(output[0], "\n".join(lines), output[2]) is None


@given(outputs, positions)
def test_a_row_twice(output: Output, where: float) -> None:
    lines = TEXTS[output[:2]].split("\n")
    rows = row_numbers(output[0], lines)
    chosen = rows[int(where * len(rows))]
    lines.insert(chosen, lines[chosen])
    assert figures(output[0], "\n".join(lines), output[2]) is None


@given(outputs, positions, positions)
def test_a_character_lost_in_a_row(output: Output, where: float, column: float) -> None:
    if output[0] in ("kernel", "hpcc"):
        return  # free layout: 1024 and 102 are equally good numbers
    lines = TEXTS[output[:2]].split("\n")
    rows = row_numbers(output[0], lines)
    chosen = rows[int(where * len(rows))]
    line = lines[chosen]
    position = int(column * len(line))
    lines[chosen] = line[:position] + line[position + 1 :]
    check(output, "\n".join(lines))


@given(outputs, positions)
def test_two_lines_swapped(output: Output, where: float) -> None:
    lines = TEXTS[output[:2]].split("\n")
    k = int(where * (len(lines) - 1))
    lines[k], lines[k + 1] = lines[k + 1], lines[k]
    suite = output[0]
    found = figures(suite, "\n".join(lines), output[2])
    whole = figures(suite, TEXTS[output[:2]], output[2])
    assert whole is not None
    # The rows of two groups of processes may be printed in either order: the same series, swapped.
    assert found is None or suite == "kernel" or sorted(found, key=str) == sorted(whole, key=str)


ANYTHING = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=40)
NUMBER_LIKE = st.text(alphabet="0123456789.e+-nainf \t\r\x0b\x0c\x85\u2028٣", max_size=200)


@given(outputs, positions, ANYTHING | NUMBER_LIKE)
def test_a_foreign_line_in_between(output: Output, where: float, line: str) -> None:
    lines = TEXTS[output[:2]].split("\n")
    lines.insert(int(where * len(lines)), line)
    check(output, "\n".join(lines))


@given(outputs, positions, st.text(st.characters(codec="utf-8"), min_size=1, max_size=10))
def test_foreign_text_in_a_row(output: Output, where: float, foreign: str) -> None:
    text = TEXTS[output[:2]]
    lines = text.split("\n")
    rows = row_numbers(output[0], lines)
    chosen = rows[int(where * len(rows))]
    lines[chosen] = f"{lines[chosen][:20]}~{foreign}~{lines[chosen][20:]}"
    assert figures(output[0], "\n".join(lines), output[2]) is None


@given(outputs, outputs, st.sampled_from(sorted(SUITES)))
def test_two_outputs_in_one_file(first: Output, second: Output, suite: str) -> None:
    text = TEXTS[first[:2]] + TEXTS[second[:2]]
    if first[0] == second[0] == suite:
        assert figures(suite, text, None) is None


@given(st.sampled_from(sorted(SUITES)), st.text(max_size=300) | st.binary(max_size=300))
@settings(max_examples=300)
def test_anything_else_is_refused(suite: str, content: str | bytes) -> None:
    text = content if isinstance(content, str) else content.decode("latin-1")
    assert figures(suite, text, None) is None


TEXTS |= {
    ("osu", "two_columns"): osu_table("MPI Latency", "Latency (us)", [(0, 1.2), (1, 1.3), (2, 1.4)]),
    ("imb", "mebibytes"): imb_pingpong("2017 update 2", [2.5, 2.6, 2.7, 3.1, 4.5], 2.0**20),
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
