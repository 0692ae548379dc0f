"""The kernel stream: what it measures, what it checks, and where it is not available."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_kernels import Build

from mpicampaign.compare.metrics import choose_metrics
from mpicampaign.suites import OutputError, parse

SMALL = ("--array", "4MiB")
BYTES = {"copy": 16, "scale": 16, "add": 24, "triad": 24}  # of one element, as STREAM counts them
OUTPUT = """#mpicampaign-kernel 1
#@kernel=stream
#@version=1
#@ranks=2
#@array_bytes={array}
#@cache_bytes={caches}
#@columns.repetitions=operation repetition bytes seconds
{rows}
#@end rows={count} status=ok
"""


def output(array: int = 4096, caches: int = 1024, **seconds: tuple[float, ...]) -> str:
    """An output with these times of the repetitions of each operation."""
    rows = [
        f"repetitions {name} {number} {BYTES[name] * 100} {time:.6e}"
        for name, times in seconds.items()
        for number, time in enumerate(times)
    ]
    return OUTPUT.format(array=array, caches=caches, rows="\n".join(rows), count=len(rows))


TIMES = {"copy": (1.0, 4.0, 2.0), "scale": (9.0, 4.0, 8.0), "add": (9.0, 3.0, 6.0), "triad": (9.0, 6.0, 3.0)}


def test_the_best_repetition_but_the_first_counts() -> None:
    (series,) = parse("kernel", output(**TIMES)).series
    assert (series.label, series.ranks) == ("stream", 2)
    assert series.columns == {
        "stream_copy_star": [800.0],
        "stream_scale_star": [400.0],
        "stream_add_star": [800.0],
        "stream_triad_star": [800.0],
    }
    metrics = choose_metrics("kernel", [series], ())
    assert [metric.name for metric in metrics if metric.headline] == ["STREAM triad per process, all at once"]


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ({**TIMES, "triad": (1.0, 2.0)}, "or some lack repetitions"),
        ({name: TIMES[name] for name in ("copy", "scale", "add")}, "the operations are copy, scale, add"),
        ({**TIMES, "add": (1.0, 0.0, 1.0)}, "add: a repetition took no time at all"),
    ],
)
def test_an_output_that_lacks_something_is_refused(times: dict[str, tuple[float, ...]], reason: str) -> None:
    with pytest.raises(OutputError, match=reason):
        parse("kernel", output(**times))


@pytest.mark.mpi
def test_one_wrong_element_fails_the_run(build: Build) -> None:
    """Of the array that all others are computed from, changed while they are."""
    launch = build.launch(2, "stream", *SMALL, preload="spoil.so", SPOIL_ARRAY="1")
    assert launch.status == 1
    assert "status=failed" in launch.output
    assert "of array a is" in launch.errors


@pytest.mark.mpi
def test_caches_are_counted_once_and_unknown_ones_need_a_size(build: Build, tmp_path: Path) -> None:
    """Two processors with 32 KiB of data each and 1 MiB together; instruction caches do not count."""
    for cpu in (0, 1):
        add_cache(tmp_path, cpu, 0, "Data", "32K", f"{cpu}")
        add_cache(tmp_path, cpu, 1, "Instruction", "64K", f"{cpu}")
        add_cache(tmp_path, cpu, 2, "Unified", "1024K", "0-1")
    launch = build.launch(2, "stream", "--repetitions", "3", MPICAMPAIGN_SYSFS=str(tmp_path))
    assert launch.status == 0, launch.errors
    caches = (2 * 32 + 1024) << 10
    assert f"#@array_bytes={4 * caches}\n#@cache_bytes={caches}\n" in launch.output
    (tmp_path / "devices/system/cpu/cpu1/cache/index2/size").unlink()
    launch = build.launch(2, "stream", MPICAMPAIGN_SYSFS=str(tmp_path))
    assert "#@not_available=the sizes of the caches are unknown here" in launch.output
    launch = build.launch(2, "stream", *SMALL, MPICAMPAIGN_SYSFS=str(tmp_path))
    assert "#@cache_bytes=0\n" in launch.output


def add_cache(sysfs: Path, cpu: int, index: int, kind: str, size: str, shared: str) -> None:
    folder = sysfs / f"devices/system/cpu/cpu{cpu}/cache/index{index}"
    folder.mkdir(parents=True)
    for name, text in (("type", kind), ("size", size), ("shared_cpu_list", shared)):
        (folder / name).write_text(f"{text}\n")


@pytest.mark.mpi
def test_too_few_repetitions_are_refused(build: Build) -> None:
    launch = build.launch(2, "stream", *SMALL, "--repetitions", "2")
    assert launch.status == 2
    assert "--repetitions is a number from 3 to 200" in launch.errors
