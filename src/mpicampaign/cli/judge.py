"""mpicampaign judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.cli import exit_status
from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.common import print_lines
from mpicampaign.errors import Problem, UserError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from mpicampaign.campaign.model import Campaign
    from mpicampaign.compare.contract import Judged
    from mpicampaign.compare.tables import Comparison

FILE = "judgement"  # in the campaign's folder, with .xml, .json and .md

EXAMPLES = (
    ("mpicampaign judge mine.yaml", "each limit of 'expect': passed, failed or undecided, and why"),
    (
        "mpicampaign judge mine.yaml || mail -s 'MPI is slow' me",
        "exit status 1: a limit failed; 3: undecided",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign whose contract is judged."""
    add_campaign(parser, system=False)


def run(options: argparse.Namespace) -> int:
    from mpicampaign.campaign.file import load_campaign
    from mpicampaign.compare.contract import FAILED, UNDECIDED
    from mpicampaign.places import results_folder
    from mpicampaign.show.contract import contract_lines

    campaign = load_campaign(options.campaign)
    if not campaign.expect:
        hint = "add, for example, expect: [{benchmark: PingPong, metric: latency at 0 B, at_most: 2 us}]"
        raise UserError(Problem("this campaign sets no limits", campaign.file, key="expect", hint=hint))
    folder = results_folder() / campaign.name
    judgements = judge_folder(folder, campaign)
    if not judgements:
        raise UserError(Problem("no case of the matrix has a limit", campaign.file, key="expect"))
    write_judgement(folder, campaign.name, judgements)
    print_lines(*contract_lines(judgements))
    outcomes = {judged.outcome for judged in judgements}
    if FAILED in outcomes:
        return exit_status.FAILED
    return exit_status.UNDECIDED if UNDECIDED in outcomes else exit_status.DONE


def judge_folder(folder: Path, campaign: Campaign) -> list[Judged]:
    """The limits of a campaign for the results in its folder."""
    from mpicampaign.collect.campaign import collect_all, plan_of
    from mpicampaign.compare.compare import compare
    from mpicampaign.compare.contract import judge

    comparison = compare(collect_all(folder), campaign.table_sizes)
    cases = [entry.case for entry in plan_of(folder).cases]
    return judge(campaign.expect, comparison, cases, _before(folder, campaign), campaign.file)


def _before(folder: Path, campaign: Campaign) -> Comparison | None:
    """The last finished series, if a limit needs it."""
    from mpicampaign.compare.compare import compare
    from mpicampaign.expectation import BEFORE
    from mpicampaign.history.store import FOLDER, Store

    if not any(limit.against and limit.against.source == BEFORE for limit in campaign.expect):
        return None
    store = Store(folder / FOLDER)
    names = store.names()
    if not names:
        return None
    return compare(store.records(names[-1]), campaign.table_sizes)


def write_judgement(folder: Path, name: str, judged: Sequence[Judged]) -> None:
    """JUnit XML, JSON and Markdown, in the campaign's folder."""
    from mpicampaign.files import write_whole
    from mpicampaign.show.contract import contract_document, contract_json, contract_junit
    from mpicampaign.show.writers.markdown import markdown

    write_whole(folder / f"{FILE}.xml", contract_junit(name, judged))
    write_whole(folder / f"{FILE}.json", contract_json(name, judged))
    write_whole(folder / f"{FILE}.md", markdown(contract_document(name, judged)))
