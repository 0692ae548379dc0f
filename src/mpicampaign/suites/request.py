"""What a campaign asks of a suite: a program with its parameters, and the ranks and memory that it gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Request(NamedTuple):
    """One case as its suite sees it.

    ``parameters``: as in the campaign file, by name. ``files``: names of the input files that the campaign
    brings itself. ``memory``: of one node (B); None where it is unknown.
    ``cores``: physical ones of a node; likewise. ``time_limit``: of one run (s); 0 where it does not matter.
    """

    program: str
    arguments: tuple[str, ...]
    parameters: Mapping[str, str]
    files: tuple[str, ...]
    nodes: int
    ranks_per_node: int
    memory: int | None = None
    cores: int | None = None
    time_limit: int = 0

    @property
    def ranks(self) -> int:
        """Those of all nodes."""
        return self.nodes * self.ranks_per_node


class Refusal(NamedTuple):
    """Why a request would fail.

    ``parameter``: the one at fault; else the name of the ``program`` is, or its arguments are. ``doubtful``:
    it may run all the same, and is a warning.
    """

    message: str
    parameter: str = ""
    value: str = ""
    hint: str = ""
    program: bool = False
    doubtful: bool = False
