"""Whatever happens to an output on its way, it yields no wrong value: the same values or a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpicampaign.suites import SUITES, OutputError, parse
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


@pytest.mark.parametrize(("suite", "name", "largest"), OUTPUTS)
def test_the_outputs_themselves_are_read(suite: str, name: str, largest: int | None) -> None:
    assert figures(suite, TEXTS[suite, name], largest)


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


@given(outputs, positions, st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=40))
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


@given(outputs, st.text(alphabet="0123456789.e+-nainf \t\r\x0b\x0c\x85\u2028٣", max_size=200), positions)
def test_number_like_garbage(output: Output, garbage: str, where: float) -> None:
    text = TEXTS[output[:2]]
    lines = text.split("\n")
    lines.insert(int(where * len(lines)), garbage)
    check(output, "\n".join(lines))
