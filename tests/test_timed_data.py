"""Timed messages of the bundled kernels are checked: one damaged byte at an end of any one is found.

The shim flips one bit in the first or last eight bytes of a single message, drawn by chance among those that
even the slowest run receives. Such a run fails on all ranks and has no value that includes the message.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import pytest
from test_kernels import Build, Launch

from mpicampaign.suites import OutputError, parse
from mpicampaign.suites.kernels import KERNELS

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

MARKS = ([], *[[pytest.mark.soak]] * 4)
TRIES = [pytest.param(number, marks=marks) for number, marks in enumerate(MARKS)]


@dataclass(frozen=True)
class Messages:
    """Messages of a kernel, as the shim's filters find them.

    ``count``: how many the victim surely receives. ``rows``: kinds of rows that hold values of a size, with
    the name of the column of the size.
    """

    kernel: str
    arguments: tuple[str, ...]
    count: int
    filters: dict[str, str] = field(default_factory=dict)
    rows: tuple[tuple[str, str], ...] = ()
    ranks: int = 2


PAIRS = (("samples", "size"), ("pairs_seconds", "size"))
TREES = (("samples", "size"), ("levels", "size"))
BLOCKS = ("--min-size", "8", "--max-size", "4KiB", "--tree", "natural", "--budget", "0.3")
RINGS = (("rings", "size"),)
PATIENT = ("--budget", "10")  # spent only where other programs keep the processors busy
B_EFF = ("--lmax", "64KiB", "--split-methods", "--budget", "0.5")
SHORT = ("--budget", "0.1")
CALL, TAG, ABOVE, RANK = "DAMAGE_CALL", "DAMAGE_TAG", "DAMAGE_ABOVE", "DAMAGE_RANK"
LEFT = "31"  # in rings, to the left neighbour; the warm-up of all pairs has another tag

MESSAGES = {
    "tree_gather, at the root": Messages("tree_gather", BLOCKS, 200, {TAG: "10", RANK: "0"}, TREES, 3),
    "tree_gather, where it is forwarded": Messages(
        "tree_gather", BLOCKS, 200, {TAG: "10", RANK: "2"}, TREES, 4
    ),
    "tree_gather, 1 B": Messages(
        "tree_gather", ("--size", "1", *SHORT), 200, {TAG: "10", RANK: "0"}, TREES, 3
    ),
    "MPI_Gather": Messages("tree_gather", BLOCKS, 200, {CALL: "MPI_Gather", RANK: "0"}, TREES, 3),
    "tree_merge, uint32": Messages("tree_merge", BLOCKS, 200, {TAG: "11", RANK: "0"}, TREES, 3),
    "tree_merge, uint64, where it is forwarded": Messages(
        "tree_merge", (*BLOCKS, "--key", "uint64"), 200, {TAG: "11", RANK: "2"}, TREES, 4
    ),
    "point_to_point, 1 B": Messages(
        "point_to_point", ("--min-size", "1", "--max-size", "1", *SHORT), 300, {TAG: "12"}, PAIRS
    ),
    "point_to_point, 8 B": Messages(
        "point_to_point", ("--min-size", "8", "--max-size", "8", *SHORT), 300, {TAG: "12"}, PAIRS
    ),
    "point_to_point, 4 KiB": Messages(
        "point_to_point", ("--min-size", "4KiB", "--max-size", "4KiB", *SHORT), 300, {TAG: "12"}, PAIRS
    ),
    "ping-pong of 8 B": Messages(
        "latency_bandwidth", SHORT, 130, {CALL: "MPI_Recv", TAG: "30"}, (("ping_pong", "size"), *RINGS)
    ),
    "ping-pong of 2 MB": Messages(
        "latency_bandwidth", SHORT, 12, {CALL: "MPI_Recv", TAG: "30", ABOVE: "8"}, RINGS
    ),
    "rings by MPI_Sendrecv, 8 B": Messages(
        "latency_bandwidth", SHORT, 180, {CALL: "MPI_Sendrecv", TAG: LEFT}
    ),
    "rings by MPI_Irecv, 8 B": Messages("latency_bandwidth", SHORT, 180, {CALL: "MPI_Irecv", TAG: LEFT}),
    "rings by MPI_Sendrecv, 2 MB": Messages(
        "latency_bandwidth", SHORT, 30, {CALL: "MPI_Sendrecv", TAG: LEFT, ABOVE: "8"}
    ),
    "b_eff by MPI_Sendrecv": Messages("b_eff", B_EFF, 300, {CALL: "MPI_Sendrecv"}),
    "b_eff by MPI_Alltoallv": Messages("b_eff", B_EFF, 300, {CALL: "MPI_Alltoallv"}),
    "b_eff by MPI_Irecv": Messages("b_eff", B_EFF, 300, {CALL: "MPI_Irecv"}),
    "b_eff by MPI_Recv": Messages("b_eff", B_EFF, 300, {CALL: "MPI_Recv"}),
    "core_pairs, 8 B": Messages("core_pairs", PATIENT, 60, {CALL: "MPI_Recv", TAG: "20"}),
    "core_pairs, 2 MB": Messages("core_pairs", PATIENT, 6, {CALL: "MPI_Recv", TAG: "20", ABOVE: "8"}),
}


def damaged(build: Build, messages: Messages, number: int) -> Launch:
    chance = random.Random(f"{messages} {number}")
    shim = {"DAMAGE": "ends", "DAMAGE_RANK": "1", "DAMAGE_SMALLEST": "1", **messages.filters}
    shim |= {"DAMAGE_AFTER": str(chance.randrange(messages.count)), "DAMAGE_SEED": str(chance.randrange(16))}
    return build.launch(messages.ranks, messages.kernel, *messages.arguments, preload="damage.so", **shim)


@pytest.mark.parametrize("number", TRIES)
@pytest.mark.parametrize("name", MESSAGES)
def test_one_damaged_byte_of_one_message_is_found(build: Build, name: str, number: int) -> None:
    messages = MESSAGES[name]
    launch = damaged(build, messages, number)
    assert "damage: byte" in launch.errors  # otherwise there was no such message
    assert launch.statuses == [1] * messages.ranks, launch.errors
    wrong = re.search(rf"{messages.kernel}: wrong data in .*?([0-9]+) B", launch.errors)
    assert wrong, launch.errors
    assert not [row for kind, column in messages.rows for row in launch.rows(kind) if row[column] == wrong[1]]
    assert launch.end.endswith("status=failed")
    with pytest.raises(OutputError, match="reports status 'failed'"):
        parse("kernel", launch.output)


def test_b_eff_prints_nothing_from_the_damaged_measurement_on(build: Build) -> None:
    """Without the split methods MPI_Recv brings the messages of pairs alone, which follow the rings."""
    shim = {"DAMAGE": "ends", "DAMAGE_RANK": "1", "DAMAGE_SMALLEST": "1", CALL: "MPI_Recv", TAG: "30"}
    launch = build.launch(2, "b_eff", "--lmax", "64KiB", "--budget", "0.5", preload="damage.so", **shim)
    assert launch.statuses == [1, 1], launch.errors
    assert "wrong data in best with ping_pong at 1 B" in launch.errors
    assert {row["set"] for row in launch.rows("rates")} == {"ring"}


STALE = {
    "latency_bandwidth": (SHORT, {}),
    "b_eff": (B_EFF, {}),
    "core_pairs": (PATIENT, {TAG: "20"}),
    "tree_gather": (("--size", "1", *SHORT), {TAG: "10", "DAMAGE_SMALLEST": "1"}),
    "tree_merge": (("--size", "8", *SHORT), {TAG: "11"}),
}


@pytest.mark.parametrize("kernel", STALE)
def test_stale_data_in_one_call_are_found(build: Build, kernel: str) -> None:
    """The memory keeps its old content, which a later message overwrites: only the sequence tells."""
    arguments, filters = STALE[kernel]
    victim = "0" if kernel.startswith("tree") else "1"
    shim = {"DAMAGE": "stale", "DAMAGE_RANK": victim, "DAMAGE_SMALLEST": "8", "DAMAGE_AFTER": "20"}
    shim |= {"DAMAGE_TIMES": "1"} | filters
    launch = build.launch(2, kernel, *arguments, preload="damage.so", DAMAGE_CALL="MPI_Recv", **shim)
    assert launch.statuses == [1, 1], launch.errors


@pytest.mark.parametrize("kernel", [kernel.name for kernel in KERNELS.built_in()])
def test_header_and_record_say_how_much_was_checked(build: Build, kernel: str) -> None:
    arguments = PATIENT if kernel == "core_pairs" else KERNELS[kernel].quick
    launch = build.launch(2, kernel, *arguments)
    assert launch.statuses == [0, 0], launch.errors
    output = parse("kernel", launch.output)
    metadata = output.metadata
    assert output.version == str(KERNELS[kernel].version)
    assert 0 < int(metadata["bytes_checked"]) <= int(metadata["bytes_timed"])
