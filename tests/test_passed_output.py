"""What the pipe between launcher and file noted: whose text it is, and when its rows came."""

from __future__ import annotations

import hashlib

import pytest
from printed_outputs import osu_table

from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS
from mpicampaign.evidence.passed_output import passed_findings
from mpicampaign.suites import SUITES

Found = list[tuple[str, str]]
HONEST = (1.0, 2.02, 3.02, 4.02, 5.02)  # s: what is above the rows, then each


def found(time: float, times: tuple[float, ...] = HONEST, given: str = "-m 9 -i 100000") -> Found:
    text = osu_table("MPI Latency", "Latency (us)", [(1024 << n, time) for n in range(4)], "7.4")
    sizes = dict.fromkeys(times, 0)
    for line, came in zip(text.splitlines(keepends=True), (times[0], *times), strict=True):
        sizes[came] += len(line)
    writes = " ".join(f"{came * 1e6:.0f}-{came * 1e6:.0f}:{size}" for came, size in sizes.items())
    job = {"passed": f"{len(text)} {hashlib.sha256(text.encode()).hexdigest()}", "writes": writes}
    evidence = Evidence({"suite": "osu", "arguments": given}, job)
    first, *others = passed_findings(evidence, text.encode(), tables := SUITES["osu"].parse(text).series)
    evidence.ranks[0] = {"end.continued": "1"}
    assert [first] == [*passed_findings(evidence, text.encode(), tables)], "a stopped rank"
    return [(one.outcome, one.reason) for one in others]


@pytest.mark.parametrize(
    ("found", "outcome", "says"),
    [
        (found(5.0, (1.0, 2.4, 3.02, 9.0, 10.0)), "", ""),  # passed on late; disturbed between two rows
        (found(9.0), CONTRADICTS, "after 1 KiB up to 2 KiB account for 1.78 s or more, but came within 1.0"),
        (found(5.0, (0.1, 0.11, 0.12, 0.13, 0.2)), CONTRADICTS, "its rows up to 1 KiB account for"),
        (found(5.0, (6.0,) * 5), LACKS, "came within 0.00 s: kept back by its launcher"),
        (found(500.0, given=""), LACKS, "its rows up to 1 KiB account for 9.9"),  # 10,000 are usual
    ],
)
def test_the_pace_of_rows(found: Found, outcome: str, says: str) -> None:
    assert [each for each, _ in found] == [outcome] * bool(outcome)
    assert all(says in reason for _, reason in found), found


def test_the_file_holds_what_the_launcher_wrote() -> None:
    noted = f"2 {hashlib.sha256(b'12').hexdigest()}"
    imb = {b"12": SUPPORTS, b"13": CONTRADICTS, b"1": CONTRADICTS, b"123": CONTRADICTS}
    for suite, outcomes in {"imb": imb, "hpcc": {b"123": SUPPORTS, b"223": CONTRADICTS}}.items():
        for stdout, outcome in outcomes.items():  # HPCC's result file is appended
            for passed, expected in ((noted, outcome), ("", LACKS)):  # the reader was killed
                evidence = Evidence({"suite": suite, "arguments": ""}, {"passed": passed})
                assert [one.outcome for one in passed_findings(evidence, stdout, ())] == [expected]
