"""The report of 520 runs: 13 host groups × 4 placements × 10 repeats of 26 message sizes, with all figures.

Records are invented; ``import_outputs`` and ``records`` time the reading of raw outputs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from common import ProjectCopy, line, project_copy, title, usually

LIMIT = 10.0
LIMIT_MEGABYTES = 5.0
REPEATS = usually(10, smallest=2)
ROUNDS = usually(3, smallest=1)
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
    line("whole process", walls, LIMIT)
    line("  CPU time", cpus)
    for position, name in enumerate(PARTS):
        line(f"  CPU time of {name}", [times[position] for times in parts])
    line("size of the report", sizes, LIMIT_MEGABYTES, "MB")


def _measured(project: ProjectCopy, folder: Path) -> tuple[float, float, float, list[float]]:
    """Wall-clock and CPU seconds, megabytes of the report, and CPU seconds of the parts."""
    begin = perf_counter()
    printed = project.call(sys.executable, "-c", CALL, Path(__file__).parent, folder)
    wall = perf_counter() - begin
    parts = [float(number) for number in printed.split()]
    return wall, sum(parts), (folder / "report.html").stat().st_size / 1e6, parts


def print_parts(folder: str) -> None:
    """Print the CPU seconds of each of `PARTS`; called in its own process."""
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
    moments[0] = process_time() - moments[1]  # inventing the runs does not count
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
        lambda: pictures,
        campaign_title="many runs",
        campaign_name="many",
        campaign_text="",
        provenance={},
    )
    moments.append(process_time())
    invented, begin, *ends = moments
    starts = [begin + invented, *ends[:-1]]
    print(begin, *(end - start for start, end in zip(starts, ends, strict=True)))


if __name__ == "__main__":
    main()
