"""Plants mutants, and says which test kills which: make mutants.

The first call finds which test reaches which line (FOLDER/data, native, seconds). Kills are added to
FOLDER/kills-SEED.jsonl; an interrupted call goes on after them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Queue

from mutants.plant import BYTES, Mutant, drawn
from mutants.reach import Reached, run

PROJECT = Path(__file__).resolve().parents[2]
WORKERS = 2
TESTS, SECONDS = 12, 20.0  # of a mutant at most, and what these tests took together without it
LIMIT = 90.0  # seconds for all tests of a mutant
LEFT_OUT = (".git", ".venv", "__pycache__", "results", "build", ".*_cache", ".hypothesis")
OPTIONS = ("-rfE", "--tb=no", "-p", "no:cacheprovider")


def copy_of_project(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    return folder


def tests_for(mutant: Mutant, reached: Reached) -> list[str]:
    """The tests that reach its line, the most specific first; of shell and C, the shortest."""
    cost = reached.lines if mutant.file.endswith(".py") else reached.seconds
    chosen, left = [], SECONDS
    for test in sorted(reached.tests_of(mutant.file, mutant.line), key=cost.__getitem__):
        if len(chosen) < TESTS and reached.seconds[test] <= left:
            chosen.append(test)
            left -= reached.seconds[test]
    return chosen


def killers(mutant: Mutant, tests: Sequence[str], tree: Path) -> list[str]:
    """Those of the tests that fail with the mutant planted; the file is as before afterwards."""
    file = tree / mutant.file
    source, stamp = file.read_text(BYTES), file.stat()
    file.write_text(mutant.planted(source), BYTES)
    try:
        output = call_pytest(tests, tree)
    finally:
        file.write_text(source, BYTES)
        if file.suffix == ".py":  # its bytecode is that of this time; make builds again
            os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    failed = set(re.findall(r"(?m)^(?:FAILED|ERROR) (\S+?)(?:\[.*| - .*)?$", output))
    return sorted(failed) or ([] if re.search(r"(?m)^\d+ passed", output) else ["collection or time limit"])


def call_pytest(tests: Sequence[str], tree: Path) -> str:
    """What it printed in time."""
    paths = {"PYTHONPATH": f"{tree}/src:{tree}/tests", "MPICAMPAIGN_TEST_KERNELS": f"{tree}.kernels"}
    command = [sys.executable, "-m", "pytest", *OPTIONS, f"--basetemp={tree}.scratch", *tests]
    with Path(f"{tree}.log").open("w+") as log:
        pytest = subprocess.Popen(
            command, cwd=tree, env=os.environ | paths, stdout=log, stderr=log, start_new_session=True
        )
        with suppress(subprocess.TimeoutExpired):
            pytest.wait(LIMIT)
        with suppress(ProcessLookupError):
            os.killpg(pytest.pid, signal.SIGKILL)
        log.seek(0)
        return log.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=600)
    wanted = parser.parse_args()
    folder = wanted.folder.resolve()
    if not (folder / "seconds").exists():
        run(copy_of_project(folder / "marked"), folder)
    kills = folder / f"kills-{wanted.seed}.jsonl"
    kills.touch()
    judged = {json.loads(line)["mutant"] for line in kills.read_text().splitlines()}
    reached, trees = Reached(folder), Queue[Path]()
    for number in range(WORKERS):
        trees.put(copy_of_project(folder / f"tree{number}"))

    def judge(number: int, mutant: Mutant) -> None:
        tree, tests = trees.get(), tests_for(mutant, reached)
        found = killers(mutant, tests, tree) if tests else []
        trees.put(tree)
        line = {"mutant": number, "file": mutant.file, "line": mutant.line, "text": mutant.text}
        with kills.open("a") as file:
            file.write(json.dumps({**line, "tests": len(tests), "killers": found}) + "\n")

    with ThreadPoolExecutor(WORKERS) as pool:
        for number, mutant in enumerate(drawn(PROJECT, wanted.seed, wanted.number)):
            if number not in judged:
                pool.submit(judge, number, mutant)
    of = Counter(bool(json.loads(line)["killers"]) for line in kills.read_text().splitlines())
    print(f"{of[True]} of {of.total()} mutants killed")


if __name__ == "__main__":
    main()
