"""mpicampaign compare: two dates, series, folders or bundles, case by case."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import build_records as make
import pytest
from history_data import FIRST, name_of, store_of
from test_command_line import CAMPAIGN

from mpicampaign.base.records import BLOCK, Header, Record, write_records
from mpicampaign.cli import main
from mpicampaign.history.changes import NAMES
from mpicampaign.history.rows import OBSERVED
from mpicampaign.questions.two_sides.find import Both, Side, two_sides
from mpicampaign.questions.two_sides.say import lead, two_sides_document
from mpicampaign.show.writer import writer

CASE = make.case("SHM")


def side(name: str, factor: float, hour: int, system: str = "s", kernel: str = "5.14", step: int = 1) -> Side:
    """Six runs, ``step`` minutes apart."""
    minutes = lambda repeat: (repeat - 1) * step  # noqa: E731
    runs = make.case_runs(
        replace(CASE, system=system),
        1e-6 * factor,
        started=lambda n: f"2026-11-20T{hour + minutes(n) // 60:02d}:{minutes(n) % 60:02d}:00Z",
        hosts=("n1",),
        metadata={"n1: kernel": kernel},
    )
    return Side(name, runs)


def latency_of(before: Side, after: Side) -> tuple[Both, str]:
    found = two_sides(before, after, (), OBSERVED, NAMES)
    return next(one for one in found.both if one.metric.name == "latency at 0 B"), lead(found, {})


def begun(of: Side, *started: str) -> Side:
    """Its runs at these times; of one for all, all begin then."""
    times = started if len(started) > 1 else started * len(of.records)
    return Side(of.name, [replace(run, started=at) for run, at in zip(of.records, times, strict=True)])


def test_one_after_the_other_is_a_ratio_with_ranges_and_no_test() -> None:
    found = two_sides(side("A", 1, 4), side("B", 1.3, 9, kernel="5.15"), (), OBSERVED, NAMES)
    latency = next(one for one in found.both if one.metric.name == "latency at 0 B")
    assert latency.ratio == pytest.approx(1.3) and latency.apart and latency.p is None
    assert found.recorded == (("kernel", "5.14", "5.15"),)
    assert "measured one after the other" in lead(found, {}) and "real" not in lead(found, {})


DAYS = [f"2026-11-{day:02d}T04:00:00Z" for day in range(1, 7)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (DAYS, ["2026-11-03T12:00:00Z", *(day.replace("11-", "12-") for day in DAYS[1:])]),
        (["2026-11-20T00:00:00Z"], ["2026-11-20T00:00:00Z"]),
        (
            [f"2026-11-{day:02d}T04:0{minute}:00Z" for day in (1, 3, 5) for minute in (1, 2)],
            [f"2026-11-{day:02d}T04:0{minute}:00Z" for day in (2, 4, 6) for minute in (1, 2)],
        ),
        ([""], [""]),
    ],
    ids=["a month apart, one run overlaps", "one date", "batches by days", "unknown"],
)
def test_runs_that_overlap_by_chance_are_not_tested(before: list[str], after: list[str]) -> None:
    latency, said = latency_of(begun(side("A", 1, 4), *before), begun(side("B", 1.3, 4), *after))
    assert latency.p is None and latency.apart and "Not tested: " in said and "tested values" not in said


@pytest.mark.parametrize(("factor", "real"), [(1.3, True), (1.0, False)])
def test_what_took_turns_is_tested(factor: float, real: bool) -> None:
    before, after = side("A", 1, 4, step=20), side("B", factor, 4, step=21)
    latency, said = latency_of(before, after)
    assert latency.p is not None and latency.real == real and "always ran in the same order" not in said
    later = begun(after, *(run.started.replace(":00Z", ":30Z") for run in before.records))
    assert "always ran in the same order" in latency_of(before, later)[1]


def test_blocks_of_two_sides_took_turns_though_they_share_no_job() -> None:
    turns = (
        side("A", 1, 4, step=2),
        begun(side("B", 1.3, 4), *(f"2026-11-20T04:{n:02}:00Z" for n in range(1, 12, 2))),
    )
    jobs = [
        Side(
            of.name,
            [replace(run, job_id=f"{of.name}{run.repeat}", metadata={BLOCK: "b"}) for run in of.records],
        )
        for of in turns
    ]
    assert latency_of(*jobs)[0].pair.tested


@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_a_few_repeats_tell_nothing(repeats: int) -> None:
    """Two of each lie apart by chance once in three."""
    nights = [Side(of.name, of.records[:repeats]) for of in (side("A", 1, 4), side("B", 1.3, 9))]
    latency, said = latency_of(*nights)
    assert latency.few and not latency.apart and latency.p is None
    assert "have fewer than 4 repeats a side, too few to tell." in said and "differ" not in said
    found = two_sides(*nights, (), OBSERVED, NAMES)
    text = writer("markdown").write(two_sides_document(found, {}))
    assert "too few to tell |" in text and "overlap" not in text and "apart" not in text
    assert ("In brackets" in text) == ("[" in text)


def test_the_only_systems_of_two_sites_are_compared_whatever_their_names() -> None:
    other = side("B", 2, 9, system="t")
    lacks = replace(CASE, placement="TCP", system="t")
    found = two_sides(
        side("A", 1, 4),
        Side("B", [*other.records, *make.case_runs(lacks)]),
        (),
        OBSERVED,
        NAMES,
    )
    assert {one.row.case.system for one in found.both} == {"t"}
    assert found.only == ((), ("t/g TCP PingPong",))


def results(folder: Path, records: list[Record]) -> Path:
    folder.mkdir(parents=True)
    write_records(folder / "records.jsonl", Header("c", "c", (1024,)), records)
    return folder


def test_two_folders_and_two_dates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mpicampaign.base.places.results_folder", lambda: tmp_path / "results")
    results(tmp_path / "a", [*side("A", 1, 4).records])
    results(tmp_path / "b", [*side("B", 1.3, 9).records])
    assert main(["compare", "a", "b"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"s/g SHM PingPong *\n +latency at 0 B \(µs\) +0\.999 .* 1\.30 +apart\n", said)
    store_of(tmp_path / "results/c", 2)
    pack = tmp_path / "results/c/history/series" / f"{name_of(0)}.tar.gz"
    (tmp_path / "campaign.yaml").write_text(CAMPAIGN.replace("mine", "c"))
    for first in (f"{FIRST:%Y-%m-%d}", name_of(0), str(pack)):
        assert main(["compare", first, "2026-02-28"]) == 0
        said = capsys.readouterr().out
        assert re.search(r" 1\.07 +too few to tell\n", said) and "Linux 5.14.0-427" in said
    assert main(["compare", "2025-01-01", "2026-02-28"]) == 2
    assert f"known: {name_of(0)} to {name_of(1)}" in capsys.readouterr().err
    assert main(["compare", "nosuch", "2026-02-28"]) == 2
    assert "no such file, and no date or series" in capsys.readouterr().err
