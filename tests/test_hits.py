"""Which sizes of a bundled kernel were hit by others: counted, read, and named with the condition."""

from __future__ import annotations

import pytest
from test_kernels import Build

from mpicampaign.evidence.preempted import preempted_text
from mpicampaign.suites import OutputError, parse

HEADER = """#mpicampaign-kernel 1
#@kernel=point_to_point
#@ranks=2
#@columns.samples=operation pairs size sample block_messages seconds useful_bytes wire_bytes
#@columns.sizes=operation pairs size samples warmup_samples warmup_settled converged verified{column}
"""


def output(hits: dict[int, str] | None) -> str:
    """An output with 50 samples of each size; without hits, as versions before printed it."""
    rows = []
    for size, count in (hits or {8: ""}).items():
        rows.append(f"samples point_to_point 1 {size} 0 1 1.0e-06 {size} {size}")
        rows.append(f"sizes point_to_point 1 {size} 50 3 1 1 1 {count}".rstrip())
    head = HEADER.format(column="" if hits is None else " hit")
    return head + "\n".join(rows) + f"\n#@end rows={len(rows)} status=ok\n"


def text(hits: dict[int, str] | None) -> str:
    parsed = parse("kernel", output(hits))
    return preempted_text(parsed.series, parsed.metadata)


def test_sizes_are_named_where_more_than_a_tenth_of_the_samples_were_hit() -> None:
    assert text({8: "5", 64: "6", 65536: "50"}) == "; hit at 64 B and 64 KiB"
    assert text({8: "0", 64: "6"}) == "; hit at 64 B"
    assert text({8: "0"}) == ""
    assert text({1 << power: "50" for power in range(5)}) == "; hit at 5 sizes, from 1 B to 16 B"


@pytest.mark.parametrize("count", ["51", "-1", "1.5", "nan", "x"])
def test_a_damaged_count_is_refused(count: str) -> None:
    with pytest.raises(OutputError):
        parse("kernel", output({8: count}))


# --- what a kernel counts

RUN = ("--size", "64", "--budget", "0.05")


@pytest.mark.mpi
@pytest.mark.parametrize("account", ["none", "zeros"])
def test_without_an_account_of_one_rank_nothing_is_known(build: Build, account: str) -> None:
    waiting = {"PRETEND_WAITING": account, "PRETEND_WAITING_RANK": "1"}
    launch = build.launch(2, "point_to_point", *RUN, preload="pretend.so", **waiting)
    assert launch.statuses == [0, 0], launch.errors
    assert [row["hit"] for row in launch.rows("sizes")] == ["-"]
    assert launch.header("hit").startswith("not examined")


PARTS = {
    "b_eff": {"ring", "random", "cartesian", "first", "pair"},
    "core_pairs": {"latency", "bandwidth", "contention"},
    "latency_bandwidth": {
        f"{part}_{size}" for part in ("ping_pong", "rings") for size in ("latency", "bandwidth")
    },
}


@pytest.mark.mpi
@pytest.mark.parametrize("kernel", PARTS)
def test_kernels_with_loops_of_their_own_say_which_part_was_hit(build: Build, kernel: str) -> None:
    quick = ("--lmax", "8KiB") if kernel == "b_eff" else ()
    launch = build.launch(
        2, kernel, *quick, "--budget", "0.3", preload="pretend.so", PRETEND_WAITING="1000000000000"
    )
    assert launch.statuses == [0, 0], launch.errors
    counts = dict(entry.split(":") for entry in launch.header("hit_parts").split(","))
    assert counts.keys() == PARTS[kernel]
    for hit, all_of_them in (count.split("/") for count in counts.values()):
        assert hit == all_of_them


@pytest.mark.mpi
def test_parts_are_not_examined_without_an_account(build: Build) -> None:
    launch = build.launch(2, "core_pairs", "--budget", "0.1", preload="pretend.so", PRETEND_WAITING="none")
    assert launch.statuses == [0, 0], launch.errors
    assert launch.header("hit_parts").startswith("not examined")
    assert preempted_text([], parse("kernel", launch.output).metadata) == ""
