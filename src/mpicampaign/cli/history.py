"""mpicampaign history."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.selection import variant_names
from mpicampaign.cli.campaign_argument import add_campaign, add_results, results_of
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.options import add_names
from mpicampaign.show.writer import DataWriter, format_names, writer

if TYPE_CHECKING:
    from mpicampaign.history.curves import Curve, CurveKey
    from mpicampaign.history.overview import Overview

_FILTERS: dict[str, Callable[[CurveKey], tuple[str, ...]]] = {
    "benchmark": lambda key: variant_names(key.benchmark),
    "host_group": lambda key: (key.host_group,),
    "placement": lambda key: variant_names(key.placement),
    "metric": lambda key: (key.metric,),
}

EXAMPLES = (
    ("mpicampaign history mine.yaml", "all series, what changed, since when, and what else changed then"),
    ("mpicampaign history mine.yaml --benchmark PingPong --since 2026-03-01", "one benchmark, since March"),
    ("mpicampaign history mine.yaml --format csv -o history.csv", "every point as data"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, the part of its history to show, and the format."""
    add_campaign(parser, system=False)
    add_results(parser)
    add_filters(parser)
    parser.add_argument("--since", metavar="DATE", help="only points from this day on, such as 2026-03-01")
    parser.add_argument("--format", choices=format_names(), default="terminal")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output")


def add_filters(parser: argparse._ActionsContainer) -> None:
    """Options that choose curves; see `chosen_curves`."""
    for name in _FILTERS:
        add_names(parser, _option(name), "only its curves")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def run(options: argparse.Namespace) -> int:
    from mpicampaign.cli.tables import check_target, write_table
    from mpicampaign.history.overview import overview
    from mpicampaign.questions.history.say import history_data, history_document

    folder = results_of(options)
    check_target(options.output, folder, options.format)
    history = filtered(overview(folder), options)
    chosen = writer(options.format)
    if isinstance(chosen, DataWriter):
        content = chosen.write(history_data(history), history.campaign)
    else:
        content = chosen.write(history_document(history)).encode()
    write_table(content, options.output, options.format)
    return DONE


def filtered(history: Overview, options: argparse.Namespace) -> Overview:
    """Only the curves and points that are asked for."""
    problems = unknown_names([curve.key for curve in history.curves], options)
    since = _day(options.since, problems)
    if problems:
        raise UserError(problems)
    matching = [curve for curve in history.curves if is_chosen(curve.key, options)]
    curves = tuple(part for curve in matching if (part := _from(curve, since)).points)
    if not curves:
        raise UserError(Problem("no point matches all filters"))
    from mpicampaign.history.changes import events

    return history._replace(curves=curves, events=tuple(events(curves)))


def unknown_names(keys: Sequence[CurveKey], options: argparse.Namespace) -> list[Problem]:
    """A problem for each name of the options that no curve has."""
    return [
        Problem("no curve has this name", key=_option(name), value=value, hint=did_you_mean(value, known))
        for name, of in _FILTERS.items()
        for known in [sorted({known_name for key in keys for known_name in of(key)})]
        for value in getattr(options, name)
        if value not in known
    ]


def is_chosen(key: CurveKey, options: argparse.Namespace) -> bool:
    """Whether the options name a curve; all where they name none."""
    wanted = {of: {*getattr(options, name)} for name, of in _FILTERS.items()}
    return all(not names or names.intersection(of(key)) for of, names in wanted.items())


def _day(text: str | None, problems: list[Problem]) -> str:
    if text is None:
        return ""
    try:
        return f"{datetime.fromisoformat(text).replace(tzinfo=UTC):%Y-%m-%d}"
    except ValueError:
        problems.append(Problem("not a date such as 2026-03-01", key="--since", value=text))
        return ""


def _from(curve: Curve, day: str) -> Curve:
    """The part of a curve from a day on."""
    times = [point.time[:10] for point in curve.points]
    first = next((number for number, time in enumerate(times) if time >= day), len(times))
    later = (change for change in curve.changes if change.index > first)
    moved = (
        replace(change, index=change.index - first, reported=change.reported - first) for change in later
    )
    return replace(curve, points=curve.points[first:], changes=tuple(moved))
