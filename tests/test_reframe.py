"""ReFrame's results: each test case counts once, whatever files it is in, and none breaks an import."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import build_records as make
import golden_messages
import pytest
from reframe_runs import case, database, report, run_reframe

from mpicampaign.base.errors import UserError
from mpicampaign.base.records import FAILED, OK, Header, Record, write_records
from mpicampaign.cli import main
from mpicampaign.collect.imports import collect_imports
from mpicampaign.compare.compare import compare
from mpicampaign.imports import reframe
from mpicampaign.imports.account import Account, account_text
from mpicampaign.imports.draft import draft_map
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.map_file import load_map
from mpicampaign.report.exports.reframe_perflog import perflog
from mpicampaign.suites import OutputError
from mpicampaign.suites import reframe as suite
from mpicampaign.suites.reframe import SUITE, Variable

FIXTURES = Path(__file__).parent / "fixtures" / "reframe"
ANY_MAP = """\
import: site
campaign: site
rules: [{label: {system: site, host_group: all, placement: all, benchmark: "{benchmark}"}}]
"""
HOSTILE = f'{make.HOSTILE} | "a"\n<script>\x00\u202e'


def take(folder: Path, *sources: Path) -> tuple[Account, list[Record]]:
    """An import with a drafted map: its account and the records."""
    path = folder / "map.yaml"
    if not path.exists():
        try:
            path.write_text(draft_map(sources, "site"))
        except UserError as error:  # nothing to draft a map from: each file is named
            path.write_text(ANY_MAP)
            account = import_folders(sources, load_map(path), folder / "trial")
            assert {problem.message for problem in error.problems[1:]} <= {*reasons(account)}
    account = import_folders(sources, load_map(path), folder / "results")
    return account, collect_imports(folder / "results")


def values(record: Record) -> dict[str, float | None]:
    return {name: each for series in record.series for name, [each] in series.columns.items()}


def reasons(account: Account) -> list[str]:
    return [entry.reason for entry in account.of_role("refused")]


def log(tmp_path: Path, *lines: str, header: str = "") -> Path:
    path = tmp_path / "logs" / "alpha" / "cpu" / "Test.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join([header, *lines]))
    return path


# ---- what is read


def test_a_sites_own_format_is_read_by_its_header(tmp_path: Path) -> None:
    def said(header: str, cells: str) -> list[str]:
        folder = tmp_path / header
        account, records = take(folder, log(folder, f"{cells}\n", header=f"{header}\n"))
        return [*reasons(account), *(f"{each.case.benchmark} {values(each)}" for each in records)]

    golden_messages.check("mistakes/perflog", said)


def test_a_test_case_counts_once_in_whatever_files_it_is(tmp_path: Path) -> None:
    """In a database, its report and a log; and again when they have grown."""
    bad = case(
        1, result="fail", fail_phase="sanity", fail_reason="no 'ok'", perfvalues={"a:b:triad": [None] * 6}
    )
    blobs = {0: report(0, [case(0), bad]), 1: report(1, [case(2)])}
    stored = database(tmp_path / "results.db", blobs)
    (tmp_path / "report.json").write_text(json.dumps(blobs[0], indent=2))
    names = ("result", "job_completion_time_unix", "jobid", "name", "system", "partition", "environ")
    header = "|".join([*names, "job_completion_time", "triad_value", "triad_unit\n"])
    lines = [
        "|".join([*(str(each[name]) for name in names), local.replace("T", " "), str(value), "GB/s\n"])
        for each in (case(0), bad, case(2), case(3))
        for local in [each["job_completion_time"][:19]]
        for value, *_ in each["perfvalues"].values()
    ]
    written = log(tmp_path, *lines[:3], header=header)
    sources = (written, stored, tmp_path / "report.json")
    account, records = take(tmp_path, *sources)
    assert account.new == 3 and [record.status for record in records] == [OK, FAILED, OK]
    assert [record.hosts for record in records] == [("nid01",)] * 3, "the database says more than the log"
    assert records[1].reason == "output: ReFrame reports fail: sanity: no 'ok'"
    log(tmp_path, *lines, header=header)
    account, records = take(tmp_path, *sources)
    assert account.new == 1 and [record.repeat for record in records] == [1, 2, 3, 4]
    assert {record.verdict for record in records if record.status == OK} == {"unverified"}


# ---- exports


def round_trip(tmp_path: Path, records: list[Record]) -> list[tuple[str, ...]]:
    """The values of an export that was imported again, each with its case."""
    path = tmp_path / "exported.log"
    path.write_text(perflog(compare(records)))
    return sorted(found for record in take(tmp_path, path)[1] for found in described(record, values(record)))


def described(record: Record, of: dict[str, float | None]) -> list[tuple[str, ...]]:
    names = (record.case.system, record.case.host_group, record.case.placement, record.status)
    return [(*names, name, f"{value:.12g}") for name, value in of.items() if value is not None] or [names]


def test_an_export_that_is_imported_has_the_same_numbers(tmp_path: Path) -> None:
    made = make.campaign("s", "g")
    records = [
        replace(each, ended=f"2026-01-02T03:{n // 60:02d}:{n % 60:02d}+00:00") for n, each in enumerate(made)
    ]
    records[0] = replace(records[0], status=FAILED, series=(), verdict=None, reason="why")
    records[1] = replace(records[1], ended="", started="")  # a log has no place for it
    expected: list[tuple[str, ...]] = []
    for row in (row for table in compare(records).tables for row in table.rows):
        for run in (run for run in row.records if run.ended and (run.counts or run.status == FAILED)):
            cells = row.cells if run.status == OK else ()
            named = {each.metric.name.replace(" / ", " ").replace(" ", "_"): each for each in cells}
            expected += described(run, {name: cell.by_repeat.get(run.repeat) for name, cell in named.items()})
    assert round_trip(tmp_path, records) == sorted(expected) and len(expected) > len(records)
    with pytest.raises(UserError, match="no run has both a time"):
        perflog(compare(records[1:2]))


# ---- what may be wrong with the files


@pytest.mark.parametrize(
    ("blob", "reason"),
    [
        ("{", "session session-0: not a complete run report of ReFrame"),
        ("[" * 100_000, "not a complete run report of ReFrame"),
        ("[]", "not a complete run report"),
        (None, "its json_blob is empty"),
        (b"\xff\xfe", "not a complete run report"),
        (
            {"session_info": {"data_version": "3.1"}},
            "a run report of version 3.1; known: 4.x, of ReFrame 4.7 and later",
        ),
        (
            report(0, [{"name": "T"}]),
            "run 0, case 0: it has no system and no partition and no environ and no result",
        ),
        (report(0, [case(0, name=["T"])]), "it has no name"),
        (report(0, []) | {"runs": 7}, "not a complete run report"),
        ({"session_info": {"data_version": "4"}, "runs": [{"testcases": [7]}]}, "not a mapping"),
        (report(0, [case(0, job_completion_time_unix=1e300)]), None),  # dated by its session
        (report(0, [case(0, perfvalues={})]), "it has no performance variables"),
    ],
)
def test_a_damaged_session_is_named_and_the_others_count(
    tmp_path: Path, blob: object, reason: str | None
) -> None:
    account, records = take(tmp_path, database(tmp_path / "results.db", {0: blob, 1: report(1, [case(5)])}))
    assert len(records) == (2 if reason is None else 1)
    assert [
        reason in f"{entry.path}: {entry.reason}".replace("db:", "")
        for entry in account.of_role("refused")
        if reason
    ] == [True] * (reason is not None)


def test_a_session_of_enormous_size_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reframe, "MAX_BYTES", 2**20)
    blobs = {0: report(0, [case(0, fail_reason="x" * 2**20)]), 1: report(1, [case(5)])}
    account, records = take(tmp_path, database(tmp_path / "results.db", blobs))
    assert reasons(account) == ["larger than 1 MiB"] and len(records) == 1


def test_databases_that_are_none_of_reframes_are_refused(tmp_path: Path) -> None:
    whole = database(tmp_path / "whole.db", {n: report(n, [case(n)] * 30) for n in range(9)}).read_bytes()
    (tmp_path / "cut.db").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "noise.db").write_bytes(whole[:100] + b"\x07" * 5000)
    (tmp_path / "begin.db").write_bytes(whole[:16])
    database(tmp_path / "empty.db", {})
    database(tmp_path / "new.db", {}, version="2.0")
    with closing(sqlite3.connect(tmp_path / "other.db")) as opened, opened:
        opened.execute("CREATE TABLE t(x)")
    (tmp_path / "whole.db").unlink()
    account, _ = take(tmp_path, tmp_path)
    said = {Path(entry.path).name.partition(":")[0]: entry.reason for entry in account.of_role("refused")}
    assert said["empty.db"] == "a file of ReFrame without any test case"
    assert said["other.db"] == "an SQLite database without the tables of ReFrame: sessions, testcases"
    assert said["new.db"] == "ReFrame's results database of schema '2.0'; known: 1.0"
    assert all("cannot be read any further" in said[name] for name in ("cut.db", "noise.db", "begin.db"))


def test_lines_that_are_cut_or_ambiguous_are_named(tmp_path: Path) -> None:
    header, *lines = (FIXTURES / "Slow-4.10.log").read_text().splitlines(keepends=True)
    spoilt = [
        lines[0],
        lines[1][:80] + "\n",
        lines[2].replace("Slow %threads=1", "a|b"),
        lines[3].rstrip("\n"),
    ]
    account, records = take(tmp_path, log(tmp_path, *spoilt, header=header))
    found = {entry.path.rpartition("/")[2]: entry.reason for entry in account.of_role("refused")}
    assert list(found) == ["Test.log:3", "Test.log:4", "Test.log:5"] and len(records) == 1
    assert "37 cells, 36 in the header: cut, or '|' in a name" in found["Test.log:4"]
    assert "ReFrame is writing it" in found["Test.log:5"]


def test_hostile_names_and_values_become_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPICAMPAIGN_STATES", "off")
    names = ("nan", "inf", "none", "text", "negative", "huge", "size", "good", HOSTILE)
    numbers = (float("nan"), float("inf"), None, "fast", -1, 10**400, 5, 6, 7)
    perfvalues = {
        f"a:b:{name}": [value, 0, None, None, HOSTILE] for name, value in zip(names, numbers, strict=True)
    }
    more = {
        "system": HOSTILE,
        "environ": HOSTILE,
        "partition": "../..",
        "jobid": HOSTILE,
        "job_nodelist": [HOSTILE, "a/b"],
    }
    cases = [case(n, name=HOSTILE, perfvalues=perfvalues, **more) for n in range(3)]
    cases += [
        case(9, name=HOSTILE, result=HOSTILE, fail_reason=HOSTILE, perfvalues={"x": 7, "y": []}, **more)
    ]
    account, records = take(tmp_path, database(tmp_path / "results.db", {0: report(0, cases)}))
    assert [record.status for record in records] == [OK] * 3 + [FAILED] and records[0].hosts == ()
    found = [value for value in values(records[0]).values() if value is not None]
    assert sorted(found) == [5, 6, 7] and values(records[0])["size (ReFrame)"] == 5
    assert "nan: nan; inf: inf; none: None; text: fast; negative: -1" in records[0].metadata["not_measured"]
    text = account_text(account, verbose=True) + perflog(compare(records))
    assert "\x00" not in text and "\u202e" not in text
    assert perflog(compare(records)).count("\n") == 1 + 3 * 3 + 1
    page = tmp_path / "page"
    page.mkdir()
    write_records(page / "records.jsonl", Header("site"), records)
    assert main(["tables", "--results", str(page), "--format", "html", "-o", str(page / "tables.html")]) == 0
    assert "<script>" not in (page / "tables.html").read_text()


def test_a_damaged_copy_is_refused_or_read_as_text() -> None:
    """Bundles of other sites bring such files."""
    kept = json.loads(suite.TestCase(test="T", system="s", partition="p", environ="e", result="pass").text)
    variable = Variable(1, "s", 2, -0.1, 0.1, "1")._asdict()
    junk: list[Any] = [None, [], {}, "x", -1, 10**400, True, [7], {"a": 7}, float("nan")]
    spoilt = [{**kept, "variables": {"v": variable}, name: each} for name in kept for each in junk]
    spoilt += [{**kept, "variables": {"v": {**variable, name: each}}} for name in variable for each in junk]
    outcomes = set()
    for each in [*spoilt, {}, []]:
        for look in (SUITE.parse, SUITE.facts, lambda text: SUITE.names(text, "")):
            try:
                look(json.dumps(each))
                outcomes.add("read")
            except OutputError:
                outcomes.add("refused")
    assert outcomes == {"read", "refused"}


# ---- ReFrame itself


@pytest.mark.full
def test_what_reframe_writes_is_read(tmp_path: Path) -> None:
    """A call on one partition: parameters, a test that misses its reference, one that fails, retries."""
    if shutil.which("reframe") is None:
        pytest.skip("ReFrame is not installed")
    site = run_reframe(tmp_path / "site", "--system=alpha:cpu")
    account, records = take(tmp_path, site / "results.db", site / "perflogs")
    by_test = {record.case.benchmark: [] for record in records}
    for record in records:
        by_test[record.case.benchmark].append(record.status)
    assert account.new == len(records) == 14
    assert by_test["Stream-threads-1"] == by_test["Stream-threads-2"] == [OK, OK], (
        "two environments are placements"
    )
    assert by_test["Slow"] == [OK] * 4 and by_test["Bad"] == [FAILED] * 4
    assert {record.reason for record in records if record.case.benchmark == "Skipped"} != {""}
    (tmp_path / "alone").mkdir()
    alone = take(tmp_path / "alone", site / "perflogs")[1]
    assert sorted(str(values(each)) for each in alone if each.status == OK) == sorted(
        str(values(each)) for each in records if each.status == OK
    )
