"""mpicampaign report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.cli.common import CAMPAIGN, add_campaign, counts, prepared_of
from mpicampaign.errors import Problem, UserError

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, or the map of an import."""
    add_campaign(parser)
    parser.add_argument("--map", type=Path, help="instead of a campaign file: the map of an import")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.analyse import analyse
    from mpicampaign.jobs.prepare import write_plan

    if options.map:
        _check_import_alone(options)
        return _report_of_import(options.map)
    prepared = prepared_of(options)
    write_plan(prepared)
    text = options.campaign.read_text(encoding="utf-8")
    records = analyse(prepared.folder, prepared.campaign.presentation, text)
    print(f"{counts(records)}; {prepared.folder / 'report.html'}")
    return 0


def _check_import_alone(options: argparse.Namespace) -> None:
    """Refuse options that ``--map`` would ignore."""
    given = {"--campaign": options.campaign != CAMPAIGN, "--system": bool(options.system)}
    problems = [Problem("--map reports an import", key=key) for key, there in given.items() if there]
    if problems:
        raise UserError(problems)


def _report_of_import(file: Path) -> int:
    from mpicampaign.analyse import analyse
    from mpicampaign.collect.campaign import holds_results
    from mpicampaign.imports.map_file import load_map
    from mpicampaign.places import results_folder
    from mpicampaign.yaml_lines import printable

    chosen = load_map(file)
    folder = results_folder() / chosen.campaign
    if not holds_results(folder):
        hint = f"mpicampaign import FOLDER... --map {file}"
        raise UserError(Problem("nothing was imported with this map yet", printable(str(file)), hint=hint))
    records = analyse(folder, chosen.presentation, chosen.text)
    print(f"{counts(records)}; {folder / 'report.html'}")
    return 0
