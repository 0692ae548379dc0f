"""1,000 finished runs to records and tables, compared with awk for the mean of one column."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common import (
    ProjectCopy,
    alternate,
    beside_earlier,
    line,
    project_copies,
    project_copy,
    ratio,
    title,
    usually,
)
from workloads import write_many

RUNS = usually(1000, smallest=40)
ROUNDS = usually(5, smallest=1)
LIMIT = 2.0
LIMIT_MEGABYTES = 500.0
HERE = Path(__file__).parent
MEAN = "/^ +[0-9]+ +[0-9]+ / { sum += $4; rows++ } END { print sum / rows }"
AWK = f"find \"$1\" -name output.txt -exec awk '{MEAN}' {{}} +"


def main() -> None:
    title(f"Records: {RUNS} finished runs (IMB, 24 rows each, with evidence) to records and tables")
    with project_copy() as project:
        file = write_many(project.folder, RUNS)
        folder = project.call(sys.executable, HERE / "finish_runs.py", file).strip()
        parts: list[dict[str, Any]] = []
        times = alternate(
            ROUNDS,
            lambda: parts.append(analysed(project, folder)),
            lambda: project.call("sh", "-c", AWK, "sh", folder),
            lambda: project.call(*_report(project)),
        )
        show(times, parts)
    after_one_run()


def after_one_run() -> None:
    """The report of as many runs of which one is new, and of unchanged ones; of each state of the project."""
    with project_copies() as projects:
        for project in projects:
            project.call(sys.executable, HERE / "finish_runs.py", write_many(project.folder, RUNS))
            project.call(*_report(project))
        costs: dict[str, list[list[float]]] = {}
        for what in ("one new run", "no new run") * ROUNDS:
            of_copies = costs.setdefault(what, [[] for _ in projects])
            for project, own in zip(projects, of_copies, strict=True):
                if what == "one new run":
                    changed = min(project.folder.glob("results/many/runs/*/*/*/*/result/output.txt"))
                    changed.write_text(f"{changed.read_text(encoding='utf-8')}\n", encoding="utf-8")
                own.append(project.cost(*_report(project)).cpu)
    for what, of_copies in costs.items():
        line(f"report, {what}: CPU time", of_copies[0])
        beside_earlier("  CPU time", of_copies)


def _report(project: ProjectCopy) -> list[str]:
    return project.mpicampaign("report", "--campaign", project.folder / "many.yaml")


def analysed(project: ProjectCopy, folder: str) -> dict[str, Any]:
    """Costs reported by the analysis; exits unless all runs were read and verified."""
    found: dict[str, Any] = json.loads(project.call(sys.executable, HERE / "analyse_runs.py", folder))
    if found["verdicts"] != {"ok verified": RUNS}:
        raise SystemExit(f"not all {RUNS} runs were read and verified: {found['verdicts']}")
    return found


def show(times: Sequence[Sequence[float]], parts: Sequence[dict[str, Any]]) -> None:
    line("records and tables, whole process", times[0], LIMIT)
    for part in ("collect", "compare", "write"):
        line(f"  {part}", [found[part] for found in parts])
    line("  peak memory", [found["megabytes"] for found in parts], LIMIT_MEGABYTES, "MB")
    line("awk: the mean of one column", times[1])
    ratio("  times ours", times[0], times[1])
    line("mpicampaign report: the same with figures and report, whole process", times[2])


if __name__ == "__main__":
    main()
