"""SHM-1 as mpicampaign measures it, compared with IMB-MPI1 by hand with the same binding, in turn.

Prints latency at 0 B and maximum bandwidth of both, with order-statistic intervals over the launches, and
whether the intervals overlap.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from common import PROJECT, two_bound_ranks, usually

from mpicampaign.dimension import BANDWIDTH, TIME
from mpicampaign.jobs.prepare import prepare, write_scripts
from mpicampaign.statistics.medians import difference, summarise
from mpicampaign.suites import parse

LAUNCHES = usually(10, smallest=2)
ARGUMENTS = "-iter 1000 -time 1 -msglog 0:22 PingPong"
CAMPAIGN = f"""\
campaign: agreement
repeats: {LAUNCHES}
systems: {{this-machine: {{scheduler: none, mpi: wheel}}}}
host_groups: {{local: {{system: this-machine}}}}
benchmarks: {{PingPong: {{arguments: {ARGUMENTS}}}}}
matrix: [{{host_groups: local, placements: SHM-1, benchmarks: PingPong}}]
"""


def metrics(output: str) -> tuple[float, float]:
    """Latency at 0 B in s and maximum bandwidth in B/s."""
    columns = parse("imb", output).series[0].columns
    latency, bandwidths = columns["time"][0], columns["bandwidth"]
    assert latency is not None
    return latency, max(value for value in bandwidths if value is not None)


def by_hand() -> tuple[float, float]:
    return metrics(two_bound_ranks("IMB-MPI1", *ARGUMENTS.split()))


def compare(what: str, ours: list[float], theirs: list[float], show: object) -> None:
    first, second = summarise(ours), summarise(theirs)
    assert first.interval and second.interval and callable(show)
    overlap = first.interval.low <= second.interval.high and second.interval.low <= first.interval.high
    verdict = "overlap" if overlap else "DO NOT OVERLAP"
    p = difference(ours, theirs).p
    for name, found in (("job script", first), ("by hand", second)):
        low, high = (show(value) for value in (found.interval.low, found.interval.high))  # type: ignore[union-attr]
        print(f"{what:<18} {name:<11} {show(found.median):>12}  [{low}, {high}]")
    print(f"{what:<18} intervals {verdict}; Mann-Whitney p = {p if p is None else round(p, 3)}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        campaign = Path(folder) / "agreement.yaml"
        campaign.write_text(CAMPAIGN)
        prepared = prepare(campaign, results=Path(folder) / "results")
        build = [sys.executable, "-m", "mpicampaign.cli", "build", "--campaign", str(campaign)]
        subprocess.run(build, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
        write_scripts(prepared)
        ours, hand = [], []
        for script in prepared.runs:
            subprocess.run(["bash", str(script.path)], check=True)
            if not script.output.stat().st_size:
                sys.exit("SHM-1 is not available on this machine: it needs two cores on one socket")
            ours.append(metrics(script.output.read_text()))
            hand.append(by_hand())
    compare("latency at 0 B", [m[0] for m in ours], [m[0] for m in hand], TIME.number)
    compare("maximum bandwidth", [m[1] for m in ours], [m[1] for m in hand], BANDWIDTH.number)


if __name__ == "__main__":
    main()
