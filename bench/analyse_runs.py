"""From finished runs to records and tables, without figures and report, in its own process."""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

from mpicampaign.analyse_tables import write_tables
from mpicampaign.collect.runs import collect
from mpicampaign.compare.compare import compare
from mpicampaign.plan_file import read_plan
from mpicampaign.records import Header, write_records


def main() -> None:
    """Analyse the campaign folder named on the command line; prints seconds, memory, verdicts as JSON."""
    folder = Path(sys.argv[1])
    moments = [time.perf_counter()]
    plan = read_plan(folder / "plan.json")
    records = collect(plan, folder)
    moments.append(time.perf_counter())
    comparison = compare(records)
    moments.append(time.perf_counter())
    write_tables(comparison, folder / "tables")
    write_records(folder / "records.jsonl", Header(plan.campaign), records)
    moments.append(time.perf_counter())
    collected, compared, written = (end - begin for begin, end in pairwise(moments))
    verdicts = Counter(f"{record.status} {record.verdict}" for record in records)
    found = {"collect": collected, "compare": compared, "write": written}
    print(json.dumps({**found, "megabytes": peak_megabytes(), "verdicts": verdicts}))


def peak_megabytes() -> float:
    """Peak memory of this process in MB; unlike getrusage, without its parent's."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024 / 1e6


if __name__ == "__main__":
    main()
