"""mpicampaign compare."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.records import SETTINGS_FILES
from mpicampaign.cli.campaign_argument import CAMPAIGN, is_campaign_file, results_named
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.tables import check_target, write_table
from mpicampaign.show.view import DEFAULT
from mpicampaign.show.writer import DataWriter, format_names, writer

EXAMPLES = (
    (
        "mpicampaign compare mine.yaml",
        "results of earlier definitions (argument, module, library) on disk, and those of now",
    ),
    ("mpicampaign compare 2026-11-01 mine.yaml", "then and now, by a date of its history"),
    ("mpicampaign compare results/mine site-b.tar.gz", "own results and the bundle of another site"),
    ("mpicampaign compare results/old results/new --format csv -o changes.csv", "two folders, as data"),
    ("mpicampaign compare mine.yaml --with public", "own medians beside public systems of like kind"),
    ("mpicampaign compare mine.yaml --with bundles/*.tar.gz", "the same, and bundles of other sites"),
)
PUBLIC = "public"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The two sides, and the form of the answer."""
    what = "a campaign file or its name, a folder results/CAMPAIGN, a bundle, a packed series, "
    what += "or a date or series of the campaign's history (default: campaign.yaml)"
    parser.add_argument("before", metavar="A", nargs="?", help=what)
    alone = "the same; ratios are B / A. Without it: what is on disk from earlier definitions, or else "
    alone += "the last series, and now"
    parser.add_argument("after", metavar="B", nargs="?", help=alone)
    beside = f"instead of B: {PUBLIC}, systems whose values are public; or bundles, which join these"
    parser.add_argument("--with", dest="beside", nargs="+", metavar="WHAT", help=beside)
    parser.add_argument(
        "--campaign", type=Path, default=CAMPAIGN, metavar="FILE", help="whose history (default: %(default)s)"
    )
    parser.add_argument("--format", choices=format_names(), default="terminal")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.cli.compared_sides import changes_between, check_different, past_of, sides_of
    from mpicampaign.history.changes import NAMES
    from mpicampaign.history.rows import OBSERVED
    from mpicampaign.questions.two_sides.find import two_sides
    from mpicampaign.questions.two_sides.say import two_sides_data, two_sides_document

    check_target(options.output, Path(), options.format)
    if options.beside:
        return _beside_public(options)
    given = [text for text in (options.before, options.after) if text is not None]
    campaign = next(filter(is_campaign_file, given), str(options.campaign))
    before, after = sides_of(given, campaign)
    check_different(before, after, campaign)
    observed = OBSERVED | {SETTINGS_FILES: SETTINGS_FILES}
    names = NAMES | {SETTINGS_FILES: "settings files"}
    sides = two_sides(before.side, after.side, after.sizes, observed, names)
    known = changes_between(sides, before, after)
    chosen = writer(options.format)
    if isinstance(chosen, DataWriter):
        name = after.folder.name if after.folder else after.side.name
        content = chosen.write(two_sides_data(sides, known), name)
    else:
        content = chosen.write(two_sides_document(sides, known, past=past_of(before, after))).encode()
    write_table(content, options.output, options.format)
    return DONE


def _beside_public(options: argparse.Namespace) -> int:
    """Own values, or those of a bundle, beside those of public systems."""
    from mpicampaign.bundle.merge import records_of
    from mpicampaign.cli.compared_sides import source_of
    from mpicampaign.collect.campaign import collect_all
    from mpicampaign.compare.compare import compare
    from mpicampaign.questions.public_systems.find import values_of
    from mpicampaign.questions.public_systems.say import public_data, public_document

    if options.after is not None:
        raise UserError(Problem("not allowed with --with", key="B", value=options.after))
    bundles = [Path(name) for name in options.beside if name != PUBLIC]
    for bundle in bundles:
        if not bundle.is_file():
            hint = f"give {PUBLIC}, or the files of bundles"
            raise UserError(Problem("no such bundle", key="--with", value=str(bundle), hint=hint))
    more = [value for bundle in bundles for value in values_of(compare(records_of(bundle)), bundle.name)]
    name = options.before or str(options.campaign)
    folder = results_named(name)  # an older report knows less of its runs
    comparison = compare(
        collect_all(folder) if folder and folder.is_dir() else source_of(name, name).side.records
    )
    chosen = writer(options.format)
    if isinstance(chosen, DataWriter):
        content = chosen.write(public_data(comparison, more), Path(name).stem)
    else:
        content = chosen.write(public_document(comparison, more, DEFAULT)).encode()
    write_table(content, options.output, options.format)
    return DONE
