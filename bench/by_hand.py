"""What users do without us, in the same run: a loop of sbatch, output redirected to the share, a parser.

bench/run_all by_hand [--runs 10000] [--parts submissions files]

**submissions**: one sbatch a run against arrays, where a site allows 1,000 tasks, or 25 jobs. Slurm's
commands are stand-ins that cost next to nothing, in both ways alike. CPU seconds: of the caller with all that
it starts, until the outputs are there; ours are read and judged, too.

**files**: calls of a job script that change metadata of the share, by strace.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from common import options, title, usually, wheel_mpi
from stand_in_scheduler import finish

RUNS = usually(10_000, smallest=40)
CAMPAIGN = """\
campaign: many
repeats: 20
time_limit: 30 s
busy_machine: rank
mpis: {{none: {{launcher: hydra, command: {bin}/program, transports: {{}}}}}}
systems: {{cluster: {{scheduler: slurm, mpi: none, evidence: off}}, here: {{scheduler: none, mpi: wheel}}}}
host_groups: {{n1: {{system: cluster, hosts: [n1], cores: 8}}, this: {{system: here}}}}
placements: {{any: {{nodes: 1, ranks_per_node: 2, transport: any, binding: none}}}}
benchmarks:
  Barrier: {{suite: imb, program: IMB-MPI1, provider: wheel, arguments: Barrier}}
  latency: &latency {{suite: osu, program: program, provider: {{kind: path, location: {bin}/program}}}}
{further}
matrix: [{{host_groups: {group}, benchmarks: [{names}], placements: any}}]
"""
STUBS = {
    "program": "exit 1",
    "sbatch": 'for script; do :; done; echo "$script" >"{bin}/asked"; cat "{bin}/answered"',
    "squeue": "exit 0",
    "sacctmgr": 'case "$*" in *assoc*) echo "a|||{most}|" ;; esac',
    "scontrol": "echo MaxArraySize = 1001",
    "sinfo": 'echo "n1|idle|none"',
}
LOOP = 'for script in "$1"/*/*/*/r*/job.sh; do sbatch --parsable "$script"; done'
REDIRECTED = 'mpirun -n 2 IMB-MPI1 Barrier >"$1/output.txt" 2>"$1/errors.txt"'
CHANGES = re.compile(
    r"\d+ +(?:(?:creat|mkdir|rename|unlink|rmdir|link|symlink|chmod|truncate)|open.*O_CREAT)"
)
PARSER = r"""
import csv, re, statistics, sys
from collections import defaultdict
from pathlib import Path
times = defaultdict(list)
for file in Path(sys.argv[1]).glob("runs/*/*/*/r*/result.txt"):
    for size, time in re.findall(r"(?m)^ +(\d+) +\d+ +\S+ +\S+ +([\d.]+) *$", file.read_text()):
        times[*file.parts[-5:-2], size].append(float(time))
with open(sys.argv[2], "w", newline="") as table:
    csv.writer(table).writerows([*key, len(each), statistics.median(each)] for key, each in times.items())
"""


def spent(call: Sequence[str | Path], **settings: str) -> tuple[float, float]:
    """CPU seconds of a call with all that it starts, and MB of the largest process."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(call, env={**os.environ, **settings}, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        said.seek(0)
        if status:
            sys.exit(said.read()[-3000:])
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def parsed(results: Path) -> None:
    """A row: what a short script takes for medians, and nothing else, from the outputs of finished runs."""
    seconds, largest = spent([sys.executable, "-c", PARSER, results, results / "by-hand.csv"])
    print(f"  {'by a script of ten lines':<40} {seconds:8.3f} s, {largest:.0f} MB", flush=True)


def write(folder: Path, group: str, names: Sequence[str], most: str = "") -> list[str | Path]:
    """Options for a campaign, beside stand-ins for Slurm's commands; ``most``: jobs that the site allows."""
    commands, file = folder / "bin", folder / "many.yaml"
    commands.mkdir()
    for name, text in STUBS.items():
        (commands / name).write_text(f"#!/bin/sh\n{text.format(bin=commands, most=most)}\n", encoding="utf-8")
        (commands / name).chmod(0o755)
    further = "".join(f"  {name}: *latency\n" for name in names if name != "Barrier")
    text = CAMPAIGN.format(bin=commands, group=group, names=", ".join(names), further=further)
    file.write_text(text, encoding="utf-8")
    return ["--system", {"n1": "cluster", "this": "here"}[group], file]


def end_runs(commands: Path, submitted: list[Path]) -> None:
    """Ends each run of a submission before sbatch has its answer."""
    while text := (commands / "asked").read_text(encoding="utf-8").strip():
        submitted.append(script := Path(text))
        batch = script.with_suffix(".runs")
        runs = batch.read_text(encoding="utf-8").split() if batch.exists() else [script.parent]
        for run in runs:
            finish(script.parents[1] / run, ["n1"], datetime.now(UTC))
        (commands / "answered").write_text(f"{len(submitted)}\n", encoding="utf-8")


def submissions(runs: int) -> None:
    title(f"{runs} runs submitted: submissions, CPU s; one sbatch a run / the same")
    ways = {"one sbatch a run": submit(runs, loop=True), "ours": submit(runs)}
    ways["ours, 25 jobs allowed"] = submit(runs, most="25")
    [jobs, seconds], *_ = ways.values()
    for way, (own, cpu) in ways.items():
        print(f"  {way:<40} {own:6} {cpu:8.2f}; × {jobs / own:.1f}, × {seconds / cpu:.2f}", flush=True)


def submit(runs: int, most: str = "", loop: bool = False) -> tuple[int, float]:
    """How many submissions, and the seconds from scripts that exist to results that do."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, submitted = Path(temporary).resolve(), list[Path]()
        place = write(folder, "n1", [f"osu-{number}" for number in range(runs // 20)], most)
        for pipe in ("asked", "answered"):
            os.mkfifo(folder / "bin" / pipe)
        threading.Thread(target=end_runs, args=(folder / "bin", submitted), daemon=True).start()
        command = [sys.executable, "-m", "mpicampaign.cli"]
        path = f"{folder}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
        spent([*command, "render", *place], PATH=path)
        by_loop = ["bash", "-c", LOOP, "loop", folder / "results/many/runs"]
        call = by_loop if loop else [*command, "run", "--no-report", *place]
        seconds, _ = spent(call, PATH=path, MPICAMPAIGN_STATES="off")
        results = len([*folder.rglob("result.txt")])
    if results != runs:
        sys.exit(f"  {results} of {runs} runs have a result")
    return len(submitted), seconds


def files(_: int) -> None:
    title("A run of IMB on two ranks: changes of metadata on the share, files there afterwards")
    if shutil.which("strace") is None:
        print("  skipped: strace not installed")
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        spent([sys.executable, "-m", "mpicampaign.cli", "render", *write(folder, "this", ["Barrier"])])
        script, *_ = (folder / "results/many/runs").rglob("job.sh")
        plain = folder / "plain"
        plain.mkdir()
        shutil.copy(script, plain)
        for way, share, call in (
            ("redirected to the share", plain, ["bash", "-c", REDIRECTED, "plain", plain]),
            ("ours", script.parent, ["bash", script]),
        ):
            count = changes(folder, share, call)
            print(f"  {way:<40} {count:3} changes, {len(list(share.iterdir()))} files", flush=True)


def changes(folder: Path, share: Path, call: Sequence[str | Path]) -> int:
    """Calls that changed what lies in the share; to open what is there already changes nothing."""
    log, kinds = folder / "trace", set()
    command = ["strace", "-f", "-qq", "-s", "4096", "-e", "trace=%file", "-o", log, *call]
    subprocess.run(command, env={**wheel_mpi(), "TMPDIR": str(folder)}, stdout=subprocess.DEVNULL, check=True)
    for line in filter(CHANGES.match, log.read_text(encoding="utf-8").splitlines()):
        paths = re.findall('"([^"]*)"', line)
        if Path(paths[-1]).is_relative_to(share) and " = -1 " not in line:
            kinds.add((line.split("(")[0].split()[-1], *paths))
    return len(kinds)


PARTS = {part.__name__: part for part in (submissions, files)}


def main(arguments: Sequence[str] = ()) -> None:
    given = options(__doc__, arguments, PARTS, runs=RUNS)
    for part in given.parts:
        PARTS[part](given.runs)
