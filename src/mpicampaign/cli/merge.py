"""mpicampaign merge."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.cli.campaign_argument import check_bundle
from mpicampaign.cli.exit_status import DONE, FAILED, USER_ERROR
from mpicampaign.cli.output import print_lines, say

EXAMPLES = (
    ("mpicampaign merge site-a.tar.gz site-b.tar.gz", "then: mpicampaign report mine.yaml"),
    ("mpicampaign merge theirs.tar.gz --rename cluster=theirs", "where both sites have a system 'cluster'"),
    ("mpicampaign merge more.tar.gz --rename cluster=cluster", "it is one system, though on other hosts"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The bundles, and names for their systems."""
    parser.add_argument("bundles", nargs="+", type=Path, metavar="BUNDLE")
    parser.add_argument("--results", type=Path, help="where campaigns' results are (default: results/)")
    rename = "rename a system of the bundle; OLD=OLD: it is the system of that name here, even if "
    rename += "in doubt; may be given several times"
    parser.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help=rename)


def run(options: argparse.Namespace) -> int:
    from mpicampaign.base.places import results_folder
    from mpicampaign.bundle.merge import merge

    for path in options.bundles:
        check_bundle(path)
    outcome = merge(options.bundles, options.results or results_folder(), _renames(options.rename))
    for line in outcome.lines:
        print_lines(line)
    for command in dict.fromkeys(map(_next, outcome.folders)):
        print_lines(f"next: {command}")
    for problem in outcome.refused:
        say(f"mpicampaign: {problem}")
    for name in outcome.empty:
        say(f"mpicampaign: {name}: none of its runs counts here")
    return USER_ERROR if outcome.refused else FAILED if outcome.empty else DONE


def _next(merged: Path) -> str:
    """The command that shows what was merged. A report is made only from the folder results/."""
    from mpicampaign.base.places import results_folder
    from mpicampaign.base.plan_file import FILE

    campaign = merged.parent.parent
    if campaign.parent.resolve() != results_folder().resolve():
        return f"mpicampaign tables --results {shlex.quote(str(campaign))}"
    maps = sorted(merged.glob("imports/*/map.yaml"))
    if maps and not any((folder / FILE).exists() for folder in (merged, campaign)):
        return f"mpicampaign report --map {shlex.quote(str(maps[0]))}"
    copy = merged / "campaign"
    where = f"; the bundle's is in {copy}" if copy.is_dir() else ""
    return f"mpicampaign report FILE (the campaign file that the sites share{where})"


def _renames(texts: list[str]) -> dict[str, str]:
    from mpicampaign.bundle.archive import NAME

    renamed: dict[str, str] = {}
    for text in texts:
        old, equals, new = text.partition("=")
        if not equals or not NAME.fullmatch(old) or not NAME.fullmatch(new) or old in renamed:
            hint = "write OLD=NEW with names of systems, each OLD once"
            raise UserError(Problem("invalid --rename", value=repr(text), hint=hint))
        renamed[old] = new
    return renamed
