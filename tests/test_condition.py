"""The condition of runs: quiet, disturbed or not judged, from the evidence to tables and answers."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic

from mpicampaign.cli.common import counts
from mpicampaign.compare.changes import changes_since
from mpicampaign.compare.compare import compare
from mpicampaign.execution.progress import Progress
from mpicampaign.records import (
    CONTRADICTED,
    DISTURBED,
    NOT_JUDGED,
    QUIET,
    Case,
    Header,
    Record,
    read_records,
    record_from_json,
    record_to_json,
    write_records,
)
from mpicampaign.show.answers import answers, behind
from mpicampaign.show.make import tables, to_terminal
from mpicampaign.show.report.write import write_report
from mpicampaign.show.sentences import note_text
from mpicampaign.show.summary import summary
from mpicampaign.show.view import LONG, MATRIX, View
from mpicampaign.verdict.condition import condition, may_be_disturbed
from mpicampaign.verdict.evidence import CLAIM_HEADER, HEADER, read_evidence

SHM, TCP = Case("s", "g", "SHM-1", "PingPong"), Case("s", "g", "TCP", "PingPong")
UNBOUND = ("0-3", "0-3")
REASON = "rank 1 waited 31% of its time for a CPU; other processes of n1 used 4.2 s of CPU time"


def runs(
    case: Case, latencies: list[float], disturbed: tuple[int, ...] = (), state: str = QUIET
) -> list[Record]:
    """Repeats with these latencies (s); those in ``disturbed`` are."""
    found = []
    for repeat, latency in enumerate(latencies, start=1):
        record = synthetic.run(case, repeat, synthetic.pingpong(latency, 1e9))
        busy = repeat in disturbed
        found.append(
            replace(record, condition=DISTURBED if busy else state, condition_reason=REASON if busy else "")
        )
    return found


def evidence(
    wall: float = 1.0,
    cpu: float = 0.6,
    wait: float = 0.0,
    allowed: tuple[str, str] = ("0", "1"),
    others: float | None = None,
) -> str:
    """The evidence of two ranks; of rank 1 in s: wall time, CPU time, and time that it waited for a CPU.

    others: CPU time of the host's other processes, s; None where the host's CPU time was not recorded.
    """
    lines = []
    for rank, (used, waited) in enumerate(((wall, 0.0), (cpu, wait))):
        start, end = f"rank {rank} start.", f"rank {rank} end."
        lines += [f"{start}host=n1", f"{start}allowed={allowed[rank]}"]
        lines += [f"{start}clock_ns=0", f"{start}cpu_ns=0", f"{start}wait_ns=0"]
        lines += [f"{end}clock_ns={wall * 1e9:.0f}", f"{end}cpu_ns={used * 1e9:.0f}"]
        lines += [f"{end}wait_ns={waited * 1e9:.0f}"]
        if others is not None:
            lines += [f"{start}busy_ticks=7", f"{end}busy_ticks={7 + round(100 * (wall + cpu + others))}"]
    return "\n".join([HEADER, *lines]) + "\n"


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        (evidence(), QUIET, "waited 0%"),
        (evidence(cpu=0.6, wait=0.4), DISTURBED, "rank 1 waited 40%"),
        (evidence(wall=0.05, cpu=0.03, wait=0.02), NOT_JUDGED, "0.050 s between"),
        (evidence(cpu=0.6, wait=0.4, allowed=("0", "0")), NOT_JUDGED, "2 ranks on 1 CPU of n1"),
        (
            evidence(cpu=0.6, wait=0.4, allowed=UNBOUND, others=0.0),
            QUIET,
            "waited 40%",
        ),
        (evidence(cpu=0.6, wait=0.4, allowed=UNBOUND, others=0.09), QUIET, "in which other ranks used it"),
        (
            evidence(cpu=0.6, wait=0.4, allowed=UNBOUND, others=0.8),
            DISTURBED,
            "other processes of n1 used 0.8 s",
        ),
        (evidence(cpu=0.6, wait=0.4, allowed=UNBOUND), NOT_JUDGED, "ranks may use the same CPUs of n1"),
        (evidence(cpu=0.6, wait=0.4, allowed=("", "1"), others=0.0), QUIET, "waited 40%"),
        (evidence().replace("rank 1 end.wait_ns=0", ""), NOT_JUDGED, "no time of waiting"),
        (evidence(cpu=-1.0, wait=1.0), NOT_JUDGED, "no time of waiting"),
        (evidence(cpu=0.6, wait=0.4, allowed=("0", "0-99999999999")), NOT_JUDGED, "ranks may use the same"),
        ("", NOT_JUDGED, "no time of waiting"),
    ],
)
def test_the_condition_of_a_run(text: str, expected: str, why: str) -> None:
    found, reason = condition(read_evidence(text, ""))
    assert found == expected and why in reason
    assert may_be_disturbed(text) or found != DISTURBED, "planning reads no more"


def test_a_run_of_which_a_rank_recorded_nothing_is_not_quiet() -> None:
    of_rank_0 = "".join(line for line in evidence().splitlines(keepends=True) if "rank 1" not in line)
    for ranks, expected in (("1", QUIET), ("2", NOT_JUDGED)):
        found, why = condition(read_evidence(of_rank_0, f"{CLAIM_HEADER}\nclaim ranks={ranks}\n"))
        assert found == expected
    assert why == "1 of 2 ranks recorded their time of waiting for a CPU"


def test_a_record_keeps_its_condition_and_an_old_one_was_not_judged(tmp_path: Path) -> None:
    [record] = runs(SHM, [1e-6], disturbed=(1,))
    write_records(tmp_path / "r.jsonl", Header("c"), [record])
    assert read_records(tmp_path / "r.jsonl")[1] == [record]
    data = json.loads(json.dumps(record_to_json(record)))
    old = {name: value for name, value in data.items() if not name.startswith(("condition", "ranks_busy"))}
    read = record_from_json(old)
    assert (read.condition, read.condition_reason, read.counts) == (NOT_JUDGED, "", True)
    with pytest.raises(TypeError):
        record_from_json(data | {"condition": 7})


def test_a_disturbed_run_counts_only_where_the_campaign_says_so() -> None:
    [record] = runs(SHM, [1e-6], disturbed=(1,))
    assert record.sound and record.disturbed and not record.counts
    assert replace(record, ranks_busy=True).counts
    assert not replace(record, ranks_busy=True, verdict=CONTRADICTED).counts


def test_values_come_from_the_runs_that_were_not_disturbed() -> None:
    [row] = compare(runs(SHM, [1e-6, 9e-6, 1e-6, 1e-6, 8e-6], disturbed=(2, 5))).tables[0].rows
    assert row.cells[0].repeats == (1, 3, 4) and not row.disturbed
    assert row.conditions == {QUIET: 3, DISTURBED: 2}
    assert [note_text(note) for note in row.notes] == [f"disturbed: {REASON} (repeats 2, 5)"]


def test_a_row_of_disturbed_runs_is_shown_and_not_ranked() -> None:
    busy = runs(TCP, [9e-6, 9e-6], disturbed=(1, 2))
    comparison = compare(runs(SHM, [2e-6, 2e-6]) + busy)
    row = comparison.tables[0].rows[1]
    assert row.disturbed and row.cells[0].values == (9e-6, 9e-6)
    [latency, *_] = comparison.tables[0].rankings
    assert [one.name for one in latency.contestants] == ["SHM-1"]
    assert [one.name for one in latency.absent] == ["TCP"] and REASON in note_text(
        latency.absent[0].reasons[0]
    )
    assert comparison.tables[0].stated_rankings == ()
    assert changes_since(compare(runs(TCP, [1e-6, 1e-6]))).of(row, row.cells[0].metric) is None


def test_runs_that_were_not_judged_are_ranked_and_counted() -> None:
    comparison = compare(runs(SHM, [1e-6, 1e-6], state=NOT_JUDGED) + runs(TCP, [9e-6, 9e-6]))
    assert [one.name for one in comparison.tables[0].rankings[0].contestants] == ["SHM-1", "TCP"]
    assert "2 quiet, 2 not judged" in to_terminal(comparison)
    [latency, *_] = answers(comparison)
    assert "2 verified, 2 not judged" in list(behind(latency))[-2] and "2 quiet" in list(behind(latency))[-1]
    [quiet, *_] = summary(comparison).notices
    assert quiet.startswith("The machine was quiet in 2 of 4 runs; 2 runs were not judged (")


@pytest.mark.parametrize("layout", [LONG, MATRIX])
@pytest.mark.parametrize("form", ["terminal", "markdown", "latex", "html"])
def test_a_table_counts_the_runs_that_were_not_judged(form: str, layout: str) -> None:
    comparison = compare(runs(SHM, [1e-6, 1e-6], state=NOT_JUDGED))
    assert "2 not judged" in " ".join(tables(comparison, form, View(layout=layout)).decode().split())


@pytest.mark.parametrize("layout", [LONG, MATRIX])
@pytest.mark.parametrize("form", ["terminal", "markdown", "latex", "html"])
def test_every_table_names_the_key_that_ranks_disturbed_runs(form: str, layout: str) -> None:
    records = runs(SHM, [1e-6, 9e-6], disturbed=(2,))
    assert b"busy_machine" not in tables(compare(records), form, View(layout=layout))
    ranked = compare([replace(run, ranks_busy=True) for run in records])
    text = tables(ranked, form, View(layout=layout)).decode()
    assert "busy" in text and "machine: rank" in text and "1 quiet, 1 disturbed" in text


def test_data_has_the_number_of_runs_in_each_condition() -> None:
    found = compare(runs(SHM, [1e-6, 9e-6], disturbed=(2,)) + runs(TCP, [9e-6], disturbed=(1,)))
    rows = json.loads(tables(found, "json", View(layout=LONG)))["rows"]
    names = ("runs_quiet", "runs_disturbed", "runs_not_judged", "ranked", "busy_machine")
    assert {tuple(row[name] for name in names) for row in rows} == {
        (1, 1, 0, True, "unranked"),
        (0, 1, 0, False, "unranked"),
    }
    [row, *_] = json.loads(tables(found, "json", View(layout=MATRIX)))["rows"]
    assert (row["SHM-1 ranked"], row["SHM-1 condition"]) == (True, "1 quiet, 1 disturbed")
    assert (row["TCP ranked"], row["TCP condition"]) == (False, "1 disturbed")


@pytest.mark.parametrize("layout", [LONG, MATRIX])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_data_names_the_key_that_ranks_disturbed_runs(form: str, layout: str) -> None:
    records = [replace(run, ranks_busy=True) for run in runs(SHM, [1e-6, 9e-6], disturbed=(2,))]
    text = tables(compare(records), form, View(layout=layout)).decode()
    assert "busy_machine" in text and "rank" in text.replace("unranked", "").replace("ranked", "")


def test_the_page_shows_the_condition_of_each_run(tmp_path: Path) -> None:
    records = runs(SHM, [1e-6, 9e-6], disturbed=(2,)) + runs(TCP, [9e-6], disturbed=(1,))
    facts = {"campaign_title": "t", "campaign_name": "c", "campaign_text": "", "provenance": {}}
    write_report(tmp_path / "r.html", compare(records), records, **facts)  # type: ignore[arg-type]
    text = (tmp_path / "r.html").read_text()
    assert text.count(f"condition: disturbed: {REASON}") == 2
    first_screen, _, rest = text.partition('id="tables"')
    assert (
        "quiet in 1 of 3 runs; 2 runs were disturbed (1 shown with † and not tested, 1 left out)."
        in first_screen
    )
    assert "left out of all numbers, disturbed ones where a row has others" in rest


def test_the_line_of_a_run_and_the_counts_say_its_condition() -> None:
    quiet, busy = runs(SHM, [1e-6, 9e-6], disturbed=(2,))
    stream = io.StringIO()
    progress = Progress(stream)
    progress.finished("r01", quiet, 0)
    progress.finished("r02", busy, 0)
    first, second = stream.getvalue().splitlines()
    assert ": verified, quiet: " in first and not first.endswith(")")
    assert ": verified, disturbed: " in second and second.endswith(f"({REASON})")
    assert counts([quiet, busy]) == "2 runs: 1 disturbed, 1 ok"
