"""Twenty real runs, copied ten thousand times with other times and values: status, report and tables.

The copies are finished runs to the program: their claims are those of the campaign, their evidence fits them.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from by_hand import parsed
from common import options, title, usually
from whole_machine import line, stage

from mpicampaign.base.run_files import RESULT, part_of, result_in, text_of

RUNS, GROUPS = usually((10_000, 50), smallest=(80, 2))  # host groups of the second campaign
PAGE = 1.5  # MB
BENCHMARKS = ("Allreduce", "Alltoall", "Bcast", "Gather", "Reduce")
PROGRAM = "suite: imb, program: IMB-MPI1, provider: wheel, arguments: -iter 500 -time 2 -msglog 2:20"
CAMPAIGN = """\
campaign: many
repeats: {repeats}
time_limit: 30 s
busy_machine: rank
systems: {{here: {{scheduler: none, mpi: wheel}}}}
placements: {{any: {{nodes: 1, ranks_per_node: 2, transport: any, binding: none}}}}
matrix: [{{host_groups: [{groups}], placements: [SHM, SHM-1, any, TCP-loopback], benchmarks: [{names}]}}]
"""
MICROSECOND = timedelta(microseconds=1)
TIMES = {
    r"\b20\d\d-\d\d-\d\dT[0-9:]{8}": "%Y-%m-%dT%H:%M:%S",
    r"\b\w{3} \w{3} +\d+ [0-9:]{8} 20\d\d\b": "%a %b %d %H:%M:%S %Y",
}


def main(arguments: Sequence[str] = ()) -> None:
    found = options(__doc__, arguments, runs=RUNS, groups=GROUPS)
    for groups in (1, found.groups):
        title(f"{found.runs} finished runs, {groups} host groups")
        measure(found.runs, groups)


def measure(runs: int, groups: int) -> None:
    """A line for each command; the second report begins from the caches."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        stage(folder, "run, of 20 runs", "run", write_campaign(folder, 1, 1))
        file = write_campaign(folder, groups, runs // groups // 20)
        stage(folder, "render, of all runs", "render", file)
        copy_runs(folder / "results/many")
        for command in ("status", "report", "tables"):
            stage(folder, command, command, file)
        parsed(folder / "results/many")
        file.write_text(f"title: Again\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
        stage(folder, "report, with another title", "report", file)
        line("page", (folder / "results/many/report.html").stat().st_size / 1e6, "MB", PAGE)


def write_campaign(folder: Path, groups: int, repeats: int) -> Path:
    names = [f"group-{number}" for number in range(groups)]
    benchmarks = {name: f"{{{PROGRAM} {name}}}" for name in BENCHMARKS}
    text = CAMPAIGN.format(repeats=repeats, groups=", ".join(names), names=", ".join(benchmarks))
    for key, found in {
        "host_groups": dict.fromkeys(names, "{system: here}"),
        "benchmarks": benchmarks,
    }.items():
        text += f"{key}: {{{', '.join(f'{name}: {value}' for name, value in found.items())}}}\n"
    file = folder / "many.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def copy_runs(campaign: Path) -> None:
    """Gives each run without a result that of the real run of its placement and benchmark, in any order."""
    claims = sorted(campaign.glob("runs/*/*/*/r*/claim"))
    made = {claim.parts[-4:-2]: claim.parent for claim in claims if result_in(claim.parent)}
    due = [claim for claim in claims if not result_in(claim.parent)]
    for number, claim in enumerate(random.Random(1).sample(due, len(due)), start=1):
        copy_run(made[claim.parts[-4:-2]], claim, number)


def copy_run(real: Path, claim: Path, number: int) -> None:
    """The same some seconds later, with the times of each row longer or shorter."""
    later, noise = timedelta(seconds=20 * number), random.Random(number)

    def row(match: re.Match[str]) -> str:
        factor = math.exp(noise.gauss(0, 0.01))
        return re.sub(r" +[0-9]+\.\d+", lambda at: f"{float(at[0]) * factor:{len(at[0])}.2f}", match[0])

    def moved(text: str) -> str:
        for pattern, form in TIMES.items():
            text = re.sub(pattern, lambda time: f"{datetime.strptime(time[0], form) + later:{form}}", text)  # noqa: B023
        return re.sub(r"\b1\d{15}\b", lambda time: str(int(time[0]) + later // MICROSECOND), text)

    output = moved(re.sub(r"(?m)^ +\d+ +\d+ .*$", row, text_of(part_of(real / RESULT, "output"))))
    [scripts] = re.findall("(?m)^claim scripts=(.+)$", claim.read_text(encoding="utf-8"))
    told = moved(text_of(part_of(real / RESULT, "evidence")))
    facts = {"run": "/".join(claim.parts[-5:-1]), "script_sha256": scripts}
    facts["sha256.output.txt"] = checksum = hashlib.sha256(output.encode()).hexdigest()
    facts["passed"] = f"{len(output.encode())} {checksum}"
    for key, value in facts.items():
        told = re.sub(rf"(?m)^job {key}=.*$", f"job {key}={value}", told)
    told += f"\n==> stderr.txt, 0 bytes <==\n\n==> output.txt, {len(output.encode())} bytes <==\n{output}"
    claim.with_name(RESULT).write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
