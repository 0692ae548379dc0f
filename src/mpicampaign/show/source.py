"""What the parts of the report are made from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from mpicampaign.base.records import Case, Record
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison
from mpicampaign.show.document import Span
from mpicampaign.show.view import View


@dataclass(frozen=True, slots=True)
class ReportSource:
    """``anchors``: of the cases, ``folder``: in which the report is."""

    comparison: Comparison
    records: Sequence[Record]
    view: View
    folder: Path
    anchors: Mapping[Case, str]

    def unit_of(self, metric: Metric) -> Span:
        """The metric's unit, as heads show it."""
        return Span(self.view.unit_of(metric.dimension), "small")

    def runs_of(self, row: Row) -> str:
        """The link to the row's runs."""
        return f"#{self.anchors[row.case]}"

    def near(self, text: str) -> str:
        """The text with files in the report's folder named from there."""
        return text.replace(f"{self.folder}/", "")

    def address(self, target: str) -> str:
        """The address of a file relative to the report's folder, safe in an attribute."""
        below = target.removeprefix(f"{self.folder}/")  # as nearly all are: five of each run
        return quote(os.path.relpath(target, self.folder) if below == target else below, errors="replace")
