"""Snakemake with thousands of jobs: what it does for each of them again and again is done once."""

from __future__ import annotations

import atexit
import gc
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_GC_THRESHOLD = 1_000_000  # objects: those of a plan all stay in use
_NO_FLAGS: Mapping[str, Any] = {}  # such as of a plain string


def evaluate_once(shows_commands: bool = True) -> None:
    """Before jobs are made: parameters of functions, resources of rules, commands of jobs stay the same.

    ``shows_commands``: a dry run that does not print them needs none.
    """
    from snakemake import common, dag, io, jobs, rules
    from snakemake.iocontainers import ResourceList

    gc.set_threshold(_GC_THRESHOLD)
    atexit.register(gc.freeze)  # at its end, Python would look through all of them for garbage
    common.get_function_params = rules.get_function_params = cache(common.get_function_params)
    jobs.Job.shellcmd = property(cache(jobs.Job.shellcmd.fget)) if shows_commands else None
    jobs.Job.conda_env_spec = None  # it would evaluate the parameters of each job; no rule has an environment
    dag.DAG.check_directory_outputs = lambda _: None  # no rule has a folder as its output
    for module in (io, dag, jobs, rules):
        module.is_flagged = is_flagged
    expand, expanded = rules.Rule.expand_resources, {}

    def expand_once(
        rule: Any, wildcards: object, files: object, attempt: int, skip_evaluation: Iterable[str] = ()
    ) -> Any:
        key = rule, attempt, frozenset(skip_evaluation)
        if key not in expanded:
            expanded[key] = expand(rule, wildcards, files, attempt, skip_evaluation)
        return ResourceList(fromdict=dict(expanded[key].items()))  # a job may add to its own

    rules.Rule.expand_resources = expand_once


def is_flagged(value: Any, flag: str) -> bool:
    """As Snakemake's, which asks first whether the value is of an abstract class: a hundred times a job."""
    return bool(getattr(value, "flags", _NO_FLAGS).get(flag))


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
