"""mpicampaign check."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.judge import check_limits
from mpicampaign.cli.options import add_json, prepared_of
from mpicampaign.cli.output import print_lines

if TYPE_CHECKING:
    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.run.lacking import Lack

EXAMPLES = (
    ("mpicampaign check mine.yaml", "all errors, each with its line"),
    ("mpicampaign check mine.yaml --json", "the same for an editor or CI job"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and the form of the answer."""
    add_campaign(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from mpicampaign.campaign.checks import limits_text
    from mpicampaign.jobs.plan_text import allocation_text, sources_text
    from mpicampaign.run.lacking import lacks_of

    prepared = _checked(options)
    campaign, lacks = prepared.campaign, lacks_of(prepared)
    print_lines(f"{options.campaign}: campaign {campaign.name}, no errors found")
    here = ", ".join(prepared.plan.systems) or "none of them"
    warnings = [*_warnings(prepared), *(_lack_text(lack, prepared) for lack in lacks)]
    print_lines(*(f"warning: {warning}" for warning in warnings), *sources_text(prepared.plan))
    print_lines(*(f"  {each}" for each in allocation_text(prepared.plan)))
    print_lines(f"  systems: {', '.join(campaign.systems)}; this machine: {here}")
    print_lines(f"  {limits_text(campaign)}", f"  {_runs_text(prepared, lacks)}")
    return DONE


def as_data(options: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The exit status, and the data of ``--json``."""
    from mpicampaign.cli.json_output import campaign_data
    from mpicampaign.run.lacking import lacks_of

    prepared = _checked(options)
    lacks = lacks_of(prepared)
    warnings = [*_warnings(prepared), *(_lack_text(lack, prepared) for lack in lacks)]
    return DONE, {
        **campaign_data(prepared),
        "warnings": warnings,
        "runs_possible": _possible(prepared, lacks),
    }


def _lack_text(lack: Lack, prepared: Prepared) -> str:
    runs = len(prepared.plan.runs)
    return f"{lack.placement}: {lack.runs} of {runs} runs cannot be made here: {lack.why}"


def _runs_text(prepared: Prepared, lacks: list[Lack]) -> str:
    """How many runs this machine makes, and how many have a result."""
    done = len(prepared.runs) - len(prepared.pending)
    return f"{_possible(prepared, lacks)} runs can be made here" + (f", {done} have a result" if done else "")


def _possible(prepared: Prepared, lacks: list[Lack]) -> int:
    return len(prepared.plan.runs) - sum(lack.runs for lack in lacks)


def _checked(options: argparse.Namespace) -> Prepared:
    """The campaign, whose cap allows its plan for each system, wherever this machine is."""
    from mpicampaign.jobs.prepare import check_caps

    prepared = prepared_of(options)
    check_limits(prepared.campaign)
    if prepared.campaign.node_hours_cap is not None:
        check_caps(prepared.campaign)
    return prepared


def _warnings(prepared: Prepared) -> list[str]:
    """What may go wrong although the file has no errors."""
    from mpicampaign.campaign.repeats import too_few
    from mpicampaign.jobs.plan_text import absent_programs, not_available_text, warnings_text

    plan, campaign = prepared.plan, prepared.campaign
    doubts = [*campaign.warnings, *too_few(campaign), *absent_programs(plan, campaign)]
    of_plan = (line.removeprefix("warning: ") for line in warnings_text(plan))
    return [*map(str, doubts), *of_plan, *not_available_text(plan)]
