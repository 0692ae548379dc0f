"""From what the runs left to records, tables, figures and the report: the analysis in one call."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from mpicampaign import __version__
from mpicampaign.collect import collect, read_plan
from mpicampaign.comparison import compare
from mpicampaign.figures import draw_all
from mpicampaign.files import write_whole
from mpicampaign.records import Record, write_records
from mpicampaign.report import write_report
from mpicampaign.tables import to_csv, to_markdown, to_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mpicampaign.comparison import Comparison


def analyse(
    folder: Path,
    title: str,
    table_sizes: Sequence[int],
    benchmark_sizes: Mapping[str, Sequence[int]],
    campaign_text: str,
) -> list[Record]:
    """Write records, tables, figures and the report of a campaign's folder; the records.

    Parameters
    ----------
    folder : the campaign's folder below results/, with its plan.json
    table_sizes : message sizes (B) at which tables show figures
    benchmark_sizes : the same for single benchmarks, where they differ
    campaign_text : the campaign file, shown in the report
    """
    plan = read_plan(folder / "plan.json")
    records = collect(plan, folder)
    comparison = compare(records, table_sizes, benchmark_sizes)
    write_tables(comparison, folder / "tables")
    figures = draw_all(comparison, folder / "figures")
    provenance = {
        "program": f"mpicampaign {__version__}",
        "Python": platform.python_version(),
        "seed of the run order": str(plan["seed"]),
    }
    write_report(
        folder / "report.html",
        comparison,
        records,
        figures,
        campaign_title=title,
        campaign_name=plan["campaign"],
        campaign_text=campaign_text,
        provenance=provenance,
    )
    write_records(folder / "records.jsonl", plan["campaign"], records)
    return records


def write_tables(comparison: Comparison, folder: Path) -> None:
    """The comparison as text, CSV and Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "comparison.txt", to_terminal(comparison))
    write_whole(folder / "comparison.csv", to_csv(comparison))
    write_whole(folder / "comparison.md", to_markdown(comparison))
