"""Job campaigns that compare MPI placements, fabrics and clusters, with evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from mpicampaign.interface.results import CampaignResults

__version__ = "0.2.0"


def load(place: str | os.PathLike[str]) -> CampaignResults:
    """The results of a campaign as data, see `mpicampaign.interface.results.load`.

    Parameters
    ----------
    place : a folder results/CAMPAIGN, a campaign file, or a bundle

    Raises
    ------
    UserError
        of `mpicampaign.base.errors`, where there are no results or a file is damaged.
    """
    from mpicampaign.interface import results  # the command line starts without numpy

    return results.load(place)
