"""GPUs asked of a real Slurm, which gives devices that are none; the driver's files stand for NVIDIA's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from build_campaigns import TWO_NODES
from cluster_site import Site
from conftest import succeeded
from minicluster import BLUE, MiniCluster
from test_gpus import ADDRESSES, machine

from mpicampaign.base.records import OK, UNVERIFIED
from mpicampaign.evidence.evidence import read_evidence

pytestmark = pytest.mark.slow


def test_slurm_gives_gpus_and_a_rank_starts_with_its_share(cluster_parts: None, tmp_path: Path) -> None:
    with MiniCluster(tmp_path / "cluster", [replace(BLUE, gpus=4)]) as cluster:
        site = Site(cluster)
        machine(site.folder / "gpus", (0, 0, 0, 0))
        for environment in ({}, {"MPICAMPAIGN_SYSFS": f"{site.folder}/gpus/sys"}):
            site.write(
                body='env >"$0.seen"',
                system={"launcher": "srun", "environment": environment},
                group={"gpu_type": "a100"},
                placements={"two": {**TWO_NODES, "gpus_per_node": 2}},
            )
            assert succeeded(site.run())
        texts = sorted(
            site.folder.glob("results/jobs/runs/*/*/*/*/result/evidence.txt"), key=lambda p: p.stat().st_mtime
        )
        without, seen = (read_evidence(path.read_text()) for path in texts)
        assert without.job["not_available"].startswith("no NVIDIA or AMD GPU on n")
        assert seen.job["env.CUDA_VISIBLE_DEVICES"] == "0,1"
        assert {rank["launch.gpus"] for rank in seen.ranks.values()} == {"CUDA_VISIBLE_DEVICES=0,1"}
        assert {node["gpu.1"].split()[0] for node in seen.nodes.values()} == {ADDRESSES[1]}
        assert len(seen.nodes) == 2
        assert "CUDA_VISIBLE_DEVICES=0,1" in (site.folder / "program.seen").read_text().splitlines()
        assert [(each.status, each.verdict) for each in site.records()] == [(OK, UNVERIFIED)]
