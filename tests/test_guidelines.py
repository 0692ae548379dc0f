"""Performance guidelines: planted violations are named, comparable rows alone meet, noise is no cliff."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import build_records as make
import pytest

from mpicampaign.base.records import DISTURBED, OVERSUBSCRIBED, Record
from mpicampaign.collect.imports import collect_imports
from mpicampaign.compare.compare import compare
from mpicampaign.compare.findings import TuningCliff
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.map_file import load_map
from mpicampaign.report.summary import summary
from mpicampaign.show.sentences import brief
from mpicampaign.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ROOT = Path(__file__).parents[1]
ALASKA = ROOT.parent / "shared" / "data" / "stackhpc" / "alaska"
SIZES = [2**power for power in range(4, 21)]
# Of one rank's block, or of the whole vector; with 4 ranks these keep all guidelines.
FACTORS = {
    **{"Gather": 1.0, "Scatter": 1.0, "Allgather": 2.0, "Alltoall": 3.0},
    **{"Bcast": 0.5, "Reduce": 1.5, "Allreduce": 1.8},
}

_Slower = dict[int, float]  # how many times slower an operation is from a size (B) on


def times(name: str, slower: _Slower, noise: float, seed: str) -> list[float | None]:
    scatter, factor, found = random.Random(f"{name}{seed}"), FACTORS[name], list[float | None]()
    for size in SIZES:
        factor = FACTORS[name] * slower[size] if size in slower else factor
        found.append(factor * (1e-5 + size / 1e9) * scatter.gauss(1, noise))
    return found


def runs(
    slow: str = "",
    slower: _Slower | None = None,
    repeats: int = 6,
    noise: float = 0.01,
    columns: Sequence[str] = ("time", "time_max"),
    seed: str = "",
    operations: Iterable[str] = FACTORS,
) -> list[Record]:
    """Each operation in a benchmark of its own, by IMB."""
    found = []
    for name in operations:
        for repeat in range(1, repeats + 1):
            taken = times(name, (slower or {}) if name == slow else {}, noise, f"{seed}{repeat}")
            series = make.series(name, 4, size=map(float, SIZES), **dict.fromkeys(columns, taken))
            case = make.case("TCP", name)
            found.append(make.run(case, repeat, series, metadata={"version": "2021.11"}))
    return found


def cliffs(records: list[Record]) -> list[str]:
    notes = compare(records).notes()
    assert all(row.label == note.taken.operation for _, row, note in notes if isinstance(note, TuningCliff))
    return [brief(note) for _, _, note in notes if isinstance(note, TuningCliff)]


SLOWEST = "; times of the slowest rank; medians of 6 runs, beyond their intervals"


@pytest.mark.parametrize(
    ("slow", "slower", "said"),
    [
        ("Alltoall", {512: 1.66, 1024: 1}, "Alltoall takes … at 512 B and … at 1 KiB (1.6"),
        ("Scatter", {512: 4, 1024: 2, 2048: 1}, "Scatter takes … at 512 B and … at 2 KiB (3."),
        ("Allgather", {2**16: 2}, "Allgather takes … at …, Alltoall … at … (1.…, so at 64 KiB-1 MiB"),
        ("Gather", {2**16: 3}, "Gather takes … at …, Allgather … at … (1.…, so at 64 KiB-1 MiB"),
        ("Allreduce", {2**20: 1.8}, "Allreduce takes … at 1 MiB, Reduce + Bcast … at 1 MiB (1.6"),
        ("Bcast", {2**20: 3}, "Bcast takes … at 1 MiB, Scatter + Allgather … at 256 KiB (1.9"),
        ("Allgather", {2**20: 1.8}, ""),  # 1.2 times
        ("Alltoall", {512: 1.2, 1024: 1}, ""),
    ],
)
def test_each_guideline_is_seen_to_fail(slow: str, slower: _Slower, said: str) -> None:
    found = cliffs(runs(slow, slower))
    pattern = ".*".join(map(re.escape, f"tuning cliff: {said}…{SLOWEST}".split("…")))
    assert len(found) == bool(said) and all(re.fullmatch(pattern, text) for text in found), found


def test_guidelines_hold_within_the_intervals() -> None:
    """5 repeats with noise of 30 %: some medians differ by more than 25 %."""
    assert not [text for seed in "abc" for text in cliffs(runs(repeats=5, noise=0.3, seed=seed))]


PAIR = ("Allgather", "Alltoall")
SLOW = runs("Allgather", {SIZES[0]: 2}, operations=PAIR)
_CHANGES: dict[str, Callable[[Record], Record]] = {
    "another suite": lambda run: replace(run, suite="osu"),
    "another placement": lambda run: replace(run, case=replace(run.case, placement="IBV")),
    "another library": lambda run: replace(run, case=replace(run.case, system="s with openmpi5")),
    "other ranks": lambda run: replace(run, series=(replace(run.series[0], ranks=8),)),
    "other settings": lambda run: replace(run, metadata={**run.metadata, "settings": "UCX_TLS=tcp"}),
    "another version": lambda run: replace(run, metadata={"version": "2019.6"}),
    "other qualifiers": lambda run: replace(run, series=(replace(run.series[0], qualifiers={"group": "1"}),)),
    "disturbed": lambda run: replace(run, condition=DISTURBED),
    "oversubscribed": lambda run: replace(run, metadata={**run.metadata, OVERSUBSCRIBED: "4 on 2"}),
    "contradicted": lambda run: replace(run, verdict="contradicted"),
}


@pytest.mark.parametrize("change", _CHANGES)
@pytest.mark.parametrize("operation", PAIR)
def test_only_comparable_rows_meet(change: str, operation: str) -> None:
    assert len(cliffs(SLOW)) == 1
    assert not cliffs([_CHANGES[change](run) if run.case.benchmark == operation else run for run in SLOW])


def test_of_two_rows_of_an_operation_the_same_benchmark_counts() -> None:
    """Else it is unclear which one is meant."""
    slow, again = SLOW[:6], SLOW[6:]
    other = [replace(run, case=replace(run.case, benchmark="Alltoall algorithm=2")) for run in again]
    assert not cliffs([*SLOW, *other])
    both = [replace(one, series=(*one.series, *two.series)) for one, two in zip(slow, again, strict=True)]
    assert len(cliffs([*both, *other])) == 1


@pytest.mark.parametrize(
    ("operation", "columns", "metadata", "found"),
    [
        ("Bcast", ("time",), {}, 0),
        ("Alltoall", ("time",), {}, 1),
        ("Bcast", ("time", "time_max"), {}, 1),
        ("Bcast", ("time", "time_max"), {"version": "4.1"}, 0),
        ("Bcast", ("time", "time_max"), {"calling_sequence": "IMB-MPI1 -root_shift 1 Bcast"}, 0),
        ("Alltoall", ("time", "time_max"), {"version": "4.1"}, 1),
    ],
)
def test_the_mean_over_ranks_says_nothing_of_rooted_operations(
    operation: str, columns: tuple[str, ...], metadata: Mapping[str, str], found: int
) -> None:
    records = runs(operation, {256: 1.8, 512: 1}, columns=columns, operations=[operation])
    records = [replace(run, metadata={**run.metadata, **metadata}) for run in records]
    assert len(cliffs(records)) == found


@pytest.mark.parametrize(
    ("slow", "slower", "found"),
    [
        ("Alltoall", {512: 1.66, 1024: 1}, 1),
        ("Alltoall", {64: 1.25, 128: 1, 512: 1.66, 1024: 1}, 0),  # others fall, too
        ("Alltoall", {512: 3, 1024: 1}, 0),  # a lone peak
        ("Alltoall", {16: 3, 32: 1}, 0),  # no size before it
        ("Allgather", {2**20: 2}, 0),  # one size alone
        ("Allgather", {2**19: 2}, 1),
        ("Allgather", {128: 1.2, 256: 1, 2**19: 2}, 0),
    ],
)
def test_what_may_be_noise_of_one_run_is_not_named(slow: str, slower: _Slower, found: int) -> None:
    texts = cliffs(runs(slow, slower, repeats=1, operations=PAIR))
    assert len(texts) == found, texts
    assert all(text.endswith("in its one run: more repeats would confirm it") for text in texts)


@pytest.mark.full
def test_single_runs_with_noise_seldom_have_a_tuning_cliff() -> None:
    """Noise of 20 %: 95 % of the curves have a fall of more than 25 %."""
    records = [
        replace(run, case=replace(run.case, host_group=f"g{seed}"))
        for seed in range(100)
        for run in runs(repeats=1, noise=0.2, seed=str(seed), operations=["Alltoall"])
    ]
    assert len(cliffs(records)) < 25


def test_the_first_screen_names_the_largest() -> None:
    groups = [
        replace(run, case=replace(run.case, host_group=f"g{number}"))
        for number in range(5)
        for run in runs("Alltoall", {512: 1.5 + number / 10, 1024: 1}, operations=["Alltoall"])
    ]
    said = [text for text in summary(compare(groups)).notices if "uning cliff" in text]
    assert [text.partition(": ")[0] for text in said[:3]] == [f"Tuning cliff, g{n} TCP" for n in (4, 3, 2)]
    assert said[3:] == ["2 more tuning cliffs: see Left out and in doubt."]


@pytest.mark.skipif(not ALASKA.is_dir(), reason=f"{ALASKA} is not there")
def test_the_collectives_of_alaska_have_one_tuning_cliff(tmp_path: Path) -> None:
    """Among 232 pairs of neighbouring sizes."""
    import_folders([*ALASKA.glob("*/omb")], load_map(ROOT / "campaigns/alaska/import.yaml"), tmp_path)
    records = collect_imports(tmp_path)
    series = [
        one for run in records for one in run.series if SUITES["osu"].operation(one.benchmark, {}) != ""
    ]
    pairs = [len(one.columns["size"]) - 1 for one in series if one.benchmark != "MPI Latency"]
    assert sum(pairs) == 232
    [(_, row, note)] = [found for found in compare(records).notes() if isinstance(found[2], TuningCliff)]
    assert (row.case.host_group, row.case.placement) == ("openmpi-4", "ROCE-ppn32")
    assert isinstance(note, TuningCliff) and not note.slowest and note.fewest == 1
    assert (note.taken, note.instead) == (
        ("Allgather", 512, pytest.approx(160.55e-6)),
        (("Allgather", 1024, pytest.approx(96.72e-6)),),
    )


@pytest.mark.parametrize(
    ("title", "operation"),
    [
        ("MPI Latency", "PingPong"),
        ("MPI All-to-All Personalized Exchange Latency", "Alltoall"),
        ("MPI Broadcast Latency Test", "Bcast"),
        ("MPI Reduce_scatter Latency", "Reduce_scatter"),
        *(
            (title, "")
            for title in ("MPI Multi Latency", "MPI Non-blocking Allgather Latency", "MPI Bandwidth")
        ),
    ],
)
def test_operations_of_osu(title: str, operation: str) -> None:
    assert SUITES["osu"].operation(title, {}) == operation
