"""Formats of `mpicampaign export`: a module for each, with its name, which ends in ``WRITER``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.show.writer import load

if TYPE_CHECKING:
    from mpicampaign.compare.tables import Comparison


@dataclass(frozen=True, slots=True)
class ExportWriter:
    """A format for other systems; ``write``: makes the file of a comparison and the campaign's name."""

    ending: str
    write: Callable[[Comparison, str], bytes]


def export_writer(name: str) -> ExportWriter:
    """The writer of a format of exports."""
    found = load(__name__, name)
    if not isinstance(found, ExportWriter):
        raise TypeError(f"{name} is not a format of exports")
    return found
