"""The errors in a campaign's limits, which only the metrics of its benchmarks show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.base.errors import Problem, UserError

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Campaign

_FIRST = 8  # B: reductions and others that begin at their element print it first


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
    """The errors in its limits and sizes; of a benchmark that is not defined, none."""
    if not (campaign.expect or campaign.document.items(("table_sizes",))):
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
    keys = {problem.key for problem in problems}
    return [*problems, *(problem for problem in _size_problems(campaign) if problem.key not in keys)]


def _size_problems(campaign: Campaign) -> Iterator[Problem]:
    """Limits and columns of tables at message sizes that no run prints, as far as arguments tell."""
    from mpicampaign.base.units import format_size
    from mpicampaign.compare.metrics import size_named

    for number, limit in enumerate(campaign.expect):
        size, printed = size_named(limit.metric), _sizes_of(campaign, [limit.benchmark])
        if size is None or not printed:
            continue
        reasons = [_why_none(limit.metric, size, of_one, campaign.table_sizes) for of_one in printed]
        if all(reasons):
            message, key = f"{limit.benchmark}: {reasons[0]}", ("expect", number, "metric")
            yield campaign.document.problem(key, message, limit.metric, _has(printed))
    places = [place for place, _ in campaign.document.items(("table_sizes",))]
    printed = _sizes_of(campaign, [name for entry in campaign.matrix for name in entry.benchmarks])
    sizes = campaign.table_sizes if printed and places else ()
    places = places if len(places) == len(sizes) else [("table_sizes",)] * len(sizes)
    for place, size in zip(places, sizes, strict=True):
        if not any(size in of_one for of_one in printed):
            message = "no benchmark of the matrix prints this size"
            yield campaign.document.problem(place, message, format_size(size), _has(printed))


def _sizes_of(campaign: Campaign, names: Collection[str]) -> list[list[int]]:
    """The sizes that each of some benchmarks prints; none where those of any are not known."""
    from mpicampaign.base.records import defined_name
    from mpicampaign.suites import SUITES

    meant = [of for name, of in campaign.benchmarks.items() if {name, defined_name(name)} & {*names}]
    suites = [(SUITES.get(of.suite), of) for of in meant]
    sizes = [sorted(suite.sizes(of.program, of.arguments)) if suite else [] for suite, of in suites]
    return sizes if all(sizes) else []


def _why_none(metric: str, size: int, known: Sequence[int], shown: Sequence[int]) -> str:
    """Why there is no metric at a size; empty where there may be one."""
    from mpicampaign.base.units import format_size

    text, first = format_size(size), next((size for size in known if size), 0)
    if size not in known:
        return f"its arguments give no message of {text}"
    if metric.startswith("latency at ") and size not in (0, first):
        return "the latency is that of the smallest message"
    others = {*shown} & {*known}
    if others and size > max(first, _FIRST) and size not in others:
        return f"tables have columns at table_sizes alone: add {text.replace(' ', '')} there"
    return ""


def _has(printed: Iterable[Sequence[int]]) -> str:
    """``sizes: 0 B, 1 B, 2 B, …, 4 MiB``."""
    from mpicampaign.base.units import format_size

    texts = [format_size(size) for size in sorted({*chain.from_iterable(printed)})]
    return f"sizes: {', '.join([*texts[:3], '…', texts[-1]] if len(texts) > 4 else texts)}"


def limit_problems_beside(known: Sequence[Problem], file: Path) -> list[Problem]:
    """The errors in the limits of a campaign file, beside those that keep it from being used."""
    from mpicampaign.campaign.file import read_campaign

    try:
        campaign, _ = read_campaign(file)
    except UserError:  # it is known
        return []
    keys = {problem.key for problem in known}
    return [problem for problem in _problems(campaign) if problem.key not in keys]
