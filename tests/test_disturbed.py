"""What tables, sentences, figures and the page make of disturbed runs: shown, marked, never tested."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.records import DISTURBED, FAILED, MISSING, QUIET, Case, Record
from mpicampaign.show.answers import answers
from mpicampaign.show.disturbed import MARK, MEANING
from mpicampaign.show.form import LONG, MATRIX, Form
from mpicampaign.show.make import tables, to_terminal
from mpicampaign.show.runs import run_counts
from mpicampaign.show.summary import summary

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


@pytest.mark.parametrize("layout", [LONG, MATRIX])
@pytest.mark.parametrize("form", ["terminal", "markdown", "latex", "html"])
def test_each_table_marks_them_and_says_once_what_the_mark_means(form: str, layout: str) -> None:
    comparison = compare([*runs("SHM-1", (2e-6, 2e-6), quiet=(1, 2)), *runs("TCP", BUSY)])
    text = " ".join(tables(comparison, Form(form, layout)).decode().split())
    mark = r"\dag{}" if form == "latex" else MARK
    grids = text.count(MEANING)
    assert grids > 1, "each grid stands alone"
    values = 4 if layout == LONG else 1  # of a line
    assert text.count(mark) == grids * (1 + values)
    assert re.search(rf"5\.50\W+(\w+\W+)*?{re.escape(mark)}", text)
    quiet = tables(compare(runs("SHM-1", (2e-6, 2e-6), quiet=(1, 2))), Form(form, layout)).decode()
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
