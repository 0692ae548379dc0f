"""The condition of runs: quiet, disturbed or not judged, from the evidence to tables and answers."""

from __future__ import annotations

import io
from dataclasses import replace

import build_records as make
import pytest

from mpicampaign.base.records import (
    DISTURBED,
    NOT_JUDGED,
    QUIET,
    Case,
    Record,
)
from mpicampaign.cli.output import counts
from mpicampaign.evidence.condition import condition, may_be_disturbed
from mpicampaign.evidence.evidence import CLAIM_HEADER, HEADER, read_evidence
from mpicampaign.run.progress import Progress
from mpicampaign.show.runs import condition_text

SHM, TCP = make.case("SHM-1"), make.case("TCP")
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


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        (evidence(), QUIET, "waited 0%"),
        (evidence(cpu=0.0), QUIET, "waited 0%"),
        (evidence(wall=0.0, cpu=0.0), NOT_JUDGED, "0.000 s between"),
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
