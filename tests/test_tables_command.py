"""mpicampaign tables: choices, and reports of errors."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import build_records as make
import pytest
from pyarrow import parquet

from mpicampaign.base.records import CONTRADICTED, Header, read_records, write_records
from mpicampaign.cli import main

SIZES = (1024, 8192)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results")
    records = make.campaign("s", "g1") + make.campaign("s", "g2", 1.3)
    write_records(path / "records.jsonl", Header("c", "The title", SIZES), records)
    return path


def call(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> tuple[int, str, str]:
    status = main(["tables", "--results", str(folder), *options])
    out, err = capsys.readouterr()
    return status, out, err


def chosen(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> list[dict[str, object]]:
    status, out, _ = call(capsys, folder, "--format", "json", *options)
    assert status == 0
    return list(json.loads(out)["rows"])


def test_sizes_come_from_the_records_and_may_be_others(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    options = ("--benchmark", "PingPong", "--placement", "SHM-1", "--host-group", "g1")
    assert [row["size [B]"] for row in chosen(capsys, folder, *options)] == [0, *SIZES, None]
    rows = chosen(capsys, folder, *options, "--sizes", "64,64KiB")
    assert [row["size [B]"] for row in rows] == [0, 64, 65536, None]
    assert "'x' is not a size" in call(capsys, folder, "--sizes", "64,x")[2]
    status, out, err = call(capsys, folder, "--sizes", "64,3000,8MiB")
    assert (
        status == 2
        and out == ""
        and "--sizes: no run printed this size (found 3000 B)\n    known: 0 B, 1 B" in err
    )
    assert "(found 8 MiB)" in err


def test_all_errors_are_reported_with_the_nearest_names(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    wrong = ("--benchmark", "PingPng", "--metric", "latency", "--host-group", "g3\x1b[2J")
    status, out, err = call(capsys, folder, *wrong)
    assert status == 2 and out == "" and "3 errors" in err
    assert "--benchmark: unknown name (found PingPng)\n    did you mean 'PingPong'? known: PingPong, " in err
    assert "did you mean 'latency at 0 B'?" in err and "known: g1, g2" in err
    assert "Traceback" not in err and "\x1b" not in err


def test_options_that_do_not_fit_are_all_reported_at_once(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    options = ("--format", "csv", "--unit", "MiB/s", "--list", "--metric", "latency at 0 B")
    status, _, err = call(capsys, folder, *options)
    assert status == 2 and "--metric: not allowed with --list" in err
    assert "--unit: not allowed with a format for programs (found" not in err
    assert "--unit: not allowed with a format for programs" in err and "data are in SI units" in err


def test_a_choice_that_leaves_nothing_is_reported(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    status, _, err = call(capsys, folder, "--benchmark", "PingPong", "--metric", "maximum B_wire")
    assert status == 2 and "no case has all of what was chosen" in err


def test_files_are_written_and_parquet_is_not_text(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "tables.parquet"
    assert call(capsys, folder, "--format", "parquet", "-o", str(file)) == (0, "", "")
    assert parquet.read_table(file).num_rows > 20
    missing = str(tmp_path / "no" / "such" / "folder")
    status, _, err = call(capsys, folder, "-o", missing)
    assert status == 2 and "No such file" in err


def test_contradicted_runs_have_no_metrics(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    header, records = read_records(folder / "records.jsonl")
    said = {"verdict": CONTRADICTED, "verdict_reasons": ("traffic on lo",)}
    doubted = [replace(run, **said) if run.status == "ok" else run for run in records]
    write_records(tmp_path / "records.jsonl", header, doubted)
    status, _, err = call(capsys, tmp_path, "--metric", "Latency at 0 B")
    assert status == 2 and "--metric: unknown name (found Latency at 0 B)" in err
    assert err.endswith("; contradicted and failed runs have none\n")


def test_missing_and_damaged_records_are_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, _, err = call(capsys, tmp_path)
    assert status == 2 and "no results yet" in err and "mpicampaign run FILE" in err
    head = {"format": "mpicampaign-records", "version": 1, "table_sizes": ["x"]}
    (tmp_path / "records.jsonl").write_text(json.dumps(head) + "\n")
    assert "records.jsonl:1: damaged header" in call(capsys, tmp_path)[2]
