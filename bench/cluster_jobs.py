"""40 two-node jobs on the test cluster, compared with a loop of sbatch over the same scripts."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from common import PROJECT, title, usually

sys.path.insert(0, str(PROJECT / "tests"))
from cluster_site import Site
from minicluster import BLUE, MiniCluster, missing_parts

JOBS, TURNS = usually((40, 3), smallest=(2, 1))
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"}


def main() -> None:
    if missing := missing_parts():
        print(f"not measured: the test cluster needs {', '.join(missing)}")
        return
    title(f"Cluster jobs: {JOBS} jobs of two nodes each, in turn, s from the call to the last job's end")
    ours, loop, queries = [], [], []
    for _ in range(TURNS):
        seconds, asked = on_a_fresh_cluster(campaign)
        ours.append(seconds)
        queries.append(asked)
        loop.append(on_a_fresh_cluster(sbatch_loop)[0])
    for name, found in (("snakemake --profile cluster", ours), ("a loop of sbatch", loop)):
        print(f"{name:28} {statistics.median(found):6.1f} [{min(found):.1f}, {max(found):.1f}]")
    print(
        f"ratio {statistics.median(ours) / statistics.median(loop):.2f}; limit 25 s, with tables and report"
    )
    print(f"queue queries of a call: {max(queries)} at most; limit 15")


def on_a_fresh_cluster(measure: object) -> tuple[float, int]:
    with tempfile.TemporaryDirectory() as folder, MiniCluster(Path(folder) / "cluster", [BLUE]) as cluster:
        site = Site(cluster)
        site.write(repeats=JOBS)
        site.call("build")
        site.replace("squeue", 'echo >>"$0.calls"\nexec /usr/bin/squeue "$@"')
        return measure(site)  # type: ignore[operator,no-any-return]


def campaign(site: Site) -> tuple[float, int]:
    begin = time.perf_counter()
    done = site.run(timeout=300)
    seconds = time.perf_counter() - begin
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return seconds, (site.commands / "squeue.calls").read_text().count("\n")


def sbatch_loop(site: Site) -> tuple[float, int]:
    scripts = [str(script) for script in site.scripts()]
    begin = time.perf_counter()
    done = site.cluster.call(["bash", "-c", 'for script; do sbatch "$script"; done', "bash", *scripts])
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    while not set(site.cluster.queue().values()) <= ENDED:
        time.sleep(0.2)
    return time.perf_counter() - begin, 0


if __name__ == "__main__":
    main()
