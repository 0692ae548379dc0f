"""The records of a bundle that is only looked at, not merged."""

from __future__ import annotations

import tempfile
from pathlib import Path

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.records import Record
from mpicampaign.base.yaml_lines import printable
from mpicampaign.bundle.archive import BundleError
from mpicampaign.bundle.read import unpack
from mpicampaign.collect.campaign import collect_own, plan_of


def records_of(bundle: Path) -> list[Record]:
    """The records of a bundle, or of a packed series, which is one.

    Raises
    ------
    UserError
        where it is damaged, or no bundle.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            unpack(bundle, folder)
        except BundleError as error:
            raise UserError(Problem(str(error), printable(str(bundle)))) from None
        return collect_own(plan_of(folder), folder)
