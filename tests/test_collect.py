"""From folders of runs to records: each state that a run's folder can be in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from evidence_texts import CLAIM, INTEL_SHM, RUN, evidence_text, rank_lines

from mpicampaign.collect import RunFolder, collect, read_plan, read_run
from mpicampaign.errors import UserError
from mpicampaign.records import FAILED, MISSING, NOT_AVAILABLE, OK, Case, read_records, write_records

CASE = Case("here", "blue", "SHM-1", "tree_gather")
EVIDENCE = evidence_text(CLAIM, RUN, rank_lines(0, "blue1", 0), rank_lines(1, "blue1", 1))
OUTPUT = INTEL_SHM + (Path(__file__).parent / "fixtures/imb/pingpong.out").read_text()


def run_folder(tmp_path: Path, kind: str, **files: str) -> Path:
    folder = tmp_path / "r01-abc123"
    target = folder / kind
    target.mkdir(parents=True)
    (folder / "job.sh").write_text("# script\n")
    for name, text in files.items():
        (target / f"{name}.txt").write_text(text)
    return folder


def read(folder: Path) -> Any:
    return read_run(CASE, "imb", RunFolder(folder, 1, 7))


def test_finished_run(tmp_path: Path) -> None:
    record = read(run_folder(tmp_path, "result", output=OUTPUT, evidence=EVIDENCE, stderr=""))
    assert (record.status, record.verdict) == (OK, "verified"), record.verdict_reasons
    assert record.series[0].benchmark == "PingPong"
    assert (record.order, record.script_hash, record.hosts) == (7, "abc123", ("blue1",))
    assert set(record.files) == {"output", "evidence", "stderr", "script"}


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    record = read(tmp_path / "r01-abc123")
    assert (record.status, record.reason, record.series) == (MISSING, "not run yet", ())


def test_output_that_is_no_table_is_a_failed_run_with_the_reason(tmp_path: Path) -> None:
    record = read(run_folder(tmp_path, "result", output="Segmentation fault\n", evidence=EVIDENCE))
    assert record.status == FAILED
    assert record.reason.startswith("output.txt: ")
    assert record.series == ()


def test_not_available_is_neither_failure_nor_number(tmp_path: Path) -> None:
    evidence = EVIDENCE.replace("job exit", "job not_available=one socket\njob exit")
    record = read(run_folder(tmp_path, "result", output="", evidence=evidence))
    assert (record.status, record.reason, record.verdict) == (NOT_AVAILABLE, "one socket", None)


def test_failed_attempt_names_its_reason_and_their_number(tmp_path: Path) -> None:
    failed = EVIDENCE.replace(
        "job exit_status=0", "job reason=stopped at the time limit\njob exit_status=124"
    )
    folder = run_folder(tmp_path, "attempts/20260101T000000Z-1", evidence="", output="")
    later = folder / "attempts/20260102T000000Z-2"
    later.mkdir()
    (later / "evidence.txt").write_text(failed)
    record = read(folder)
    assert (record.status, record.exit_status) == (FAILED, 124)
    assert record.reason == "stopped at the time limit (2 attempts)"
    assert record.files["script"] == str(folder / "job.sh")


def test_attempt_without_end_is_not_taken_for_a_failure_nor_a_result(tmp_path: Path) -> None:
    record = read(run_folder(tmp_path, "attempts/20260101T000000Z-1", evidence=CLAIM, output=OUTPUT))
    assert record.status == MISSING
    assert "has not ended" in record.reason


def test_result_without_evidence_is_unverified(tmp_path: Path) -> None:
    record = read(run_folder(tmp_path, "result", output=OUTPUT))
    assert (record.status, record.verdict) == (OK, "unverified")


def test_binary_output_is_no_crash(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "result", evidence=EVIDENCE)
    (folder / "result/output.txt").write_bytes(bytes(range(256)) * 100)
    assert read(folder).status == FAILED


def plan_of(*cases: dict[str, Any]) -> dict[str, Any]:
    common = {
        "system": "here",
        "host_group": "blue",
        "placement": "SHM-1",
        "suite": "imb",
        "not_available": "",
    }
    return {
        "cases": [{**common, "benchmark": "PingPong", "repeats": 1, "runs": [], **case} for case in cases]
    }


def test_case_that_cannot_run_has_a_record_for_each_repeat(tmp_path: Path) -> None:
    records = collect(plan_of({"not_available": "no OSU", "repeats": 3}), tmp_path)
    assert [(r.repeat, r.status, r.reason) for r in records] == [
        (n, NOT_AVAILABLE, "no OSU") for n in (1, 2, 3)
    ]


def test_planned_runs_are_read_from_their_own_folder_only(tmp_path: Path) -> None:
    old = tmp_path / "runs/blue/SHM-1/PingPong/r01-0ld/result"
    old.mkdir(parents=True)
    (old / "output.txt").write_text(OUTPUT)
    run = {"repeat": 1, "order": 1, "folder": "runs/blue/SHM-1/PingPong/r01-new"}
    assert [r.status for r in collect(plan_of({"runs": [run]}), tmp_path)] == [MISSING]


def test_results_of_another_system_are_found_where_they_are(tmp_path: Path) -> None:
    there = tmp_path / "runs/blue/SHM-1/PingPong/r02-abc/result"
    there.mkdir(parents=True)
    (there / "output.txt").write_text(OUTPUT)
    records = collect(plan_of({"repeats": 2, "system": "away"}), tmp_path)
    assert [(r.repeat, r.status) for r in records] == [(1, MISSING), (2, OK)]


def test_records_survive_being_written_and_read(tmp_path: Path) -> None:
    record = read(run_folder(tmp_path, "result", output=OUTPUT, evidence=EVIDENCE, stderr=""))
    path = tmp_path / "records.jsonl"
    write_records(path, "c", [record])
    assert read_records(path) == ("c", [record])


@pytest.mark.parametrize(
    "damage", ["", "{}", "[]", "not json", '{"format": "mpicampaign-records", "version": 9}']
)
def test_damaged_records_are_refused_by_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(damage + "\n")
    with pytest.raises(UserError, match=r"records\.jsonl:1"):
        read_records(path)


@pytest.mark.parametrize("damage", ["", "[]", json.dumps({"format": "mpicampaign-plan", "version": 2})])
def test_damaged_plan_is_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(damage)
    with pytest.raises(UserError, match=r"plan\.json"):
        read_plan(path)


def test_missing_plan_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="run the campaign"):
        read_plan(tmp_path / "plan.json")
