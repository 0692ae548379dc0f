"""Formats of tables for other systems: a module for each, with its name, which ends in ``WRITER``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.show.writer import format_names, load

if TYPE_CHECKING:
    from mpicampaign.compare.tables import Comparison


@dataclass(frozen=True, slots=True)
class ExportWriter:
    """A format for other systems; ``write``: makes the file of a comparison and the campaign's name."""

    ending: str
    write: Callable[[Comparison, str], bytes]


def export_writer(name: str) -> ExportWriter | None:
    """The writer of a format; ``None`` of one of tables."""
    writer = load(__name__, name) if name in format_names(__path__) else None
    return writer if isinstance(writer, ExportWriter) else None
