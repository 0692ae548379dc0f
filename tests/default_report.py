"""The report of real runs of the default campaign; as a program, its first screen: the picture in README."""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path

from browser import browser
from PIL import Image

from mpicampaign.base.records import records_from
from mpicampaign.compare.compare import compare
from mpicampaign.report.draw_figures import draw_all
from mpicampaign.report.write import write_report

_RECORDS = Path(__file__).parent / "fixtures" / "default-campaign.jsonl.gz"
_ANSWERS_END = "Math.ceil([...document.querySelectorAll('.answer')].at(-1).getBoundingClientRect().bottom)"


def default_report(folder: Path) -> Path:
    """Write the page."""
    header, records = records_from(gzip.decompress(_RECORDS.read_bytes()), _RECORDS.name)
    comparison, page = compare(records, header.table_sizes), folder / "report.html"
    write_report(
        page,
        comparison,
        records,
        lambda: draw_all(comparison, folder / "figures", few=True),
        campaign_title=header.title,
        campaign_name=header.campaign,
        campaign_text=(Path(__file__).parents[1] / "campaign.yaml").read_text(encoding="utf-8"),
    )
    return page


def picture(file: Path) -> None:
    """Save the first screen as PNG."""
    with tempfile.TemporaryDirectory() as folder, browser() as page:
        page.resize(1280, 800)
        page.open(default_report(Path(folder)).as_uri())
        page.resize(1280, page.value(_ANSWERS_END))
        page.picture(file)
    with Image.open(file) as drawn:
        drawn.quantize(64).save(file, optimize=True)


if __name__ == "__main__":
    picture(Path(sys.argv[1]))
