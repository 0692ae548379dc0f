"""Which tests may run at the same time under pytest-xdist (make test: two).

Tests of one lane run one after the other in one process, so that what they share is made once. The files
with MPI programs are one lane, those that share a test cluster another; every other file is a lane of its
own, also one with clusters of its own, which mostly wait.
What measures, or depends on time, has the mark `alone`: the Makefile runs it afterwards, beside nothing.
The groups of pytest-xdist do not help: its version 3.8 writes them where pytest 9.2 does not look.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[1]
# Their MPI programs need no machine to themselves, and the lane of the others is the longest.
OWN_LANES = {
    f"test_{name}.py"
    for name in (
        *("bench", "tutorial", "prove_runs", "prove_hosts", "races"),
        *("cluster_each", "cluster_machine", "two_libraries", "foreign_traffic"),
    )
}
CLUSTER, MPI = r"\bminicluster: MiniCluster\b", r"\bpytest\.mark\.mpi\b"


@cache
def lane_of(file: str) -> str:
    """The longest lanes start first; a file with both the shared cluster and MPI programs is in its lane."""
    if Path(file).name in OWN_LANES:
        return file
    text = (PROJECT / file).read_text()
    return "cluster" if re.search(CLUSTER, text) else "mpi" if re.search(MPI, text) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class Lanes(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return lane_of(nodeid.split("::")[0])

    return Lanes(config, log)


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """With -vv, the line of a test of the soak has its duration and what it printed last."""
    if not ("soak" in report.keywords and report.when == "call" and report.passed):
        return None
    outcome = report.capstdout.strip().rpartition("\n")[2]
    return "passed", ".", f"PASSED in {report.duration:.0f} s: {outcome}:"
