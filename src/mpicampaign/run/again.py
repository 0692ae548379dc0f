"""Nodes that are measured again, after their repair: beside controls, in rounds of their own.

Each time is a line of the campaign's ``again.txt``: a name such as ``milan:n037``, the date, the node and its
controls. The rounds are those of a host group of just these; the earlier results stay with their own.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.files import append_lines, text_or_nothing
from mpicampaign.base.host_lists import expand, fold, short
from mpicampaign.base.records import defined_name
from mpicampaign.base.yaml_lines import printable
from mpicampaign.campaign.each import hosts_of
from mpicampaign.schemes.unit import NodeAgain

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Campaign
    from mpicampaign.jobs.prepare import Prepared

FILE = "again.txt"
CONTROLS = 11


def read_again(campaign_folder: Path) -> list[NodeAgain]:
    """All that were begun, in order."""
    lines = text_or_nothing(campaign_folder / FILE).splitlines()
    entries = [entry for line in lines if len(entry := line.split("\t")) == 3]
    return [NodeAgain(name, tuple(hosts.split())) for name, _, hosts in entries]


def again(prepared: Prepared, nodes: str) -> list[NodeAgain]:
    """Nodes, each with its controls: as they were begun where their rounds are still due, else anew.

    Raises
    ------
    UserError
        where no host group with `each` lists a node.
    """
    begun = read_again(prepared.folder)
    due = {defined_name(run.case.host_group) for run in prepared.pending}
    measured = (entry for entry in prepared.campaign.matrix if entry.each)
    with_each = (prepared.campaign.host_groups[name] for entry in measured for name in entry.host_groups)
    groups = {defined_name(group.name): hosts_of(group) for group in with_each}
    asked = _nodes(prepared.campaign, nodes, {short(host) for hosts in groups.values() for host in hosts})
    wanted = []
    for group, hosts in groups.items():
        for node in (host for host in hosts if short(host) in asked):
            name = f"{group}:{node}"
            mine = [node for node in begun if node.name == name or node.name.startswith(f"{name}:")]
            if mine and mine[-1].name in due:
                wanted.append(mine[-1])
            else:
                number = f":{len(mine) + 1}" if mine else ""
                others = [host for host in hosts if host != node]
                chance = random.Random(f"{prepared.campaign.seed} {name}{number}")
                controls = chance.sample(others, min(CONTROLS, len(others)))
                wanted.append(NodeAgain(f"{name}{number}", (node, *controls)))
    return wanted


def note_again(campaign_folder: Path, wanted: Iterable[NodeAgain]) -> None:
    """Keep those that are new."""
    begun, now = read_again(campaign_folder), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    if new := [f"{entry.name}\t{now}\t{' '.join(entry.hosts)}" for entry in wanted if entry not in begun]:
        campaign_folder.mkdir(parents=True, exist_ok=True)
        append_lines(campaign_folder / FILE, new)


def _nodes(campaign: Campaign, text: str, known: set[str]) -> set[str]:
    """The nodes of a list, without their domains."""

    def refused(message: str, hint: str = "") -> UserError:
        return UserError(Problem(message, campaign.file, key="--only", value=repr(text), hint=hint))

    try:
        names = {short(name) for name in expand(text)}
    except ValueError as error:
        raise refused(str(error)) from None
    if unknown := names - known:
        hint = did_you_mean(min(unknown), known)
        raise refused(f"no host group with each lists {printable(fold(unknown))}", hint)
    if not names:
        raise refused("names no node", "such as --only n037")
    return names
