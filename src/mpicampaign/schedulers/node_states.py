"""What the scheduler said of the nodes of a host group: states and switches, kept in the campaign's folder.

The execution half writes these files, as the scheduler prints them, and the analysis half reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mpicampaign.schedulers import SCHEDULERS, Scheduler
from mpicampaign.schedulers.listings import NodeState

Machine = tuple[str, str]  # system and host group, as the campaign file defines them


def states_path(campaign_folder: Path, machine: Machine, scheduler: str) -> Path:
    """The file with the states of the nodes; that with the switches ends in ``.topology``."""
    return campaign_folder / "batches" / f"{'-'.join(machine)}.{scheduler}.nodes"


def node_states(campaign_folder: Path, machine: Machine) -> dict[str, NodeState]:
    """The states of the nodes when a job of theirs was last submitted or ended."""
    texts = _texts(campaign_folder, machine, ".nodes")
    return {node: state for scheduler, text in texts for node, state in scheduler.listed_states(text).items()}


def switches(campaign_folder: Path, machine: Machine) -> dict[str, str]:
    """The leaf switch of each node, where the scheduler knows them."""
    texts = _texts(campaign_folder, machine, ".topology")
    return {
        node: switch for scheduler, text in texts for node, switch in scheduler.read_topology(text).items()
    }


def _texts(campaign_folder: Path, machine: Machine, ending: str) -> Iterator[tuple[Scheduler, str]]:
    for scheduler in SCHEDULERS.values():
        path = states_path(campaign_folder, machine, scheduler.name).with_suffix(ending)
        if path.exists():
            yield scheduler, path.read_text(encoding="utf-8", errors="replace")
