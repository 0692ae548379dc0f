"""All records of a campaign's folder: its own runs, its imports, and merged bundles of other sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.collect.copies import mark_copies
from mpicampaign.collect.imports import collect_imports
from mpicampaign.collect.merged import merged_folders, with_merged
from mpicampaign.collect.observed import mark_earlier
from mpicampaign.collect.runs import collect
from mpicampaign.plan_file import FILE, PlanFile, read_plan

if TYPE_CHECKING:
    from pathlib import Path

    from mpicampaign.records import Record


def collect_all(campaign_folder: Path) -> list[Record]:
    """The records of everything in a campaign's folder, merged bundles included."""
    plan = plan_of(campaign_folder)
    merged = {folder: collect_own(plan_of(folder), folder) for folder in merged_folders(campaign_folder)}
    return mark_earlier(mark_copies(with_merged(collect_own(plan, campaign_folder), plan, merged)))


def collect_own(plan: PlanFile, campaign_folder: Path) -> list[Record]:
    """The records of the runs and imports in a folder: a campaign's, or a merged bundle's."""
    return collect_imports(campaign_folder, collect(plan, campaign_folder))


def plan_of(campaign_folder: Path) -> PlanFile:
    """The plan of a campaign's folder; without cases where nothing was planned.

    Raises
    ------
    UserError
        when there is neither a plan nor anything to collect, or the plan is damaged.
    """
    path = campaign_folder / FILE
    if path.exists() or not holds_results(campaign_folder):
        return read_plan(path)
    return PlanFile(campaign_folder.name)


def holds_results(campaign_folder: Path) -> bool:
    """Whether there is anything to collect: a plan, imports or merged bundles."""
    own = (campaign_folder / FILE).exists() or (campaign_folder / "imports").is_dir()
    return own or bool(merged_folders(campaign_folder))
