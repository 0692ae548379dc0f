"""Job campaigns that compare MPI placements, fabrics and clusters, with evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpicampaign.interface.results import load as load

__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    """`load`, when it is first used: the command line starts without numpy."""
    if name != "load":
        raise AttributeError(f"module 'mpicampaign' has no attribute {name!r}")
    from mpicampaign.interface import results

    return results.load
