"""mpicampaign report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.cli.common import CAMPAIGN, add_campaign, counts, prepared_of
from mpicampaign.errors import Problem, UserError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.presentation import Presentation


ALL = "all"  # figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, or the map of an import."""
    add_campaign(parser)
    parser.add_argument("--map", type=Path, help="instead of a campaign file: the map of an import")
    recheck = "read all raw files again, even if none seems to have changed since the last report"
    parser.add_argument("--recheck", action="store_true", help=recheck)
    figures = "png, pdf: write figures in this format, too; all: also draw those that repeat a table. May be "
    figures += "given several times (default: a figure per table, as SVG)"
    parser.add_argument("--figures", action="append", choices=("png", "pdf", ALL), default=[], help=figures)


def run(options: argparse.Namespace) -> int:
    if options.map:
        _check_import_alone(options)
        return _report_of_import(options)
    prepared = prepared_of(options)
    print(report_of(prepared, options.campaign, options.figures, recheck=options.recheck))
    return 0


def report_of(prepared: Prepared, file: Path, figures: Sequence[str] = (), *, recheck: bool = False) -> str:
    """Write the report of a campaign, unless it is up to date; how its runs ended, and where it is."""
    from mpicampaign.jobs.prepare import write_plan

    write_plan(prepared)
    text = file.read_text(encoding="utf-8")
    return _report(prepared.folder, prepared.campaign.presentation, text, figures, recheck)


def _report(
    folder: Path, presentation: Presentation, text: str, figures: Sequence[str], recheck: bool
) -> str:
    from mpicampaign.collect.reported import keep, state_of, unchanged

    formats = ("svg", *(each for each in dict.fromkeys(figures) if each != ALL))
    # before the files are read: what changes meanwhile is read by the next report
    state = state_of(folder, repr(presentation), text, *sorted(figures))
    if not recheck and (said := unchanged(folder, state)):
        for made in (folder / "report.html", folder / "tables" / "comparison.csv"):
            made.touch()  # for make and Snakemake: they are up to date
        return said
    from mpicampaign.analyse import analyse

    said = f"{counts(analyse(folder, presentation, text, formats, ALL in figures))}; {folder / 'report.html'}"
    keep(folder, state, said)
    return said


def _check_import_alone(options: argparse.Namespace) -> None:
    """Refuse options that ``--map`` would ignore."""
    given = {"--campaign": options.campaign != CAMPAIGN, "--system": bool(options.system)}
    problems = [Problem("--map reports an import", key=key) for key, there in given.items() if there]
    if problems:
        raise UserError(problems)


def _report_of_import(options: argparse.Namespace) -> int:
    from mpicampaign.collect.campaign import holds_results
    from mpicampaign.imports.map_file import load_map
    from mpicampaign.places import results_folder
    from mpicampaign.yaml_lines import printable

    file = options.map
    chosen = load_map(file)
    folder = results_folder() / chosen.campaign
    if not holds_results(folder):
        hint = f"mpicampaign import FOLDER... --map {file}"
        raise UserError(Problem("nothing was imported with this map yet", printable(str(file)), hint=hint))
    print(_report(folder, chosen.presentation, chosen.text, options.figures, options.recheck))
    return 0
