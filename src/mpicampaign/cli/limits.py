"""The errors in a campaign's limits, which only the metrics of its benchmarks show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.base.errors import Problem, UserError

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Campaign


def check_limits(campaign: Campaign) -> None:
    """Refuse limits of metrics that no run of their benchmark can have, or in a unit that theirs is not in.

    Raises
    ------
    UserError
        with all of them.
    """
    if problems := _problems(campaign):
        raise UserError(problems)


def _problems(campaign: Campaign) -> list[Problem]:
    """The errors in its limits; of a benchmark that is not defined, none."""
    if not campaign.expect:
        return []
    from mpicampaign.base.expectation import limit_value
    from mpicampaign.base.records import defined_name
    from mpicampaign.compare.metrics import dimension_named

    benchmarks = {defined_name(name): benchmark for name, benchmark in campaign.benchmarks.items()}
    problems: list[Problem] = []
    for number, limit in enumerate(campaign.expect):
        if limit.benchmark not in benchmarks:
            continue
        benchmark = benchmarks[limit.benchmark]
        metrics = {name: (metric.unit, metric.better) for name, metric in benchmark.metrics.items()}
        dimension = dimension_named(benchmark.suite, metrics, limit.metric)
        if dimension is None:
            known = ", ".join(metrics) or "latency at 0 B, maximum bandwidth"
            hint = f"such as {known}; the tables of a report have the metrics of its results"
            message, key = f"no run of {limit.benchmark} can have this metric", ("expect", number, "metric")
            problems.append(campaign.document.problem(key, message, limit.metric, hint))
            continue
        side = "at_most" if limit.at_most else "at_least"
        if limit.against is None and (value := getattr(limit, side)):
            try:
                limit_value(value, dimension.si_unit)
            except ValueError as error:
                message = f"{limit.metric}: {error}"
                problems.append(campaign.document.problem(("expect", number, side), message))
    return problems


def limit_problems_beside(known: Sequence[Problem], file: Path) -> list[Problem]:
    """The errors in the limits of a campaign file, beside those that keep it from being used."""
    from mpicampaign.campaign.file import read_campaign

    try:
        campaign, _ = read_campaign(file)
    except UserError:  # it is known
        return []
    keys = {problem.key for problem in known}
    return [problem for problem in _problems(campaign) if problem.key not in keys]
