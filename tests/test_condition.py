"""The condition of runs: quiet, disturbed or not judged, from evidence and hits to tables and the page."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from itertools import product
from statistics import median
from typing import TYPE_CHECKING

import build_records as make
import pytest
from test_kernels import Build

from mpicampaign.base.records import DISTURBED, FAILED, MISSING, NOT_JUDGED, QUIET, Case, Record
from mpicampaign.cli.output import counts
from mpicampaign.compare.compare import compare
from mpicampaign.evidence.condition import condition, may_be_disturbed
from mpicampaign.evidence.evidence import CLAIM_HEADER, HEADER, read_evidence
from mpicampaign.evidence.preempted import preempted_text
from mpicampaign.report.make import tables, to_terminal
from mpicampaign.report.questions import answers, lead
from mpicampaign.report.summary import summary, summary_text
from mpicampaign.run.progress import Progress
from mpicampaign.show.runs import MARK, MEANING, condition_text, mark_of, run_counts
from mpicampaign.suites import OutputError, parse

SHM = make.case("SHM-1")
UNBOUND = ("0-3", "0-3")
REASON = "rank 1 waited 31% of its time for a CPU; other processes of n1 used 4.2 s of CPU time"


def runs(
    case: Case, latencies: list[float], disturbed: tuple[int, ...] = (), state: str = QUIET
) -> list[Record]:
    """Repeats with these latencies (s); those in ``disturbed`` are."""
    return make.runs(
        case,
        latencies,
        condition=lambda repeat: DISTURBED if repeat in disturbed else state,
        condition_reason=lambda repeat: REASON if repeat in disturbed else "",
    )


def test_reasons_that_differ_only_in_their_first_number_share_a_line() -> None:
    short = [f"{time} s between A and B, less than 0.1 s" for time in ("0.081", "0.045", "0.099")]
    reasons = [*short, "", "2 CPUs", "3 hosts", "4 x"]
    own = [
        replace(run, condition=NOT_JUDGED, condition_reason=reason)
        for run, reason in zip(runs(SHM, [1e-6] * len(reasons)), reasons, strict=True)
    ]
    said = condition_text(own)
    assert "not judged: 0.045 to 0.099 s between A and B, less than 0.1 s (3); no waiting" in said
    assert "; 2 more reasons" in said and "; 1 more reason." in condition_text(own[:-1])


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


def quota(start: str, end: str) -> str:
    """The evidence of two ranks that never waited; rank 1 is in a group below one with a CPU quota."""
    lines = [f"end.cpu_quota.1={end}", "start.cpu_quota.0=0 3 3", "end.cpu_quota.0=0 3 3"]
    lines += [f"start.cpu_quota.1={start}"] if start else []
    return evidence() + "".join(f"rank 1 {line}\n" for line in lines)


OF_A_QUOTA = "rank 1 was throttled in 91 of 93 periods by a CPU quota of 1.5 CPUs"


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        (evidence(), QUIET, "waited 0%"),
        (quota("1.5 7 2", "1.5 100 93"), DISTURBED, OF_A_QUOTA),
        (quota("", "1.5 93 91"), DISTURBED, OF_A_QUOTA),  # a quota that was set meanwhile
        (quota("1.5 7 2", "0 100 93"), DISTURBED, OF_A_QUOTA),  # or removed
        (quota("1 0 0", "1 10 2"), DISTURBED, "throttled in 2 of 10 periods by a CPU quota of 1 CPU"),
        (quota("1 0 0", "1 10 1"), QUIET, "waited 0%"),  # a tenth is lost at most
        (quota("1.5 93 91", "1.5 93 91"), QUIET, "waited 0%"),
        (quota("1.5 93 91", "1.5 damaged"), QUIET, "waited 0%"),
        (evidence(cpu=0.0), QUIET, "waited 0%"),
        (evidence(wall=0.0, cpu=0.0), NOT_JUDGED, "0.000 s between"),
        (evidence(cpu=0.6, wait=0.4), DISTURBED, "rank 1 waited 40%"),
        (evidence(wall=0.05, cpu=0.03, wait=0.02), NOT_JUDGED, "0.050 s between"),
        (evidence(cpu=0.6, wait=0.4, allowed=("0", "0")), NOT_JUDGED, "2 ranks on 1 CPU of n1"),
        (evidence(cpu=0.6, wait=0.4, allowed=UNBOUND, others=0.0), QUIET, "waited 40%"),
        (evidence(cpu=0.6, wait=0.4, allowed=UNBOUND, others=0.09), QUIET, "in which other ranks used it"),
        (
            evidence(cpu=0.6, wait=0.4, allowed=UNBOUND, others=0.8),
            DISTURBED,
            "other processes of n1 used 0.8 s",
        ),
        (evidence(cpu=0.6, wait=0.4, allowed=UNBOUND), NOT_JUDGED, "ranks may use the same CPUs of n1"),
        (evidence(cpu=0.6, wait=0.4, allowed=("", "1"), others=0.0), QUIET, "waited 40%"),
        (
            evidence(wall=0.2, cpu=0.001, wait=0.003),
            QUIET,
            "waited 75% of its time for a CPU: 3.0 ms; it ran 1.0 ms",
        ),
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
    notices = " ".join(summary(compare([quiet, replace(busy, condition_reason=OF_A_QUOTA)])).notices)
    assert "1 run was disturbed (1 by a CPU quota of 1.5 CPUs), shown" in notices


if TYPE_CHECKING:
    from mpicampaign.questions.answer import Answer

BUSY = (3e-6, 9e-6, 5.5e-6, 4e-6, 7e-6)


STATES = {"q": QUIET, "d": DISTURBED, "-": NOT_JUDGED}


def in_states(placement: str, states: str, asked: int) -> list[Record]:
    """Repeats in these states, further ones behind those that the campaign asks for."""
    return [
        replace(run, condition=STATES[state], further=run.repeat > asked)
        for run, state in zip(but_disturbed(placement, (3e-6,) * len(states)), states, strict=True)
    ]


def but_disturbed(placement: str, latencies: tuple[float, ...], quiet: tuple[int, ...] = ()) -> list[Record]:
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
    comparison = compare([run for name in values for run in but_disturbed(name, values[name])])
    found = answers(comparison)
    said = [sentence for answer in found for text in answer.said for sentence in re.split(r"(?<=\.) ", text)]
    assert len(said) == (2 if count == 1 else 4)
    assert all(sentence.startswith("On this busy machine ") for sentence in said)
    words = " ".join([lead(comparison, found), *said, *(answer.real for answer in found)])
    assert not re.search(r"\b(real|significant|fast\w*|p [=<])", words)
    of_latency = shown([*comparison.records])
    assert [one.value for one in of_latency.candidates] == [f"{median(v) * 1e6:.2f}" for v in values.values()]
    ends = f"{min(BUSY) * 1e6:.2f} to {max(BUSY) * 1e6:#.3g}"
    alone = f"{median(BUSY) * 1e6:.2f} µs ({ends}) for P0"
    assert (
        alone if count == 1 else f"On this busy machine P0 ({median(BUSY) * 1e6:.2f} µs) has the best median."
    ) in of_latency.said[0]
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
    comparison = compare([*but_disturbed("SHM-1", (2e-6, 2e-6), quiet=(1, 2)), *but_disturbed("TCP", BUSY)])
    text = " ".join(tables(comparison, form).decode().split())
    mark = r"\dag{}" if form == "latex" else MARK
    grids, values = 5, 4  # values of a line
    meanings = grids if form == "latex" else 1  # a float stands alone; others say it once at the end
    assert text.count(MEANING) == meanings
    assert text.count(mark) == meanings + grids * values
    assert re.search(rf"5\.50\W+(\w+\W+)*?{re.escape(mark)}", text)
    quiet = tables(compare(but_disturbed("SHM-1", (2e-6, 2e-6), quiet=(1, 2))), form).decode()
    assert mark not in quiet


def test_what_a_busy_machine_did_not_let_run_is_no_failure() -> None:
    first, second, *others = but_disturbed("TCP", BUSY)
    why = "the run met its time limit of 60 s while other processes used 1.9 CPUs"
    stopped = replace(first, status=FAILED, reason=why, series=())
    missing = replace(second, status=MISSING, reason="not run yet", condition="not judged", series=())
    comparison = compare([stopped, missing, *others])
    assert run_counts(comparison.records) == {"verified": 3, "stopped": 1, "missing": 1}
    text = " ".join(summary(comparison).notices)
    assert "1 run was stopped by the time limit while others used the CPUs." in text
    assert "raise time_limit" not in text
    always = " ".join(summary(compare([replace(stopped, repeat=1), stopped, missing])).notices)
    assert "used the CPUs. Every run of " in always and "raise time_limit" in always
    assert "Not made: 1 of 5 planned runs (not run yet); the same command makes them" in text
    assert "failed" not in text
    assert f"stopped while busy: {why}" in to_terminal(comparison).replace("\n    ", " ")
    [row] = comparison.tables[0].rows
    assert (row.counted, row.planned) == (3, 5)


KERNEL_HEADER = """#mpicampaign-kernel 1
#@kernel=point_to_point
#@ranks=2
#@columns.samples=operation pairs size sample block_messages seconds useful_bytes wire_bytes
#@columns.sizes=operation pairs size samples warmup_samples warmup_settled converged verified{column}
"""


def output(hits: dict[int, str] | None) -> str:
    """An output with 50 samples of each size; without hits, as versions before printed it."""
    rows = []
    for size, count in (hits or {8: ""}).items():
        rows.append(f"samples point_to_point 1 {size} 0 1 1.0e-06 {size} {size}")
        rows.append(f"sizes point_to_point 1 {size} 50 3 1 1 1 {count}".rstrip())
    head = KERNEL_HEADER.format(column="" if hits is None else " hit")
    return head + "\n".join(rows) + f"\n#@end rows={len(rows)} status=ok\n"


def text(hits: dict[int, str] | None) -> str:
    parsed = parse("kernel", output(hits))
    return preempted_text(parsed.series, parsed.metadata)


@pytest.mark.parametrize("count", ["51", "-1", "1.5", "nan", "x"])
def test_a_damaged_count_is_refused(count: str) -> None:
    with pytest.raises(OutputError):
        parse("kernel", output({8: count}))


# --- what a kernel counts

SHORT = ("--size", "64", "--budget", "0.05")


@pytest.mark.mpi
@pytest.mark.parametrize("account", ["none", "zeros"])
def test_without_an_account_of_one_rank_nothing_is_known(build: Build, account: str) -> None:
    waiting = {"PRETEND_WAITING": account, "PRETEND_WAITING_RANK": "1"}
    launch = build.launch(2, "point_to_point", *SHORT, preload="pretend.so", **waiting)
    assert launch.statuses == [0, 0], launch.errors
    assert [row["hit"] for row in launch.rows("sizes")] == ["-"]
    assert launch.header("hit").startswith("not examined")


@pytest.mark.mpi
def test_parts_are_not_examined_without_an_account(build: Build) -> None:
    launch = build.launch(2, "core_pairs", "--budget", "0.1", preload="pretend.so", PRETEND_WAITING="none")
    assert launch.statuses == [0, 0], launch.errors
    assert launch.header("hit_parts").startswith("not examined")
    assert preempted_text([], parse("kernel", launch.output).metadata) == ""


@pytest.mark.parametrize("states", [*product([None, QUIET, DISTURBED], repeat=4)])
def test_any_quiet_and_disturbed_runs_of_two_host_groups_have_a_summary(
    states: tuple[str | None, ...],
) -> None:
    places = [make.case(placement, group=group) for group in ("g1", "g2") for placement in ("SHM", "TCP")]
    records = [
        run
        for case, state in zip(places, states, strict=True)
        for run in (make.runs(case, BUSY, condition=state, condition_reason=REASON) if state else [])
    ]
    text = summary_text(compare(records))
    if states in ((QUIET, None, None, QUIET), (None, QUIET, QUIET, None)):
        assert text.count("No host group has two placements with values.") == 2
