"""Results of ReFrame: made by itself from stub tests, or written as it writes them.

``python tests/reframe_runs.py FOLDER CALLS`` makes a results database and performance logs of so many calls
on two systems.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

START = datetime(2026, 1, 1, 3, tzinfo=UTC).timestamp()
DAY = 86400.0

SETTINGS = """
site_configuration = {
    'systems': [
        {'name': name, 'descr': name, 'hostnames': ['.*'], 'partitions': [
            {'name': part, 'scheduler': 'local', 'launcher': 'local', 'environs': ['gnu', 'cray']}
            for part in ('cpu', 'gpu')
        ]} for name in ('alpha', 'beta')
    ],
    'environments': [{'name': 'gnu'}, {'name': 'cray'}],
}
"""
TESTS = """
import random
import reframe as rfm
import reframe.utility.sanity as sn


class Base(rfm.RunOnlyRegressionTest):
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'echo'
    wanted = 'triad'

    @run_before('run')
    def values(self):
        self.executable_opts = [f'triad={random.gauss(100, 1):.3f} lat={random.gauss(2, .02):.4f}']

    @sanity_function
    def ends_well(self):
        return sn.assert_found(self.wanted, self.stdout)


class Measured(Base):
    reference = {'*': {'triad': (100, -0.2, None, 'GB/s'), 'lat': (2, None, 0.2, 'us')}}

    @performance_function('GB/s')
    def triad(self):
        return sn.extractsingle(r'triad=(\\S+)', self.stdout, 1, float)

    @performance_function('us')
    def lat(self):
        return sn.extractsingle(r'lat=(\\S+)', self.stdout, 1, float)


@rfm.simple_test
class Stream(Measured):
    threads = parameter([1, 2])


@rfm.simple_test
class Slow(Measured):
    reference = {'*': {'triad': (300, -0.05, None, 'GB/s')}}


@rfm.simple_test
class Bad(Measured):
    wanted = 'nothing'


@rfm.simple_test
class Plain(Base):
    pass


@rfm.simple_test
class Skipped(Measured):
    @run_after('setup')
    def leave_out(self):
        self.skip_if(True, 'not here')
"""


def run_reframe(folder: Path, *options: str) -> Path:
    """One call of ReFrame; the folder of its results: ``results.db`` and ``perflogs``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.py").write_text(SETTINGS)
    (folder / "stubs.py").write_text(TESTS)
    environment = os.environ | {
        "HOME": str(folder),  # where it keeps what it finds out about the machine
        "RFM_ENABLE_RESULTS_STORAGE": "1",
        "RFM_SQLITE_DB_FILE": str(folder / "results.db"),
    }
    command = ["reframe", "-C", "settings.py", "-c", "stubs.py", "-r", "--max-retries=1", "--prefix=out"]
    call = [*command, f"--perflogdir={folder}/perflogs", "--report-file=report.json", *options]
    subprocess.run(call, cwd=folder, env=environment, check=False, capture_output=True, timeout=300)
    return folder


def case(number: int, **more: Any) -> dict[str, Any]:
    """A test case as ReFrame keeps it, of the day with a number."""
    completed = START + number * DAY + 60
    return {
        **{"name": "Stream %threads=2", "system": "alpha", "partition": "cpu", "environ": "gnu"},
        **{"result": "pass", "fail_phase": None, "fail_reason": None, "jobid": str(number)},
        "job_completion_time_unix": completed,
        "job_completion_time": datetime.fromtimestamp(completed, UTC).isoformat(),
        "job_nodelist": ["nid01"],
        "perfvalues": {"alpha:cpu:triad": [100.0 + number % 7, 100, -0.05, None, "GB/s", "pass"]},
        **more,
    }


def report(number: int, cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A session as ReFrame keeps it."""
    about = {"data_version": "4.2", "uuid": f"session-{number}", "time_start_unix": START + number * DAY}
    return {"session_info": about, "runs": [{"testcases": list(cases)}], "restored_cases": []}


def database(path: Path, blobs: Mapping[int, object], version: str = "1.0") -> Path:
    """A results database; a session's blob that is no text is written as JSON."""
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.executescript(
            "CREATE TABLE IF NOT EXISTS sessions(uuid TEXT PRIMARY KEY, session_start_unix REAL, "
            "session_end_unix REAL, json_blob TEXT, report_file TEXT);"
            "CREATE TABLE IF NOT EXISTS testcases(name TEXT, session_uuid TEXT, uuid TEXT);"
            "CREATE TABLE IF NOT EXISTS metadata(schema_version TEXT);"
        )
        opened.execute("INSERT INTO metadata VALUES(?)", (version,))
        for number, blob in blobs.items():
            text = blob if isinstance(blob, str | bytes | None) else json.dumps(blob)
            row = (f"session-{number}", START + number * DAY, 0.0, text, "")
            opened.execute("INSERT INTO sessions VALUES(?, ?, ?, ?, ?)", row)
    return path


if __name__ == "__main__":
    for _ in range(int(sys.argv[2])):
        for system in ("alpha", "beta"):
            run_reframe(Path(sys.argv[1]).resolve(), f"--system={system}")
