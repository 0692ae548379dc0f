"""mpicampaign history."""

from __future__ import annotations

import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.cli.campaign_argument import add_campaign, check_results
from mpicampaign.cli.common import add_names, print_lines
from mpicampaign.errors import Problem, UserError, did_you_mean
from mpicampaign.files import write_output
from mpicampaign.show.figures.page import FORMATS
from mpicampaign.show.writer import DataWriter, format_names, writer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from mpicampaign.history.curves import Curve, CurveKey
    from mpicampaign.history.overview import Overview
    from mpicampaign.history.store import Store

_TERMINAL = "-"  # a plot that goes to the terminal
_FILTERS: dict[str, Callable[[CurveKey], str]] = {
    "benchmark": lambda key: key.benchmark,
    "host_group": lambda key: key.host_group,
    "placement": lambda key: key.placement,
    "metric": lambda key: key.metric,
}

EXAMPLES = (
    ("mpicampaign history mine.yaml", "all series, what changed, since when, and what else changed then"),
    (
        "mpicampaign history mine.yaml --benchmark PingPong --since 2026-03-01 --plot",
        "its curves, drawn in the terminal",
    ),
    ("mpicampaign history mine.yaml --format csv -o history.csv", "every point as data"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, the part of its history to show, and the format."""
    add_campaign(parser, system=False)
    parser.add_argument("--results", type=Path, help="a folder results/CAMPAIGN, in place of a campaign file")
    for name in _FILTERS:
        add_names(parser, _option(name), "only its curves")
    parser.add_argument("--since", metavar="DATE", help="only points from this day on, such as 2026-03-01")
    parser.add_argument("--until", metavar="DATE", help="only points up to this day")
    parser.add_argument("--format", choices=format_names(), default="terminal")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output")
    what = parser.add_mutually_exclusive_group()
    plot = f"draw the curves, into a file ({', '.join(FORMATS)}) or here"
    what.add_argument("--plot", nargs="?", const=_TERMINAL, metavar="FILE", help=plot)
    what.add_argument("--files", metavar="SERIES", help="list the raw files of a finished series")
    what.add_argument("--extract", nargs=2, metavar=("SERIES", "FILE"), help="write a raw file of a series")
    what.add_argument(
        "--merge", type=Path, metavar="FOLDER", help="add the finished series of FOLDER/history"
    )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def run(options: argparse.Namespace) -> int:
    from mpicampaign.history.store import FOLDER, Store

    folder = _folder(options)
    store = Store(folder / FOLDER)
    if options.files:
        members = store.manifest(options.files)
        print_lines(*(f"{member.size:>10} {member.path}" for member in members))
    elif options.extract:
        _write(store.content(*options.extract), options.output)
    elif options.merge:
        check_results(options.merge, "--merge")
        return _merge(store, options.merge / FOLDER)
    else:
        _show(folder, options)
    return 0


def _folder(options: argparse.Namespace) -> Path:
    if options.results is not None:
        check_results(options.results, "--results")
        return Path(options.results)
    from mpicampaign.campaign.file import load_campaign
    from mpicampaign.places import results_folder

    return results_folder() / load_campaign(options.campaign).name


def _merge(store: Store, other: Path) -> int:
    from mpicampaign.history.store import Store

    lines = store.merge(Store(other))
    if not lines:
        raise UserError(
            Problem("no finished series there", str(other), hint="give a folder results/CAMPAIGN")
        )
    print_lines(*lines, *store.problems)
    return int(bool(store.problems) or any("refused" in line for line in lines))


def _show(folder: Path, options: argparse.Namespace) -> None:
    from mpicampaign.cli.tables import check_target
    from mpicampaign.history.overview import overview
    from mpicampaign.show.history import history_data, history_document

    check_target(options.output, folder, options.format)
    history = _filtered(overview(folder), options)
    chosen = writer(options.format)
    if options.plot is not None:
        _plot(history, options.plot)
    elif isinstance(chosen, DataWriter):
        _write(chosen.write(history_data(history), history.campaign), options.output)
    else:
        _write(chosen.write(history_document(history)).encode(), options.output)


def _filtered(history: Overview, options: argparse.Namespace) -> Overview:
    """Only the curves and points that are asked for.

    Raises
    ------
    UserError
        for each name that no curve has, and each date that is none.
    """
    wanted = {name: {value.casefold() for value in getattr(options, name)} for name in _FILTERS}
    problems = [
        Problem("no curve has this name", key=_option(name), value=value, hint=did_you_mean(value, known))
        for name, of in _FILTERS.items()
        for known in [sorted({of(curve.key) for curve in history.curves})]
        for value in getattr(options, name)
        if value.casefold() not in map(str.casefold, known)
    ]
    days = {name: _day(getattr(options, name), name, problems) for name in ("since", "until")}
    if problems:
        raise UserError(problems)
    kept = [
        curve
        for curve in history.curves
        if all(not wanted[name] or of(curve.key).casefold() in wanted[name] for name, of in _FILTERS.items())
    ]
    curves = tuple(part for curve in kept if (part := _between(curve, days["since"], days["until"])).points)
    if not curves:
        raise UserError(Problem("no point matches all filters"))
    from mpicampaign.history.causes import events

    return history._replace(curves=curves, events=tuple(events(curves)))


def _day(text: str | None, name: str, problems: list[Problem]) -> str:
    if text is None:
        return ""
    try:
        return f"{datetime.fromisoformat(text).replace(tzinfo=UTC):%Y-%m-%d}"
    except ValueError:
        problems.append(Problem("not a date such as 2026-03-01", key=f"--{name}", value=text))
        return ""


def _between(curve: Curve, since: str, until: str) -> Curve:
    """The part of a curve between two days, both included."""
    from dataclasses import replace

    numbers = [
        n
        for n, point in enumerate(curve.points)
        if since <= point.time[:10] and (not until or point.time[:10] <= until)
    ]
    if not numbers:
        return replace(curve, points=(), changes=())
    first, last = numbers[0], numbers[-1]
    changes = [change for change in curve.changes if first < change.index <= last and change.reported <= last]
    moved = tuple(replace(each, index=each.index - first, reported=each.reported - first) for each in changes)
    return replace(curve, points=curve.points[first : last + 1], changes=moved)


def _plot(history: Overview, target: str) -> None:
    from mpicampaign.show.history import terminal_plot

    if target == _TERMINAL:
        width = shutil.get_terminal_size((100, 24)).columns
        print_lines(*(line for curve in history.curves for line in terminal_plot(curve, width)))
        return
    path = Path(target)
    if path.suffix.removeprefix(".") not in FORMATS:
        raise UserError(Problem("the file name must end in .svg, .png or .pdf", key="--plot", value=target))
    from mpicampaign.show.charts.history import time_chart
    from mpicampaign.show.figures.draw import write_chart

    write_chart(time_chart(history.campaign, _few(history.curves)), path)


def _few(curves: Iterable[Curve]) -> list[Curve]:
    found, most = list(curves), 12
    if len(found) > most:
        hint = "choose with --benchmark, --host-group, --placement, --metric"
        raise UserError(
            Problem(f"a figure shows at most {most} curves, not {len(found)}", key="--plot", hint=hint)
        )
    return found


def _write(content: bytes, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        write_output(output, content)
