"""mpicampaign compare."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.grouping import grouped
from mpicampaign.base.presentation import TABLE_SIZES
from mpicampaign.base.selection import variant_names
from mpicampaign.cli.campaign_argument import CAMPAIGN, check_there
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.tables import check_target, write_table
from mpicampaign.show.writer import TextWriter, names_of, writer

if TYPE_CHECKING:
    from mpicampaign.history.curves import Curve
    from mpicampaign.history.store import Store
    from mpicampaign.questions.two_sides.find import Both, Side, TwoSides
    from mpicampaign.show.document import Node

EXAMPLES = (
    (
        "mpicampaign compare 2026-11-01 2026-11-20",
        "before and after, by two dates of campaign.yaml's history",
    ),
    ("mpicampaign compare results/mine site-b.tar.gz", "own results and the bundle of another site"),
    ("mpicampaign compare results/old results/new --format csv -o changes.csv", "two folders, as data"),
    ("mpicampaign compare mine.yaml --with public", "own medians beside public systems of like kind"),
    ("mpicampaign compare mine.yaml --with bundles/*.tar.gz", "the same, and bundles of other sites"),
)
PUBLIC = "public"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class _Named(NamedTuple):
    """A side, and the series of the campaign's history that it is, if it is one."""

    side: Side
    sizes: Sequence[int]
    series: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The two sides, and the form of the answer."""
    what = (
        "a folder results/CAMPAIGN, a bundle, a packed series, or a date or series of the campaign's history"
    )
    parser.add_argument("before", metavar="A", help=what)
    parser.add_argument("after", metavar="B", nargs="?", help="the same; ratios are B / A")
    parser.add_argument(
        "--with",
        dest="beside",
        nargs="+",
        metavar="WHAT",
        help=f"instead of B: {PUBLIC}, systems whose values are public; or bundles, which join these",
    )
    parser.add_argument(
        "--campaign", type=Path, default=CAMPAIGN, metavar="FILE", help="whose history (default: %(default)s)"
    )
    parser.add_argument("--format", choices=names_of(TextWriter), default="terminal")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.history.changes import NAMES
    from mpicampaign.history.rows import OBSERVED
    from mpicampaign.questions.two_sides.find import two_sides
    from mpicampaign.questions.two_sides.say import two_sides_document

    check_target(options.output, Path(), options.format)
    if (options.beside is None) == (options.after is None):
        hint = f"mpicampaign compare A B, or mpicampaign compare A --with {PUBLIC}"
        raise UserError(Problem("give what A is compared with: B, or --with", hint=hint))
    if options.beside:
        return _beside_public(options)
    before, after = (_side(text, options) for text in (options.before, options.after))
    sides = two_sides(before.side, after.side, after.sizes, OBSERVED, NAMES)
    known = dict(_of_history(sides, before.series, after.series, options))
    return _write(two_sides_document(sides, known), options)


def _write(document: Sequence[Node], options: argparse.Namespace) -> int:
    chosen = writer(options.format)
    if isinstance(chosen, TextWriter):
        write_table(chosen.write(document).encode(), options.output, options.format)
    return DONE


def _beside_public(options: argparse.Namespace) -> int:
    from mpicampaign.bundle.merge import records_of
    from mpicampaign.collect.campaign import collect_all
    from mpicampaign.compare.compare import compare
    from mpicampaign.questions.public_systems.find import values_of
    from mpicampaign.questions.public_systems.say import public_document
    from mpicampaign.show.view import DEFAULT

    path = Path(options.before)
    if path.suffix in (".yaml", ".yml"):
        check_there(path)
        path = results_of(path)
    records = collect_all(path) if path.is_dir() else records_of(path)
    bundles = [Path(name) for name in options.beside if name != PUBLIC]
    more = [value for bundle in bundles for value in values_of(compare(records_of(bundle)), bundle.name)]
    return _write(public_document(compare(records), more, DEFAULT), options)


def results_of(file: Path) -> Path:
    """The folder of a campaign file's results."""
    from mpicampaign.base.places import results_folder, work_beside
    from mpicampaign.campaign.file import load_campaign

    work_beside(file)
    return results_folder() / load_campaign(file).name


def _side(text: str, options: argparse.Namespace) -> _Named:
    from mpicampaign.bundle.merge import records_of
    from mpicampaign.cli.tables import records_in
    from mpicampaign.questions.two_sides.find import Side

    path = Path(text)
    if path.is_dir():
        header, records = records_in(path)
        return _Named(Side(text, records), header.table_sizes or TABLE_SIZES)
    if path.is_file():
        return _Named(Side(path.name, records_of(path)), TABLE_SIZES)
    return _in_history(text, options)


def _in_history(text: str, options: argparse.Namespace) -> _Named:
    """The series of a name, or the last one that had begun by the end of a day (UTC)."""
    from mpicampaign.cli.tables import records_in
    from mpicampaign.history.series import is_name, read_series
    from mpicampaign.questions.two_sides.find import Side

    if not (_DATE.fullmatch(text) or is_name(text)):
        hint = "give a folder, a bundle, a date such as 2026-11-20, or the name of a series"
        raise UserError(Problem("no such file, and no date or series", text, hint=hint))
    folder, store = _store(options)
    now = read_series(folder).name
    names = [*store.names(), *([now] if is_name(now) else [])]
    begun = [name for name in names if _DATE.fullmatch(text) and name[:8] <= text.replace("-", "")]
    chosen = text if text in names else max(begun, default="")
    if not chosen:
        hint = f"known: {names[0]} to {names[-1]}" if names else "mpicampaign tick makes series"
        raise UserError(Problem(f"no series {text}, or none had begun by then", str(folder), hint=hint))
    if chosen == now and chosen not in store.names():
        header, records = records_in(folder)
        return _Named(Side(text, records), header.table_sizes or TABLE_SIZES, chosen)
    return _Named(Side(text, store.records(chosen)), TABLE_SIZES, chosen)


def _store(options: argparse.Namespace) -> tuple[Path, Store]:
    from mpicampaign.base.places import results_folder
    from mpicampaign.campaign.file import load_campaign
    from mpicampaign.history.store import FOLDER, Store

    check_there(options.campaign)
    folder = results_folder() / load_campaign(options.campaign).name
    return folder, Store(folder / FOLDER)


def _of_history(
    sides: TwoSides, before: str, after: str, options: argparse.Namespace
) -> Iterator[tuple[int, str]]:
    """Which values the history knows to have changed between the two series, and since when."""
    if not (before and after):
        return
    from mpicampaign.history.overview import overview
    from mpicampaign.questions.history.say import day, with_text

    folder, _ = _store(options)
    curves = grouped(overview(folder).curves, _key)
    for number, one in enumerate(sides.both):
        for curve in curves.get(_key_of(one), ()):
            changes = [each for each in curve.changes if before < _series(curve, each.index) <= after]
            if changes and _holds(curve, after, one.after.values):
                point = curve.points[changes[-1].index]
                yield number, f"real: changed on {day(point.time)}, {with_text(changes[-1].causes)}"


def _series(curve: Curve, index: int) -> str:
    return curve.points[index].tick.partition("/")[0]


def _holds(curve: Curve, series: str, values: Sequence[float]) -> bool:
    """Whether the values are of this curve: states of a machine have one each, named by the whole history."""
    points = (point.value for index, point in enumerate(curve.points) if _series(curve, index) == series)
    return any(min(values) <= value <= max(values) for value in points)


def _key(curve: Curve) -> tuple[object, ...]:
    key = curve.key
    place = key.system, key.host_group, variant_names(key.placement)[1], key.benchmark
    return (*place, key.label, key.ranks, key.metric, key.size)


def _key_of(one: Both) -> tuple[object, ...]:
    case = one.row.case
    place = case.system, case.host_group, variant_names(case.placement)[1], case.benchmark
    return (*place, one.row.label, one.row.ranks, one.metric.name, one.metric.size)
