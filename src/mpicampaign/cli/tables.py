"""mpicampaign tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
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
from mpicampaign.report import exports
from mpicampaign.report.columns import ANSWERS, MEDIANS, VALUES
from mpicampaign.report.exports import export_writer
from mpicampaign.show.view import Filter, View
from mpicampaign.show.writer import DataWriter, format_names, writer

# Parts of a results folder that no table replaces.
_RESULTS = (
    *(FILE, "records.jsonl", "earlier.jsonl", "series.json", "runs", "imports", "merged", "history"),
    "report.html",
)

EXAMPLES = (
    (
        "mpicampaign tables mine.yaml --benchmark PingPong --metric 'latency at 0 B'",
        "one number per placement",
    ),
    ("mpicampaign tables mine.yaml --each-run --format csv -o values.csv", "all values of all runs"),
    ("mpicampaign tables mine.yaml --format openmetrics -o mine.prom", "for Prometheus, Grafana"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to show, and how."""
    add_campaign(parser, system=False)
    parser.add_argument("--results", type=Path, help="a folder with records.jsonl, or such a file")
    parser.add_argument(
        "--format", choices=(*format_names(), *format_names(exports.__path__)), default="terminal"
    )
    add_selection(parser)
    add_by(parser)
    add_names(parser, "--metric", "only these metrics, such as 'latency at 0 B'")
    table = parser.add_mutually_exclusive_group()
    table.add_argument("--each-run", action="store_true", help="as data: a line for each run and size")
    table.add_argument("--answers", action="store_true", help="as data: who is best of all, by how much")
    parser.add_argument("--unit", choices=BANDWIDTH_UNITS, help="of bandwidths in text (default: MB/s)")
    parser.add_argument("--sizes", help="message sizes to show, such as 1024,8KiB (default: the campaign's)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.collect.campaign import records_in
    from mpicampaign.compare.compare import compare
    from mpicampaign.report.filter import check_attribute, select
    from mpicampaign.report.make import tables
    from mpicampaign.show.writers.terminal import WIDTH, terminal_width

    _check_options(options)
    only = Filter(*map(tuple, (options.benchmark, options.metric, options.host_group, options.placement)))
    place = results_of(options)
    check_target(options.output, place if place.is_dir() else place.parent, options.format)
    header, records = records_in(place)
    repeats = RunSelection(repeats=spans(options.repeat))
    repeats.check((record.case, record.repeat) for record in records)
    records = [record for record in records if repeats.takes(record.case, record.repeat)]
    sizes = tuple(_sizes(options.sizes, header))
    view = View(options.unit or BANDWIDTH_UNITS[0], only=only, table_sizes=sizes, by=options.by)
    if options.sizes is not None:
        _check_sizes(view.table_sizes, records)
    comparison = compare(records, view.table_sizes, view.by)
    check_attribute(comparison)
    shown = comparison if options.answers else select(comparison, view.only)
    width = WIDTH if options.output else terminal_width()
    content = tables(shown, options.format, view, header.campaign, width, _table(options))
    write_table(content, options.output, options.format)
    return DONE


def _table(options: argparse.Namespace) -> str:
    """Which of the tables of results."""
    return VALUES if options.each_run else ANSWERS if options.answers else MEDIANS


def _check_options(options: argparse.Namespace) -> None:
    """Refuse what is given beside an option that ignores it."""
    choices = ("benchmark", "metric", "host_group", "placement", "repeat") if options.answers else ()
    problems = [
        Problem("not allowed with --answers, which are of all", key=f"--{name.replace('_', '-')}")
        for name in choices
        if getattr(options, name)
    ]
    export = export_writer(options.format)
    is_data = not export and isinstance(writer(options.format), DataWriter)
    if options.unit and (is_data or export):
        hint = "data are in SI units: each line has its own in the column unit"
        problems.append(Problem("not allowed with a format for programs", key="--unit", hint=hint))
    if not is_data and _table(options) != MEDIANS:
        key = "--each-run" if options.each_run else "--answers"
        hint = "add --format csv, json or parquet"
        problems.append(Problem("needs a format for programs", key=key, hint=hint))
    if options.each_run and options.sizes:
        problems.append(Problem("not allowed with --each-run, which has all sizes", key="--sizes"))
    if problems:
        raise UserError(problems)


def check_target(output: Path | None, folder: Path, name: str, ending: str = "") -> None:
    """Refuse to replace anything but a table: a campaign file, or a file of the results.

    Raises
    ------
    UserError
        with the file.
    """
    if output is None or not output.is_file():
        return
    ending = ending or (export_writer(name) or writer(name)).ending
    if output.suffix.casefold() != ending:
        hint = f"output as {name} replaces files *{ending} only: give another name, or remove this file"
        raise UserError(Problem("this file exists already", file=str(output), hint=hint))
    if any(output.resolve().is_relative_to(folder.resolve() / part) for part in _RESULTS):
        hint = "give another name"
        raise UserError(Problem("this file is one of the results", file=str(output), hint=hint))


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
