"""snakemake -n on 1,000 planned runs, compared with plain Snakefiles for the same job scripts."""

from __future__ import annotations

from collections.abc import Sequence

from common import QUIET, ProjectCopy, alternate, line, project_copy, ratio, title, usually
from stock import A_RULE_EACH, ONE_RULE, write_snakefile
from workloads import write_many

RUNS = usually(1000, smallest=40)
ROUNDS = usually(5, smallest=1)
LIMIT = 4.0


def main() -> None:
    title(f"Dry run: snakemake -n on {RUNS} planned runs")
    with project_copy() as project:
        file = write_many(project.folder, RUNS)
        scripts = project.call(*project.mpicampaign("render", "--campaign", file)).split()
        config = ("--config", f"campaign={file}")
        times = alternate(
            ROUNDS,
            lambda: dry_run(project, "--profile", "profiles/local", *config),
            lambda: plain(project, ONE_RULE, scripts),
            lambda: plain(project, A_RULE_EACH, scripts),
            lambda: check_listed(dry_run(project, *config)),
        )
    show(times)


def show(times: Sequence[Sequence[float]]) -> None:
    ours, one_rule, a_rule_each, listed = times
    line("this project's Snakefile, profile local", ours, LIMIT)
    line("a plain Snakefile, one shell: rule with a wildcard", one_rule)
    ratio("  times ours", ours, one_rule)
    line("a plain Snakefile, a shell: rule for each run", a_rule_each)
    ratio("  times ours", ours, a_rule_each)
    line("this project's Snakefile, no profile, prints every run", listed, LIMIT)


def plain(project: ProjectCopy, text: str, scripts: Sequence[str]) -> None:
    """The same with a Snakefile written by hand, as quiet as the profile."""
    file = write_snakefile(project.folder, text, scripts)
    dry_run(project, "--snakefile", str(file), *QUIET)


def dry_run(project: ProjectCopy, *arguments: str) -> str:
    return project.call(*project.snakemake("-n", *arguments))


def check_listed(output: str) -> None:
    """Exits unless all runs are printed."""
    listed = output.count("rule run:")
    if listed != RUNS:
        raise SystemExit(f"the dry run lists {listed} runs, not {RUNS}")


if __name__ == "__main__":
    main()
