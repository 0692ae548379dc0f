"""10,000 runs planned, rendered and dry-run, their status, what an end asks, and an unchanged report."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from common import ProjectCopy, beside_earlier, line, project_copies, title, usually
from workloads import write_many

RUNS = usually(10_000, smallest=40)
ROUNDS = usually(3, smallest=1)
LIMITS = {"all three": 14.0, "unchanged report": 5.0}
LIMIT_MEGABYTES = 500.0


def main() -> None:
    title(f"{RUNS} runs: planned, rendered, dry-run; the report of unchanged ones")
    with project_copies() as projects:
        files = [write_many(each.folder, RUNS) for each in projects]
        in_turn = [[_planned(*each) for each in zip(projects, files, strict=True)] for _ in range(ROUNDS)]
        project, file = projects[0], files[0]
        rounds, *earlier = zip(*in_turn, strict=True)
        for name in rounds[0]:
            line(name, [found[name][0] for found in rounds])
        all_three = [_of_all(parts) for parts in rounds]
        line("all three", all_three, LIMITS["all three"])
        beside_earlier("  all three", [all_three, *([_of_all(parts) for parts in copy] for copy in earlier)])
        peaks = [max(peak for _, peak in found.values()) for found in rounds]
        line("  highest peak of memory", peaks, LIMIT_MEGABYTES, "MB")
        line("mpicampaign status", [_measured(project, project.mpicampaign("status", file))[0]])
        asked = project.call(sys.executable, Path(__file__).with_name("asked_at_an_end.py"), file)
        line("what follows from the end of a run (CPU)", [float(text) for text in asked.split()], 5.0, "ms")
        finish = [sys.executable, str(Path(__file__).with_name("finish_runs.py")), str(file)]
        report = project.mpicampaign("report", "--campaign", file)
        for command in (finish, report):
            _measured(project, command)
        unchanged = [_measured(project, report)[0] for _ in range(ROUNDS)]
        line("report, nothing has changed", unchanged, LIMITS["unchanged report"])


def _of_all(parts: dict[str, tuple[float, float]]) -> float:
    return sum(wall for wall, _ in parts.values())


def _planned(project: ProjectCopy, file: Path) -> dict[str, tuple[float, float]]:
    project.forget()
    dry_run = project.snakemake("-n", "--config", f"campaign={file}")
    return {
        "mpicampaign plan": _measured(project, project.mpicampaign("plan", "--campaign", file)),
        "mpicampaign render": _measured(project, project.mpicampaign("render", "--campaign", file)),
        "snakemake -n": _measured(project, dry_run),
    }


def _measured(project: ProjectCopy, command: list[str]) -> tuple[float, float]:
    """Wall-clock seconds of a command, and the peak of its largest process in MB."""
    begin = time.perf_counter()
    environment = project.environment()
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=project.folder, env=environment, stdout=nowhere, stderr=nowhere)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.perf_counter() - begin, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
