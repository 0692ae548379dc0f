"""Outputs of GPUs: nccl-tests and rccl-tests since 2017, and device buffers of OSU and IMB."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from gpu_outputs import (
    LARGEST_ERROR,
    NAMED,
    OLD,
    RANKS,
    ROOTS,
    ROWS,
    nccl_json,
    nccl_output,
    rates,
)
from printed_outputs import IMB_MEGABYTE_VERSION, imb_pingpong, osu_table

from mpicampaign.base.records import Series
from mpicampaign.compare.metrics import choose_metrics
from mpicampaign.imports.draft import draft_map
from mpicampaign.imports.facts import read_facts
from mpicampaign.suites import OutputError, detect_suite, parse, parts

WHOLE = nccl_output()
LAST = next(line for line in WHOLE.splitlines() if "1073741824     268" in line)


def read(text: str, *, in_part: bool = False) -> tuple[Series, ...]:
    assert detect_suite(text) == "nccl_tests"
    return parse("nccl_tests", text, in_part=in_part).series


def refused(text: str) -> str:
    with pytest.raises(OutputError) as caught:
        read(text)
    return str(caught.value)


def table(digits: int, unit: float = 1.0) -> list[tuple[object, ...]]:
    """What was printed, by place; ``unit``: of its times (µs)."""
    printed = []
    for place in (1, 2):
        times = [round(row[place] / unit, digits) * unit for row in ROWS]
        pairs = [rates(row[0], row[place]) for row in ROWS]
        columns = [[round(value, 2) or None for value in each] for each in zip(*pairs, strict=True)]
        printed.append(([row[0] for row in ROWS], times, *columns))
    return printed


def values(series: Series) -> tuple[object, ...]:
    columns = [series.columns[name] for name in ("time", "algorithm_bandwidth", "bandwidth")]
    scaled = zip(columns, (1e6, 1e-9, 1e-9), strict=True)
    return (
        series.columns["size"],
        *([None if x is None else round(x * factor, 9) for x in column] for column, factor in scaled),
    )


@pytest.mark.parametrize("version", [OLD, LARGEST_ERROR, ROOTS, NAMED])
def test_each_version_s_table_has_its_numbers(version: int) -> None:
    found = read(nccl_output(version))
    expected = table(3, 1000.0) if version == OLD else table(2)
    assert [series.label for series in found] == ["out-of-place", "in-place"]
    assert [values(series) for series in found] == expected
    assert {series.ranks for series in found} == {RANKS}


def test_alltoall_left_its_operation_blank_until_2022() -> None:
    blank = nccl_output(LARGEST_ERROR).replace("   sum", "")
    assert [values(series) for series in read(blank)] == table(2)
    assert parse("nccl_tests", blank).metadata["redop"] == "none"


def test_json_has_the_same_rows_with_more_digits() -> None:
    found = read(nccl_json())
    assert [series.columns["size"] for series in found] == [[row[0] for row in ROWS]] * 2
    assert found[1].columns["time"] == [row[2] * 1e-6 for row in ROWS]
    assert found[1].columns["bandwidth"] == [rates(row[0], row[2])[1] * 1e9 for row in ROWS]
    assert parse("nccl_tests", nccl_json(None)).metadata["unchecked"] == "out-of-place, in-place"
    whole = json.loads(nccl_json())
    for cut in (
        nccl_json()[:-40],
        json.dumps({**whole, "results": "none"}),
        nccl_json().replace("21.5", '"x"'),
    ):
        assert "JSON" in refused(cut) or "not a number" in refused(cut)


def test_an_output_tells_its_gpus_hosts_and_versions() -> None:
    expected = {"gpus": "4", "gpus_per_node": "2", "hosts": "gpu0000 gpu0001", "nodes": "2", "nccl": "2.28.9"}
    expected |= {"gpu": "Some GPU 80GB", "benchmark": "all_reduce_perf"}
    for text in (WHOLE, nccl_json()):
        assert expected.items() <= read_facts("a/run.out", text).items()
    assert read_facts("a/run.out", nccl_json())["job"] == "77"
    rccl = "rccl-tests: Version develop:ae3e635\n# Using devices"
    told = nccl_output(ROOTS).replace("# Using devices", rccl) + "RCCL version 2.18.3+hip6.0 HEAD:2f6d59e\n"
    assert read_facts("a/run.out", told)["nccl"] == "2.18.3"
    assert parse("nccl_tests", told).version == "develop:ae3e635"


def test_the_program_shows_in_the_bandwidths_or_is_unknown() -> None:
    text = nccl_output(ROOTS)
    assert read_facts("a/run.out", text)["benchmark"] == "all_reduce_perf"
    halved = re.sub(
        r"[0-9.]+(?= +0(?:  |$))", lambda rate: f"{float(rate[0]) / 2:.2f}", text, flags=re.MULTILINE
    )
    assert read_facts("a/run.out", halved)["benchmark"] == "reduce_scatter_perf"
    assert "benchmark" not in read_facts("a/run.out", text.replace("  sum", " none"))
    script = "#!/bin/bash\nsrun ./all_gather_perf -b 8\n"
    assert read_facts("a/run.out", text, script)["benchmark"] == "all_gather_perf"


def test_algorithm_and_bus_bandwidth_are_kept_apart() -> None:
    metrics = choose_metrics("nccl_tests", read(WHOLE)[:1], (1 << 20,))
    ranked = [metric.name for metric in metrics if metric.headline]
    assert ranked == ["time at 8 B", "time at 1 MiB", "maximum bus bandwidth"]
    assert [metric.name for metric in metrics if not metric.headline] == [
        "bus bandwidth at 1 MiB",
        "algorithm bandwidth at 1 MiB",
    ]


def test_a_draft_names_unknown_programs_by_their_files(tmp_path: Path) -> None:
    unnamed = nccl_output(ROOTS).replace("  sum", " none")
    for number, text in enumerate((unnamed, unnamed + "RCCL version 2.18.3\n"), start=1):
        (tmp_path / f"all_gather.{number}.log").write_text(text)
    draft = draft_map([tmp_path], "old")
    names = re.findall("placement: ([^,]*), .*benchmark: all_gather}", draft)
    assert [name.endswith("-2.18.3") for name in names] == [True, False]  # the first rule that fits counts


def test_a_size_with_wrong_values_has_no_value_and_its_reason() -> None:
    damaged = WHOLE.replace(LAST, re.sub("0$", "3", LAST)).replace("values : 0 OK", "values : 1 FAILED")
    parsed = parse("nccl_tests", damaged)
    assert parsed.metadata["not_measured"] == "1073741824 B in-place: 3 wrong values"
    assert [series.columns["time"][-1] is None for series in parsed.series] == [False, True]
    everywhere = nccl_output(wrong=("3", "1e+06")).replace("values : 0 OK", "values : 8 FAILED")
    assert "8 B out-of-place: 3 wrong values; 8 B in-place: 1e+06 wrong values" in refused(everywhere)
    assert "8 B in-place: wrong values" in refused(nccl_output(LARGEST_ERROR, wrong=("1e+00*", "1e+00*")))
    assert "no row says which" in refused(WHOLE.replace("values : 0 OK", "values : 2 FAILED"))
    assert parse("nccl_tests", nccl_output(wrong=("0", "N/A"))).metadata["unchecked"] == "in-place"


def test_datatypes_and_cycles_are_series_of_their_own() -> None:
    types = read(nccl_output(about=("float   sum    -1", "half   max    -1")))
    labels = [
        f"{place} (datatype {kind})" for kind in ("float, redop sum", "half, redop max") for place in PLACES
    ]
    assert [series.label for series in types] == labels
    cycles = read(nccl_output(cycles=2))
    assert [series.label for series in cycles] == [f"{place} (cycle {k})" for k in (1, 2) for place in PLACES]
    one_size = read(nccl_output(rows=ROWS[2:3], cycles=3))
    assert [len(series.columns["size"]) for series in one_size] == [1] * 6


PLACES = ("out-of-place", "in-place")


def test_timestamps_cpu_times_iterations_and_one_place_are_read_by_the_header() -> None:
    stamped = re.sub(r"(  #wrong)$|(       0)$", r"\1\2  2025-11-26 10:00:00", WHOLE, flags=re.MULTILINE)
    stamped = stamped.replace("#wrong  2025-11-26 10:00:00", "#wrong  timestamp")
    assert read(stamped) == read(WHOLE)
    assert "time" not in read(WHOLE.replace("   time ", "cputime "))[0].columns
    in_place = [re.sub(r" +\S+ +\S+ +\S+ +0(?= .*0$)", "", line) for line in WHOLE.splitlines()]
    head = "#       size count type redop root     time   algbw   busbw  #wrong"
    text = "\n".join([head if "size count" in line else line for line in in_place]) + "\n"
    text = text.replace("out-of-place", "").replace("bandwidth    : 20.1538", "bandwidth    : 20.26")
    assert [values(series) for series in read(text)] == table(2)[1:]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (f"{LAST}\n", "", "the mean bus bandwidth is 5.06833 GB/s, the closing line says 20.1538 GB/s"),
        ("15.05", "15.85", "contradict each other out-of-place"),
        ("  104.50", "  105.50", "contradict each other"),
        ("  104.50", "  103.50", "contradict each other"),
        ("15.05       0", "15.05", "row has 12 columns, the header names 13"),
        ("# Avg bus", "# Avg", "ends after 4 rows; the closing line is missing"),
        (f"{LAST}\n", f"{LAST}\ngpu0000: Test NCCL failure common.cu:958\n", "Test NCCL failure"),
        (f"{LAST}\n", f"{LAST[:70]}host:9 [0] NCCL INFO x\n", "columns"),
        (
            "# Using",
            "# nThread 1 nGpus 1 minBytes 8 maxBytes 1073741824 step\n# Using",
            "each rank started alone",
        ),
        ("# Out of", f"# Avg bus bandwidth    : 20.1538 \n{LAST}\n# Out of", "a row outside of the table"),
    ],
)
def test_damage_is_refused_with_a_reason(old: str, new: str, reason: str) -> None:
    assert old in WHOLE
    assert reason in refused(WHOLE.replace(old, new, 1))


def test_rows_that_prove_themselves_stay_beside_a_damaged_one() -> None:
    damaged = WHOLE.replace(LAST, LAST[:70])
    assert [len(series.columns["size"]) for series in read(damaged, in_part=True)] == [3, 3]


def test_outputs_in_one_file_are_cut_with_the_lines_that_name_them() -> None:
    other = WHOLE.replace("all_reduce", "reduce_scatter").replace("22809", "22705")
    cut = parts(f"{WHOLE}\n{other}")
    assert [read_facts("a/b", part.output)["benchmark"] for part in cut] == [
        "all_reduce_perf",
        "reduce_scatter_perf",
    ]
    assert [read_facts("a/b", part.output)["nccl"] for part in cut] == ["2.28.9", "2.27.5"]


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


@pytest.mark.parametrize(("call", "buffers"), [("", "device"), ("-mem_alloc_type host ", "host")])
def test_imb_on_a_gpu(call: str, buffers: str) -> None:
    text = imb_pingpong(IMB_MEGABYTE_VERSION, [2.5, 2.6], 1e6)
    on_gpu = text.replace("MPI-1 part", "MPI-1 part (GPU)").replace("# IMB-MPI1 ", f"# ./IMB-MPI1-GPU {call}")
    facts = read_facts("a/b.out", on_gpu)
    assert (facts["program"], facts["benchmark"], facts["buffers"]) == ("IMB-MPI1-GPU", "PingPong", buffers)
    assert parse("imb", on_gpu).series == parse("imb", text).series
