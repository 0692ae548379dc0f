"""The command line: mpicampaign check, plan, render, build, run, status, cancel, report, doctor."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpicampaign.prepare import Prepared

EXIT_MISTAKE = 2
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; mistakes of the user are told without a traceback."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.action(options))
    except UserError as error:
        print(_mistakes(error), file=sys.stderr)
        return EXIT_MISTAKE
    except BrokenPipeError:
        return 0
    except OSError as error:
        # a full disk, a read-only file system, no permission
        print(f"mpicampaign: {error.filename or 'a file'}: {error.strerror}", file=sys.stderr)
        return EXIT_MISTAKE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _mistakes(error: UserError) -> str:
    count = len(error.problems)
    heading = "mpicampaign: " + ("" if count == 1 else f"{count} mistakes\n")
    return heading + "\n".join(str(problem) for problem in error.problems)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mpicampaign", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _command(commands, "check", _check, "check the campaign file and say what it holds")
    _command(commands, "plan", _plan, "show the matrix of cases and the node-hours they may take")
    _command(commands, "render", _render, "write all job scripts, submit nothing")
    _command(commands, "build", _build, "build the bundled kernels for this system")
    run = _command(commands, "run", _run, "run what is not done yet, then make tables and report")
    run.add_argument("--profile", default="profiles/local", help="Snakemake profile (default: %(default)s)")
    run.add_argument("snakemake", nargs="*", help="further arguments for Snakemake, after --")
    _command(commands, "status", _status, "show what is queued, running, finished or failed")
    _command(commands, "cancel", _cancel, "cancel the campaign's jobs that are in the queue")
    _command(commands, "report", _report, "make records, tables, figures and report from what is there")
    _doctor(commands)
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    action: Callable[[argparse.Namespace], int],
    words: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=words, description=words)
    parser.add_argument("--campaign", type=Path, default=Path("campaign.yaml"), help="default: %(default)s")
    parser.add_argument("--system", default="", help="plan for this system, wherever this machine is")
    parser.set_defaults(action=action)
    return parser


def _doctor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from mpicampaign.doctor_options import add_command

    add_command(commands)


def _prepare(options: argparse.Namespace) -> Prepared:
    from mpicampaign.prepare import prepare

    return prepare(options.campaign, options.system)


def _check(options: argparse.Namespace) -> int:
    prepared = _prepare(options)
    campaign = prepared.campaign
    print(f"{options.campaign}: campaign {campaign.name}, no mistakes found")
    print(f"  systems: {', '.join(campaign.systems)}; this machine: {prepared.plan.system or 'none of them'}")
    return 0


def _plan(options: argparse.Namespace) -> int:
    from mpicampaign.plan_text import plan_text

    prepared = _prepare(options)
    print(plan_text(prepared.plan, len(prepared.pending), prepared.campaign.node_hours_cap))
    return 0


def _render(options: argparse.Namespace) -> int:
    from mpicampaign.prepare import write_scripts

    prepared = _prepare(options)
    write_scripts(prepared)
    for script in prepared.scripts:
        print(script.path)
    return 0


def _build(options: argparse.Namespace) -> int:
    from mpicampaign.build import build

    return build(_prepare(options))


def _run(options: argparse.Namespace) -> int:
    from mpicampaign.execute import run_snakemake, wait_for_measurement
    from mpicampaign.plan_text import pending_text, waiting_text
    from mpicampaign.set_aside import set_aside_unusable
    from mpicampaign.software import PROJECT

    prepared = _prepare(options)
    for line in set_aside_unusable(prepared.scripts):
        print(line)
    if prepared.pending and prepared.runs_here and "-n" not in options.snakemake:
        # Snakemake's start would disturb a run that a killed call left behind, or another campaign's.
        wait_for_measurement(prepared.measuring_lock, lambda owner: print(waiting_text(owner), flush=True))
    print(pending_text(prepared.plan, len(prepared.pending), prepared.campaign.title), flush=True)
    # Snakemake reads values as YAML, where a colon needs quotes, after it has taken quotes off the ends.
    values = {"campaign": str(options.campaign.resolve()), "system": options.system}
    config = ["--config", *(f"{key}= {json.dumps(value)} " for key, value in values.items())]
    arguments = ["--snakefile", str(PROJECT / "Snakefile"), "--profile", options.profile, *config]
    status = run_snakemake(PROJECT, [*arguments, *options.snakemake])
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
    from mpicampaign.queue_status import run_states, status_text

    print(status_text(*run_states(_prepare(options))))
    return 0


def _cancel(options: argparse.Namespace) -> int:
    from mpicampaign.queue_status import cancel

    print(cancel(_prepare(options)))
    return 0


def _report(options: argparse.Namespace) -> int:
    from mpicampaign.analyse import analyse
    from mpicampaign.prepare import write_plan

    prepared = _prepare(options)
    write_plan(prepared)
    campaign = prepared.campaign
    sizes = {name: found.figure_sizes for name, found in campaign.benchmarks.items() if found.figure_sizes}
    text = options.campaign.read_text(encoding="utf-8")
    records = analyse(prepared.folder, campaign.title, campaign.table_sizes, sizes, text)
    counts = Counter(record.status for record in records)
    words = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in sorted(counts.items()))
    print(f"{len(records)} runs: {words}; {prepared.folder / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
