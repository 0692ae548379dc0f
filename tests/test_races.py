"""Races of settings: what is due, what wins, and the files that hold it."""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import build_records as make
import pytest
from build_campaigns import UNBOUND, AnyMachine, write_trivial
from conftest import PROJECT, ProjectCopy, completed
from test_blocks import BASE, plan_of

from mpicampaign.base.errors import UserError
from mpicampaign.base.plan_file import CaseEntry, PlanFile
from mpicampaign.base.planned_looks import Stage
from mpicampaign.base.records import (
    BLOCK,
    COMPARED,
    FAILED,
    MISSING,
    RACE_WITHIN,
    TIME_LIMIT_MET,
    Record,
    race_rules,
)
from mpicampaign.compare.compare import compare
from mpicampaign.jobs.plan_text import blocks_text, plan_text
from mpicampaign.questions.races.find import BEST, NOT_SHOWN, RUNNING, WITHIN, WON, InRace, races
from mpicampaign.questions.races.say import left_lines, progress, race_grid, race_sentence
from mpicampaign.questions.races.write_settings import write_settings
from mpicampaign.report.make import tables, to_terminal
from mpicampaign.report.summary import summary_text
from mpicampaign.schemes.unit import RepeatedCase

SIZES = (8, 64, 512)
Times = dict[str, dict[int, float]]  # by candidate and size, relative to 1; of sizes that are not named 1


RATES = "Uniband"


def run_of(
    name: str, repeat: int, times: dict[int, float], noise: Callable[[], float], label: str, rules: str
) -> Record:
    measured = [1e-5 * times.get(size, 1) * noise() for size in SIZES]
    columns = {"time": measured}
    if label == RATES:
        columns = {"bandwidth": [size / time for size, time in zip(SIZES, measured, strict=True)]}
    table = make.series(label, 4, size=map(float, SIZES), **columns)
    metadata = {BLOCK: "g a, 1 node", COMPARED: rules, "mpi_library": "X 1"}
    return make.run(make.case(name, "Allreduce"), repeat, table, metadata=metadata)


def raced(
    truth: Times, seed: int = 1, label: str = "Allreduce", more: str = "", noise: float = 0.005, **how: Any
) -> tuple[InRace, list[Record]]:
    """A race to its end: what is due is made, block by block."""
    source, names = random.Random(seed), list(truth)
    kind = partial(source.gauss, 1, noise), label, f"{RACE_WITHIN}0.02{more}"
    records = [replace(run_of(name, 1, {}, *kind), status=MISSING, series=()) for name in names]
    while True:
        [found] = races(records)
        stage = found.stages["Allreduce"][-1]
        if found.ended:
            return found, records
        last = max((record.repeat for record in records if record.status != MISSING), default=0)
        if last > 100:
            raise AssertionError("no block counts")
        first = [record for record in records if record.status != MISSING]
        for repeat in range(last + 1, last + 1 + stage.blocks - len(stage.counted or ())):
            made = (
                replace(run_of(name, repeat, truth[name], *kind), **how.get(name, {}))
                for place, name in enumerate(names)
                if place in stage.running
            )
            first += made
        tried = {record.case.placement for record in first}
        records = [*first, *(record for record in records if record.case.placement not in tried)]


ALIKE: Times = {name: {} for name in "abcd"}
FAST = dict.fromkeys(SIZES, 0.95)
PLANTED: Times = {"a": {}, "slow": {512: 1.2}, "fast": FAST, "same": {}}


def test_what_is_planted_is_found() -> None:
    found, records = raced(PLANTED)
    assert {(cell.outcome, found.names[cell.leader]) for cell in found.cells} == {(WON, "fast")}
    assert all(cell.ratio and 0.94 < cell.ratio.median < 0.96 and cell.ratio.interval for cell in found.cells)
    assert all(cell.p is not None and cell.p <= 0.05 for cell in found.cells)
    first, *later = found.stages["Allreduce"]
    assert ({*first.running}, first.blocks, len(later)) == ({0, 1, 2, 3}, 8, 1)
    assert ({*later[0].running}, later[0].after, later[0].counted) == ({0, 2}, 8, {9, 10, 11, 12})
    assert found.left == ((1, 8), (3, 8)) and {cell.blocks for cell in found.cells} == {12}
    one = next(cell for cell in raced({**PLANTED, "fast": {512: 0.95}})[0].cells if cell.outcome == WON)
    assert one.metric.size == 512
    comparison = compare(records)
    assert not comparison.blocks  # their tests do not allow for looks
    said = summary_text(comparison)
    assert "fast beats a in 3 (ratio" in said, said
    assert "in the folder settings" in " ".join(left_lines(comparison.races[0]))
    for text in (to_terminal(comparison), tables(comparison, "markdown").decode()):
        assert re.search(r"time at 512 B.*0\.95.*fast won", text), text


def test_each_benchmark_goes_on_by_its_own_cells_once_all_are_known() -> None:
    kind = partial(random.Random(1).gauss, 1, 0.005), "Allreduce", f"{RACE_WITHIN}0.02"
    first = [run_of(name, n, PLANTED[name], *kind) for n in range(1, 9) for name in PLANTED]
    second = [run_of(name, n, {}, *kind) for n in range(1, 9) for name in PLANTED]
    second = [replace(run, case=replace(run.case, benchmark="Alltoall")) for run in second]
    [race] = races([*first, *second[:-1]])
    assert [(len(stages), len(stages[0].counted or ())) for stages in race.stages.values()] == [
        (1, 8),
        (1, 7),
    ]
    assert {cell.outcome for cell in race.cells} == {RUNNING} and not race.left
    assert {line[-1] for line in race_grid(race).lines} == {RUNNING}, "before the first look nobody leads"
    [unmade] = races([replace(run, status=MISSING, series=()) for run in first])
    assert not unmade.ended
    [race] = races([*first, *second])
    of_first, of_second = race.stages.values()
    assert ({*of_first[1].running}, of_first[1].blocks) == ({0, 2}, 4)
    assert 2 not in {place for place, _ in race.left} and len(race.cells) == 6
    assert len(of_second) == 1 or of_second[1].running != of_first[1].running
    stages = {"all": (Stage(frozenset(), 16, 0, frozenset(range(16))),), "lacks": of_first}
    assert progress(replace(race, stages=stages)) == "8 of 12 blocks", "of that which lacks"


def test_with_all_alike_the_default_stays() -> None:
    kinds = [{cell.outcome for cell in raced(ALIKE, seed)[0].cells} for seed in range(4)]
    assert all(WON not in each and RUNNING not in each for each in kinds)
    assert kinds.count({BEST}) < 4  # others lead by luck
    assert set().union(*kinds) <= {BEST, WITHIN}
    quiet, noisy = raced(ALIKE)[0], raced(ALIKE, noise=0.05)[0]
    text = "a stays in all 3 cells: no setting is shown to be better by 2 %"
    assert race_sentence(quiet) == text and not any(cell.seen for cell in quiet.cells)
    assert " ".join(summary_text(compare(raced(ALIKE)[1])).split()).count(text) == 1, "said once"
    assert race_sentence(noisy) == f"{text}; in 3 of them 24 blocks find 9 % in 8 of 10 cases"
    assert {cell.outcome for cell in noisy.cells} == {BEST, NOT_SHOWN}


LATE = {"status": FAILED, "series": (), "verdict": None, "exit_status": TIME_LIMIT_MET}


@pytest.mark.parametrize(("label", "ratio"), [("Allreduce", "0"), (RATES, "∞")])
def test_a_default_that_always_meets_its_time_limit_is_beaten(label: str, ratio: str) -> None:
    race, _ = raced({"a": {}, "b": dict.fromkeys(SIZES, 1.2)}, label=label, a=LATE)
    cells = len(race.cells)
    assert race_sentence(race) == f"b beats a in {cells} (ratio {ratio}) of {cells} cell{'s' * (cells > 1)}"


# The plan

LIST = "{nodes: 2, ranks_per_node: 1, transport: any, environment: {I_MPI_ADJUST_ALLREDUCE: [1, 2, 3, 4]}}"
RACE = BASE.replace("placements:\n", f"placements:\n  A: {LIST}\n").replace(
    "mpi: [intelmpi, openmpi5], pack: 4", "mpi: intelmpi"
)
ENTRY = "placements: A, benchmarks: [Allreduce, Alltoall]"


def test_the_plan_has_what_the_stages_ask_for(tmp_path: Path) -> None:
    first = plan_of(tmp_path, f"{ENTRY}, race: {{}}", base=RACE)
    as_blocks = plan_of(tmp_path, f"{ENTRY}, blocks: reference", base=RACE)
    assert {run.identity for run in first.runs} == {run.identity for run in as_blocks.runs}
    assert len(first.runs) == 64 and {case.compared for case in first.cases} == {f"{RACE_WITHIN}0.020000"}
    assert {race_rules(case.compared) for case in first.cases} == {(0.02, 1)} and first.until_known
    [said] = blocks_text(first)
    assert "race, 4 left, next look after 8 blocks: 0 of 8 blocks complete, 8 missing: 64 runs" in said
    assert re.search(
        "64 runs here, 64 still .* until it is decided which is best", plan_text(first, 64, None)
    )

    def race(compared: str, racers: list[RepeatedCase], ranked: bool) -> dict[str, list[Stage]]:
        assert compared.startswith(RACE_WITHIN) and len(racers) == 8
        every, two = frozenset(range(4)), frozenset({0, 3})
        return {
            "Allreduce": [Stage(every, 8, 0), Stage(frozenset({0, 1, 2}), 4, 8), Stage(two, 8, 13)],
            # the last one never gave a value
            "Alltoall": [Stage(frozenset({0, 1, 2}), 8, 0), Stage(frozenset({0, 1, 2}), 4, 8)],
        }

    plan = plan_of(tmp_path, f"{ENTRY}, race: {{}}", base=RACE, machine=AnyMachine(stages=race))
    due = {
        (case.case.benchmark, case.case.placement): [run.repeat for run in case.runs] for case in plan.cases
    }
    assert "race, 3 left, next look after 20 blocks: 0 of 20 blocks" in blocks_text(plan)[0]
    names = list(dict.fromkeys(case.case.placement for case in plan.cases))
    assert [due["Allreduce", name] for name in names] == [
        [*range(1, 22)],
        [*range(1, 14)],
        [*range(1, 14)],
        [*range(1, 9), *range(14, 22)],
    ]
    assert [len(due["Alltoall", name]) for name in names] == [12, 12, 12, 8]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (f"{ENTRY}, race: {{}}, repeats: 8", "a race takes no repeats"),
        (f"{ENTRY}, race: {{}}, blocks: all pairs", "a race needs the reference"),
        ("placements: TCP, benchmarks: Allreduce, race: {}", "a race needs two candidates or more"),
        (f"{ENTRY}, race: {{tolerance: 200 %}}", "not from 0 % to 100 %"),
    ],
)
def test_what_a_race_cannot_do_is_refused(tmp_path: Path, entry: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        plan_of(tmp_path, entry, base=RACE)
    assert said in str(error.value)


# The files

HOSTILE = 'a"b$(touch X)`touch Y`[touch Z]\\{'


def written(
    tmp_path: Path, found: InRace, variables: dict[str, dict[str, str]], *others: InRace, **declared: Any
) -> Path:
    entries = []
    for case in {case: None for race in (found, *others) for case in race.cases["Allreduce"]}:
        environment = {"placement.environment": variables.get(case.placement, {})}
        more = declared if case.placement in variables else {}
        entries.append(CaseEntry(case, "imb", "", None, None, {**environment, **more}, ()))
    write_settings(tmp_path, PlanFile("c\nrm x", cases=tuple(entries)), [found, *others])
    return tmp_path / "settings"


@pytest.fixture(scope="module")
def by_size() -> InRace:
    """One setting wins at 8 and 64 B, another at 512 B."""
    truth: Times = {"a": {}, "b": {8: 0.9, 64: 0.9}, "c": {512: 0.9}, "d": {}}
    return raced(truth)[0]


def of_algorithms(variable: str, **more: str) -> dict[str, dict[str, str]]:
    return {"b": {variable: "3", **more}, "c": {variable: "1", **more}}


DYNAMIC = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}


def rules_of(text: str) -> list[list[int]]:
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return [[*map(int, line)] for line in lines if line]


def test_races_of_one_machine_share_the_error_and_the_files(tmp_path: Path) -> None:
    other = ENTRY.replace("Allreduce, Alltoall", "PingPong")
    plan = plan_of(tmp_path, f"{ENTRY}, race: {{}}", f"{other}, race: {{}}", base=RACE)
    assert {race_rules(case.compared) for case in plan.cases} == {(0.02, 2)}
    truths: list[tuple[str, Times]] = [
        ("Allreduce", {"a": {}, "b": {8: 0.9}, "c": {}}),
        ("Alltoall", {"a": {}, "d": {8: 0.9}, "e": {}}),
        ("Allreduce", {"a": {}, "f": {8: 0.9}, "g": {}}),
    ]
    alone = raced(truths[0][1])[0].won[0]
    many = [raced(truth, label=label, more=", one of 40")[0] for label, truth in truths]
    assert (alone.p, alone.blocks) == (4 * 2 * 3 / 2**12, 12)  # looks, settings, cells
    assert (many[0].won[0].p, many[0].won[0].blocks) == (40 * 4 * 2 * 3 / 2**16, 16)
    variables = {
        name: f"OMPI_MCA_coll_tuned_{kind}_algorithm"
        for name, kind in (("b", "allreduce"), ("d", "alltoall"))
    }
    values = {**{name: {each: "3"} for name, each in variables.items()}, "f": {variables["b"]: "2"}}
    folder = written(tmp_path, many[0], values, *many[1:])
    rules = rules_of((folder / "openmpi-rules.conf").read_text())
    assert rules[0] == [2] and [8, 3, 0, 0] in rules and [32, 3, 0, 0] in rules
    assert "# f is not written: another race has set" in (folder / "environment.sh").read_text()


def sourced(file: Path, variable: str) -> str:
    """A variable after a shell has read the file."""
    command = f'. {shlex.quote(str(file))}; printf %s "${{{variable}-}}"'
    return completed(["sh", "-c", command], check=True).stdout


def test_intel_mpi_gets_ranges_of_sizes(tmp_path: Path, by_size: InRace) -> None:
    folder = written(tmp_path, by_size, of_algorithms("I_MPI_ADJUST_ALLREDUCE"))
    assert sourced(folder / "environment.sh", "I_MPI_ADJUST_ALLREDUCE") == "3:8-63;3:64-511;1:512-512"
    assert 'setenv I_MPI_ADJUST_ALLREDUCE "3:8-63;3:64-511;1:512-512"' in (folder / "modulefile").read_text()


def test_other_variables_are_written_where_they_win_at_all_sizes(tmp_path: Path, by_size: InRace) -> None:
    variables = of_algorithms("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM")
    text = (written(tmp_path, by_size, variables) / "environment.sh").read_text()
    assert "export" not in text and "b is not written: it won 2 of 3 cells" in text
    found, _ = raced(PLANTED)
    folder = written(tmp_path, found, {"fast": {"VALUE": HOSTILE}})
    assert sourced(folder / "environment.sh", "VALUE") == HOSTILE
    assert [path.name for path in sorted(folder.iterdir())] == ["environment.sh", "modulefile"]
    if shutil.which("tclsh"):
        script = "proc setenv {n v} {puts -nonewline $v}; source [lindex $argv 0]"
        (tmp_path / "t.tcl").write_text(script)
        call = ["tclsh", str(tmp_path / "t.tcl"), str(folder / "modulefile")]
        assert completed(call, check=True).stdout == HOSTILE
    text = (written(tmp_path, found, {"fast": {"V": "1"}}, arguments=["x"]) / "environment.sh").read_text()
    assert "fast is not written: it differs in arguments" in text and "export" not in text
    equal, _ = raced(ALIKE)
    assert not written(tmp_path, equal, {}).exists()


def test_settings_stay_until_new_ones_are_there(tmp_path: Path, by_size: InRace) -> None:
    variables = of_algorithms("OMPI_MCA_coll_tuned_allreduce_algorithm", **DYNAMIC)
    folder = written(tmp_path, by_size, variables)
    before = {path: path.read_text() for path in folder.iterdir()}
    replaced = Path.replace
    with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError, match="full"):
        patch.setattr(Path, "replace", lambda part, path: replaced(part, full_at(path, "modulefile")))
        written(tmp_path, raced(PLANTED)[0], {"fast": {"VALUE": "1"}})
    assert before.keys() <= {*folder.iterdir()}
    written(tmp_path, raced(PLANTED)[0], {"fast": {"VALUE": "1"}})
    assert {path.name for path in before} - {path.name for path in folder.iterdir()} == {"openmpi-rules.conf"}
    write_settings(tmp_path, PlanFile("c"), [])
    assert not folder.exists()


def full_at(path: Path, name: str) -> Path:
    if path.name == name:
        raise OSError("full")
    return path


# The files in the libraries that they are for

COLLECTIVES = PROJECT / "campaigns" / "collectives" / "collectives.c"


@pytest.mark.mpi
@pytest.mark.full
@pytest.mark.skipif(not shutil.which("mpicc.openmpi"), reason="Open MPI is not installed")
def test_open_mpi_reads_the_file(tmp_path: Path, by_size: InRace) -> None:
    """An algorithm that is not there is refused at its size, and for as many ranks."""
    folder = written(tmp_path, by_size, of_algorithms("OMPI_MCA_coll_tuned_allreduce_algorithm", **DYNAMIC))
    program, rules = tmp_path / "collectives", folder / "openmpi-rules.conf"
    subprocess.run(["mpicc.openmpi", "-o", str(program), str(COLLECTIVES)], check=True)

    def ends_well(ranks: int, size: int) -> bool:
        call = f"exec mpirun.openmpi --oversubscribe -np {ranks} {program} allreduce {size} {size} 0.001"
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        command = ["sh", "-c", f". {folder}/environment.sh; {call}"]
        done = subprocess.run(command, env={**os.environ, **as_root}, capture_output=True, check=False)
        return done.returncode == 0

    assert ends_well(4, 64)
    rules.write_text(rules.read_text().replace("\n64 3 0 0", "\n64 99 0 0"))
    ended = [ends_well(*each) for each in ((4, 64), (4, 512), (5, 64), (3, 64))]
    assert ended == [False, True, True, True]


@pytest.mark.mpi
@pytest.mark.full
def test_intel_mpi_takes_the_line(tmp_path: Path, by_size: InRace) -> None:
    """It reports what it can't use."""
    folder = written(tmp_path, by_size, of_algorithms("I_MPI_ADJUST_ALLREDUCE"))
    call = f". {folder}/environment.sh; exec mpirun -np 2 IMB-MPI1 -iter 1 -msglog 0:3 Allreduce"
    of_wheel = {"I_MPI_ROOT": sys.prefix, "LD_LIBRARY_PATH": f"{sys.prefix}/lib"}
    environment = {**os.environ, **of_wheel, "I_MPI_DEBUG": "10", "I_MPI_FABRICS": "shm"}
    done = completed(["sh", "-c", call], env=environment, check=True)
    said = done.stdout
    assert "I_MPI_ADJUST_ALLREDUCE=3:8-63;3:64-511;1:512-512" in said and "Incorrect" not in said


@pytest.mark.mpi
@pytest.mark.full
def test_an_example_runs(project: ProjectCopy) -> None:
    file = project.folder / "race.yaml"
    file.write_text((PROJECT / "campaigns" / "race-transports.yaml").read_text())
    project.succeed("run", str(file), "--host-group", "local with intelmpi", "--repeat", "1")


@pytest.mark.full
def test_a_race_that_is_killed_goes_on_to_its_end(project: ProjectCopy) -> None:
    """Its launcher prints a latency that depends on the setting: after eight blocks the slow one has left."""
    placement = {**UNBOUND, "environment": {"SETTING": [20, 26, 17]}}
    printed = r"# OSU MPI Latency Test v7.4\n# Size Latency (us)\n1 %s.%02d\n"
    body = f"printf '{printed}' $SETTING $((RANDOM % 10)); exit"
    more = {"placements": {"one": placement}, "entry": {"race": {}}, "busy_machine": "rank", "repeats": 1}
    file = write_trivial(project, "race", body, **more)
    outputs = project.folder / "results" / "race" / "runs"
    call = project.command("run", str(file))
    with subprocess.Popen(call, cwd=project.folder, env=project.environment) as first:
        while len([*outputs.glob("*/*/*/*/result.txt")]) < 4:
            assert first.poll() is None
            time.sleep(0.1)
        first.terminate()
    done = project.succeed("run", str(file))
    assert "\nSETTING=17 beats SETTING=20 in 1 (ratio " in done.stdout
    assert sourced(outputs.parent / "settings" / "environment.sh", "SETTING") == "17"
    made = len([*outputs.glob("*/*/*/*/result.txt")])
    assert 24 <= made <= 27, f"{made} runs: one look, and the block that was killed"
    assert "nothing to do" in project.call("run", str(file)).stdout
