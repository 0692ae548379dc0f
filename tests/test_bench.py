"""Each benchmark in bench/ still runs: at its smallest size, which measures nothing."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import PROJECT, completed

pytestmark = [pytest.mark.mpi, pytest.mark.full]

BENCH = PROJECT / "bench"
HELPERS = {"stand_in_scheduler"}  # a process of a benchmark
NAMES = sorted({path.stem for path in BENCH.glob("*.py") if "\ndef main(" in path.read_text()} - HELPERS)
BOUND = {"condition"}
MISSING = re.compile(r"^ *((?:skipped|not measured): .*)", re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs_at_its_smallest_size(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if name in BOUND:
        request.getfixturevalue("imb")
        if shutil.which("numactl") is None:
            pytest.skip("numactl is not installed")
    path = f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as short:  # the browser's socket does not fit below tmp_path
        variables = {"MPICAMPAIGN_BENCH_SMALLEST": "yes", "PATH": path, "TMPDIR": short}
        done = completed(
            [BENCH / "run_all", name], env={**os.environ, **variables}, cwd=tmp_path, timeout=900
        )
    assert done.returncode == 0, done.stdout + done.stderr
    if missing := MISSING.search(done.stdout):
        pytest.skip(missing[1])


def test_make_bench_knows_all_but_one_that_takes_hours() -> None:
    done = completed([sys.executable, BENCH / "run_all", "?"])
    known = done.stderr.strip().partition("known: ")[2].split(", ")
    assert sorted([*known, "condition"]) == NAMES
