"""A campaign that was planned with the earlier default of repeats keeps it: no upgrade makes a run due."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.jobs.plan import cases_of
from mpicampaign.yaml_lines import lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.campaign.model import Campaign
    from mpicampaign.records import Case

EARLIER_DEFAULT = 5


def with_kept_repeats(campaign: Campaign, planned: Callable[[Case], int]) -> Campaign:
    """The campaign, with the earlier default and a warning where it gives no repeats and was planned so.

    ``planned``: how many repeats of a case were planned before, 0 if none.
    """
    document = campaign.document
    if lookup(document.data, ("repeats",)) is not None:
        return campaign
    blocks = zip(campaign.matrix, document.items(("matrix",)), strict=False)
    default = [entry for entry, (_, data) in blocks if data.get("repeats") is None]
    if not any(planned(case) == EARLIER_DEFAULT for entry in default for case in cases_of(campaign, entry)):
        return campaign
    message = (
        f"none are given: the {EARLIER_DEFAULT} of the earlier plan are kept; write "
        f"repeats: {campaign.repeats} (the default now: fewer meet no limit of a contract) "
        f"or repeats: {EARLIER_DEFAULT}"
    )
    kept = [
        replace(entry, repeats=EARLIER_DEFAULT) if entry in default else entry for entry in campaign.matrix
    ]
    warnings = (*campaign.warnings, document.problem(("repeats",), message))
    return replace(campaign, repeats=EARLIER_DEFAULT, matrix=tuple(kept), warnings=warnings)
