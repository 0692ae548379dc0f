"""Nodes that are configured unlike the others of their host group: sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpicampaign.base.host_lists import fold
from mpicampaign.base.text import clip, listed, visible
from mpicampaign.questions.configurations.find import Configurations
from mpicampaign.show.document import Heading, Items, Node, Paragraph

TITLE = "Nodes configured unlike the others"
MEANING = "By what the last run on each node recorded of its hardware and software."
_NAMED = 3  # nodes by their full names
_WIDTH = 80  # of a list of nodes in a sentence


def configuration_lines(groups: Sequence[Configurations]) -> Iterator[str]:
    """``2 nodes of milan are configured unlike the others: n[07,12].``"""
    for group in groups:
        nodes, host_group = [node for odd in group.odd for node in odd.nodes], visible(group.host_group)
        names = clip(visible(fold(nodes)), _WIDTH)
        if not any(difference.usual for odd in group.odd for difference in odd.differences):
            yield f"The nodes of {host_group} are not configured alike: {names}."
        else:
            are = f"node of {host_group} is" if len(nodes) == 1 else f"nodes of {host_group} are"
            yield f"{len(nodes)} {are} configured unlike the others: {names}."


def configuration_nodes(groups: Sequence[Configurations], level: int = 2) -> list[Node]:
    """A line for all nodes with the same differences; nothing where all nodes agree."""
    lines = tuple(
        f"{_named(odd.nodes)} of {visible(group.host_group)}: {visible('; '.join(map(str, odd.differences)))}"
        for group in groups
        for odd in group.odd
    )
    return [Heading(TITLE, level), Items(lines), Paragraph(MEANING, "legend")] if lines else []


def _named(nodes: Sequence[str]) -> str:
    """``n07``, ``n07 and n12``, or ``12 nodes (n[01-12])``."""
    return f"{len(nodes)} nodes ({visible(fold(nodes))})" if len(nodes) > _NAMED else visible(listed(nodes))
