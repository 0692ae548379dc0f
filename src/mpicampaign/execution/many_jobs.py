"""Snakemake with thousands of jobs: what takes the square of their number there is done once for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def prepare_for_many(workflow: Any) -> None:
    """Of the workflow that is about to start; its rules have no pipes and no services."""
    from snakemake.jobs import Job

    workflow.scheduler.job_rate_limiter = None  # at the end, Snakemake would wait for its timer: a second
    workflow.scheduler._job_selector = those_that_fit
    Job.is_pipe_or_service_input = lambda *_: False


def those_that_fit(
    jobs: Iterable[Any], _remaining: object, available: Mapping[str, Any], _sizes: object
) -> list[Any]:
    """The jobs that can start at once, in order: those of Snakemake's greedy scheduler, if all are alike."""
    left, chosen = dict(available), []
    for job in sorted(jobs, key=lambda job: -job.priority):
        asked = {name: job.scheduler_resources.get(name, 0) for name in left}
        if all(amount <= left[name] for name, amount in asked.items()):
            left = {name: left[name] - amount for name, amount in asked.items()}
            chosen.append(job)
    return chosen
