"""mpicampaign export."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpicampaign.base.presentation import TABLE_SIZES
from mpicampaign.cli.campaign_argument import add_campaign, results_of
from mpicampaign.cli.exit_status import DONE
from mpicampaign.report import exports
from mpicampaign.report.exports import export_writer
from mpicampaign.show.writer import format_names

EXAMPLES = (
    (
        "mpicampaign export mine.yaml --format openmetrics -o mine.prom",
        "for Prometheus, node_exporter, Grafana",
    ),
    ("mpicampaign export --results results/mine --format reframe-perflog", "for what reads ReFrame's logs"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Whose results, and for which system."""
    add_campaign(parser, system=False)
    parser.add_argument("--results", type=Path, help="a folder with records.jsonl, or such a file")
    parser.add_argument("--format", choices=format_names(exports), required=True)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.cli.tables import check_target, records_in, write_table
    from mpicampaign.compare.compare import compare

    chosen, place = export_writer(options.format), results_of(options)
    check_target(options.output, place if place.is_dir() else place.parent, options.format, chosen.ending)
    header, records = records_in(place)
    comparison = compare(records, header.table_sizes or TABLE_SIZES)
    write_table(chosen.write(comparison, header.campaign), options.output, options.format)
    return DONE
