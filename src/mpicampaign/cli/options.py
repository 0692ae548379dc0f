"""Options that several subcommands have, and the campaign and the runs that they name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.selection import ALL_RUNS, RunSelection, spans, split_names

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
    from mpicampaign.cli.limits import limit_problems_beside
    from mpicampaign.run.conditions import prepare_with_results

    selection = selection_of(options)
    try:
        return prepare_with_results(options.campaign, options.system, selection=selection, wanted=wanted)
    except UserError as error:
        if more := limit_problems_beside(error.problems, options.campaign):
            problems = sorted([*error.problems, *more], key=lambda problem: (problem.file, problem.line or 0))
            raise UserError(problems) from None
        raise


def add_only(parser: argparse.ArgumentParser) -> None:
    """Nodes that are measured again."""
    text = "measure nodes again beside others, such as after a repair"
    parser.add_argument("--only", metavar="NODE,...", help=text)


def prepared_with_only(options: argparse.Namespace) -> tuple[Prepared, list[NodeAgain]]:
    """The campaign, for the nodes of --only alone where it is given; these nodes, which nobody noted yet."""
    prepared = prepared_of(options)
    if options.only is None:
        return prepared, []
    from mpicampaign.run.again import again

    wanted = again(prepared, options.only)
    options.host_group += [node.name for node in wanted]
    return prepared_of(options, wanted), wanted


def prepared_with_again(options: argparse.Namespace) -> tuple[Prepared, NewRunsRequest | None]:
    """The campaign for the runs of --again alone, and what has to be noted before they are made.

    Raises
    ------
    UserError
        where the names are no two that can be compared, or other options select runs, too.
    """
    from mpicampaign.run.conditions import prepare_with_results
    from mpicampaign.run.new_runs import OPTION, request_of

    if options.only is not None or options.repeat or options.placement:
        hint = "--benchmark and --host-group go with it"
        raise UserError(Problem("takes no --only, --repeat or --placement beside it", key=OPTION, hint=hint))
    selection, request = request_of(prepared_of(options), options.again)
    file, system = options.campaign, options.system
    return prepare_with_results(file, system, selection=selection, request=request), request
