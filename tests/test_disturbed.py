"""What tables, sentences, figures and the page make of disturbed runs: shown, marked, never tested."""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

import build_records as make
import pytest

from mpicampaign.base.records import DISTURBED, FAILED, MISSING, NOT_JUDGED, QUIET, Record
from mpicampaign.compare.compare import compare
from mpicampaign.report.make import tables, to_terminal
from mpicampaign.report.questions import answers, lead
from mpicampaign.report.summary import summary
from mpicampaign.show.runs import MARK, MEANING, mark_of, run_counts

if TYPE_CHECKING:
    from mpicampaign.questions.answer import Answer

REASON = "rank 1 waited 31% of its time for a CPU; other processes of n1 used 4.2 s of CPU time"
BUSY = (3e-6, 9e-6, 5.5e-6, 4e-6, 7e-6)


STATES = {"q": QUIET, "d": DISTURBED, "-": NOT_JUDGED}


def in_states(placement: str, states: str, asked: int) -> list[Record]:
    """Repeats in these states, further ones behind those that the campaign asks for."""
    return [
        replace(run, condition=STATES[state], further=run.repeat > asked)
        for run, state in zip(runs(placement, (3e-6,) * len(states)), states, strict=True)
    ]


def runs(placement: str, latencies: tuple[float, ...], quiet: tuple[int, ...] = ()) -> list[Record]:
    """Repeats with these latencies (s); all but those in ``quiet`` are disturbed."""
    return make.runs(
        placement,
        latencies,
        condition=lambda repeat: QUIET if repeat in quiet else DISTURBED,
        condition_reason=lambda repeat: "" if repeat in quiet else REASON,
    )


def shown(records: list[Record]) -> Answer:
    """The answer on the latency."""
    return next(answer for answer in answers(compare(records)) if "latency" in answer.title)


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_sentences_of_disturbed_runs_state_medians_and_ranges_alone(count: int) -> None:
    values = {f"P{n}": tuple(1.1**n * value for value in BUSY) for n in range(count)}
    comparison = compare([run for name in values for run in runs(name, values[name])])
    found = answers(comparison)
    said = [sentence for answer in found for text in answer.said for sentence in re.split(r"(?<=\.) ", text)]
    assert len(said) == (2 if count == 1 else 4)
    assert all(sentence.startswith("On this busy machine ") for sentence in said)
    words = " ".join([lead(comparison, found), *said, *(answer.real for answer in found)])
    assert not re.search(r"\b(real|significant|fast\w*|p [=<])", words)
    of_latency = shown([*comparison.records])
    assert [one.value for one in of_latency.candidates] == [f"{median(v) * 1e6:.2f}" for v in values.values()]
    first, last = values["P0"], values[f"P{count - 1}"]
    for name, each in (("P0", first), (f"P{count - 1}", last)):
        ends = f"{min(each) * 1e6:.2f} to {max(each) * 1e6:#.3g}"
        assert f"{median(each) * 1e6:.2f} µs ({ends}) for {name}" in of_latency.said[0]
    assert comparison.rankings == ()


@pytest.mark.parametrize(
    ("states", "asked", "repeats", "marked"),
    [
        ("qddddddd", 4, 8, True),
        ("qqqddd", 6, 6, True),
        ("-ddddd", 6, 6, True),
        ("qqq---d", 6, 6, False),  # as many as the campaign asks for
        ("qqqqdd", 6, 4, False),  # enough for a test
        ("qqdq", 3, 3, False),
        ("q-dd", 4, 4, True),
        ("qq-", 3, 3, False),
    ],
)
def test_too_few_quiet_runs_hide_no_disturbed_ones(
    states: str, asked: int, repeats: int, marked: bool
) -> None:
    records = [run for name in ("A", "B") for run in in_states(name, states, asked)]
    comparison = compare(records)
    rows = comparison.tables[0].rows
    assert [(row.counted, mark_of(row)) for row in rows] == [(repeats, MARK * marked)] * 2
    found = answers(comparison)
    words = [lead(comparison, found), *(text for answer in found for text in answer.said)]
    assert {text.startswith("On this busy machine ") for text in words} == {marked}
    left_out = len(states.replace("q", "").replace("-", "")) * (not marked) * 2
    notices = " ".join(summary(comparison).notices)
    assert (f"{left_out} runs were disturbed and left out" in notices) == bool(left_out)
    assert ("set busy_machine: rank" in notices) == marked


@pytest.mark.parametrize("form", ["terminal", "markdown", "latex", "html"])
def test_each_table_marks_them_and_says_once_what_the_mark_means(form: str) -> None:
    comparison = compare([*runs("SHM-1", (2e-6, 2e-6), quiet=(1, 2)), *runs("TCP", BUSY)])
    text = " ".join(tables(comparison, form).decode().split())
    mark = r"\dag{}" if form == "latex" else MARK
    grids, values = 5, 4  # values of a line
    meanings = grids if form == "latex" else 1  # a float stands alone; others say it once at the end
    assert text.count(MEANING) == meanings
    assert text.count(mark) == meanings + grids * values
    assert re.search(rf"5\.50\W+(\w+\W+)*?{re.escape(mark)}", text)
    quiet = tables(compare(runs("SHM-1", (2e-6, 2e-6), quiet=(1, 2))), form).decode()
    assert mark not in quiet


def test_what_a_busy_machine_did_not_let_run_is_no_failure() -> None:
    first, second, *others = runs("TCP", BUSY)
    why = "the run met its time limit of 60 s while other processes used 1.9 CPUs"
    stopped = replace(first, status=FAILED, reason=why, series=())
    missing = replace(second, status=MISSING, reason="not run yet", condition="not judged", series=())
    comparison = compare([stopped, missing, *others])
    assert run_counts(comparison.records) == {"verified": 3, "stopped": 1, "missing": 1}
    text = " ".join(summary(comparison).notices)
    assert "1 run was stopped by the time limit while others used the CPUs." in text
    assert "Not made: 1 of 5 planned runs (not run yet); the same command makes them" in text
    assert "failed" not in text
    assert f"stopped while busy: {why}" in to_terminal(comparison).replace("\n    ", " ")
    [row] = comparison.tables[0].rows
    assert (row.counted, row.planned) == (3, 5)
