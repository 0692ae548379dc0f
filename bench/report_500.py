"""The report of 520 runs: 13 host groups × 4 placements × 10 repeats of 26 message sizes, with all figures.

Records are written as the outputs of a bundled campaign would leave them; reading raw outputs is timed by
``import_outputs`` and ``records``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from common import ProjectCopy, line, project_copy, title

LIMIT = 10.0
LIMIT_MEGABYTES = 5.0
REPEATS = 10
ROUNDS = 3
CALL = """\
import sys
sys.path[:0] = [sys.argv.pop(1)]
from report_500 import print_parts
print_parts(sys.argv[1])
"""
PARTS = ("start", "compare", "tables", "records", "figures", "report")


def main() -> None:
    title(f"Report of {13 * 4 * REPEATS} runs: compare, tables, records, figures, report; whole process")
    with project_copy() as project, TemporaryDirectory() as temporary:
        found = [_measured(project, Path(temporary)) for _ in range(ROUNDS)]
    walls, cpus, sizes, parts = zip(*found, strict=True)
    line("all of it", walls, LIMIT)
    line("  its CPU time", cpus)
    for position, name in enumerate(PARTS):
        line(f"  of the CPU time {name}", [times[position] for times in parts])
    line("the report's size", sizes, LIMIT_MEGABYTES, "MB")


def _measured(project: ProjectCopy, folder: Path) -> tuple[float, float, float, list[float]]:
    """Seconds of wall clock and of CPU, megabytes of the report, and CPU seconds of the parts."""
    begin = perf_counter()
    said = project.call(sys.executable, "-c", CALL, Path(__file__).parent, folder)
    wall = perf_counter() - begin
    parts = [float(word) for word in said.split()]
    return wall, sum(parts), (folder / "report.html").stat().st_size / 1e6, parts


def print_parts(folder: str) -> None:
    """The CPU seconds of each of `PARTS`, in a process of its own."""
    import figures as drawn_runs

    from mpicampaign.analyse_tables import write_tables
    from mpicampaign.compare.compare import compare
    from mpicampaign.records import Header, write_records
    from mpicampaign.show.figures.draw import draw_all
    from mpicampaign.show.report.write import write_report

    moments = [0.0, process_time()]
    drawn_runs.REPEATS = REPEATS
    records = [run for group in range(drawn_runs.HOST_GROUPS) for run in drawn_runs.runs(f"group{group}")]
    place = Path(folder)
    moments[0] = process_time() - moments[1]  # inventing the runs is no part of it
    comparison = compare(records)
    moments.append(process_time())
    write_tables(comparison, place / "tables")
    moments.append(process_time())
    write_records(place / "records.jsonl", Header("many"), records)
    moments.append(process_time())
    pictures = draw_all(comparison, place / "figures")
    moments.append(process_time())
    write_report(
        place / "report.html",
        comparison,
        records,
        pictures,
        campaign_title="many runs",
        campaign_name="many",
        campaign_text="",
        provenance={},
        unit="MB/s",
    )
    moments.append(process_time())
    invented, begin, *ends = moments
    starts = [begin + invented, *ends[:-1]]
    print(begin, *(end - start for start, end in zip(starts, ends, strict=True)))


if __name__ == "__main__":
    main()
