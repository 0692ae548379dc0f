"""The errors in a campaign's limits, which only the metrics of its benchmarks show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
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
        problems += _size_problem(campaign, number)
        side = "at_most" if limit.at_most else "at_least"
        if limit.against is None and (value := getattr(limit, side)):
            try:
                limit_value(value, dimension.si_unit)
            except ValueError as error:
                message = f"{limit.metric}: {error}"
                problems.append(campaign.document.problem(("expect", number, side), message))
    return problems


def _size_problem(campaign: Campaign, number: int) -> Iterator[Problem]:
    """That a limit is at a message size which no run of its benchmark prints, as far as arguments tell."""
    from mpicampaign.base.records import defined_name
    from mpicampaign.base.units import format_size
    from mpicampaign.compare.metrics import size_named
    from mpicampaign.suites import SUITES

    limit = campaign.expect[number]
    size, benchmarks = size_named(limit.metric), campaign.benchmarks.items()
    meant = [of for name, of in benchmarks if limit.benchmark in (name, defined_name(name))]
    suites = [(SUITES.get(of.suite), of) for of in meant]
    printed = [sorted(suite.sizes(of.program, of.arguments)) if suite else [] for suite, of in suites]
    if size is None or not all(printed):
        return
    reasons = [_why_none(limit.metric, size, sizes) for sizes in printed]
    if all(reasons):
        texts = [format_size(of) for of in sorted({*chain.from_iterable(printed)})]
        hint = f"sizes: {', '.join([*texts[:3], '…', texts[-1]] if len(texts) > 4 else texts)}"
        message = f"{limit.benchmark}: {reasons[0]}"
        yield campaign.document.problem(("expect", number, "metric"), message, limit.metric, hint)


def _why_none(metric: str, size: int, known: Sequence[int]) -> str:
    """Why there is no metric at a size; empty where there may be one."""
    from mpicampaign.base.units import format_size

    if size not in known:
        return f"its arguments give no message of {format_size(size)}"
    if metric.startswith("latency at ") and size not in (0, next((first for first in known if first), 0)):
        return "the latency is that of the smallest message"
    return ""


def limit_problems_beside(known: Sequence[Problem], file: Path) -> list[Problem]:
    """The errors in the limits of a campaign file, beside those that keep it from being used."""
    from mpicampaign.campaign.file import read_campaign

    try:
        campaign, _ = read_campaign(file)
    except UserError:  # it is known
        return []
    keys = {problem.key for problem in known}
    return [problem for problem in _problems(campaign) if problem.key not in keys]
