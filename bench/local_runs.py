"""1,000 trivial runs on this machine, compared with a plain loop over the job scripts and stock Snakemake."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import outputs
from common import QUIET, Cost, ProjectCopy, line, project_copy, ratio, title, usually
from stock import ONE_RULE, write_snakefile
from workloads import write_trivial

RUNS, ROUNDS = usually((1000, 2), smallest=(10, 1))
RUNS_BESIDE, ROUNDS_BESIDE = usually((200, 3), smallest=(10, 1))
LIMIT = 10.0  # ms
LIMIT_AGAIN = 1.5  # s
LOOP = 'for script in $(cat scripts.txt); do bash "$script" >/dev/null; done'


def main() -> None:
    with project_copy() as project:
        against_the_limit(project)
        beside_stock_snakemake(project)


def against_the_limit(project: ProjectCopy) -> None:
    """CPU time is shown too: other load on the machine disturbs it less."""
    title(f"Local runs: {RUNS} trivial runs, in turn, ms per run")
    loops, ours, again = in_turn(project, RUNS, ROUNDS, loop, run, nothing_to_do)
    show("a plain loop over the job scripts: the runs themselves", loops)
    show("mpicampaign run, with start-up, figures and report", ours)
    beyond = difference(ours, loops)
    line("  beyond the runs themselves", walls(beyond), LIMIT, "ms")
    line("  the same in CPU time", [cost.cpu for cost in beyond], unit="ms")
    line(
        "mpicampaign run again, with nothing to do", [cost.wall * RUNS / 1000 for cost in again], LIMIT_AGAIN
    )


def beside_stock_snakemake(project: ProjectCopy) -> None:
    """Fewer runs, so start-up and report weigh more for each of them than above."""
    title(f"Local runs compared with stock Snakemake: {RUNS_BESIDE} trivial runs, in turn, ms per run")
    ways = (loop, run, report, stock)
    loops, ours, reports, stocks = in_turn(project, RUNS_BESIDE, ROUNDS_BESIDE, *ways)
    show("a plain loop over the job scripts: the runs themselves", loops)
    show("mpicampaign run, with start-up, figures and report", ours)
    show("  beyond the runs themselves", difference(ours, loops))
    bare = difference(ours, reports)
    show("  without figures and report (timed separately, subtracted)", bare)
    show("Snakemake's local executor, one shell: rule, no report", stocks)
    show("  beyond the runs themselves", difference(stocks, loops))
    ratio("  times ours", walls(ours), walls(stocks))
    ratio("  times ours without figures and report", walls(bare), walls(stocks))


def in_turn(
    project: ProjectCopy, runs: int, rounds: int, *ways: Callable[[ProjectCopy, int], Cost]
) -> list[list[Cost]]:
    """Cost of a run in ms, for each way and round."""
    found: list[list[Cost]] = [[] for _ in ways]
    for _ in range(rounds):
        for costs, way in zip(found, ways, strict=True):
            whole = way(project, runs)
            costs.append(Cost(1000 * whole.wall / runs, 1000 * whole.cpu / runs))
    return found


def show(what: str, costs: Sequence[Cost]) -> None:
    line(what, walls(costs), unit="ms")


def walls(costs: Sequence[Cost]) -> list[float]:
    return [cost.wall for cost in costs]


def difference(costs: Sequence[Cost], less: Sequence[Cost]) -> list[Cost]:
    return [Cost(a.wall - b.wall, a.cpu - b.cpu) for a, b in zip(costs, less, strict=True)]


def prepared(project: ProjectCopy, runs: int) -> Path:
    """The campaign file, with no results and everything built."""
    project.forget()
    file = write_trivial(project.folder, runs, outputs.pingpong(random.Random(1)))
    project.call(*project.mpicampaign("build", "--campaign", file))
    return file


def rendered(project: ProjectCopy, runs: int) -> list[str]:
    file = prepared(project, runs)
    return project.call(*project.mpicampaign("render", "--campaign", file)).split()


def loop(project: ProjectCopy, runs: int) -> Cost:
    scripts = rendered(project, runs)
    (project.folder / "scripts.txt").write_text("\n".join(scripts), encoding="utf-8")
    return checked(project, runs, "bash", "-c", LOOP)


def run(project: ProjectCopy, runs: int) -> Cost:
    """The time includes rendering the scripts."""
    file = prepared(project, runs)
    return checked(project, runs, *project.mpicampaign("run", "--campaign", file))


def nothing_to_do(project: ProjectCopy, runs: int) -> Cost:
    """The same command again, after `run`."""
    return checked(project, runs, *project.mpicampaign("run", "--campaign", "trivial.yaml"))


def report(project: ProjectCopy, runs: int) -> Cost:
    """The report alone, for the runs that `run` has just made."""
    return checked(project, runs, *project.mpicampaign("report", "--campaign", "trivial.yaml"))


def stock(project: ProjectCopy, runs: int) -> Cost:
    file = write_snakefile(project.folder, ONE_RULE, rendered(project, runs))
    return checked(project, runs, *project.snakemake("--snakefile", file, "--cores", "1", *QUIET))


def checked(project: ProjectCopy, runs: int, *command: str | Path) -> Cost:
    """The cost of a command; exits unless it finished all runs."""
    cost = project.cost(*command)
    finished = len(list(project.folder.glob("results/trivial/runs/*/*/*/*/result/output.txt")))
    if finished != runs:
        raise SystemExit(f"{finished} runs were finished, not {runs}")
    return cost


if __name__ == "__main__":
    main()
