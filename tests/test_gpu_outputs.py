"""Outputs of GPUs: nccl-tests and rccl-tests since 2017, and device buffers of OSU and IMB."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from printed_outputs import osu_table

from mpicampaign.base.records import Series
from mpicampaign.imports.draft import draft_map
from mpicampaign.imports.facts import read_facts
from mpicampaign.suites import OutputError, detect_suite, parse

MADE = Path(__file__).parent / "fixtures/made"
WHOLE, OF_2019, OF_2022, JSON = (
    (MADE / f"nccl_tests_{name}.out").read_text() for name in ("2025", "2019", "2022", "json")
)
LAST = next(line for line in WHOLE.splitlines() if "1073741824     268" in line)


def read(text: str, *, in_part: bool = False) -> tuple[Series, ...]:
    assert detect_suite(text) == "nccl_tests"
    return parse("nccl_tests", text, in_part=in_part).series


def refused(text: str) -> str:
    with pytest.raises(OutputError) as caught:
        read(text)
    return str(caught.value)


def with_checks(text: str, out_of_place: str, in_place: str) -> str:
    """The text with other numbers of wrong values, or other errors, in each row."""
    row = re.compile(r"^( +\d+ +\d+ .*\S) +0(  .*\S) +0$", re.MULTILINE)
    return row.sub(rf"\1  {out_of_place}\2  {in_place}", text)


def test_the_program_shows_in_the_bandwidths_or_is_unknown() -> None:
    text = OF_2022
    assert read_facts("a/run.out", text)["benchmark"] == "all_reduce_perf"
    halved = re.sub(
        r"[0-9.]+(?= +0(?:  |$))", lambda rate: f"{float(rate[0]) / 2:.2f}", text, flags=re.MULTILINE
    )
    assert read_facts("a/run.out", halved)["benchmark"] == "reduce_scatter_perf"
    assert "benchmark" not in read_facts("a/run.out", text.replace("  sum", " none"))
    script = "#!/bin/bash\nsrun ./all_gather_perf -b 8\n"
    assert read_facts("a/run.out", text, script)["benchmark"] == "all_gather_perf"


def test_a_draft_names_unknown_programs_by_their_files(tmp_path: Path) -> None:
    unnamed = OF_2022.replace("  sum", " none")
    for number, text in enumerate((unnamed, unnamed + "RCCL version 2.18.3\n"), start=1):
        (tmp_path / f"all_gather.{number}.log").write_text(text)
    draft = draft_map([tmp_path], "old")
    names = re.findall("placement: ([^,]*), .*benchmark: all_gather}", draft)
    assert [name.endswith("-2.18.3") for name in names] == [True, False]  # the first rule that fits counts


def test_a_size_with_wrong_values_has_no_value_and_its_reason() -> None:
    everywhere = with_checks(WHOLE, "3", "1e+06").replace("values : 0 OK", "values : 8 FAILED")
    assert "8 B out-of-place: 3 wrong values; 8 B in-place: 1e+06 wrong values" in refused(everywhere)
    assert "8 B in-place: wrong values" in refused(with_checks(OF_2019, "1e+00*", "1e+00*"))
    assert parse("nccl_tests", with_checks(WHOLE, "0", "N/A")).metadata["unchecked"] == "in-place"


def test_rows_that_prove_themselves_stay_beside_a_damaged_one() -> None:
    damaged = WHOLE.replace(LAST, LAST[:70])
    assert [len(series.columns["size"]) for series in read(damaged, in_part=True)] == [3, 3]


@pytest.mark.parametrize(
    ("title", "program"),
    [
        ("MPI-CUDA Latency", "osu_latency"),
        ("MPI-CUDA MANAGED Allreduce Latency", "osu_allreduce"),
        ("MPI-ROCM Bi-Directional Bandwidth", "osu_bibw"),
        ("NCCL-CUDA Allreduce Latency", "osu_xccl_allreduce"),
        ("RCCL-ROCM All-to-All Personalized Exchange Latency", "osu_xccl_alltoall"),
    ],
)
def test_osu_on_devices(title: str, program: str) -> None:
    text = osu_table(title, "Latency (us)", [(1, 4.06), (2, 4.26)], "7.5")
    head, _, rows = text.partition("\n")
    told = f"#Using NCCL\n{head}\n# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n{rows}"
    facts = read_facts("a/b.out", told)
    assert (facts["benchmark"], facts["buffers"]) == (program, "D H")
    parsed = parse("osu", told)
    assert (parsed.metadata["buffers"], parsed.series[0].columns["time"][0]) == ("D H", 4.06 * 1e-6)


def test_osu_7_2_prints_the_datatype_below_the_headings() -> None:
    table = "# Size          Latency (us)\n# Datatype: {}.\n1                       4.06\n"
    text = "# OSU MPI-CUDA Latency Test v7.2\n" + table.format("MPI_CHAR") + table.format("MPI_INT")
    assert [series.qualifiers["datatype"] for series in parse("osu", text).series] == ["MPI_CHAR", "MPI_INT"]
