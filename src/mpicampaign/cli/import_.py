"""mpicampaign import."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import write_whole
from mpicampaign.cli.campaign_argument import check_there
from mpicampaign.cli.exit_status import DONE, USER_ERROR
from mpicampaign.cli.output import counts, print_lines

EXAMPLES = (
    ("mpicampaign import outputs/", "drafts a map, outputs-map.yaml, and uses it: check its names"),
    ("mpicampaign import outputs/ --map import.yaml", "then: mpicampaign report --map import.yaml"),
    ("mpicampaign import --map import.yaml", "labels the imported runs again, after a change of the map"),
    ("mpicampaign import outputs/ --map import.yaml --verbose", "a line for each file"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The raw outputs and the map."""
    folders = "folder or file with raw outputs; without any, the imported runs are labelled again"
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help=folders)
    drafted = "YAML file with the labels of runs; without it, a draft is written and used"
    parser.add_argument("--map", type=Path, metavar="MAP", help=drafted)
    parser.add_argument("--only-copy", action="store_true", help="do not make records and tables")
    quoted = "also outputs in blocks of .md and .rst documents, marked as quoted"
    parser.add_argument("--quoted", action="store_true", help=quoted)
    recheck = "read all files again, even if none has changed since the last import"
    parser.add_argument("--recheck", action="store_true", help=recheck)
    parser.add_argument("--verbose", action="store_true", help="a line for each file, not for each folder")


def _drafted(folders: list[Path], quoted: bool) -> Path:
    """A new map for the outputs in the folders."""
    from mpicampaign.base.places import results_folder, work_beside
    from mpicampaign.imports.draft import draft_map, usable_name
    from mpicampaign.imports.ledger import is_imported_from

    if not folders:
        raise UserError(Problem("import: neither folder nor map", hint="mpicampaign import FOLDER..."))
    first = folders[0].resolve()
    last = first.stem if first.is_file() else first.name
    # results of this name may be of another folder of the name: these are neither overwritten nor joined
    names = chain([last, f"{first.parent.name}-{last}"], (f"{last}-{number}" for number in count(2)))
    taken: list[str] = []
    for name in map(usable_name, names):
        file = Path(f"{name}-map.yaml")
        work_beside(file)
        results = results_folder() / name
        same = not results.exists() or is_imported_from(results / "imports" / name, first)
        if file.exists() and same:
            given = shlex.join(["mpicampaign", "import", *map(str, folders), "--map", str(file)])
            hint = f"'{given}' imports with it; remove it for a new draft"
            raise UserError(Problem("this map is there already", str(file), hint=hint))
        if same:
            break
        taken.append(name)
    write_whole(file, draft_map(folders, name, quoted))
    if taken:
        print_lines(f"the name {' and '.join(taken)} is taken: this import is called {name}")
    print_lines(f"no --map: {file} is a draft and is used; check its names, then give --map {file}")
    return file


def run(options: argparse.Namespace) -> int:
    from mpicampaign.base.places import results_folder
    from mpicampaign.collect.unchanged_files import imported_file, keep, state_of, state_of_sources, unchanged
    from mpicampaign.imports.account import account_text, failed_lines
    from mpicampaign.imports.importing import import_folders
    from mpicampaign.imports.map_file import load_map

    if not options.map:
        options.map = _drafted(options.folders, options.quoted)
    check_there(options.map)
    chosen = load_map(options.map)
    folder, note = results_folder() / chosen.campaign, imported_file(chosen.name)
    # before the files are read: what changes meanwhile is read by the next import
    settings = (
        chosen.text,
        repr(chosen.presentation),
        state_of_sources(options.folders),
        f"{options.verbose} {options.quoted}",
    )
    skip = bool(options.folders) and not (options.recheck or options.only_copy)
    if skip and (report := unchanged(folder, state_of(folder, *settings), note)):
        print_lines(report)
        return DONE
    account = import_folders(options.folders, chosen, folder, options.quoted)
    print_lines(account_text(account, options.verbose))
    if account.found_no_run:
        return USER_ERROR
    if not options.only_copy:
        from mpicampaign.report.analyse import records_and_tables

        nothing_new = account_text(replace(account, new=0), options.verbose)
        del account  # the analysis reads the ledger itself
        records, _ = records_and_tables(folder, chosen.presentation)
        results = (*failed_lines(records), f"{counts(records)}; {folder / 'tables'}")
        print_lines(*results)
        report = "\n".join((nothing_new, *results))
        keep(folder, state_of(folder, *settings), report, note)
    return DONE
