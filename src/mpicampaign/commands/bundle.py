"""The command lines of mpicampaign bundle and mpicampaign merge."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.errors import Problem, UserError

if TYPE_CHECKING:
    from mpicampaign.bundle.write import Bundled

_BUNDLE = "write one checksummed file of a campaign's results, for another site"
_MERGE = "take bundles of other sites in; refuse damaged ones, and never mix systems of one name"
EXIT_REFUSED = 2
EXIT_RUNS_LEFT_OUT = 1


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Make ``mpicampaign bundle`` and ``mpicampaign merge`` known."""
    bundle = commands.add_parser("bundle", help=_BUNDLE, description=_BUNDLE)
    which = bundle.add_mutually_exclusive_group()
    which.add_argument("--campaign", type=Path, default=Path("campaign.yaml"), help="default: %(default)s")
    which.add_argument("--results", type=Path, help="a folder results/CAMPAIGN, in place of a campaign file")
    bundle.add_argument("-o", "--output", type=Path, help="default: CAMPAIGN.tar.gz, here")
    bundle.set_defaults(action=_bundle)
    merge = commands.add_parser("merge", help=_MERGE, description=_MERGE)
    merge.add_argument("bundles", nargs="+", type=Path, metavar="BUNDLE")
    merge.add_argument("--results", type=Path, help="where campaigns' results are (default: results/)")
    words = "give a system of the bundle another name; may be given several times"
    merge.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help=words)
    words = (
        "a system that is one with that of its name here, though that is in doubt (by its new name, if it is "
        "renamed); may be given several times"
    )
    merge.add_argument("--same", action="append", default=[], metavar="SYSTEM", help=words)
    merge.set_defaults(action=_merge)


def _bundle(options: argparse.Namespace) -> int:
    from mpicampaign.bundle.write import write_bundle
    from mpicampaign.collect.campaign import collect_own, holds_results, plan_of
    from mpicampaign.collect.undescribed import undescribed_lines

    folder, files = _sources(options)
    if not holds_results(folder):
        hint = "run the campaign first, or name the folder of one campaign, results/CAMPAIGN"
        raise UserError(Problem("no results are there", str(folder), hint=hint))
    plan = plan_of(folder)
    output = options.output or Path(f"{plan['campaign']}.tar.gz")
    if output.is_dir():
        raise UserError(Problem("this is a folder; a bundle is a file", str(output)))
    records = collect_own(plan, folder)
    bundled = write_bundle(output, folder, plan["campaign"], records, files)
    _tell(bundled, folder)
    for line in undescribed_lines(plan, folder):
        print(f"  not of its campaign file: {line}")
    return _warned_of_runs(bundled)


def _sources(options: argparse.Namespace) -> tuple[Path, dict[str, bytes]]:
    """The campaign's folder, and the campaign file with what it includes."""
    from mpicampaign.campaign.file import load_campaign, read_with_includes
    from mpicampaign.jobs.prepare import prepare, write_plan
    from mpicampaign.places import results_folder

    if options.results is not None:
        return options.results.resolve(), {}
    campaign = load_campaign(options.campaign)
    if (results_folder() / campaign.name).is_dir():
        write_plan(prepare(options.campaign))  # the one that is there may be of an earlier campaign file
    marks = read_with_includes(options.campaign).marks.values()
    paths = dict.fromkeys([str(options.campaign), *(mark.file for mark in marks)])
    files: dict[str, bytes] = {}
    for path in map(Path, paths):
        if path.is_file():
            name = path.name if path.name not in files else f"{len(files)}-{path.name}"
            files[name] = path.read_bytes()
    return results_folder() / campaign.name, files


def _tell(bundled: Bundled, folder: Path) -> None:
    from mpicampaign.collect.merged import merged_folders, read_note

    manifest = bundled.manifest
    size = bundled.path.stat().st_size
    print(f"{bundled.path}: {len(manifest.members)} files, {size / 1e6:.1f} MB")
    for name, facts in manifest.systems.items():
        print(f"  {name}: {facts.runs} runs; {facts}")
    for line in bundled.left_out:
        print(f"  left out: {line}")
    for merged in merged_folders(folder):
        print(f"  merged results are not in it: pass on their bundle {read_note(merged)['bundle']!r}")


def _warned_of_runs(bundled: Bundled) -> int:
    """The exit status: a script that sends the bundle on shall not take it for the whole."""
    if not any(facts.runs for facts in bundled.manifest.systems.values()):
        print("mpicampaign: no run with a result is in the bundle", file=sys.stderr)
        return EXIT_RUNS_LEFT_OUT
    if not (count := bundled.runs_left_out):
        return 0
    runs = "1 run is" if count == 1 else f"{count} runs are"
    print(f"mpicampaign: {runs} not in the bundle: files of theirs were left out, see above", file=sys.stderr)
    return EXIT_RUNS_LEFT_OUT


def _merge(options: argparse.Namespace) -> int:
    from mpicampaign.bundle.merge import Wishes, merge
    from mpicampaign.places import results_folder

    outcome = merge(
        options.bundles,
        options.results or results_folder(),
        Wishes(_renames(options.rename), tuple(options.same)),
    )
    for line in outcome.lines:
        print(line)
    for words in dict.fromkeys(map(_next, outcome.folders)):
        print(f"next: {words}")
    for problem in outcome.refused:
        print(f"mpicampaign: {problem}", file=sys.stderr)
    for name in outcome.empty:
        print(f"mpicampaign: {name}: no run of it counts here", file=sys.stderr)
    return EXIT_REFUSED if outcome.refused else EXIT_RUNS_LEFT_OUT if outcome.empty else 0


def _next(merged: Path) -> str:
    """The command that shows what was merged: the report is made of the folder results/ alone."""
    from mpicampaign.places import results_folder

    campaign = merged.parent.parent
    if campaign.parent.resolve() != results_folder().resolve():
        return f"mpicampaign tables --results {shlex.quote(str(campaign))}"
    maps = sorted(merged.glob("imports/*/map.yaml"))
    if maps and not any((folder / "plan.json").exists() for folder in (merged, campaign)):
        return f"mpicampaign report --map {shlex.quote(str(maps[0]))}"
    copy = merged / "campaign"
    where = f"; the bundle's is in {copy}" if copy.is_dir() else ""
    return f"mpicampaign report --campaign FILE (the campaign file that the sites share{where})"


def _renames(texts: list[str]) -> dict[str, str]:
    from mpicampaign.bundle.archive import NAME

    found: dict[str, str] = {}
    for text in texts:
        old, equals, new = text.partition("=")
        if not equals or not NAME.fullmatch(old) or not NAME.fullmatch(new) or old in found:
            hint = "write OLD=NEW with names of systems, each OLD once"
            raise UserError(Problem("--rename cannot be read", value=repr(text), hint=hint))
        found[old] = new
    return found
