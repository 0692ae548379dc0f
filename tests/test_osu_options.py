"""OSU: arguments that are refused before a run, and programs that a placement cannot run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpicampaign.suites import SUITES
from mpicampaign.suites.osu.options import faults
from mpicampaign.suites.osu.programs import KINDS
from mpicampaign.suites.osu.sizes import largest_size
from mpicampaign.suites.suite import Request

SUITE = SUITES["osu"]


def request(program: str, arguments: str = "", ranks: int = 2, nodes: int = 1) -> Request:
    return Request(program, tuple(arguments.split()), {}, (), nodes, ranks // nodes)


@pytest.mark.parametrize(
    ("program", "arguments", "message"),
    [
        ("osu_bw", "-m 1K", "the value of -m must be [MIN:]MAX in bytes"),
        ("osu_bw", "-m 1:2:3", "the value of -m must be"),
        ("osu_bw", "-m :", "the value of -m must be"),
        ("osu_bw", "--message-size=8:4", "the smallest size is above the largest"),
        ("osu_bw", "-m", "-m needs a value"),
        ("osu_bw", "-i 0", "the value of -i must be a whole number above 0"),
        ("osu_bw", "-i ten", "the value of -i must be"),
        ("osu_bw", "-x -1", "the value of -x must be a whole number of at least 0"),
        ("osu_bw", "-W 0", "the value of -W must be a whole number above 0"),
        ("osu_bw", "-b two", "the value of -b must be single or multiple"),
        ("osu_bw", "-c -u 11", "the value of -u must be a whole number from 0 to 10"),
        ("osu_bw", "-c -D cont", "OSU does not validate derived datatypes"),
        ("osu_bw", "-T double", "the value of -T must be all, mpi_char"),
        ("osu_bw", "-z50,101", "the value of -z must be percentiles"),
        ("osu_bw", "-q", "OSU 5 to 7 has no such option"),
        ("osu_bw", "-h", "with this option osu_bw prints no table"),
        ("osu_bw", "8 -i 10", "OSU does not read these arguments"),
        ("osu_latency", "-W 64", "osu_latency has no such option"),
        ("osu_latency", "-f", "osu_latency has no such option"),
        ("osu_allreduce", "-W 64", "osu_allreduce has no such option"),
        ("osu_gather", "-N cart:1:1", "osu_gather has no such option"),
        ("osu_latency_mt", "-t 128", "the value of -t must be [SENDERS:]RECEIVERS"),
        ("osu_latency_mt", "-t 2:", "the value of -t must be"),
        ("osu_put_bw", "-s fnce", "the value of -s must be pscw, fence"),
        ("osu_put_bw", "-w made", "the value of -w must be create"),
        ("osu_init", "-i 10", "osu_init has no such option"),
        ("/apps/osu/osu_bw", "-i 0", "the value of -i must be"),
    ],
)
def test_arguments_that_cannot_be_right_are_refused(program: str, arguments: str, message: str) -> None:
    (refusal,) = SUITE.arguments(program, arguments.split())
    assert refusal.message.startswith(message)
    assert refusal.parameter == ""


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("osu_bw", "-m 1:1024 -i 20 -x 0 -W 32 -b multiple -c"),
        ("osu_bw", "-m1024 -i20 --window-size=8 --graph tty --iter 5"),
        ("osu_bw", "-m 2: H H"),
        ("osu_bw", "-m :1024 -clog:here -z"),
        ("osu_latency", "-m 0:8 -z50,99 -I -T mpi_int -T ALL"),
        ("osu_latency", "-D vect:4:8"),
        ("osu_mbw_mr", "-w 64 -r 0 -v -p 1"),  # series 5
        ("osu_mbw_mr", "-R 1 -V"),
        ("osu_alltoall", "-fm 8 -M 1000000"),
        ("osu_reduce", "-s 32 -t 5"),  # series 5
        ("osu_igather", "-t 100 -k rotate"),
        ("osu_neighbor_alltoall", "-N graph:file.txt"),
        ("osu_put_bw", "-s lock_all -w dynamic -W 4"),
        ("osu_latency_mt", "-t 127:1"),
        ("osu_partitioned_latency", "-m 8 -w any"),  # of a version that is newer
    ],
)
def test_what_some_version_takes_is_not_refused(program: str, arguments: str) -> None:
    assert [each for each in SUITE.arguments(program, arguments.split()) if not each.doubtful] == []
    assert list(SUITE.refuses(request(program, arguments))) == []


def test_a_root_beyond_the_ranks_is_refused() -> None:
    (refusal,) = SUITE.refuses(request("osu_gather", "-k fixed:2"))
    assert (refusal.message, refusal.value) == ("the root must be a rank from 0 to 1", "-k fixed:2")


def test_what_is_misspelt_has_a_suggestion() -> None:
    for program, meant in {
        **{"osu_latencyy": "osu_latency", "osu_latncy": "osu_latency", "osu_alreduce": "osu_allreduce"},
        **{"osu_mbw_rm": "osu_mbw_mr", "osu_latency_mtt": "osu_latency_mt", "OSU_BW": "osu_bw"},
    }.items():
        (refusal,) = faults(program, ())
        assert (refusal.value, refusal.hint) == (program, f"did you mean {meant!r}?")
        assert refusal.program and not refusal.doubtful
    (refusal,) = faults("osu_bw", ("--windowsize=8",))
    assert (refusal.value, refusal.hint) == ("--windowsize", "did you mean '--window-size'?")
    for program in ("osu_bw2", "osu_bw_ours", "osu_partitioned_latency", "osu_stencil"):  # resemble none
        (warning,) = faults(program, ())
        assert warning.program and warning.doubtful
        assert [each.doubtful for each in faults(program, ("--ours=3",))] == [True, True]
        assert [each.doubtful for each in faults(program, ("--window-sise=3",))] == [True, False]


@given(st.lists(st.text(max_size=6), max_size=6), st.sampled_from([*KINDS, "osu_other"]))
def test_any_arguments_are_checked(arguments: list[str], program: str) -> None:
    for refusal in faults(program, arguments):
        assert refusal.message


@pytest.mark.parametrize(
    ("program", "ranks", "nodes", "arguments", "reason"),
    [
        ("osu_bw_fan_in", 4, 1, "", "osu_bw_fan_in needs at least 2 nodes; the placement has 1"),
        ("osu_bw_fan_in", 4, 2, "", ""),
        ("osu_latency", 4, 1, "", "osu_latency needs exactly 2 ranks; the placement has 4"),
        ("osu_put_bw", 4, 2, "", "osu_put_bw needs exactly 2 ranks; the placement has 4"),
        ("osu_latency_mt", 2, 1, "", ""),
        ("osu_multi_lat", 3, 1, "", "osu_multi_lat needs an even number of ranks; the placement has 3"),
        ("osu_multi_lat", 4, 1, "", ""),
        ("osu_mbw_mr", 3, 1, "", ""),
        ("osu_allreduce", 1, 1, "", "osu_allreduce needs at least 2 ranks; the placement has 1"),
        ("osu_neighbor_alltoall", 2, 1, "", "osu_neighbor_alltoall needs at least 3 ranks for neighbours"),
        ("osu_neighbor_alltoall", 4, 1, "-N cart:1:2", "osu_neighbor_alltoall needs at least 5 ranks"),
        ("osu_neighbor_alltoall", 2, 1, "-N graph:file", ""),
        ("osu_init", 1, 1, "", ""),
        ("osu_hello", 2, 1, "", "osu_hello measures nothing; osu_init measures the start"),
        ("osu_xccl_bw", 2, 1, "", "device buffers: the placement has no gpus_per_node"),
        ("osu_bw", 2, 1, "D D", "device buffers:"),
        ("osu_bw", 2, 1, "H D", "device buffers:"),
        ("osu_bw", 2, 1, "H H", ""),
        ("osu_allreduce", 2, 1, "-d cuda", "device buffers:"),
    ],
)
def test_what_a_placement_cannot_run_has_its_reason(
    program: str, ranks: int, nodes: int, arguments: str, reason: str
) -> None:
    found = SUITE.lacks(request(program, arguments, ranks, nodes))
    assert found.startswith(reason) if reason else found == ""


def test_every_program_may_be_named_without_its_own_section() -> None:
    assert {name: SUITE.benchmarks[name]["program"] for name in KINDS} == {name: name for name in KINDS}


@pytest.mark.parametrize(
    ("program", "arguments", "last"),
    [
        ("osu_bw", "-m 2:", 4 << 20),
        ("osu_bw", "--message=64", 64),
        ("osu_bw", "-i 5 -m :64 H H", 64),
        ("osu_alltoallw", "", 1 << 20),
        ("osu_reduce_scatter", "-fm64", 64),
        ("osu_allgather_persistent", "-m 3:20", 12),
        ("osu_barrier", "-m 64", None),
    ],
)
def test_the_last_size_follows_from_the_options(program: str, arguments: str, last: int | None) -> None:
    assert largest_size(program, arguments.split(), 2) == last
