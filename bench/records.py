"""1,000 finished runs to records and tables, compared with awk for the mean of one column."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common import ProjectCopy, alternate, line, project_copy, ratio, title, usually
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
            lambda: project.call(*project.mpicampaign("report", "--campaign", file)),
        )
        show(times, parts)


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
