"""Plants mutants, and says which test kills which: make mutants.

The first call finds which test reaches which line (FOLDER/notes, data, native.log). Kills are added to
FOLDER/kills-SEED.jsonl; an interrupted call goes on after them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from mutants.plant import Mutant, drawn
from mutants.reached import Reached, read, run
from mutants.trial import Tree, copy_of, import_packages

PROJECT = Path(__file__).resolve().parents[2]
WORKERS = 2


def tests_for(mutant: Mutant, reached: Reached, most: int, seconds: float) -> list[str]:
    """The tests that reach its line, the most specific first; for an import's line, those of its file."""
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


def listed(file: Path | None) -> set[str]:
    return set(file.read_text().split()) if file else set()


def without(removed: set[str], reached: Reached) -> Reached:
    tests_of = {place: tests - removed for place, tests in reached.tests_of.items()}
    return Reached(reached.seconds, tests_of, reached.places_of)


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
    kept = without(listed(wanted.removed), reached)
    for place, mutant in enumerate(mutants):
        try:
            (wanted.folder / f"begun-{wanted.seed}" / str(place)).touch(exist_ok=False)
        except FileExistsError:
            continue
        groups = [tests_for(mutant, some, wanted.tests, wanted.seconds) for some in (kept, reached)]
        began = time.monotonic()
        killers = judge(mutant, tree, groups if wanted.removed else groups[:1], wanted.first)
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
    folder = wanted.folder = wanted.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "notes").exists():
        run(copy_of(PROJECT, folder / "marked").folder, folder)
    kills = folder / f"kills-{wanted.seed}.jsonl"
    kills.touch()
    begun = folder / f"begun-{wanted.seed}"
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir()
    for line in map(json.loads, kills.read_text().splitlines()):
        (begun / str(line["mutant"])).touch()
    mutants, reached = drawn(PROJECT, wanted.seed, wanted.number), read(folder)
    workers = [
        multiprocessing.Process(target=work, args=(n, wanted, mutants, reached)) for n in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(summary(kills, listed(wanted.removed)))


if __name__ == "__main__":
    main()
