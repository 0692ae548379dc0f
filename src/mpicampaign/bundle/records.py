"""The records of a bundle that is only looked at, not merged."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.bundle.archive import BundleError
from mpicampaign.bundle.read import read_bundle
from mpicampaign.collect.campaign import collect_own, plan_of
from mpicampaign.errors import Problem, UserError
from mpicampaign.yaml_lines import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpicampaign.bundle.archive import Member
    from mpicampaign.records import Record


def records_of(bundle: Path) -> list[Record]:
    """The records of a bundle, or of a packed series, which is one.

    Raises
    ------
    UserError
        where it is damaged, or no bundle.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def write(member: Member, chunks: Iterator[bytes]) -> None:
            file = folder / member.path
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as out:
                out.writelines(chunks)

        try:
            read_bundle(bundle, write)
        except BundleError as error:
            raise UserError(Problem(str(error), printable(str(bundle)))) from None
        return collect_own(plan_of(folder), folder)
