"""mpicampaign judge."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import write_output, write_whole
from mpicampaign.cli import exit_status
from mpicampaign.cli.campaign_argument import add_campaign, add_results, results_of
from mpicampaign.cli.history import add_filters, is_chosen, unknown_names
from mpicampaign.cli.limits import check_limits
from mpicampaign.cli.output import print_lines

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Campaign
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.questions.limits.find import Judged

FILE = "judgement"  # in the campaign's folder, with the endings of all formats
_TEXT, _ENDINGS = "text", {"junit": ".xml", "json": ".json", "markdown": ".md"}

EXAMPLES = (
    ("mpicampaign judge mine.yaml", "each limit of 'expect': passed, failed or undecided, and why"),
    (
        "mpicampaign judge mine.yaml || mail -s 'MPI is slow' me",
        "exit status 1: a limit failed; 3: undecided",
    ),
    ("mpicampaign judge mine.yaml --format junit -o judge.xml", "a test case for each limit, for CI"),
    ("mpicampaign judge mine.yaml --format markdown", "short enough for a comment on a change"),
    ("mpicampaign judge mine.yaml --propose", "limits from the history, each with its rate of false alarms"),
    ("mpicampaign judge --propose --reframe --results results/before -o refs.yaml", "for ReFrame's tests"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign whose contract is judged, or whose history gives limits."""
    add_campaign(parser, system=False)
    form = "of the outcomes; a file of each is in the campaign's folder, too (default: text)"
    parser.add_argument("--format", choices=(_TEXT, *_ENDINGS), help=form)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output")
    parser.add_argument("--propose", action="store_true", help="print limits from the history, judge nothing")
    only = parser.add_argument_group("with --propose")
    rate = "false alarms of each limit, at most (default: 1 per 1000 ticks)"
    only.add_argument("--alarms", metavar="'N per M'", help=rate)
    only.add_argument(
        "--reframe", action="store_true", help="as a YAML file of references for ReFrame's tests"
    )
    add_results(only)
    add_filters(only)


def run(options: argparse.Namespace) -> int:
    _check(options)
    return _propose(options) if options.propose else _judge(options)


def _check(options: argparse.Namespace) -> None:
    """Refuse what does not go with --propose, or only with it, and a rate that is none."""
    names = ("alarms", "reframe", "results", "benchmark", "host_group", "placement", "metric")
    alone = () if options.propose else names
    problems = [
        Problem(f"--{name.replace('_', '-')} needs --propose") for name in alone if getattr(options, name)
    ]
    if options.propose and options.format:
        problems.append(Problem("--format does not go with --propose"))
    if options.alarms is not None and not _rate(options.alarms):
        hint = "whole numbers, and at most 1 per 10"
        problems.append(
            Problem("not a rate such as '1 per 1000'", key="--alarms", value=options.alarms, hint=hint)
        )
    if problems:
        raise UserError(problems)


def _rate(text: str) -> float:
    """``1 per 1000`` is 0.001; 0 where the text is no rate."""
    match = re.fullmatch(r"([0-9]{1,9}) per ([0-9]{1,9})", " ".join(text.split()), re.ASCII)
    number, of = map(int, match.groups()) if match else (0, 0)
    return number / of if 0 < 10 * number <= of else 0.0


def _propose(options: argparse.Namespace) -> int:
    from mpicampaign.history.limits import proposals
    from mpicampaign.questions.limits.say_history import expect_text, reframe_text, refused_lines

    folder, wish = results_of(options), _rate(options.alarms or "1 per 1000")
    proposed = proposals(folder, wish, of_tests=options.reframe)
    if problems := unknown_names([each.curve.key for each in proposed], options):
        raise UserError(problems)
    chosen = [each for each in proposed if is_chosen(each.curve.key, options)]
    text = (reframe_text if options.reframe else expect_text)(folder.name, chosen, wish)
    if options.output is None:
        print_lines(text.rstrip("\n"))
    else:
        write_output(options.output, text.encode())
        print_lines(*refused_lines(chosen))
    return exit_status.DONE if any(each.limit for each in chosen) else exit_status.UNDECIDED


def _judge(options: argparse.Namespace) -> int:
    from mpicampaign.base.places import results_folder
    from mpicampaign.campaign.file import load_campaign
    from mpicampaign.cli.tables import check_target
    from mpicampaign.jobs.prepare import check_campaign_file
    from mpicampaign.questions.limits.find import FAILED, UNDECIDED
    from mpicampaign.questions.limits.say import contract_lines

    campaign = load_campaign(options.campaign)
    if not campaign.expect:
        hint = "add, for example, expect: [{benchmark: PingPong, metric: latency at 0 B, at_most: 2 us}]; "
        hint += "judge --propose writes limits from the history"
        raise UserError(Problem("this campaign sets no limits", campaign.file, key="expect", hint=hint))
    check_limits(campaign)
    folder, form = results_folder() / campaign.name, options.format or _TEXT
    check_campaign_file(campaign, folder)
    check_target(options.output, folder, form, _ENDINGS.get(form, ".txt"))
    judgements = judge_folder(folder, campaign)
    if not judgements:
        raise UserError(Problem("no case of the matrix has a limit", campaign.file, key="expect"))
    texts = write_judgement(folder, campaign.name, judgements)
    text = texts.get(form) or "\n".join(contract_lines(judgements))
    if options.output:
        write_output(options.output, f"{text.rstrip()}\n".encode())
    else:
        print_lines(text.rstrip("\n"))
    outcomes = {judged.outcome for judged in judgements}
    if FAILED in outcomes:
        return exit_status.FAILED
    return exit_status.UNDECIDED if UNDECIDED in outcomes else exit_status.DONE


def judge_folder(folder: Path, campaign: Campaign) -> list[Judged]:
    """The limits of a campaign for the results in its folder."""
    from mpicampaign.collect.campaign import collect_all, plan_of
    from mpicampaign.compare.compare import compare
    from mpicampaign.questions.limits.find import judge
    from mpicampaign.questions.machine.find import whole_case

    comparison = compare(collect_all(folder, cached=False), campaign.table_sizes)
    entries = plan_of(folder).cases
    cases = [entry.case for entry in entries if not entry.each]
    whole = dict.fromkeys(whole_case(entry.case) for entry in entries if entry.each)
    judged = judge(campaign.expect, comparison, cases, _before(folder, campaign), campaign.file, whole)
    if not any(limit.alarm for limit in campaign.expect):
        return judged
    from mpicampaign.history.limits import judge_alarms

    return [*judged, *judge_alarms(campaign.expect, folder, campaign.file)]


def _before(folder: Path, campaign: Campaign) -> Comparison | None:
    """The last finished series, if a limit needs it."""
    from mpicampaign.base.expectation import BEFORE
    from mpicampaign.compare.compare import compare
    from mpicampaign.history.store import FOLDER, Store

    if not any(limit.against and limit.against.source == BEFORE for limit in campaign.expect):
        return None
    store = Store(folder / FOLDER)
    names = store.names()
    if not names:
        return None
    return compare(store.records(names[-1]), campaign.table_sizes)


def write_judgement(folder: Path, name: str, judgements: Sequence[Judged]) -> dict[str, str]:
    """Write the outcomes into the campaign's folder, a file of each format; their texts by format."""
    from mpicampaign.questions.limits.say import contract_document, contract_json, contract_junit
    from mpicampaign.show.writers.markdown import markdown

    texts = {
        "junit": contract_junit(name, judgements),
        "json": contract_json(name, judgements),
        "markdown": markdown(contract_document(name, judgements)),
    }
    for form, text in texts.items():
        write_whole(folder / f"{FILE}{_ENDINGS[form]}", text)
    return texts
