"""What tables, sentences, figures and the page make of disturbed runs: shown, marked, never tested."""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.records import DISTURBED, FAILED, MISSING, QUIET, Case, Record
from mpicampaign.show.answers import answers, behind, lead
from mpicampaign.show.make import tables, to_terminal
from mpicampaign.show.runs import MARK, MEANING, mark_of, run_counts
from mpicampaign.show.summary import summary
from mpicampaign.show.view import LONG, MATRIX, View

if TYPE_CHECKING:
    from mpicampaign.show.answers import Answer

REASON = "rank 1 waited 31% of its time for a CPU; other processes of n1 used 4.2 s of CPU time"
BUSY = (3e-6, 9e-6, 5.5e-6, 4e-6, 7e-6)


def runs(placement: str, latencies: tuple[float, ...], quiet: tuple[int, ...] = ()) -> list[Record]:
    """Repeats with these latencies (s); all but those in ``quiet`` are disturbed."""
    case = Case("s", "g", placement, "PingPong")
    found = [synthetic.run(case, n, synthetic.pingpong(each, 1e9)) for n, each in enumerate(latencies, 1)]
    return [
        replace(run, condition=QUIET)
        if run.repeat in quiet
        else replace(run, condition=DISTURBED, condition_reason=REASON)
        for run in found
    ]


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


def test_the_range_of_the_best_overlaps_others_or_none() -> None:
    apart, near = runs("TCP", (9e-6, 8e-6)), runs("SHM", (3e-6, 5e-6))
    best = runs("SHM-1", (2e-6, 4e-6))
    assert shown(best + near + apart).said[1].endswith("the range of SHM-1 overlaps that of SHM.")
    assert shown(best + apart).said[1].endswith("the range of SHM-1 overlaps no other.")


def test_a_median_is_of_quiet_runs_or_of_disturbed_ones() -> None:
    some = runs("SHM-1", (2e-6, 9e-6, 3e-6, 4e-6), quiet=(1, 3, 4))
    answer = shown([*some, *runs("SHM", (5e-6, 5e-6), quiet=(1, 2)), *runs("TCP", BUSY)])
    assert [(one.name, one.value, mark_of(one.row)) for one in answer.candidates] == [
        ("SHM-1", "3.00", ""),
        ("SHM", "5.00", ""),
        ("TCP", "5.50", MARK),
    ]
    assert answer.candidates[2].ratio is None, "on no scale with quiet ones"
    [ranking] = answer.rankings
    assert [one.name for one in ranking.contestants] == ["SHM-1", "SHM"]
    assert any(
        "SHM-1: 3 of 4 runs count" in line and "3 quiet, 1 disturbed" in line for line in behind(answer)
    )
    assert any(f"TCP{MARK}: 5 of 5 runs, disturbed: " in line and REASON in line for line in behind(answer))
    alone = shown([*some, *runs("TCP", BUSY)])
    assert alone.said[0] == "Only SHM-1 has quiet runs: 3.00 µs." and "5.50 µs" in alone.said[1]


@pytest.mark.parametrize("layout", [LONG, MATRIX])
@pytest.mark.parametrize("form", ["terminal", "markdown", "latex", "html"])
def test_each_table_marks_them_and_says_once_what_the_mark_means(form: str, layout: str) -> None:
    comparison = compare([*runs("SHM-1", (2e-6, 2e-6), quiet=(1, 2)), *runs("TCP", BUSY)])
    text = " ".join(tables(comparison, form, View(layout=layout)).decode().split())
    mark = r"\dag{}" if form == "latex" else MARK
    grids, values = 5, 4 if layout == LONG else 1  # values of a line
    meanings = grids if form == "latex" else 1  # a float stands alone; others say it once at the end
    assert text.count(MEANING) == meanings
    assert text.count(mark) == meanings + grids * values
    assert re.search(rf"5\.50\W+(\w+\W+)*?{re.escape(mark)}", text)
    quiet = tables(compare(runs("SHM-1", (2e-6, 2e-6), quiet=(1, 2))), form, View(layout=layout)).decode()
    assert mark not in quiet


def test_what_a_busy_machine_did_not_let_run_is_no_failure() -> None:
    first, second, *others = runs("TCP", BUSY)
    why = "the run met its time limit of 60 s while other processes used 1.9 CPUs"
    stopped = replace(first, status=FAILED, reason=why, series=())
    missing = replace(second, status=MISSING, reason="not run yet", condition="not judged", series=())
    comparison = compare([stopped, missing, *others])
    assert run_counts(comparison.records) == {"verified": 3, "stopped": 1, "missing": 1}
    text = " ".join(summary(comparison).notices)
    assert "Stopped by the time limit while others used the CPUs: 1." in text
    assert "Not made: 1 of 5 planned runs (not run yet); the same command makes them" in text
    assert "failed" not in text
    assert f"stopped while busy: {why}" in to_terminal(comparison).replace("\n    ", " ")
    [row] = comparison.tables[0].rows
    assert (row.counted, row.planned) == (3, 5)
