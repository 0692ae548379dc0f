"""Results as data: one set of tables in Python, CSV, JSON and Parquet, and the notebook that shows them."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import tarfile
import zlib
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

import build_records as make
import numpy as np
import pytest
from conftest import PROJECT, completed
from jsonschema import Draft202012Validator
from pyarrow import parquet

import mpicampaign
from mpicampaign.base.errors import UserError
from mpicampaign.base.records import CONTRADICTED, DISTURBED, Header, write_records
from mpicampaign.cli import main
from mpicampaign.interface import results as interface
from mpicampaign.report.columns import COLUMNS, TABLES, results_schema

PLACE = ("system", "host_group", "library", "placement", "benchmark", "series", "ranks")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of three MPI libraries."""
    path = tmp_path_factory.mktemp("made") / "results/frozen-libraries"
    with tarfile.open(PROJECT / "tests/frozen/libraries/results.tar.gz") as archive:
        archive.extractall(path, filter="data")
    return path


@pytest.fixture(scope="module")
def of_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every end of a run, a hostile name, a disturbed and a contradicted run with values."""
    runs = make.campaign("s", "g") + make.case_runs(make.case(make.HOSTILE))
    [odd, worse, *others] = make.case_runs(make.case("odd"))
    runs += [replace(odd, verdict=CONTRADICTED), replace(worse, condition=DISTURBED), *others]
    path = tmp_path_factory.mktemp("records")
    write_records(path / "records.jsonl", Header("c", "", (1024,)), runs)
    return path


def test_medians_are_those_of_the_values_that_count(folder: Path, of_records: Path) -> None:
    for place in (folder, of_records):
        results = mpicampaign.load(place)
        values = defaultdict(list)
        for line in results.values:
            if line["counts"]:
                key = (*(line[name] for name in PLACE), line["metric"], line["size"])
                values[key].append(line["value"])
        compared = 0
        for line in results.medians:
            of = values.get((*(line[name] for name in PLACE), line["made_of"], line["size"]))
            if of and line["size"] is not None and line["unit"] != "1":  # no ratio to another series
                assert (line["median"], line["n"]) == (pytest.approx(median(of)), len(of)), line
                compared += 1
        assert compared >= 20
    ends = {(line["status"], line["verdict"], line["counts"]) for line in results.values}
    assert {("ok", "verified", True), ("ok", CONTRADICTED, False), ("failed", None, False)} <= ends
    without = [line for line in results.values if line["status"] != "ok"]
    assert without and all(line["value"] is None and line["reason"] for line in without)
    assert not any(
        "\x1b" in str(value) for table in (results.values, results.medians) for value in table["placement"]
    )


def test_answers_are_those_of_the_report(folder: Path) -> None:
    answers = mpicampaign.load(folder).answers
    records = interface.load(folder)._comparison.rankings
    lines = {(line["scope"], line["series"], line["metric"], line["candidate"]): line for line in answers}
    pairs = [
        (lines[ranking.place, table.label, pair.worse.cell.metric.name, pair.worse.name], ranking, pair)
        for table, ranking in records
        if not table.is_baseline
        for pair in ranking.pairs
        if pair.better is ranking.best
    ]
    for line, ranking, pair in pairs:
        assert (line["against"], line["ratio"], line["p"]) == (pair.better.name, pair.factor, pair.verdict.p)
        assert line["smallest_difference"] == (ranking.sight.difference if ranking.sight else None)
        assert line["verdict"] == ("may be best" if pair.worse.name in ranking.leaders else "worse")
        assert pair.better.name in str(line["sentence"])
    assert len(pairs) > 5 and {line["verdict"] for line, *_ in pairs} == {"may be best", "worse"}


def test_columns_are_numpy_arrays_with_gaps_and_mistakes_are_explained(
    of_records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = mpicampaign.load(of_records).values
    assert {str(values[name].dtype) for name in ("value", "size", "ranks")} == {"float64"}, "runs without any"
    assert (values["repeat"].dtype, values["counts"].dtype) == (np.int64, bool)
    assert values["placement"].dtype == object and len(values["unit"]) == len(values) == len(list(values))
    with pytest.raises(KeyError, match="no column 'valeu': did you mean 'value'"):
        values["valeu"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match="pip install pandas"):
        values.to_pandas()
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))  # type: ignore[arg-type]
    assert tuple(values.to_pandas()) == values.columns
    with pytest.raises(UserError, match="no such file or folder"):
        mpicampaign.load(of_records / "none")


def test_a_folder_a_campaign_file_a_bundle_and_a_name_are_the_same(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle, file = tmp_path / "frozen-libraries.tar.gz", folder.parents[1] / "campaign.yaml"
    file.write_bytes((PROJECT / "tests/frozen/libraries/campaign.yaml").read_bytes())
    assert main(["bundle", "--results", str(folder), "-o", str(bundle)]) == 0
    monkeypatch.chdir(file.parent)
    first, *others = map(mpicampaign.load, (folder, str(file), bundle, folder.name))
    with pytest.raises(UserError, match=f"did you mean '{folder.name}'"):
        mpicampaign.load(folder.name[:-1])
    for other in others:
        assert other.campaign == first.campaign == "frozen-libraries"
        for name in ("value", "counts", "hosts", "date"):
            assert (first.values[name] == other.values[name]).all()


@pytest.mark.parametrize(("table", "option"), [*zip(TABLES, ("--each-run", "", "--answers"), strict=True)])
def test_files_hold_what_python_holds(folder: Path, tmp_path: Path, table: str, option: str) -> None:
    def written(form: str) -> Path:
        path = tmp_path / f"{table}.{form}"
        options = (*([option] if option else []), "--format", form, "-o", str(path))
        assert main(["tables", "--results", str(folder), *options]) == 0
        return path

    lines = list(getattr(mpicampaign.load(folder), table))
    data = json.loads(written("json").read_text())
    Draft202012Validator(results_schema()).validate(data)
    assert (data["rows"], data["table"], data["campaign"]) == (lines, table, "frozen-libraries")
    assert parquet.read_table(written("parquet")).to_pylist() == lines
    header, *rows = csv.reader(io.StringIO(written("csv").read_text()))
    assert header == data["columns"] and len(rows) == len(lines)
    data["rows"][0]["more"] = 1
    assert not Draft202012Validator(results_schema()).is_valid(data)


def test_chosen_metrics_choose_their_values_and_text_has_none(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, options = (
        tmp_path / "v.json",
        ("--metric", "B_useful at 1 KiB per message", "--placement", "SHM-1", "--each-run"),
    )
    call = ["tables", "--results", str(folder), *options]
    assert main([*call, "--format", "json", "-o", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    assert {(row["metric"], row["size"], row["placement"]) for row in rows} == {("bandwidth", 1024, "SHM-1")}
    assert main([*call, "--sizes", "1KiB"]) == 2
    err = capsys.readouterr().err
    assert "--each-run: needs a format for programs" in err and "--sizes: not allowed with --each-run" in err
    call[-1] = "--answers"
    assert main([*call, "--format", "csv", "--unit", "MiB/s"]) == 2
    err = capsys.readouterr().err
    assert "--metric: not allowed with --answers" in err and "data are in SI units" in err
    assert main(call[:3]) == 0 and capsys.readouterr().out.startswith("intelmpi is the fastest")


def test_names_of_the_interface_last_as_long_as_its_version() -> None:
    """Add what is added; what goes or means something else raises `interface.VERSION`."""
    public = [name for name in dir(interface.CampaignResults) if not name.startswith("_")]
    assert public == ["answers", "figures", "medians", "values", "version"] and interface.VERSION == 1
    names = " ".join(column.name for table in TABLES for column in COLUMNS[table])
    assert (len(names), zlib.crc32(names.encode())) == (796, 4113470976)


def test_the_notebook_runs_in_a_fresh_python(folder: Path, tmp_path: Path) -> None:
    """Also on results without sizes, and on some without any value."""
    table = make.series("solve", 2, metrics={"time": {"unit": "s", "better": "lower"}}, time=10.0)
    solved = [make.run(make.case("X", "solve"), number, table, suite="own") for number in range(1, 7)]
    for name, runs in (("sizeless", solved), ("empty", make.not_available(make.case("X"), "no"))):
        (tmp_path / name).mkdir()
        write_records(tmp_path / name / "records.jsonl", Header("c", "", ()), runs)
    check = "import numpy; assert numpy.isclose(numpy.median(values['value'][chosen]), one['median'])"
    said = of_notebook(folder, check)
    assert "may be best" in said and said.rstrip().endswith("<svg")
    assert "X time 10.0 [10. 10. 10. 10. 10. 10.] s" in of_notebook(tmp_path / "sizeless")
    of_notebook(tmp_path / "empty")


def of_notebook(results: Path, check: str = "") -> str:
    """What its cells print."""
    cells: list[dict[str, Any]] = json.loads((PROJECT / "docs/results.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell.get("outputs") for cell in cells)
    code[-1] = (
        f"shown = {code[-1]}\nif results.figures: print(shown._repr_svg_()[:4])"  # what a notebook shows
    )
    done = completed(
        [sys.executable, "-c", "\n".join([*code, check])], env=os.environ | {"RESULTS": str(results)}
    )
    assert not done.returncode, done.stderr
    return done.stdout
