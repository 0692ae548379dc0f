"""Whether an output is what its launcher wrote, and whether its rows came no sooner than their times say."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from mpicampaign.base.records import Series
from mpicampaign.base.units import format_size
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, Finding, finding, number
from mpicampaign.suites import SUITES

# s: a late row leaves the next one less time. Honest ones of one node were late by 0.03 s at most; launchers
# on several busy nodes pass output on later.
LATE, LATE_FROM_NODES = 0.5, 2.0
_WRITE = re.compile(r"([0-9]{1,15})-([0-9]{1,15}):([0-9]{1,15})")  # us, us, B


class _Row(NamedTuple):
    size: float
    earliest: float  # s after the launch
    latest: float
    flushed: bool  # a write ended with it
    accounted: float  # s that it and those above took at least


def passed_findings(evidence: Evidence, stdout: bytes, tables: Sequence[Series]) -> Iterator[Finding]:
    """By what the pipe noted. Stopped ranks prove nothing, repetitions that only the source tells little."""
    suite = SUITES.get(evidence.claim.get("suite", ""))
    if suite is None or "passed" not in evidence.job:
        return
    size, _, checksum = evidence.job["passed"].partition(" ")
    if (length := number(size)) is None:
        yield Finding("output", LACKS, "what the launcher wrote was not recorded")
        return
    more = len(stdout) > length and not suite.result_file  # which is appended
    same = not more and hashlib.sha256(stdout[:length]).hexdigest() == checksum
    wrote = f"the {length} B that the launcher wrote"
    yield finding("output", same, wrote, f"it is not {wrote}: something else wrote to the file")
    if any(number(seen.get("end.continued", "")) for seen in evidence.ranks.values()):
        return
    rows = _rows(evidence, stdout, tables)
    told = "-i " in evidence.claim["arguments"] or all("repetitions" in table.columns for table in tables)
    late = LATE_FROM_NODES if len(evidence.hosts) > 1 else LATE
    flushed = [row for row in rows if row.flushed]
    if wrong := _too_fast(flushed, late):
        yield Finding("output", CONTRADICTS if told else LACKS, wrong)
    elif len(flushed) < len(rows) and (wrong := _too_fast(rows, late)):
        yield Finding("output", LACKS, f"{wrong}: kept back by its launcher, or printed by something else")


def _rows(evidence: Evidence, stdout: bytes, tables: Sequence[Series]) -> list[_Row]:
    """The launch, without a size, and the rows; the launch alone where rows and lines do not match."""
    suite, arguments = SUITES[evidence.claim["suite"]], evidence.claim["arguments"].split()
    writes = [tuple(map(int, write)) for write in _WRITE.findall(evidence.job.get("writes", ""))]
    ends = [*accumulate(size for *_, size in writes)]
    lines = [*re.finditer(rf"\n{suite.row or '(?!)'}.*(?=\n)".encode(), b"\n" + stdout)]
    timed = [row for table in tables for row in _least_times(table, suite.counts(table, arguments))]
    rows = [_Row(-1, 0.0, 0.0, flushed=True, accounted=0.0)]
    is_known = writes and lines and lines[-1].end() <= ends[-1]
    if is_known and [int(line[1]) for line in lines] == [size for size, _ in timed]:
        for line, (size, least) in zip(lines, timed, strict=True):
            first, last, _ = writes[at := bisect_left(ends, line.end())]
            rows.append(
                _Row(size, first / 1e6, last / 1e6, ends[at] == line.end(), rows[-1].accounted + least)
            )
    return rows


def _least_times(table: Series, counts: Iterable[float | None]) -> Iterator[tuple[float, float]]:
    columns = (table.columns.get(name, ()) for name in ("size", "time"))
    for size, time, count in zip(*columns, counts, strict=False):  # printed times are rounded
        yield size or 0, (count or 0) * max((time or 0.0) / 1.01 - 0.5e-8, 0.0)


def _too_fast(rows: Sequence[_Row], late: float) -> str:
    """Which rows account for more time than passed between their writes; empty where none do."""
    start = rows[0]
    for row in rows[1:]:
        spent, passed = row.accounted - start.accounted, row.latest - start.earliest
        if spent > passed + late:
            since = "" if start.size < 0 else f"after {format_size(int(start.size))} "
            accounts = f"account for {spent:.2f} s or more, but came within {passed:.2f} s"
            return f"its rows {since}up to {format_size(int(row.size))} {accounts}"
        if row.accounted - row.earliest < start.accounted - start.earliest:
            start = row
    return ""
