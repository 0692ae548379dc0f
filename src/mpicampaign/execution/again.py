"""Nodes that are measured again, after their repair: beside controls, in rounds of their own.

Each time is a line of the campaign's ``again.txt``: a name such as ``milan:n037``, the date, the node and its
controls. The rounds are those of a host group of just these; the earlier results stay with their own.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mpicampaign.campaign.each import hosts_of
from mpicampaign.errors import Problem, UserError, did_you_mean
from mpicampaign.files import append_lines
from mpicampaign.jobs.further import Again
from mpicampaign.records import defined_name

if TYPE_CHECKING:
    from pathlib import Path

    from mpicampaign.campaign.model import Campaign
    from mpicampaign.jobs.prepare import Prepared

FILE = "again.txt"
CONTROLS = 11


def read_again(campaign_folder: Path) -> list[Again]:
    """All that were begun, in order."""
    try:
        lines = (campaign_folder / FILE).read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    entries = (line.split("\t") for line in lines)
    return [Again(name, tuple(hosts.split())) for name, _, hosts in (one for one in entries if len(one) == 3)]


def measure_again(prepared: Prepared, node: str) -> list[str]:
    """The names under which a node is measured again; new ones, unless rounds of the last ones are still due.

    Raises
    ------
    UserError
        where no host group with `each` lists the node.
    """
    groups = _groups_with(prepared.campaign, node)
    begun = [each.name for each in read_again(prepared.folder)]
    due = {defined_name(run.case.host_group) for run in prepared.pending}
    names, lines = [], []
    for group, hosts in groups.items():
        mine = [name for name in begun if name == f"{group}:{node}" or name.startswith(f"{group}:{node}:")]
        if mine and mine[-1] in due:
            names.append(mine[-1])
            continue
        name = f"{group}:{node}" + (f":{len(mine) + 1}" if mine else "")
        others = [host for host in hosts if host != node]
        drawn = random.Random(f"{prepared.campaign.seed} {name}").sample(others, min(CONTROLS, len(others)))
        lines.append(f"{name}\t{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\t{' '.join((node, *drawn))}")
        names.append(name)
    if lines:
        prepared.folder.mkdir(parents=True, exist_ok=True)
        append_lines(prepared.folder / FILE, lines)
    return names


def _groups_with(campaign: Campaign, node: str) -> dict[str, list[str]]:
    """The host groups with `each` that list a node, with their hosts."""
    groups = [
        campaign.host_groups[name] for entry in campaign.matrix if entry.each for name in entry.host_groups
    ]
    listed = {defined_name(group.name): hosts_of(group) for group in groups}
    if groups_with_node := {name: hosts for name, hosts in listed.items() if node in hosts}:
        return groups_with_node
    hint = did_you_mean(node, [host for hosts in listed.values() for host in hosts])
    raise UserError(
        Problem("no host group with each lists this node", campaign.file, key="--only", value=node, hint=hint)
    )
