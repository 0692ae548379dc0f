"""A campaign whose runs take no time: its launcher starts nothing and writes the shortest valid output."""

from __future__ import annotations

from pathlib import Path

import yaml
from conftest import ProjectCopy

OUTPUT = r"# OSU MPI Latency Test v7.4\n# Size Latency (us)\n1 0.50\n"
LAUNCHER = f"#!/bin/bash\n{{body}}\n[ -z \"$TRIVIAL_FAILS\" ] || exit 7\nprintf '{OUTPUT}'\n"


def write_trivial(project: ProjectCopy, name: str = "trivial", body: str = "", **changes: object) -> Path:
    """Write NAME.yaml; its launcher lies beside the tree, does ``body`` first, and fails for TRIVIAL_FAILS.

    ``changes`` replace whole sections of the file. No rank records anything: the runs are unverified.
    """
    launcher = project.folder.parent / "launch"
    launcher.write_text(LAUNCHER.format(body=body))
    launcher.chmod(0o755)
    unbound = {"nodes": 1, "ranks_per_node": 2, "transport": "any", "binding": "none"}
    campaign: dict[str, object] = {
        "campaign": name,
        "repeats": 2,
        "time_limit": "1 min",
        "mpis": {"none": {"launcher": "hydra", "command": str(launcher), "transports": {}}},
        "systems": {"here": {"scheduler": "none", "mpi": "none"}},
        "host_groups": {"local": {"system": "here"}},
        "placements": {"one": unbound, "two": unbound},
        "benchmarks": {
            "trivial": {
                "suite": "osu",
                "program": "true",
                "provider": {"kind": "path", "location": "/bin/true"},
            }
        },
        "matrix": [{"host_groups": "local", "placements": ["one", "two"], "benchmarks": "trivial"}],
    }
    path = project.folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(campaign | changes, sort_keys=False))
    return path
