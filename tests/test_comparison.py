"""Rows, values and rankings of a comparison, groups in turn, and mpicampaign compare of two sides."""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import build_records as make
import pytest
from history_data import FIRST, name_of, series_of, store_of
from test_command_line import CAMPAIGN

from mpicampaign.base.expectation import Against, Limit
from mpicampaign.base.identity import run_path
from mpicampaign.base.plan_file import FILE, PlanFile, plan_json
from mpicampaign.base.presentation import Presentation
from mpicampaign.base.records import IMPORTED_FROM, MERGED_FROM, Case, Header, Record, Series, write_records
from mpicampaign.cli import main
from mpicampaign.collect.observed_software import LIBRARY, LIBRARY_SUM, PROGRAM
from mpicampaign.compare.compare import compare
from mpicampaign.compare.rows import Row
from mpicampaign.history.before import definitions_of
from mpicampaign.history.changes import NAMES
from mpicampaign.history.rows import OBSERVED
from mpicampaign.history.series import write_series
from mpicampaign.history.store import Store
from mpicampaign.jobs.prepare import prepare
from mpicampaign.questions.limits.find import UNDECIDED, judge
from mpicampaign.questions.limits.say import judged_text
from mpicampaign.questions.ranking.find import HOST_GROUPS
from mpicampaign.questions.ranking.say_pairs import pair_sentence
from mpicampaign.questions.two_sides.find import Side, two_sides
from mpicampaign.questions.two_sides.say import two_sides_data, two_sides_document
from mpicampaign.report.make import to_csv, to_markdown, to_terminal
from mpicampaign.report.summary import summary_text
from mpicampaign.report.write import write_report
from mpicampaign.show.view import View
from mpicampaign.show.writer import writer
from mpicampaign.suites import SUITES
from mpicampaign.verdicts.compare import APART_IN_TIME

SHM_1 = make.case("SHM-1")
TCP = make.case("TCP")


GIGABIT = 1.25e8  # B/s


def linked(table: Series, *, hosts: tuple[str, ...] = ("n1", "n2")) -> Row:
    """The row of six runs with this table over a link of 1 Gbit/s."""
    case = Case("s", "g", "TCP", table.benchmark)
    suite = next((each.name for each in SUITES.values() if table.benchmark in each.sends), "imb")
    runs = [make.run(case, n, table, suite=suite, hosts=hosts, line_rate=GIGABIT) for n in range(1, 7)]
    return compare(runs).tables[0].rows[0]


def fractions(row: Row) -> list[tuple[float | None, float | None, tuple[int, ...]]]:
    """Bound, median and sizes of the fractions that the row holds."""
    cells = [cell for cell in row.cells if cell.metric.bound]
    return [(c.bound, c.summary.median if c.summary else None, tuple(set(c.sizes))) for c in cells]


@pytest.mark.parametrize(
    ("benchmark", "ranks", "hosts", "bound"),
    [
        ("PingPong", 2, ("n1", "n2"), GIGABIT),
        ("Sendrecv", 2, ("n1", "n2"), 2 * GIGABIT),  # counts what goes and what comes
        ("Sendrecv", 3, ("n1", "n2", "n3"), 2 * GIGABIT),
        ("MPI Bi-Directional Bandwidth", None, ("n1", "n2"), 2 * GIGABIT),
        ("tree_gather", 3, ("n1", "n2", "n3"), GIGABIT),  # over the root's link
        ("tree_gather", 4, ("n1", "n2"), None),  # some of it within a host
        ("PingPong", 2, ("n1",), None),
        ("Alltoall", 2, ("n1", "n2"), None),
    ],
)
def test_the_bound_fits_the_bytes_that_the_metric_counts(
    benchmark: str, ranks: int | None, hosts: tuple[str, ...], bound: float | None
) -> None:
    table = replace(make.pingpong(1e-6, 1e8), benchmark=benchmark, ranks=ranks)
    found = fractions(linked(table, hosts=hosts))
    assert [each[0] for each in found] == ([bound] if bound else [])


def test_zero_medians_have_no_factor() -> None:
    records = [
        make.run(case, n, make.series("osu_latency", size=1.0, time=time), suite="osu")
        for case, time in ((SHM_1, 0.0), (TCP, 1e-6))
        for n in range(1, 7)
    ]
    pair = compare(records).tables[0].rankings[0].pairs[0]
    assert pair.factor is None and "TCP (1.00 µs) takes longer than SHM-1" in pair_sentence(pair, View())


TESTED = r"significant|\bp\b\s*[=<:|]|\bp is |difference shown|95 % confidence"


def runs_of(placement: str, time: float, first_hour: int, imported: bool) -> list[Record]:
    """Five repeats, one an hour; of hour 0 it is unknown."""
    return make.case_runs(
        placement,
        time,
        metadata={IMPORTED_FROM: "a folder"} if imported else {},
        started=lambda n: f"2017-03-21T{first_hour + n - 1:02d}:00:00" if first_hour else "",
    )


def drifting(groups: int, repeats: int) -> list[Record]:
    """All alike but for a drift of 20 % over all runs, which were made one group after another."""
    noise, records = random.Random(1), []
    places = [(f"g{group}", name) for group in range(groups) for name in ("A", "B", "C")]
    for place, (group, name) in enumerate(places):
        for repeat in range(repeats):
            number = place * repeats + repeat
            time = 1e-6 * (1 + 0.2 * number / (len(places) * repeats)) * noise.uniform(0.995, 1.005)
            fields = {
                "started": (datetime(2017, 3, 21) + timedelta(hours=number)).isoformat(),
                "metadata": {IMPORTED_FROM: "a folder"},
                "attributes": {"cpu": "old" if place < len(places) / 2 else "new"},
            }
            case = make.case(name, group=group)
            records.append(make.run(case, repeat + 1, make.pingpong(time), **fields))
    return records


@pytest.mark.parametrize(("groups", "repeats"), [(7, 4), (4, 2)])
def test_a_drift_is_called_significant_nowhere(tmp_path: Path, groups: int, repeats: int) -> None:
    """On the page, in the terminal, in the document and in tables of every kind."""
    records = drifting(groups, repeats)
    comparison = compare(records)
    write_report(tmp_path / "report.html", comparison, records)
    page = re.sub(r"<(style|script)\b.*?</\1>", "", (tmp_path / "report.html").read_text(), flags=re.S)
    texts = {
        "page": re.sub(r"<[^>]*>", " ", page),
        "summary": summary_text(comparison),
        "terminal": to_terminal(comparison),
        "full": to_markdown(comparison),
        "csv": to_csv(comparison),
    }
    for where, text in texts.items():
        assert not re.search(TESTED, text), where
        assert where == "csv" or "ot tested" in text, where


@pytest.mark.parametrize("imported", [True, False])
@pytest.mark.parametrize(("hour", "untested"), [(11, True), (4, True), (3, False)])
def test_other_systems_and_limits_are_compared_by_the_same_rule(
    hour: int, untested: bool, imported: bool
) -> None:
    there = [
        replace(run, case=replace(run.case, system="t"), metadata={**run.metadata, MERGED_FROM: "t"})
        for run in runs_of("A", 2e-6, hour, imported)
    ]
    here = runs_of("A", 1e-6, 1, imported)
    comparison = compare([*here, *there])
    of_hosts = [one for one in comparison.tables[0].rankings if one.kind == HOST_GROUPS]
    assert of_hosts and all(ranking.tested != untested for ranking in of_hosts)
    limit = Limit("PingPong", "latency at 0 B", against=Against("t", "g"), tolerance=0.1)
    [judged] = judge([limit], comparison, [here[0].case], None, "c.yaml")
    assert (judged.outcome == UNDECIDED) == untested == (APART_IN_TIME in judged_text(judged))


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


@pytest.mark.parametrize(("shared", "said"), [(3, "over the 2 sizes of both"), (0, "")])
def test_a_maximum_is_compared_over_the_sizes_of_both(shared: int, said: str) -> None:
    """The larger sizes of the one are no gain; where no size is of both, nothing is compared."""
    sizes = (0, 1, 1024, 1 << 20)
    table = make.pingpong(1e-6, sizes=sizes[:shared] or (2, 4))
    short = [replace(run, series=(table,)) for run in side("B", 1, 9).records]
    full = [replace(run, series=(make.pingpong(1e-6, sizes=sizes),)) for run in side("A", 1, 4).records]
    sides = two_sides(Side("A", full), Side("B", short), (), OBSERVED, NAMES)
    text = writer("markdown").write(two_sides_document(sides, {}))
    maxima = [one.ratio for one in sides.both if one.metric.name == "maximum bandwidth"]
    assert maxima == ([pytest.approx(1)] if shared else []) and said in text
    assert ("maximum bandwidth: no message size is of both" in text) != bool(shared)
    assert said in str(two_sides_data(sides, {}).lines)


def test_the_only_systems_of_two_sites_are_compared_whatever_their_names() -> None:
    other = side("B", 2, 9, system="t")
    lacks = replace(CASE, placement="TCP", system="t")
    found = two_sides(
        side("A", 1, 4), Side("B", [*other.records, *make.case_runs(lacks)]), (), OBSERVED, NAMES
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
    assert main(["compare", "2026-02-27", "2026-02-28"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"same results, those of series {name_of(1)}" in said
    assert f"mpicampaign compare {name_of(0)} campaign.yaml" in said
    assert main(["compare", "2025-01-01", "2026-02-28"]) == 2
    assert f"known: series {name_of(0)} to {name_of(1)}" in capsys.readouterr().err
    for nothing in ("nosuch", "2026-13-45"):
        assert main(["compare", nothing, "2026-02-28"]) == 2
        assert "no such file or campaign, and no date or series" in capsys.readouterr().err


DEFINITION = """\
campaign: mine
repeats: 4
systems: {here: {scheduler: none, mpi: intelmpi}}
host_groups: {blue: {system: here}}
placements: {TCP: {nodes: 1, ranks_per_node: 2, transport: shm}}
benchmarks:
  latency: {suite: osu, program: 'true', arguments: ARGUMENTS, provider: {kind: path, location: /bin/true}}
matrix: [{host_groups: blue, placements: TCP, benchmarks: latency}]
"""


def described(folder: Path, arguments: str) -> PlanFile:
    """The plan of the campaign file, which says these arguments from now on."""
    file = folder.parent.parent / "mine.yaml"
    file.write_text(DEFINITION.replace("ARGUMENTS", arguments))
    return prepare(file, results=folder.parent).plan


def defined(folder: Path, arguments: str, latency: float, day: int, program: str = "a" * 12) -> PlanFile:
    """Four runs of a definition on disk, and its plan, which is not written."""
    plan = described(folder, arguments)
    for entry, planned in ((of_case, run) for of_case in plan.cases for run in of_case.runs):
        run = folder / run_path(entry.case, planned.repeat, planned.identity)
        lines = [f"job started=2026-11-{day:02d}T0{planned.repeat}:00:00Z", "job exit_status=0"]
        output = make.OSU_OUTPUT.replace("0.50", f"{latency + planned.repeat / 100:.2f}")
        make.write_result(run / "result.txt", *lines, f"job program_sha256={program}", output=output)
        declared = json.dumps({**entry.declared, "repeat": planned.repeat})
        (run / "claim").write_text(f"#mpicampaign-claim 1\nclaim declared={declared}\n")
    return plan


def test_earlier_definitions_on_disk_are_compared_with_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mpicampaign.base.places.results_folder", lambda: tmp_path / "results")
    folder = tmp_path / "results/mine"

    def compared(*arguments: str) -> tuple[int, str]:
        status = main(["compare", *arguments])
        out, err = capsys.readouterr()
        return status, " ".join((out + err).split())

    (tmp_path / "mine.yaml").write_text(CAMPAIGN)
    assert "no results yet" in compared("mine.yaml")[1]
    defined(folder, "-i1", 1.0, day=1)
    defined(folder, "-i2", 1.5, day=2)
    plan = defined(folder, "-i3", 3.0, day=3)
    (folder / FILE).write_text(plan_json(plan))
    status, said = compared("mine.yaml")
    assert status == 0, said
    assert "arguments: -i2 → -i3" in said and "-i1" not in said
    assert re.search(r"latency at 1 B \(µs\) 1\.5\S* \[1\.5\S+ 1\.54\S* 3\.0\S* \[.*?\] 1\.98 apart", said), (
        said
    )
    assert (
        "Not tested: measured one after the other" in said
        and "list in `parameters`" in said
        and "A,B" not in said
    )
    assert "are known, too: mpicampaign compare 2026-11-01T01:00:00Z mine.yaml" in said
    assert "4 runs, the first one at 2026-11-02T01:00:00Z, the last one at 2026-11-02T04:00:00Z: here" in said
    assert "arguments: -i1 → -i3" in compared("2026-11-01", "mine.yaml")[1]
    assert compared("mine")[1] == said
    described(folder, "-i4")  # edited, and not planned since
    status, edited = compared("mine.yaml")
    assert status == 2 and "present definition of here/blue TCP latency has no runs yet" in edited
    assert "'mpicampaign run mine.yaml' makes them" in edited
    described(folder, "-i2")
    said = compared("mine.yaml")[1]
    assert "arguments: -i3 → -i2" in said and "definition are older, the last one at 2026-11-02T04" in said
    described(folder, "-i3")
    compared("mine.yaml", "--format", "csv", "-o", "mine.csv")
    [line, *_] = csv.DictReader((tmp_path / "mine.csv").read_text().splitlines())
    assert (line["before_n"], line["after_n"], line["judged"]) == ("4", "4", "apart")
    assert float(line["ratio"]) == pytest.approx(3.025 / 1.525)
    for run in (folder / "runs/blue/TCP/latency").iterdir():
        if run.name.partition("-")[2] not in {each.identity for each in plan.cases[0].runs}:
            shutil.rmtree(run)
    status, said = compared("mine.yaml")
    assert status == 2 and "nothing on disk is of an earlier definition" in said and "campaigns in" in said
    defined(tmp_path / "results/aside", "-i3", 4.5, day=2, program="b" * 12)
    for run in (tmp_path / "results/aside/runs/blue/TCP/latency").iterdir():
        (folder / "runs/blue/TCP/latency/earlier").mkdir(exist_ok=True)
        run.rename(folder / "runs/blue/TCP/latency/earlier" / f"{run.name}-1")
    status, said = compared("mine.yaml")
    assert status == 0 and "another program or library" in said and " 0.669 apart" in said
    assert "run mine.yaml --again A,B" in said
    assert "build of the program bbbbbbbbbbbb aaaaaaaaaaaa" in said


def test_runs_of_one_definition_in_several_series_are_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run each night, four by one definition, four by another; then one case is not run again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mpicampaign.base.places.results_folder", lambda: tmp_path / "results")
    nightly = DEFINITION.replace("repeats: 4", "repeats: 1").replace("nts: TCP,", "nts: [TCP, SHM],")
    shm = "SHM: {nodes: 1, ranks_per_node: 4, transport: shm}"
    nightly = nightly.replace("placements: {", f"placements: {{{shm}, ")
    other = "  other: {suite: osu, program: 'true', provider: {kind: path, location: /bin/true}}"
    nightly = nightly.replace("benchmarks: latency}", "benchmarks: [latency, other]}")
    nightly = nightly.replace("matrix:", f"{other}\nmatrix:")
    monkeypatch.setitem(globals(), "DEFINITION", nightly)
    folder = tmp_path / "results/mine"

    def compared(*options: str) -> str:
        assert main(["compare", "mine.yaml", *options]) == 0
        return capsys.readouterr().out

    for night in range(1, 9):
        plan = defined(folder, "-i1" if night < 5 else "-i2", float(night), day=night)
        (folder / FILE).write_text(plan_json(plan))
        if night > 4:
            shutil.rmtree(folder / "runs/blue/SHM")
        if night == 3:
            said = " ".join(compared().split())
            assert "'mpicampaign history mine.yaml' looks for changes in all runs that count" in said
        if night < 8:
            write_series(folder, series_of(night))
            Store(folder / "history").add(series_of(night), folder, Presentation())
            shutil.rmtree(folder / "runs")
            (folder / "series.json").unlink()
    said = " ".join(compared().split())
    assert "arguments: -i1 → -i2, 8 runs, the first one at 2026-11-01T01:00:00Z, the last one at" in said
    assert "Defined as before, and compared with nothing: 1 other case." in said
    not_again = said.partition("Not run again")[2]
    assert "here/blue SHM latency: no run of its present definition yet" in not_again
    assert "'mpicampaign run mine.yaml' makes what has no run yet" in not_again
    [line, *_] = csv.DictReader(compared("--format", "csv").splitlines())
    assert (line["before_n"], line["after_n"], line["judged"]) == ("4", "4", "apart")


def test_what_an_earlier_release_did_not_record_is_no_other_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records in a series are those of the release that packed it."""
    mine, case = {PROGRAM: "a", LIBRARY: "b"}, make.case()
    then = [make.run(case, number, metadata=mine) for number in (1, 2)]
    now = [make.run(case, 1, metadata={**mine, LIBRARY_SUM: "c"})]
    monkeypatch.setattr("mpicampaign.history.before.earlier_runs", lambda *_: [])
    monkeypatch.setattr(
        "mpicampaign.history.before._in_series", lambda *_: [(run, (), False) for run in then]
    )
    plan = PlanFile("c")
    assert [len(runs) for runs in definitions_of(plan, tmp_path, now)] == [0, 2]
    other = [make.run(case, 1, metadata={**mine, LIBRARY: "d"})]
    assert [len(runs) for runs in definitions_of(plan, tmp_path, other)] == [1, 0]
