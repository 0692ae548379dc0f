"""What several subcommands share."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from mpicampaign.base.records import Record
from mpicampaign.base.selection import ALL_RUNS, RunSelection, spans, split_names
from mpicampaign.base.text import counted, visible_lines

if TYPE_CHECKING:
    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.run.new_runs import NewRunsRequest
    from mpicampaign.schemes.unit import NodeAgain

LIST = "NAME,..."  # metavar of options that take several names


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Which runs of the campaign; see `selection_of`."""
    for name in ("placement", "benchmark", "host-group"):
        add_names(parser, f"--{name}", "only its runs")
    repeats = "only these repeats, such as 1-3,5"
    parser.add_argument(
        "--repeat", type=split_names, action="extend", default=[], metavar="N-M,...", help=repeats
    )


def add_names(parser: argparse._ActionsContainer, option: str, text: str) -> None:
    """An option that takes names, separated by commas or given several times."""
    parser.add_argument(option, type=split_names, action="extend", default=[], metavar=LIST, help=text)


def add_by(parser: argparse.ArgumentParser) -> None:
    """How rows are grouped."""
    text = "group rows by this attribute of host groups, such as cpu"
    parser.add_argument("--by", metavar="ATTRIBUTE", default="", help=text)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Output for programs."""
    parser.add_argument("--json", action="store_true", help="print one JSON document (docs/formats.md)")


def selection_of(options: argparse.Namespace) -> RunSelection:
    """The runs that the options select; all of them for a subcommand without such options."""
    if not hasattr(options, "repeat"):
        return ALL_RUNS
    placements, benchmarks, groups = map(tuple, (options.placement, options.benchmark, options.host_group))
    return RunSelection(placements, benchmarks, groups, spans(options.repeat))


def add_verbose(parser: argparse.ArgumentParser, shows: str) -> None:
    """The option to show what is left out otherwise."""
    parser.add_argument("--verbose", action="store_true", help=shows)


def prepared_of(options: argparse.Namespace, wanted: Sequence[NodeAgain] = ()) -> Prepared:
    """The campaign that the options name, checked and planned, with the selection of this call.

    ``wanted``: nodes that it measures again.
    """
    from mpicampaign.run.conditions import prepare_with_results

    selection = selection_of(options)
    return prepare_with_results(options.campaign, options.system, selection=selection, wanted=wanted)


def add_only(parser: argparse.ArgumentParser) -> None:
    """Nodes that are measured again."""
    text = "measure nodes again beside others, as after their repair"
    parser.add_argument("--only", metavar="NODE,...", help=text)


def prepared_with_only(options: argparse.Namespace) -> tuple[Prepared, list[NodeAgain]]:
    """As `prepared_of`; where --only is given, for its nodes alone, which nobody has noted yet."""
    prepared = prepared_of(options)
    if options.only is None:
        return prepared, []
    from mpicampaign.run.again import again

    wanted = again(prepared, options.only)
    options.host_group += [each.name for each in wanted]
    return prepared_of(options, wanted), wanted


def prepared_with_again(options: argparse.Namespace) -> tuple[Prepared, NewRunsRequest | None]:
    """As `prepared_of`, for the runs of --again alone, and what has to be noted before they are made.

    Raises
    ------
    UserError
        where the names are no two that can be compared, or other options select runs, too.
    """
    from mpicampaign.base.errors import Problem, UserError
    from mpicampaign.run.conditions import prepare_with_results
    from mpicampaign.run.new_runs import OPTION, request_of

    if options.only is not None or options.repeat or options.placement:
        hint = "--benchmark and --host-group go with it"
        raise UserError(Problem("takes no --only, --repeat or --placement beside it", key=OPTION, hint=hint))
    selection, request = request_of(prepared_of(options), options.again)
    file, system = options.campaign, options.system
    return prepare_with_results(file, system, selection=selection, request=request), request


def selection_lines(prepared: Prepared) -> list[str]:
    """One line that names the selection, if there is one."""
    if not prepared.selection:
        return []
    return [f"only {prepared.selection}: {len(prepared.selected)} of {len(prepared.runs)} runs"]


def print_lines(*lines: str) -> None:
    """Print, what a terminal would act on escaped; where the reader has left (``| head``), go on without."""
    try:
        for line in lines:
            print(visible_lines(line))
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()


def say(*lines: str) -> None:
    """Print what is no answer, such as progress; where nobody reads it, go on without."""
    with suppress(OSError):
        for line in lines:
            print(visible_lines(line), file=sys.stderr, flush=True)


def discard_output() -> None:
    """Discard all further output, and output not yet written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with suppress(io.UnsupportedOperation):  # a caller's own stream, with no file behind it
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def doubts(prepared: Prepared, *keys: str) -> list[str]:
    """Lines about what is doubtful in the campaign file; ``keys``: only at these."""
    warnings = (each for each in prepared.campaign.warnings if not keys or each.key.split(".")[-1] in keys)
    return [f"warning: {each}" for each in warnings]


def beside(prepared: Prepared) -> list[str]:
    """Lines about results that the campaign does not describe."""
    from mpicampaign.collect.undescribed import undescribed_lines

    return undescribed_lines(prepared.plan, prepared.folder)


def unread_lines(records: Iterable[Record]) -> list[str]:
    """What to do where the patterns do not fit the outputs of finished runs; empty where they fit."""
    files = (record.files["output"] for record in records if record.unread)
    hint = "correct the campaign file, and call report again: no run is repeated"
    return [f"not read, such as {file}: {hint}" for file in files][:1]


def counts(records: list[Record]) -> str:
    """How the runs ended. Contradicted and disturbed ones are complete, but left out of all numbers."""
    from mpicampaign.base.records import IN_PART

    counts = Counter(
        "not read" if record.unread else record.end + " in part" * (IN_PART in record.metadata)
        for record in records
    )
    ends_text = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in sorted(counts.items()))
    return f"{counted(len(records), 'run')}: {ends_text}"
