"""mpicampaign tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mpicampaign.base.dimension import BANDWIDTH_UNITS
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import write_output
from mpicampaign.base.plan_file import FILE
from mpicampaign.base.presentation import TABLE_SIZES
from mpicampaign.base.records import Header, Record
from mpicampaign.base.selection import RunSelection, spans
from mpicampaign.base.units import format_size, parse_size
from mpicampaign.cli.campaign_argument import add_campaign, results_of
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.options import add_by, add_names, add_selection
from mpicampaign.cli.output import print_lines
from mpicampaign.show.view import LAYOUTS, LONG, MATRIX, STATISTICS, Filter, View
from mpicampaign.show.writer import DataWriter, TextWriter, Writer, format_names, writer

_MOST_DECIMALS = 12
# Parts of a results folder that no table replaces.
_RESULTS = (
    *(FILE, "records.jsonl", "earlier.jsonl", "series.json", "runs", "imports", "merged", "history"),
    "report.html",
)

_IGNORED_BY = {
    "--list": ("benchmark", "metric", "host_group", "placement", "repeat", "columns", "output"),
    f"--layout {MATRIX}": ("columns",),
    f"--layout {LONG}": ("statistic",),
}

REMOVED = {"--since": "removed: use mpicampaign compare EARLIER NOW"}
EXAMPLES = (
    (
        "mpicampaign tables mine.yaml --benchmark PingPong --metric 'latency at 0 B'",
        "one number per placement",
    ),
    ("mpicampaign tables mine.yaml --layout matrix --format latex", "host groups × placements, for a paper"),
    ("mpicampaign tables mine.yaml --placement TCP,SHM --repeat 1-3 --format csv", "data of these runs"),
    ("mpicampaign tables --results results/stfc-2017 --list", "the names that can be chosen"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to show, and how."""
    add_campaign(parser, system=False)
    parser.add_argument("--results", type=Path, help="a folder with records.jsonl, or such a file")
    parser.add_argument("--format", choices=format_names(), default="terminal")
    parser.add_argument("--layout", choices=LAYOUTS, default=LONG, help="matrix: host groups × placements")
    add_selection(parser)
    add_by(parser)
    add_names(parser, "--metric", "only these metrics, such as 'latency at 0 B'")
    parser.add_argument("--statistic", choices=STATISTICS, help="of the matrix layout (default: median)")
    parser.add_argument("--unit", choices=BANDWIDTH_UNITS, help="unit of bandwidths (default: MB/s)")
    parser.add_argument(
        "--decimals",
        type=int,
        metavar="N",
        help="of all numbers; without --unit and --decimals, data formats have full precision",
    )
    add_names(parser, "--columns", "only these columns; --list shows the names")
    parser.add_argument("--sizes", help="message sizes to show, such as 1024,8KiB (default: the campaign's)")
    parser.add_argument("--list", action="store_true", help="only list the names that may be chosen")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.compare.compare import compare
    from mpicampaign.report.filter import check_attribute, list_text, select
    from mpicampaign.report.make import tables
    from mpicampaign.show.writers.terminal import WIDTH, terminal_width

    view = _view(options)
    place = results_of(options)
    path = _in_folder(place)
    check_target(options.output, path.parent, options.format)
    header, records = records_in(place)
    repeats = RunSelection(repeats=spans(options.repeat))
    repeats.check((record.case, record.repeat) for record in records)
    records = [record for record in records if repeats.takes(record.case, record.repeat)]
    view = replace(view, table_sizes=tuple(_sizes(options.sizes, header)))
    if options.sizes is not None:
        _check_sizes(view.table_sizes, records)
    comparison = compare(records, view.table_sizes, view.by)
    check_attribute(comparison)
    if options.list:
        print_lines(list_text(comparison, _columns(TextWriter), _columns(DataWriter)))
        return DONE
    shown = select(comparison, view.only)
    width = WIDTH if options.output else terminal_width()
    content = tables(shown, options.format, view, header.campaign, width)
    write_table(content, options.output, options.format)
    return DONE


def _view(options: argparse.Namespace) -> View:
    """What is shown and how; all errors in it at once."""
    from mpicampaign.report.data import plain_name
    from mpicampaign.report.filter import unknown

    si = options.unit is None and options.decimals is None
    unit, statistic = options.unit or BANDWIDTH_UNITS[0], options.statistic or STATISTICS[0]
    columns = tuple(plain_name(name.casefold()) for name in options.columns)
    only = Filter(*map(tuple, (options.benchmark, options.metric, options.host_group, options.placement)))
    view = View(unit, statistic, options.decimals, si, options.layout, columns, only, by=options.by)
    problems = [
        *_ignored(options),
        *unknown("--columns", columns, _columns(type(writer(options.format)))),
    ]
    if options.decimals is not None and not 0 <= options.decimals <= _MOST_DECIMALS:
        value = str(options.decimals)
        problems.append(Problem(f"must be between 0 and {_MOST_DECIMALS}", key="--decimals", value=value))
    if problems:
        raise UserError(problems)
    return view


def _ignored(options: argparse.Namespace) -> Iterator[Problem]:
    """What is given beside an option that ignores it."""
    for other in (*(["--list"] if options.list else []), f"--layout {options.layout}"):
        for name in _IGNORED_BY[other]:
            if getattr(options, name):
                yield Problem(f"not allowed with {other}", key=f"--{name.replace('_', '-')}")


def check_target(output: Path | None, folder: Path, name: str, ending: str = "") -> None:
    """Refuse to replace anything but a table: a campaign file, or a file of the results.

    Raises
    ------
    UserError
        with the file.
    """
    if output is None or not output.is_file():
        return
    ending = ending or writer(name).ending
    if output.suffix.casefold() != ending:
        hint = f"output as {name} replaces files *{ending} only: give another name, or remove this file"
        raise UserError(Problem("this file exists already", file=str(output), hint=hint))
    if any(output.resolve().is_relative_to(folder.resolve() / part) for part in _RESULTS):
        hint = "give another name"
        raise UserError(Problem("this file is one of the results", file=str(output), hint=hint))


def _columns(kind: type[Writer]) -> Sequence[str]:
    """The columns that can be chosen in formats of this kind."""
    from mpicampaign.report.data import COLUMNS, plain_name
    from mpicampaign.show.tables import LONG_COLUMNS

    if kind is TextWriter:
        return LONG_COLUMNS
    return [plain_name(column.name) for column in COLUMNS]


def records_in(place: Path) -> tuple[Header, list[Record]]:
    """From the last report, or from the results themselves if bundles were merged since."""
    from mpicampaign.base.records import Header, read_records
    from mpicampaign.collect.campaign import collect_all, plan_of
    from mpicampaign.collect.merged import merged_folders

    path = _in_folder(place)
    made = path.stat().st_mtime if path.is_file() else 0.0
    if not any(folder.stat().st_mtime > made for folder in merged_folders(place)):
        return read_records(_records_file(place))
    header = read_records(path)[0] if made else Header(plan_of(place).campaign)
    return header, collect_all(place)


def _in_folder(place: Path) -> Path:
    return place / "records.jsonl" if place.is_dir() else place


def _records_file(place: Path) -> Path:
    path = _in_folder(place)
    if not path.is_file():
        hint = "mpicampaign report makes records.jsonl from the results"
        raise UserError(Problem("no records found", file=str(path), hint=hint))
    return path


def _sizes(wanted: str | None, header: Header) -> Sequence[int]:
    """Message sizes (B) that tables show."""
    if wanted is None:
        return header.table_sizes or TABLE_SIZES
    try:
        return tuple(sorted({parse_size(part) for part in wanted.split(",")}))
    except ValueError as error:
        raise UserError(Problem(str(error), key="--sizes")) from error


def _check_sizes(wanted: Sequence[int], records: Sequence[Record]) -> None:
    """Refuse a size that no run printed; otherwise the table would show another size."""
    tables = (series for record in records for series in record.series)
    sizes = {size for series in tables for size in series.columns.get("size", ())}
    printed = sorted(int(size) for size in sizes if size is not None)
    hint = "known: " + ", ".join(map(format_size, printed))
    wrong = [format_size(size) for size in wanted if size not in printed]
    if wrong and printed:
        message = "no run printed this size"
        raise UserError([Problem(message, key="--sizes", value=size, hint=hint) for size in wrong])


def write_table(content: bytes, output: Path | None, form: str) -> None:
    if output is not None:
        write_output(output, content)
    elif form == "parquet" and sys.stdout.isatty():
        raise UserError(Problem("cannot write Parquet to a terminal", hint="give a file: -o tables.parquet"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
