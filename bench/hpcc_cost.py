"""HPCC of two ranks by a campaign's job script, compared with the same launch by hand, in turn."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import yaml
from common import line, seconds, title, usually

from mpicampaign.execution.build import build
from mpicampaign.jobs.launchers import command_tokens, environment
from mpicampaign.jobs.prepare import prepare, write_scripts
from mpicampaign.jobs.run import Run

PAIRS = usually(10, smallest=1)
N, NB = usually((1000, 128), smallest=(100, 32))
NEEDED = ("hpcc", "mpirun.openmpi")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}
CAMPAIGN = {
    "campaign": "hpcc-cost",
    "repeats": PAIRS,
    "time_limit": "5 min",
    "systems": {
        "here": {
            "scheduler": "none",
            "mpi": "openmpi4",
            "environment": {"OPENBLAS_NUM_THREADS": 1, **AS_ROOT},
        }
    },
    "mpis": {"openmpi4": {"command": "mpirun.openmpi"}},
    "host_groups": {"local": {"system": "here"}},
    "benchmarks": {"HPCC": {"parameters": {"N": N, "NB": NB}}},
    "matrix": [{"host_groups": "local", "placements": "SHM", "benchmarks": "HPCC"}],
}


def main() -> None:
    title(f"HPCC of two ranks, N {N}, {PAIRS} pairs, in turn; limit: 1 s beyond the launch by hand")
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        print(f"  skipped: {', '.join(missing)} not installed (Debian: hpcc openmpi-bin)")
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        file = folder / "campaign.yaml"
        file.write_text(yaml.safe_dump(CAMPAIGN))
        prepared = prepare(file, results=folder / "results")
        build(prepared)
        write_scripts(prepared)
        pairs = [
            (seconds(partial(run, each)), seconds(partial(by_hand, each, folder))) for each in prepared.runs
        ]
        ours, bare = zip(*pairs, strict=True)
        line("by the job script", ours, unit="s")
        line("by hand", bare, unit="s")
        line("  beyond the launch by hand", [a - b for a, b in pairs], unit="s")


def run(script: Run) -> None:
    """Exits unless the run has a result."""
    subprocess.run(["bash", script.path], check=True, stdout=subprocess.DEVNULL)
    if not script.output.stat().st_size:
        raise SystemExit(f"{script.folder} has no output")


def by_hand(script: Run, folder: Path) -> None:
    """The launch in a folder with its input, as people do it."""
    work = folder / "by-hand"
    work.mkdir(exist_ok=True)
    [file] = script.inputs
    (work / file.name).write_text(file.text)
    (work / "hpccoutf.txt").unlink(missing_ok=True)  # hpcc appends
    command = [*command_tokens(script.job), script.program]
    variables = {**os.environ, **environment(script.job)}
    subprocess.run(command, check=True, cwd=work, env=variables, capture_output=True)


if __name__ == "__main__":
    main()
