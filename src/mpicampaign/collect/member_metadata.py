"""What the plan and the scheduler say of a run of `each`: its member, round, switches and absent nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mpicampaign.base.host_lists import short
from mpicampaign.base.plan_file import CaseEntry, RunEntry
from mpicampaign.base.records import EACH, EACH_NODES, EACH_SWITCHES, EACH_TOLERANCE, NODE_STATE, ROUND
from mpicampaign.base.waves import BUSY, Waves, read_waves, waves_key
from mpicampaign.schedulers.node_states import node_states, switches


class Members:
    """The members of a campaign's host groups; each file of the scheduler's answers is read once."""

    def __init__(self, campaign_folder: Path) -> None:
        self._states = cache(lambda machine: node_states(campaign_folder, machine))
        self._waves = cache(lambda: read_waves(campaign_folder))
        self._switches = cache(lambda machine: switches(campaign_folder, machine))

    def metadata(self, entry: CaseEntry, run: RunEntry, is_missing: bool) -> dict[str, str]:
        """The metadata of a run of one node, link or row of rounds; empty for any other run."""
        if not entry.each:
            return {}
        system, group = entry.case.machine
        nodes, machine = entry.declared["host_group.hosts"], (system, group.partition(" ")[0])
        known = member_metadata(entry.each, nodes, run.round, entry.tolerance)
        leaves = [self._switches(machine).get(short(node), "") for node in nodes]
        known |= {EACH_SWITCHES: " ".join(leaves)} if all(leaves) else {}
        states = self._states(machine) if is_missing else {}
        late = self._waves().get(waves_key(entry.case), Waves()).late if is_missing else {}
        absent = {node: str(states[node]) for node in nodes if node in states and not states[node].usable}
        absent |= {node: f"{BUSY} {late[node]}" for node in nodes if late.get(node)}
        awaited = {node: states[node].reason for node in nodes if node in states and node not in absent}
        waits = ", and pairs wait until all nodes of their job are free" if len(nodes) > 1 else ""
        absent |= {node: why + waits for node, why in awaited.items() if why.startswith(BUSY)}
        named = "; ".join(f"{node}: {state}" for node, state in absent.items())
        native = named if len(nodes) > 1 else "".join(absent.values())
        return known | ({NODE_STATE: native} if native else {})


def member_metadata(unit: str, nodes: Sequence[str], number: int, tolerance: float) -> dict[str, str]:
    """What the plan says of a run."""
    return {EACH: unit, EACH_NODES: " ".join(nodes), ROUND: str(number), EACH_TOLERANCE: f"{tolerance:g}"}
