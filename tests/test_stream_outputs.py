"""Outputs of STREAM by others: what stands around them, in part, ranks at once, several in one text.

Their values and damages: tests/golden, of the outputs in tests/fixtures/made.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mpicampaign.base.records import Series
from mpicampaign.imports.facts import read_facts
from mpicampaign.suites import OutputError, detect_suite, parse, parts

MADE = Path(__file__).parent / "fixtures/made"
STREAM, FORTRAN, SCALING, BABEL, CSV = (
    (MADE / f"{name}.out").read_text()
    for name in ("stream", "stream_fortran", "stream_scaling", "babelstream", "babelstream_csv")
)


def read(text: str, *, in_part: bool = False) -> tuple[Series, ...]:
    return parse(detect_suite(text) or "", text, in_part=in_part).series


@pytest.mark.parametrize("text", [STREAM, FORTRAN])
def test_what_stands_around_an_output_is_not_of_it(text: str) -> None:
    around = parse("stream", f"Version: 1.0 of a module\nAdd: 3 modules\n{text}Copy results\nVersion: 2.0\n")
    assert around == parse("stream", text)
    other_heading = text.replace("Best Rate MB/s", "  Rate (MB/s)")
    assert parse("stream", other_heading) == parse("stream", text)


def test_of_a_failed_number_of_threads_the_others_are_kept() -> None:
    failed = "Failed Validation on array a[], AvgRelAbsErr > epsilon (1e-13)\n"
    text = SCALING.replace("Number of Threads requested = 3", f"{failed}Number of Threads requested = 3")
    labels = [series.label for series in read(text, in_part=True)]
    assert labels[-1] == "Triad (threads 3)" and "Triad (threads 2)" not in labels


def test_ranks_that_printed_at_once_are_one_run() -> None:
    [part] = parts((MADE / "stream_at_once.out").read_text())
    copy = read(part.text)[0]
    assert (copy.ranks, [round(copy.columns[name][0] / 1e6, 1) for name in copy.columns]) == (  # type: ignore[operator]
        3,
        [32323.2, 24242.4, 48484.8],
    )
    assert read_facts("a/b.out", part.text)["benchmark"] == "STREAM-at-once"
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
