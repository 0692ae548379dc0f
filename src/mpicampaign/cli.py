"""The command line: mpicampaign init, check, plan, run, report, import, tables, bundle, doctor and others."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign import __version__
from mpicampaign.errors import Problem, UserError
from mpicampaign.records import CONTRADICTED, OK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.records import Record

_CAMPAIGN = Path("campaign.yaml")
EXIT_MISTAKE = 2
EXIT_INTERRUPTED = 130
EXIT_UNREAD = 141  # as of a program that SIGPIPE ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; mistakes of the user are told without a traceback."""
    options = _parser().parse_args(arguments)
    try:
        status = int(options.action(options))
    except UserError as error:
        print(_mistakes(error), file=sys.stderr)
        return EXIT_MISTAKE
    except BrokenPipeError:  # nobody read to the end, and something may not have been done
        _go_on_unread()
        return EXIT_UNREAD
    except OSError as error:
        # a full disk, a read-only file system, no permission
        print(f"mpicampaign: {error.filename or 'a file'}: {error.strerror}", file=sys.stderr)
        return EXIT_MISTAKE
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # pressed again, it would cut this exit status off
        return EXIT_INTERRUPTED
    _tell()
    return status


def _tell(*lines: str) -> None:
    """Print and go on where nobody reads any more: what is left to be done does not hang on ``| head``."""
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        _go_on_unread()


def _go_on_unread() -> None:
    """Send what is printed from here on, and what waits to be written, to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _mistakes(error: UserError) -> str:
    count = len(error.problems)
    heading = "mpicampaign: " + ("" if count == 1 else f"{count} mistakes\n")
    return heading + "\n".join(str(problem) for problem in error.problems)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mpicampaign", description=__doc__)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _init(commands)
    _command(commands, "check", _check, "check the campaign file and say what it holds")
    _command(commands, "plan", _plan, "show the matrix of cases and the node-hours they may take")
    render = _command(commands, "render", _render, "write all job scripts, submit nothing")
    render.add_argument("--inline", action="store_true", help="each script in one file, with its library")
    _command(commands, "build", _build, "build the bundled kernels for this system")
    run = _command(commands, "run", _run, "run what is not done yet, then make tables and report")
    run.add_argument("--profile", default="profiles/local", help="Snakemake profile (default: %(default)s)")
    run.add_argument("snakemake", nargs="*", help="further arguments for Snakemake, after --")
    _command(commands, "status", _status, "show what is queued, running, finished or failed")
    _command(commands, "cancel", _cancel, "cancel the campaign's jobs that are in the queue")
    report = _command(
        commands, "report", _report, "make records, tables, figures and report from what is there"
    )
    report.add_argument("--map", type=Path, help="instead of a campaign file: the map of an import")
    _import_command(commands)
    _tables(commands)
    _doctor(commands)
    _bundles(commands)
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    action: Callable[[argparse.Namespace], int],
    words: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=words, description=words)
    parser.add_argument("--campaign", type=Path, default=_CAMPAIGN, help="default: %(default)s")
    parser.add_argument("--system", default="", help="plan for this system, wherever this machine is")
    parser.set_defaults(action=action)
    return parser


def _import_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    words = "take in raw outputs that this program did not make, then make records and tables"
    parser = commands.add_parser("import", help=words, description=words)
    folders = "with raw outputs; none: label anew what was imported before"
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help=folders)
    parser.add_argument("--map", type=Path, required=True, help="YAML file that says how runs are labelled")
    parser.add_argument("--only-copy", action="store_true", help="make no records and tables")
    parser.set_defaults(action=_import)


def _init(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from mpicampaign.commands.init import add_command

    add_command(commands)


def _doctor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from mpicampaign.commands.doctor import add_command

    add_command(commands)


def _tables(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from mpicampaign.commands.tables import add_command

    add_command(commands)


def _bundles(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from mpicampaign.commands.bundle import add_commands

    add_commands(commands)


def _prepare(options: argparse.Namespace) -> Prepared:
    from mpicampaign.jobs.prepare import prepare

    return prepare(options.campaign, options.system)


def _check(options: argparse.Namespace) -> int:
    prepared = _prepare(options)
    campaign = prepared.campaign
    print(f"{options.campaign}: campaign {campaign.name}, no mistakes found")
    here = ", ".join(prepared.plan.systems) or "none of them"
    print(f"  systems: {', '.join(campaign.systems)}; this machine: {here}")
    return 0


def _plan(options: argparse.Namespace) -> int:
    from mpicampaign.execution.set_aside import fault_of
    from mpicampaign.jobs.plan_text import plan_text

    prepared = _prepare(options)
    done = [script for script in prepared.scripts if script.output.exists()]
    again = [f"to be run again: {each.label}: {fault.reason}" for each in done if (fault := fault_of(each))]
    pending = len(prepared.pending) + len(again)
    print(plan_text(prepared.plan, pending, prepared.campaign.node_hours_cap))
    _tell(*again, *_beside(prepared))
    return 0


def _beside(prepared: Prepared) -> list[str]:
    """What is to be said of results that are there and that the campaign does not describe."""
    from mpicampaign.collect.undescribed import undescribed_lines

    return undescribed_lines(prepared.plan_data, prepared.folder)


def _render(options: argparse.Namespace) -> int:
    from mpicampaign.jobs.prepare import write_inline, write_scripts

    prepared = _prepare(options)
    (write_inline if options.inline else write_scripts)(prepared)
    for script in prepared.scripts:
        print(script.path)
    return 0


def _build(options: argparse.Namespace) -> int:
    from mpicampaign.execution.build import build

    return build(_prepare(options))


def _run(options: argparse.Namespace) -> int:
    from mpicampaign.execution.execute import run_snakemake, wait_for_measurement
    from mpicampaign.execution.set_aside import set_aside_faulty
    from mpicampaign.jobs.plan_text import pending_text, waiting_text
    from mpicampaign.jobs.prepare import check_runs

    prepared = _prepare(options)
    check_runs(prepared)
    _tell(*set_aside_faulty(prepared.scripts), *_beside(prepared))
    if prepared.pending and prepared.runs_here and "-n" not in options.snakemake:
        # Snakemake's start would disturb a run that a killed call left behind, or another campaign's.
        wait_for_measurement(prepared.measuring_lock, lambda owner: _tell(waiting_text(owner)))
    _tell(pending_text(prepared.plan, len(prepared.pending), prepared.campaign.title))
    # Snakemake reads values as YAML, where a colon needs quotes, after it has taken quotes off the ends.
    values = {"campaign": str(options.campaign.resolve()), "system": options.system}
    config = ["--config", *(f"{key}= {json.dumps(value)} " for key, value in values.items())]
    status = run_snakemake(options.profile, [*config, *options.snakemake])
    _show(prepared)
    if prepared.pending:
        print(
            f"{len(prepared.pending)} of {len(prepared.scripts)} runs are not done; the same command goes on"
        )
    return status


def _show(prepared: Prepared) -> None:
    """The comparison in the terminal, and where the rest is."""
    table = prepared.folder / "tables" / "comparison.txt"
    if table.is_file():
        print(table.read_text(encoding="utf-8"))
        print(f"report: {prepared.folder / 'report.html'}")
        print(f"tables: {table.parent}   figures: {prepared.folder / 'figures'}")


def _status(options: argparse.Namespace) -> int:
    from mpicampaign.execution.queue_status import run_states, status_text

    prepared = _prepare(options)
    print(status_text(*run_states(prepared)))
    _tell(*_beside(prepared))
    return 0


def _cancel(options: argparse.Namespace) -> int:
    from mpicampaign.execution.queue_status import cancel

    print(cancel(_prepare(options)))
    return 0


def _import(options: argparse.Namespace) -> int:
    from mpicampaign.imports.account import account_text, failed_lines
    from mpicampaign.imports.importing import import_folders
    from mpicampaign.imports.map_file import load_map
    from mpicampaign.places import results_folder

    chosen = load_map(options.map)
    folder = results_folder() / chosen.campaign
    account = import_folders(options.folders, chosen, folder)
    _tell(account_text(account))
    if account.in_vain:
        return EXIT_MISTAKE
    if not options.only_copy:
        from mpicampaign.analyse_tables import records_and_tables

        records, _ = records_and_tables(folder, chosen.presentation)
        _tell(*failed_lines(records), f"{_counts(records)}; {folder / 'tables'}")
    return 0


def _counts(records: list[Record]) -> str:
    """How the runs ended; one that is contradicted is complete, and still left out of every figure."""
    left_out = (record.status == OK and record.verdict == CONTRADICTED for record in records)
    ends = (CONTRADICTED if out else record.status for out, record in zip(left_out, records, strict=True))
    counts = Counter(ends)
    words = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in sorted(counts.items()))
    return f"{len(records)} runs: {words}"


def _report(options: argparse.Namespace) -> int:
    from mpicampaign.analyse import analyse
    from mpicampaign.jobs.prepare import write_plan

    if options.map:
        _check_import_alone(options)
        return _report_of_import(options.map)
    prepared = _prepare(options)
    write_plan(prepared)
    text = options.campaign.read_text(encoding="utf-8")
    records = analyse(prepared.folder, prepared.campaign.presentation, text)
    print(f"{_counts(records)}; {prepared.folder / 'report.html'}")
    return 0


def _check_import_alone(options: argparse.Namespace) -> None:
    """Refuse what would be ignored beside ``--map``."""
    given = {"--campaign": options.campaign != _CAMPAIGN, "--system": bool(options.system)}
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
        raise UserError(Problem("nothing of this map was imported yet", printable(str(file)), hint=hint))
    records = analyse(folder, chosen.presentation, chosen.text)
    print(f"{_counts(records)}; {folder / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
