"""mpicampaign bundle."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.plan_file import no_results
from mpicampaign.base.records import MERGED_FROM, RECORDS, Record, record_line
from mpicampaign.cli.campaign_argument import add_campaign, add_results, check_results
from mpicampaign.cli.exit_status import DONE, FAILED
from mpicampaign.cli.output import print_lines, say

if TYPE_CHECKING:
    from mpicampaign.bundle.write import Bundled

EXAMPLES = (
    ("mpicampaign bundle mine.yaml", "writes mine.tar.gz: results, evidence, the campaign file, checksums"),
    ("mpicampaign bundle --results results/mine -o site-a.tar.gz", "without its campaign file"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The results to pack, and the bundle to write."""
    add_campaign(parser, system=False)
    add_results(parser)
    parser.add_argument("-o", "--output", type=Path, help="default: CAMPAIGN.tar.gz, here")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.bundle.write import write_bundle
    from mpicampaign.collect.campaign import collect_all, holds_results, plan_of
    from mpicampaign.collect.undescribed import undescribed_lines

    folder, files = _sources(options)
    if not holds_results(folder):
        raise no_results(folder)
    plan = plan_of(folder)
    output = options.output or Path(f"{plan.campaign}.tar.gz")
    if output.is_dir():
        raise UserError(Problem("this is a folder; a bundle is a file", str(output)))
    records = [run for run in collect_all(folder, cached=False) if MERGED_FROM not in run.metadata]
    anew = {RECORDS: _records_anew(folder / RECORDS, records)}
    bundled = write_bundle(output, folder, plan.campaign, records, files, made_anew=anew)
    _print_summary(bundled, folder)
    for line in undescribed_lines(plan, folder):
        print_lines(f"  not described by its campaign file: {line}")
    return _warned_of_runs(bundled)


def _sources(options: argparse.Namespace) -> tuple[Path, dict[str, bytes]]:
    """The campaign's folder, and the campaign file with what it includes."""
    from mpicampaign.base.places import results_folder
    from mpicampaign.campaign.file import load_campaign, read_with_includes
    from mpicampaign.jobs.prepare import write_plan
    from mpicampaign.run.conditions import prepare_with_results

    if options.results is not None:
        check_results(options.results, "--results")
        return options.results.resolve(), {}
    campaign = load_campaign(options.campaign)
    if (results_folder() / campaign.name).is_dir():
        # the existing one may be of an earlier campaign file
        write_plan(prepare_with_results(options.campaign))
    marks = read_with_includes(options.campaign).marks.values()
    paths = dict.fromkeys([str(options.campaign), *(mark.file for mark in marks)])
    files: dict[str, bytes] = {}
    for path in map(Path, paths):
        if path.is_file():
            name = path.name if path.name not in files else f"{len(files)}-{path.name}"
            files[name] = path.read_bytes()
    return results_folder() / campaign.name, files


def _records_anew(path: Path, records: Iterable[Record]) -> bytes:
    """The file of records as read from the runs now: that in the folder may hold what a cache held."""
    try:
        with path.open("rb") as file:
            header = file.readline()
    except FileNotFoundError:
        return b""
    return header + b"".join(b"%b\n" % record_line(record) for record in records)


def _print_summary(bundled: Bundled, folder: Path) -> None:
    from mpicampaign.collect.merged import merged_folders, read_note

    manifest = bundled.manifest
    size = bundled.path.stat().st_size
    print_lines(f"{bundled.path}: {len(manifest.members)} files, {size / 1e3:,.1f} kB")
    for name, facts in manifest.systems.items():
        print_lines(f"  {name}: {facts.runs} runs; {facts}")
    for line in bundled.left_out:
        print_lines(f"  left out: {line}")
    for merged in merged_folders(folder):
        bundle = read_note(merged)["bundle"]
        print_lines(f"  merged results are not included: pass on their bundle {bundle!r}")


def _warned_of_runs(bundled: Bundled) -> int:
    """The exit status: a script must not take a bundle with runs missing for a complete one."""
    if not any(facts.runs for facts in bundled.manifest.systems.values()):
        say("mpicampaign: the bundle has no run with a result")
        return FAILED
    if not (count := bundled.runs_left_out):
        return DONE
    runs = "1 run is" if count == 1 else f"{count} runs are"
    say(f"mpicampaign: {runs} not in the bundle: files were left out, see above")
    return FAILED
