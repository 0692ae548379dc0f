"""Nodes that are configured unlike the others of their host group: sentence, table and data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mpicampaign.files import write_whole
from mpicampaign.show.document import Grid, Heading, Paragraph
from mpicampaign.text import listed, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mpicampaign.compare.configurations import Configurations
    from mpicampaign.show.document import Line, Node

TITLE = "Nodes configured unlike the others"
MEANING = (
    "What the last run on each node recorded of its hardware and software, where most nodes of the group "
    "have something else."
)
FILE = "configurations.json"
_NAMED = 3  # nodes of a line or sentence; the data have all


def configuration_lines(found: Sequence[Configurations]) -> Iterator[str]:
    """``2 nodes of milan are configured unlike the others: n07 and n12.``"""
    for each in found:
        nodes, group = [node for odd in each.odd for node in odd.nodes], visible(each.host_group)
        if not any(difference.usual for odd in each.odd for difference in odd.differences):
            yield f"The nodes of {group} are not configured alike: {_some(nodes)}."
        else:
            are = f"node of {group} is" if len(nodes) == 1 else f"nodes of {group} are"
            yield f"{len(nodes)} {are} configured unlike the others: {_some(nodes)}."


def configuration_nodes(found: Sequence[Configurations], level: int = 2) -> list[Node]:
    """A line for all nodes with the same differences; nothing where all nodes agree."""
    lines = tuple(_lines(found))
    grid = Grid(TITLE, 2, ("host group", "nodes", "what differs"), lines, remarks=1, label=TITLE)
    return [Heading(TITLE, level), Paragraph(MEANING, "legend"), grid] if lines else []


def _lines(found: Sequence[Configurations]) -> Iterator[Line]:
    for each in found:
        for odd in each.odd:
            what = "; ".join(visible(str(difference)) for difference in odd.differences)
            yield visible(each.host_group), _some(odd.nodes), what


def _some(nodes: Sequence[str]) -> str:
    """``n07``, ``n07 and n12``, or ``12 nodes (n01, n02, n03 …)``."""
    names = list(map(visible, nodes))
    return listed(names) if len(names) <= _NAMED else f"{len(names)} nodes ({', '.join(names[:_NAMED])} …)"


def write_configurations(folder: Path, found: Sequence[Configurations]) -> None:
    """The differences as JSON; no file where all nodes agree."""
    if not found:
        (folder / FILE).unlink(missing_ok=True)
        return
    groups = [
        {
            "system": each.system,
            "host_group": each.host_group,
            "nodes": [
                {
                    "names": odd.nodes,
                    "differences": [difference._asdict() for difference in odd.differences],
                }
                for odd in each.odd
            ],
        }
        for each in found
    ]
    write_whole(folder / FILE, json.dumps({"host_groups": groups}, indent=1, ensure_ascii=False) + "\n")
