"""Which tests may run at the same time under pytest-xdist (make test: two).

Tests of one lane run one after the other in one process, so that what they share is made once. The files
with MPI programs are one lane, those that share a test cluster another; every other file is a lane of its
own, also one with clusters of its own, which mostly wait.
What measures, or depends on time, has the mark `alone`: the Makefile runs it afterwards, beside nothing.
The groups of pytest-xdist do not help: its version 3.8 writes them where pytest 9.2 does not look.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[1]
# Their MPI programs need no machine to themselves. The longest come first.
OWN_LANES = [
    f"test_{name}.py"
    for name in (
        *("tutorial", "cluster_each", "cluster_machine", "prove_hosts", "races"),
        *("two_libraries", "bench", "prove_runs", "foreign_traffic"),
    )
]
CLUSTER, MPI = r"\bminicluster: MiniCluster\b", r"\bpytest\.mark\.mpi\b"


@cache
def lane_of(file: str) -> str:
    """A file with both the shared cluster and MPI programs is in the lane of the cluster."""
    if Path(file).name in OWN_LANES:
        return file
    text = (PROJECT / file).read_text()
    return "cluster" if re.search(CLUSTER, text) else "mpi" if re.search(MPI, text) else file


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest lanes start first, then those with most tests: what starts last ends last."""
    longest = ["cluster", "mpi", *(f"tests/{name}" for name in OWN_LANES)]
    lanes = [lane_of(item.nodeid.split("::")[0]) for item in items]
    tests = Counter(lanes)
    first = {lane: number for number, lane in enumerate(longest)}
    order = {lane: (first.get(lane, len(first)), -count) for lane, count in tests.items()}
    items[:] = [item for _, item in sorted(zip(lanes, items, strict=True), key=lambda each: order[each[0]])]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class Lanes(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return lane_of(nodeid.split("::")[0])

    config.option.loadscopereorder = False  # it would sort the lanes by their numbers of tests
    return Lanes(config, log)


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """With -vv, the line of a test of the soak has its duration and what it printed last."""
    if report.when != "call" or not report.passed or "soak" not in report.keywords:
        return None
    outcome = report.capstdout.strip().rpartition("\n")[2]
    return "passed", ".", f"PASSED in {report.duration:.0f} s: {outcome}:"
