"""Outputs of STREAM by others: C, Fortran, MPI, stream-scaling, ranks at once; BabelStream, CUDA STREAM."""

from __future__ import annotations

import pytest

from mpicampaign.base.records import Series
from mpicampaign.imports.facts import read_facts
from mpicampaign.suites import OutputError, detect_suite, parse, parts

RULE = "-" * 61 + "\n"
ELEMENTS = 10_000_000
TIMES = {"Copy": 0.0033, "Scale": 0.0042, "Add": 0.0057, "Triad": 0.0055}
HEADINGS = "Function    Best Rate MB/s  Avg time     Min time     Max time\n"


def rows(factor: float = 1.0) -> str:
    moved = {"Copy": 16, "Scale": 16, "Add": 24, "Triad": 24}
    lines = []
    for name, time in TIMES.items():
        best = time * factor
        rate = moved[name] * ELEMENTS / best / 1e6
        lines.append(f"{name + ':':12}{rate:11.1f}  {best * 1.1:11.6f}  {best:11.6f}  {best * 1.5:11.6f}\n")
    return "".join(lines)


TITLE = f"{RULE}STREAM version $Revision: 5.10 $\n{RULE}"
SIZES = f"""\
This system uses 8 bytes per array element.
{RULE}Array size = {ELEMENTS} (elements), Offset = 0 (elements)
Memory per array = 76.3 MiB (= 0.1 GiB).
"""
THREADS = f"{RULE}Number of Threads requested = 4\nNumber of Threads counted = 4\n{RULE}"
VALID = f"{RULE}Solution Validates: avg error less than 1.000000e-13 on all three arrays\n{RULE}"
STREAM = f"{TITLE}{SIZES}{THREADS}{HEADINGS}{rows()}{VALID}"
BABEL = """\
BabelStream
Version: 5.0
Implementation: CUDA
Running kernels 100 times
Precision: double
Array size: 268.4 MB (=0.3 GB)
Using CUDA device Some GPU 80GB
Init: 0.065250 s (=12341.874989 MBytes/sec)
Function    MBytes/sec  Min (sec)   Max         Average     
Copy        1400256.415 0.00038     0.00040     0.00039     
Mul         1360437.756 0.00039     0.00041     0.00040     
Add         1369584.958 0.00059     0.00060     0.00059     
Triad       1377517.491 0.00058     0.00060     0.00059     
Dot         1353461.767 0.00040     0.00042     0.00041     
"""  # noqa: W291 - as it is printed
CSV = """\
function,num_times,n_elements,sizeof,max_mbytes_per_sec,min_runtime,max_runtime,avg_runtime
Copy,100,33554432,8,1.40026e+06,0.000383407,0.0004,0.00039
Mul,100,33554432,8,1.36044e+06,0.000394629,0.0004,0.0004
Add,100,33554432,8,1.36958e+06,0.000587996,0.0006,0.00059
Triad,100,33554432,8,1.37752e+06,0.000584608,0.0006,0.00059
"""
FORTRAN = f"""\
 {RULE} STREAM Version $Revision: 5.6 $
 {RULE} Array size =   10000000
 Offset     =          0
 Double precision appears to have 16 digits of accuracy
 Assuming 8 bytes per DOUBLE PRECISION word
 You are running each test  10 times
 {RULE} Number of Threads =            4
 {RULE}Function     Rate (MB/s)  Avg time   Min time  Max time
{rows()} {RULE} Solution Validates!
 {RULE}"""


def read(text: str, *, in_part: bool = False) -> tuple[Series, ...]:
    suite = detect_suite(text)
    assert suite in ("stream", "babelstream")
    return parse(suite, text, in_part=in_part).series


def refused(text: str) -> str:
    with pytest.raises(OutputError) as caught:
        read(text)
    return str(caught.value)


def rate(series: Series) -> float:
    [value] = series.columns["bandwidth"]
    assert value is not None
    return value


@pytest.mark.parametrize("text", [STREAM, FORTRAN, STREAM.replace("Best Rate MB/s", "  Rate (MB/s)")])
def test_best_rates_and_times_of_each_function(text: str) -> None:
    found = read(text)
    assert [series.label for series in found] == list(TIMES)
    assert [rate(series) for series in found] == [
        float(line.split()[1]) * 1e6 for line in rows().splitlines()
    ]
    assert found[0].columns["time_min"] == [0.0033]
    assert (found[0].columns["time"], found[0].columns["time_max"]) == ([0.00363], [0.00495])
    told = parse("stream", f"Version: 1.0 of a module\nAdd: 3 modules\n{text}Copy results\nVersion: 2.0\n")
    assert told.version in ("5.10", "5.6")
    facts = read_facts("a/b.out", text)
    assert (facts["benchmark"], facts["threads"], facts["array"]) == ("STREAM", "4", str(ELEMENTS))


def test_stream_with_mpi_has_its_ranks_and_all_of_the_array() -> None:
    mpi = "Total Aggregate Array size = 10000000 (elements)\nData is distributed across 4 MPI ranks\n"
    text = STREAM.replace("Array size = 10000000 (elements), Offset = 0 (elements)\n", mpi)
    assert {series.ranks for series in read(text)} == {4}
    assert "contradict each other" in refused(text.replace("= 10000000", "= 40000000"))


def test_a_log_of_stream_scaling_has_all_numbers_of_threads() -> None:
    first = STREAM.replace("= 4", "= 1")
    more = [f"Number of Threads requested = {k}\n{HEADINGS}{rows(1 / k).splitlines()[3]}\n\n" for k in (2, 3)]
    found = read(f"=== Testing up to 3 cores ===\n\n{first}\n{''.join(more)}")
    assert [series.label for series in found[-3:]] == [
        "Triad (threads 1)",
        "Triad (threads 2)",
        "Triad (threads 3)",
    ]
    assert round(rate(found[-1]) / rate(found[-3]), 2) == 3.0
    failed = f"{first}\n{more[0]}Failed Validation on array a[], AvgRelAbsErr > epsilon (1e-13)\n{more[1]}"
    assert "Failed Validation on array a[]" in refused(failed)
    assert [series.label for series in read(failed, in_part=True)][-1] == "Triad (threads 3)"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (VALID, "", "ends without the line 'Solution Validates'"),
        (
            VALID,
            "Failed Validation on array c[], AvgRelAbsErr > epsilon (1e-13)\n",
            "Failed Validation on array c[]",
        ),
        ("0.003300", "0.003310", "Copy: rate, time and array size contradict each other"),
        ("48484.8", "484848", "Copy: rate, time and array size"),
        (rows().splitlines()[1] + "\n", "", "no row of Scale"),
        ("0.003300     0.004950", "0.003300", "row has 3 columns"),
        ("0.003300     0.004950", "0.003300     04950", "Copy: times with unlike decimals"),
        (HEADINGS, "", "a row above the table"),
        (HEADINGS, HEADINGS + rows().splitlines()[0] + "\n", "a function has two rows"),
    ],
)
def test_damage_is_refused_with_a_reason(old: str, new: str, reason: str) -> None:
    assert old in STREAM
    assert reason in refused(STREAM.replace(old, new, 1))


def mixed(outputs: list[str]) -> str:
    """Lines in turn, as ranks print them that run at the same time."""
    lines = zip(*(output.splitlines(keepends=True) for output in outputs), strict=True)
    return "".join(line for each in lines for line in each)


def test_ranks_that_printed_at_once_are_one_run() -> None:
    outputs = [f"{TITLE}{SIZES}{RULE}{HEADINGS}{rows(factor)}{VALID}" for factor in (1.0, 2.0, 2.0)]
    [part] = parts(mixed(outputs))
    copy = read(part.text)[0]
    assert (copy.ranks, [round(copy.columns[name][0] / 1e6, 1) for name in copy.columns]) == (  # type: ignore[operator]
        3,
        [32323.2, 24242.4, 48484.8],
    )
    assert read_facts("a/b.out", part.text)["benchmark"] == "STREAM-at-once"
    damaged = mixed(outputs).replace(rows(2.0).splitlines()[2], "Add:", 1)
    assert "Add" in refused(damaged)
    assert len(parts("".join(outputs))) == 3  # one after the other


def test_babelstream_as_text_and_csv() -> None:
    found = read(BABEL)
    assert [series.label for series in found] == ["Copy", "Mul", "Add", "Triad", "Dot"]
    assert found[0].columns == {
        "bandwidth": [1400256.415 * 1e6],
        "time_min": [0.00038],
        "time_max": [0.0004],
        "time": [0.00039],
    }
    facts = read_facts("a/b.out", BABEL)
    assert (facts["benchmark"], facts["gpu"], facts["array"]) == ("BabelStream", "Some GPU 80GB", "268.4 MB")
    assert [rate(series) for series in read(CSV)] == [
        1.40026e6 * 1e6,
        1.36044e6 * 1e6,
        1.36958e6 * 1e6,
        1.37752e6 * 1e6,
    ]
    assert read_facts("a/b.out", f"BabelStream\n{CSV}")["benchmark"] == "BabelStream"
    assert rate(read(BABEL.replace("MB", "MiB"))[0]) == 1400256.415 * 2**20
    assert "contradict" in refused(CSV.replace("33554432", "16777216"))
    assert "Validation failed on a[]" in refused(BABEL.replace("Init:", "Validation failed on a[]. Average"))
    assert "row has 2 columns" in refused(BABEL[:-30])
    assert read(BABEL.rstrip()) == found
    cut = read(CSV.rstrip(), in_part=True)[-1]  # it may have had more digits
    assert "time_max" in cut.columns
    assert "time" not in cut.columns
    assert "no row of Dot" in refused(BABEL[: BABEL.index("Dot")])
    assert "Copy: rate, time and array size" in refused(BABEL.replace("1400256.415", "1300256.415"))
    assert not parts(BABEL * 2)[0].below
    assert [part.suite for part in parts(f"{STREAM}{BABEL}{BABEL}")] == [
        "stream",
        "babelstream",
        "babelstream",
    ]


def test_a_wrong_sum_is_of_dot_alone() -> None:
    said = "Validation failed on sum. Error 5.1e-08\n"
    for text in (BABEL.replace("Function", f"{said}Function"), BABEL + said):
        assert "Validation failed on sum" in refused(text)
        assert read(text, in_part=True) == read(BABEL)[:-1]


def test_the_first_releases_call_mebibytes_megabytes() -> None:
    old = BABEL[: BABEL.index("Dot")].replace("BabelStream", "GPU-STREAM").replace("268.4 MB", "256.0 MB")
    assert "contradict" in refused(old.replace("5.0", "2.0"))
    assert read(old.replace("Version: 5.0", "Version: 1.0")) == read(BABEL)[:-1]


def test_stream_in_cuda_has_its_own_units() -> None:
    text = f""" STREAM Benchmark implementation in CUDA
 Array size (double precision) = 536.87 MB
 output in IEC units (KiB = 1024 B)

Function      Rate (GiB/s)  Avg time(s)  Min time(s)  Max time(s)
{RULE}Copy:         734.1684      0.00136384   0.00136209   0.00136495
"""
    assert [rate(series) for series in read(text)] == [734.1684 * 2**30]
    assert read_facts("a/b.out", text)["benchmark"] == "CUDA-STREAM"
