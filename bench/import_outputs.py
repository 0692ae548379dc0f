"""Raw outputs of other people's jobs to records and tables: 280, 2,500 and 10,000 invented LSF outputs.

Memory is the peak of the process and that of the one that it starts to read half of the outputs. The CPU
time of each output shows whether it grows with their number.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import outputs
from common import ProjectCopy, beside_earlier, line, project_copies, title, usually

COUNTS = usually((280, 2500, 10_000), smallest=(20,))
LIMITS = {280: 2.0, 10_000: 5.0}
LIMIT_MEGABYTES = 500.0
ROUNDS = usually(3, smallest=1)
MAP = """\
import: many
campaign: many
placements: {TCP: {nodes: 2, transport: tcp}, IBV: {nodes: 2, transport: ibv}}
rules:
  - when: {directive.m: '(?P<group>.+)', command: ' -(?P<transport>TCP|IBV)'}
    label: {system: s, host_group: '{group}', placement: '{transport}', benchmark: '{benchmark}'}
"""
REPORT = """\
Sender: LSF System <lsfadmin@n1>
Subject: Job {job}: <PingPong> in cluster <c> Done

Job <PingPong> was submitted from host <login> by user <u> in cluster <c>.
Job was executed on host(s) <1*n1>, in queue <q>, as user <u> in cluster <c>.
                            <1*n2>
Started at Results reported on 
Your job looked like:

------------------------------------------------------------
# LSBATCH: User input
#BSUB -n 2
#BSUB -m "group{group}"
mpirun -lsf -prot -{transport} /home/u/IMB-MPI1 PingPong

------------------------------------------------------------

Successfully completed.

The output (if any) follows:

 Prot -  All Inter-node communication is: {transport}

{output}"""  # noqa: W291  LSF leaves a blank there
# The same command in a process that prints the CPU time and memory of itself and its children.
CALL = """\
import os, resource, sys
sys.path[:0] = [sys.argv.pop(1)]
from analyse_runs import peak_megabytes
from mpicampaign.cli import main
assert main() == 0
started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
print("USED", sum(os.times()[:4]), peak_megabytes() + started)
"""


def main() -> None:
    title("Import: LSF outputs (IMB, 24 rows each) to records and tables, whole process")
    with project_copies() as projects, TemporaryDirectory() as temporary:
        for count in COUNTS:
            _measure(projects, Path(temporary), count)


def _measure(projects: Sequence[ProjectCopy], folder: Path, count: int) -> None:
    raw, chosen = folder / str(count), folder / "map.yaml"
    _write(raw, count)
    chosen.write_text(MAP, encoding="utf-8")
    printed: list[list[str]] = [[] for _ in projects]
    call = [sys.executable, "-c", CALL, *map(str, (Path(__file__).parent, "import", raw, "--map", chosen))]
    times = []
    for number in range(ROUNDS):
        for project, said in zip(projects, printed, strict=True):
            begin = perf_counter()
            said.append(project.call(*call))
            times.append(perf_counter() - begin)
            # Kept until the end: after deleting many files, ext4 creates new ones ten times slower.
            (project.folder / "results").rename(project.folder / f"results-{count}-{number}")
    if any(f"{count} runs: {count} ok" not in text for said in printed for text in said):
        raise SystemExit(f"not all {count} outputs became runs:\n{printed[0][0][-2000:]}")
    of_copies = [[list(map(float, text.split()[-2:])) for text in said] for said in printed]
    used = of_copies[0]
    line(f"{count} outputs", times[:: len(projects)], LIMITS.get(count))
    line("  CPU time", [cpu for cpu, _ in used])
    line("  CPU time of each output", [1000 * cpu / count for cpu, _ in used], unit="ms")
    line("  peak memory of all its processes", [memory for _, memory in used], LIMIT_MEGABYTES, "MB")
    for place, what in enumerate(("CPU time", "peak memory")):
        beside_earlier(f"  {what}", [[used[place] for used in copy] for copy in of_copies])


def _write(folder: Path, count: int) -> None:
    folder.mkdir()
    noise = random.Random(count)
    for job in range(count):
        transport = ("TCP", "IBV")[job % 2]
        # the job's number makes each a separate run: the same content twice is one
        text = REPORT.format(job=job, group=job // 200, transport=transport, output=outputs.pingpong(noise))
        (folder / f"{job}.out").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
