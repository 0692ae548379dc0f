"""Real runs whose launcher lies: a wrapper for mpirun starts the ranks otherwise than the job script says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import ProjectCopy, executable
from test_software import Lie, run

from mpicampaign.base.records import CONTRADICTED, DISTURBED, OK, UNVERIFIED, VERIFIED, Record
from mpicampaign.compare.run_notes import inconsistency_notes

pytestmark = [pytest.mark.mpi, pytest.mark.slow, pytest.mark.full]

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
ARGUMENTS = "-iter 200 -time 1 -msglog 0:16 PingPong"
# Which lie is told says the name of the run; what stands before the rank's program starts that.
WRAPPER = """\
#!/bin/bash
mpirun={mpirun} here={here}
[ "$1" != --version ] || exec "$mpirun" --version
edit() {{ # time and rate of each row alike
    by=$1 perl -pe 'BEGIN {{ $| = 1 }} s{{^( +\\d+)( +\\d+) +([0-9.]+) +[0-9.]+}}
        {{sprintf "%s%s%13.2f%13.2f", $1, $2, $3 * $ENV{{by}}, $1 / $3 / $ENV{{by}}}}e'
}}
launch=()
while [[ $1 != */rank ]]; do launch+=("$1") && shift; done
rank=$1 attempt=${{1%/*}}
shift
run=$(sed -n "s/^job run=//p" "$attempt/evidence.txt")
case $run in
    */arguments/*) exec "$mpirun" "${{launch[@]}}" "$rank" "${{@/#200/50}}" ;;
    */setting/*) launch+=(env I_MPI_SHM_CELL_FWD_SIZE=256) ;;
    */claimed/*) launch+=(env I_MPI_FABRICS=ofi) ;;
    */wtime/*) launch+=(env LD_PRELOAD="$here/half.so") ;;
    */faketime/*) launch+=(env LD_PRELOAD={faketime} "FAKETIME=+0 x0.5") ;;
    */tool/*) launch+=(env LD_PRELOAD="$here/tool.so") ;;
    */stale/*)
        [ -f "$here/stale" ] || exec "$mpirun" "${{launch[@]}}" "$rank" "$@" > >(tee "$here/stale")
        "$mpirun" "${{launch[@]}}" "$rank" "$@" >/dev/null
        cat "$here/stale"
        exit
        ;;
    */unlike/*)
        [ ! -f "$here/once" ] || launch+=(nice -n 19 env GLIBC_TUNABLES=glibc.malloc.mmap_max=0)
        touch "$here/once"
        ;;
    */slower/*) exec "$mpirun" "${{launch[@]}}" "$rank" "$@" > >(edit 40) ;;
    */replayed/* | */replaced/*)
        "$mpirun" "${{launch[@]}}" "$rank" "$@" >"$here/real"
        [[ $run != */replaced/* ]] || exec >"$attempt/output.txt"
        edit 1.01 <"$here/real" && exit
        ;;
    */stopped/*)
        (while [ -z "${{pid-}}" ] && [ -d "$attempt/ranks" ]; do
            sleep 0.02
            pid=$(sed -n "s/^rank 0 start.pid=//p" "$attempt/ranks/0")
        done
        sleep 0.2 && kill -STOP "$pid" && sleep 0.5 && kill -CONT "$pid") >/dev/null 2>&1 &
        ;;
esac
exec "$mpirun" "${{launch[@]}}" "$rank" "$@"
"""
HALF = """\
#define _GNU_SOURCE
#include <dlfcn.h>
double MPI_Wtime(void) { return ((double (*)(void))dlsym(RTLD_NEXT, "MPI_Wtime"))() / 2; }
"""


def imb(arguments: str = ARGUMENTS) -> Mapping[str, object]:
    return {"suite": "imb", "program": "IMB-MPI1", "arguments": arguments, "provider": "wheel"}


@pytest.fixture
def wrapper(imb: str, tmp_path: Path) -> Path:
    """The launcher, and the libraries that it preloads."""
    for name, source in (("half", HALF), ("tool", "int no_function_of_anybody;")):
        command = ["cc", "-shared", "-fPIC", "-xc", "-", "-o", str(tmp_path / f"{name}.so")]
        subprocess.run(command, input=source, text=True, check=True, timeout=60)
    text = WRAPPER.format(mpirun=f"{sys.prefix}/bin/mpirun", here=tmp_path, faketime=FAKETIME)
    return executable(tmp_path / "mpirun", text)


def started(
    project: ProjectCopy, wrapper: Path, runs: Mapping[str, Lie], repeats: int = 1
) -> dict[str, list[Record]]:
    """The records of each run, which must all have ended well."""
    found: dict[str, list[Record]] = {}
    for record in run(project, runs, {"intelmpi": str(wrapper)}, repeats):
        assert record.status == OK, (record.case, record.reason)
        found.setdefault(record.case.benchmark, []).append(record)
    return found


SYSTEM = {"mpi": "intelmpi", "prefix": "wheel", "environment": {"I_MPI_THREAD_YIELD": "2"}}
LIES = {
    "honest": Lie(imb(), SYSTEM),
    "arguments": Lie(imb(), SYSTEM, "arguments", ("'-iter 50 ", "not '-iter 200 ")),
    "setting": Lie(imb(), SYSTEM, "variables", ("I_MPI_SHM_CELL_FWD_SIZE=256", "does not set")),
    "claimed": Lie(imb(), SYSTEM, "variables", ("I_MPI_FABRICS=ofi, claimed: shm",)),
    "wtime": Lie(imb("-iter 3000 -time 2 -msglog 0:18 PingPong"), SYSTEM, "clocks", ("by MPI_Wtime()",)),
    "faketime": Lie(imb(), SYSTEM, "clocks", ("by the kernel's clock",), "TCP-loopback"),
    "tool": Lie(imb(), SYSTEM, "preloaded libraries", ("/tool.so",)),
}


def test_what_a_launcher_changes_is_seen(project: ProjectCopy, wrapper: Path) -> None:
    lies = {name: lie for name, lie in LIES.items() if name != "faketime" or FAKETIME.exists()}
    found = started(project, wrapper, lies)
    wrong = {}
    for name, lie in lies.items():
        (record,) = found[name]
        expected = UNVERIFIED if name == "tool" else CONTRADICTED if lie.kind else VERIFIED
        reasons = "; ".join(record.verdict_reasons)
        named = (
            f"{lie.kind}: " in reasons and all(part in reasons for part in lie.names) if lie.kind else True
        )
        if record.verdict != expected or not named:
            wrong[name] = (record.verdict, reasons)
    assert wrong == {}


def test_repeats_that_are_copies_or_start_unlike(project: ProjectCopy, wrapper: Path) -> None:
    runs = {"honest": Lie(imb(), SYSTEM), "stale": Lie(imb(), SYSTEM), "unlike": Lie(imb(), SYSTEM)}
    found = started(project, wrapper, runs, repeats=2)
    first, second = sorted(found["stale"], key=lambda record: record.started)
    assert (first.verdict, second.verdict) == (VERIFIED, CONTRADICTED)
    assert any(f"those of repeat {first.repeat}" in reason for reason in second.verdict_reasons)
    assert {record.verdict for record in found["honest"]} == {VERIFIED}
    notes = inconsistency_notes([(record, record.series[0]) for record in found["unlike"]])
    assert "nice=19" in str(notes)
    assert "GLIBC_TUNABLES=glibc.malloc.mmap_max=0" in str(notes)


def test_a_program_that_prints_what_another_one_measured(project: ProjectCopy, wrapper: Path) -> None:
    long = imb("-iter 200 -iter_policy off -time 60 -msglog 21:24 PingPong")
    lies = {
        "honest": (VERIFIED, "B that the launcher wrote"),
        "slower": (CONTRADICTED, "s passed from MPI_Init to MPI_Finalize; output: its rows"),
        "replayed": (UNVERIFIED, "kept back by its launcher, or printed by something else"),
        "replaced": (CONTRADICTED, "B that the launcher wrote: something else wrote to the file"),
    }
    found = started(project, wrapper, {name: Lie(long, SYSTEM) for name in lies})
    for name, (verdict, says) in lies.items():
        reasons = "; ".join(found[name][0].verdict_reasons)
        assert (name, found[name][0].verdict) == (name, verdict) and says in reasons, reasons


def test_a_stopped_rank_is_disturbed(project: ProjectCopy, wrapper: Path) -> None:
    long = "-iter 1000000,100000 -time 1 -msglog 10:13 PingPong"  # a second or more on any machine
    (record,) = started(project, wrapper, {"stopped": Lie(imb(long), SYSTEM)})["stopped"]
    assert record.condition == DISTURBED, record.condition_reason
    assert "rank 0 was stopped for" in record.condition_reason
