"""A change in what is measured must raise its number: otherwise results of two methods would be mixed.

golden/measurement.json holds, for each run of the golden campaign, its identity and a checksum of its launch,
settings and CPUs; for each kernel its version and a checksum of its source. After an intended change: raise
the number of the suite, the kernel (suites/kernels) or the MPI library, add a line to docs/formats.md, then
call MPICAMPAIGN_UPDATE_GOLDEN=1 pytest tests/test_measurement_guard.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from functools import cache
from pathlib import Path

import build_records as make
from build_campaigns import MACHINE
from conftest import completed
from test_balance import hpcc, of_run
from test_golden import FOUND, GOLDEN

from mpicampaign.campaign.file import load_campaign
from mpicampaign.compare.beside_originals import beside_tables
from mpicampaign.compare.compare import compare
from mpicampaign.jobs.launchers import command_tokens, environment
from mpicampaign.jobs.plan import make_plan
from mpicampaign.jobs.render import TEMPLATES
from mpicampaign.jobs.run import Run
from mpicampaign.suites import SUITES

PROJECT = Path(__file__).parents[1]
KEPT = GOLDEN / "measurement.json"
KERNELS = PROJECT / "kernels"
VERSIONS = SUITES["kernel"].versions
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\w+|[^\w\s])', re.DOTALL)
INCLUDE = re.compile(r'^#include "(\w+)/\w+\.h"', re.MULTILINE)


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tokens(source: str) -> str:
    """A C source without comments, and without the line breaks and spaces that a formatter chooses."""
    return " ".join(found for found in TOKEN.findall(source) if found)


def sources(name: str) -> list[Path]:
    """The source files of a kernel: its file and folder, common, and the folders of common it includes."""
    found: set[Path] = set()
    waiting = [KERNELS / f"{name}.c", *KERNELS.glob(f"{name}/*.[ch]")]
    waiting += [*(KERNELS / "common").glob("*.[ch]"), *(KERNELS / "common" / "sync").glob("*.c")]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            for folder in INCLUDE.findall(path.read_text()):
                waiting += (KERNELS / "common" / folder).glob("*.[ch]")
    return sorted(found)


def kernels() -> dict[str, list[str]]:
    """Each kernel's version and a checksum of its source."""
    texts = {name: "".join(tokens(path.read_text()) for path in sources(name)) for name in VERSIONS}
    return {name: [str(VERSIONS[name]), checksum(text)] for name, text in texts.items()}


@cache
def cpus(ranks: int, sockets: int) -> str:
    """The CPUs of the ranks of a node with two sockets of eight cores, by the library itself."""
    halves = {"0 - -": range(8), "1 - -": range(8, 16)} if sockets else {"- - -": range(16)}
    cores = " ".join(f"['{cell}']='{' '.join(map(str, half))}'" for cell, half in halves.items())
    read = f"declare -A cores_in=({cores}); cells=({' '.join(map(repr, halves))})"
    text = f". {TEMPLATES}/library/rank.sh; {read}; "
    text += f'ranks_per_node={ranks} sockets={sockets}; choose_cpus; echo "${{cpus[@]:0:{ranks}}}"'
    return completed(["bash", "-c", text], check=True).stdout


def measured(run: Run) -> str:
    """A run's launch, settings and CPUs."""
    job = run.job
    bound = cpus(job.ranks_per_node, job.placement.sockets or 0) if job.placement.binding == "core" else ""
    steps = [*command_tokens(job), run.benchmark.program, *run.benchmark.arguments]
    return json.dumps([steps, environment(job), bound, job.placement.binding])


def runs() -> dict[str, list[str]]:
    """The identity and a checksum of each run of the golden and the default campaign."""
    found = {}
    for path in (GOLDEN / "golden.yaml", PROJECT / "campaign.yaml"):
        campaign = load_campaign(path)
        machine = FOUND if path.parent == GOLDEN else MACHINE
        for run in make_plan(campaign, list(campaign.systems), machine).runs:
            if run.repeat == 1:
                label = f"{campaign.name} {run.case}"
                found[label] = [run.identity, checksum(measured(run))]
    return dict(sorted(found.items()))


def unraised(before: dict[str, list[str]], now: dict[str, list[str]]) -> list[str]:
    """Entries with a different checksum but the same number."""
    both = before.keys() & now.keys()
    return sorted(n for n in both if before[n][0] == now[n][0] and before[n][1] != now[n][1])


def test_what_is_measured_otherwise_has_a_raised_number() -> None:
    now = {"kernels": kernels(), "runs": runs()}
    kept = json.loads(KEPT.read_text())
    for part, numbers in (("kernels", "the version in suites/kernels"), ("runs", "the measurement number")):
        found = unraised(kept[part], now[part])
        assert not found, f"raise {numbers} for {found[:5]}"
    if os.environ.get("MPICAMPAIGN_UPDATE_GOLDEN"):
        KEPT.write_text(json.dumps(now, indent=1) + "\n")
    assert json.loads(KEPT.read_text()) == now


def test_the_guard_sees_a_change_and_no_comment() -> None:
    source = (KERNELS / "tree_merge.c").read_text()
    commented = source.replace("\n", " // said otherwise\n", 1).replace("{", "/* { */ {", 1)
    assert tokens(commented) == tokens(source)
    assert tokens(source.replace("==", "!=", 1)) != tokens(source)
    assert unraised({"a": ["1", "x"]}, {"a": ["1", "y"]}) == ["a"]
    assert unraised({"a": ["1", "x"], "b": ["1", "x"]}, {"a": ["2", "y"], "c": ["1", "y"]}) == []


def test_the_guard_reads_the_folders_that_a_kernel_includes_and_no_others() -> None:
    found = {str(path.relative_to(KERNELS)) for path in sources("tree_merge")}
    assert found >= {"tree_merge.c", "tree_merge/template.h", "common/tree/max_inter.c", "common/clock.c"}
    assert "common/sync/start.c" in found
    assert not any(name.startswith(("b_eff", "common/exchange/")) for name in found)


def test_arrays_of_other_sizes_have_no_ratio() -> None:
    """HPCC prints elements of one process, the kernel bytes of all."""
    ours = make.series("stream", 4, stream_copy_star=1e9)
    stream = of_run("kernel", "stream", 1, ours, array_bytes="32000")
    for elements, tables in (("1000", 1), ("100", 0), ("", 0)):
        original = hpcc(1, ranks=4, stream_vectorsize=elements)
        assert len(beside_tables(compare([original, stream]).tables)) == tables, elements
