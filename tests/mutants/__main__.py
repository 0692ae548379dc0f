"""python -m mutants --seed 2 --number 600 --folder FOLDER: which test kills which mutant.

FOLDER holds what reach.py noted; kills are added to FOLDER/kills-SEED.jsonl, and a call again goes on after them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from mutants.plant import Mutant, drawn
from mutants.reached import Reached, read
from mutants.trial import Tree, copy_of, import_packages

PROJECT = Path(__file__).resolve().parents[2]
WORKERS = 2


def tests_for(mutant: Mutant, reached: Reached, most: int, seconds: float) -> list[str]:
    """The tests that reach its line, the most specific first; for a line that imports run, those of its file."""
    tests = reached.tests_of.get((mutant.file, mutant.line), set())
    if not tests:
        tests = set().union(*(some for place, some in reached.tests_of.items() if place[0] == mutant.file))
    native = not mutant.file.endswith(".py")
    chosen: list[str] = []
    left = seconds
    for test in sorted(
        tests, key=lambda one: reached.seconds[one] if native else len(reached.places_of[one])
    ):
        if len(chosen) < most and reached.seconds[test] <= left:
            chosen.append(test)
            left -= reached.seconds[test]
    return chosen


def judge(mutant: Mutant, tree: Tree, groups: Iterable[list[str]], first_only: bool) -> list[str]:
    """Those that kill it, of the first group of tests that does."""
    for tests in groups:
        killers = tree.killers(mutant, tests, first_only) if tests else []
        if killers:
            return killers
    return []


def work(number: int, wanted: argparse.Namespace, mutants: list[Mutant], reached: Reached) -> None:
    """One worker: each mutant that the other one has not begun."""
    import_packages()
    tree = copy_of(PROJECT, wanted.folder / f"tree{number}")
    removed = set(wanted.removed.read_text().split()) if wanted.removed else set()
    for place, mutant in enumerate(mutants):
        try:
            (wanted.folder / f"begun-{wanted.seed}" / str(place)).touch(exist_ok=False)
        except FileExistsError:
            continue
        kept = Reached(
            reached.seconds, {p: t - removed for p, t in reached.tests_of.items()}, reached.places_of
        )
        groups = [
            tests_for(mutant, one, wanted.tests, wanted.seconds)
            for one in ([kept, reached] if removed else [reached])
        ]
        began = time.monotonic()
        killers = judge(mutant, tree, groups, wanted.first)
        line = {"mutant": place, "file": mutant.file, "line": mutant.line, "room": mutant.room}
        line |= {"text": mutant.text, "tests": len(groups[-1]), "killers": killers}
        line |= {"seconds": round(time.monotonic() - began, 1)}
        with (wanted.folder / f"kills-{wanted.seed}.jsonl").open("a") as kills:
            kills.write(json.dumps(line) + "\n")


def summary(kills: Path, removed: set[str]) -> str:
    """Kills by room; of tests on the list of removed ones apart."""
    judged, killed, by_kept = Counter[str](), Counter[str](), Counter[str]()
    for line in map(json.loads, kills.read_text().splitlines()):
        for room in (line["room"], "all"):
            judged[room] += 1
            killed[room] += bool(line["killers"])
            by_kept[room] += bool(set(line["killers"]) - removed)
    rows = [f"{room:32} {judged[room]:5} {killed[room]:5} {by_kept[room]:5}" for room in sorted(judged)]
    return "\n".join([f"{'room':32} {'all':>5} {'killed':>5} {'kept':>5}", *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=600)
    parser.add_argument("--tests", type=int, default=12, help="at most so many for a mutant")
    parser.add_argument("--seconds", type=float, default=20, help="that they took together without it")
    parser.add_argument("--first", action="store_true", help="stop at the first test that kills a mutant")
    parser.add_argument("--removed", type=Path, help="tests that are tried only where no other one kills")
    wanted = parser.parse_args()
    kills = wanted.folder / f"kills-{wanted.seed}.jsonl"
    kills.touch()
    begun = wanted.folder / f"begun-{wanted.seed}"
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir()
    for line in map(json.loads, kills.read_text().splitlines()):
        (begun / str(line["mutant"])).touch()
    mutants, reached = drawn(PROJECT, wanted.seed, wanted.number), read(wanted.folder)
    workers = []
    for number in range(WORKERS):
        child = os.fork()
        if child == 0:
            try:
                work(number, wanted, mutants, reached)
            finally:
                os._exit(0)
        workers.append(child)
    for child in workers:
        os.waitpid(child, 0)
    print(summary(kills, set(wanted.removed.read_text().split()) if wanted.removed else set()))


if __name__ == "__main__":
    main()
