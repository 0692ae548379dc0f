"""Campaigns on the test cluster: rendered, built and submitted there by its ordinary user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from build_campaigns import without_none
from conftest import ProjectCopy, copy_project
from minicluster import MiniCluster

from mpicampaign.base.records import Record, read_records

ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}
Names = str | Sequence[str]
Entry = tuple[Names, Names, Names]
FINISHED = 600  # seconds; the longest campaign of these tests takes two minutes


@dataclass(frozen=True)
class ClusterProject:
    """A copy of the project on the file system that the cluster's nodes share."""

    cluster: MiniCluster
    project: ProjectCopy
    campaign: str

    @property
    def results(self) -> Path:
        return self.project.folder / "results" / self.campaign

    def command_line(self, *arguments: str) -> str:
        """Calls mpicampaign on the head; its standard output."""
        done = self.cluster.call(
            self.project.command(*arguments, "--campaign", f"{self.campaign}.yaml"),
            timeout=120,
            env={"PYTHONPATH": str(self.project.folder / "src")},
            cwd=self.project.folder,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def render(self) -> list[Path]:
        """Renders the campaign and builds its programs; the job scripts."""
        scripts = self.command_line("render").splitlines()
        self.command_line("build")
        return [Path(script) for script in scripts]

    def submit(self, scripts: Iterable[Path]) -> dict[Path, str]:
        """Submits one job after another, so that none disturbs another; their last states."""
        jobs: dict[Path, str] = {}
        for script in scripts:
            after = [f"--dependency=afterany:{list(jobs.values())[-1]}"] if jobs else []
            done = self.cluster.call(["sbatch", "--parsable", *after, str(script)])
            assert done.returncode == 0, done.stderr
            jobs[script] = done.stdout.strip()
        wanted = set(jobs.values())

        def ended() -> bool:
            queue = self.cluster.queue()
            return {queue.get(job) for job in wanted} <= ENDED

        self.cluster.wait_for(ended, FINISHED, "all jobs have ended")
        states = self.cluster.queue()
        return {script: states[job] for script, job in jobs.items()}

    def report(self) -> list[Record]:
        self.command_line("report")
        return read_records(self.results / "records.jsonl")[1]

    def run(self, may_fail: bool = False) -> list[Record]:
        """The whole campaign as a user runs it: its records; ``may_fail``: some of its runs."""
        done = self.cluster.call(
            ["snakemake", "--profile", "cluster", "--config", f"campaign={self.campaign}.yaml"],
            timeout=FINISHED,
            env={"PYTHONPATH": str(self.project.folder / "src")},
            cwd=self.project.folder,
        )
        assert done.returncode == 0 or may_fail, done.stderr + done.stdout
        return read_records(self.results / "records.jsonl")[1]


def cluster_project(
    cluster: MiniCluster, name: str, *entries: Entry, system: dict[str, Any] | None = None, **sections: Any
) -> ClusterProject:
    """A fresh copy of the project that holds a campaign; two cores for all nodes are never quiet.

    ``entries``: of its matrix, as host groups, placements and benchmarks; ``sections`` others of the file.
    """
    used = {benchmark for _, _, benchmarks in entries for benchmark in listed(benchmarks)}
    campaign = {
        "campaign": name,
        "busy_machine": "rank",
        "repeats": 1,
        "time_limit": "1 min",
        "systems": {"cluster": system or system_of(cluster)},
        "host_groups": host_groups(),
        "placements": TWO_FABRICS,
        "benchmarks": {benchmark: keys for benchmark, keys in BENCHMARKS.items() if benchmark in used},
        "matrix": [
            dict(zip(("host_groups", "placements", "benchmarks"), map(listed, entry), strict=True))
            for entry in entries
        ],
        **sections,
    }
    project = copy_project(cluster.home / name)
    (project.folder / f"{name}.yaml").write_text(yaml.safe_dump(without_none(campaign), sort_keys=False))
    cluster.give(project.folder)
    return ClusterProject(cluster, project, name)


def listed(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else [*names]


def system_of(cluster: MiniCluster, **values: object) -> dict[str, object]:
    """The cluster as a system of a campaign; by default with the environment's Intel MPI."""
    common = {"scheduler": "slurm", "mpi": "intelmpi", "prefix": "wheel", "environment": cluster.environment}
    return without_none({**common, **values})


def host_groups(rate: str = "") -> dict[str, dict[str, object]]:
    """Both groups with two networks each, and a missing InfiniBand device."""
    line_rate = {"rate": rate} if rate else {}
    fabrics = {
        "first": {"transport": "tcp", "interface": "eth0", **line_rate},
        "second": {"transport": "tcp", "interface": "eth1", **line_rate},
        "ib": {"transport": "ibv", "device": "mlx5_0", "rate": "100 Gbit/s"},
        "by-libfabric": {"transport": "ofi", "provider": "tcp", "interface": "eth1"},
    }
    members = {"blue": ["n1", "n2"], "red": ["n3", "n4"]}
    return {
        name: {
            "system": "cluster",
            "constraint": name,
            "licenses": "machine:1",  # the nodes share this machine's cores: one job at a time
            "exclusive": True,
            "members": hosts,
            "fabrics": fabrics,
        }
        for name, hosts in members.items()
    }


TWO_NODES = {"nodes": 2, "ranks_per_node": 1, "transport": "tcp"}
TWO_FABRICS = {"TCP-first": {**TWO_NODES, "fabric": "first"}, "TCP-second": {**TWO_NODES, "fabric": "second"}}
BENCHMARKS = {
    "PingPong": {"arguments": "-iter 20 -time 5 -msglog 16:20 PingPong"},
    "Allreduce": {"arguments": "-iter 20 -msglog 16:20 Allreduce"},
    "tree_gather": {"arguments": "--tree natural --min-size 256KiB --max-size 1MiB --budget 1"},
    "Small": {
        "suite": "imb",
        "program": "IMB-MPI1",
        "provider": "wheel",
        "arguments": "-iter 200 -msglog 0:10 PingPong",
    },
}
