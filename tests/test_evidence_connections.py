"""A rank's account of its own TCP connections, by programs that open and close them in many ways."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from test_kernels import Build, Launch, read_evidence

pytestmark = pytest.mark.mpi
LOCAL = ("127.0.0.1", "127.7.7.7")


class Line(NamedTuple):
    """One end of a connection: bytes that it sent and received."""

    interface: str
    local: str
    port: str
    peer: str
    peer_port: str
    sent: str
    received: str


def run(build: Build, path: Path, case: str, preload: str = "", **environment: str) -> dict[str, str]:
    """One rank with number 3; its end lines."""
    launch = start(build, path, case, preload, **environment)
    assert launch.statuses == [0], launch.errors
    return read_evidence(path)["end"]


def start(build: Build, path: Path, case: str, preload: str = "", **environment: str) -> Launch:
    evidence = {"MPICAMPAIGN_RANK": "3", "MPICAMPAIGN_EVIDENCE_FILE": str(path)}
    preload = f"evidence.so {preload}"
    return build.launch(1, "connections", case, preload=preload, hasten=False, **evidence, **environment)


def own(end: dict[str, str], *addresses: str) -> list[Line]:
    """The connections between these addresses; the launcher's are on other ones or lack a partner."""
    lines = [Line(*value.split()) for key, value in end.items() if key.startswith("tcp.")]
    pairs = {(line.local, line.port, line.peer, line.peer_port) for line in lines}
    mirrored = [line for line in lines if (line.peer, line.peer_port, line.local, line.port) in pairs]
    assert all({line.local, line.peer} <= set(addresses) for line in mirrored)
    return sorted(mirrored, key=lambda line: int(line.received))


@pytest.mark.parametrize(
    ("case", "address", "sent"),
    [
        ("one", "127.0.0.1", "1000"),
        ("open", "127.0.0.1", "1000"),
        ("six", "::1", "1000"),
        ("mapped", "127.0.0.1", "1000"),  # IPv4 within IPv6 is IPv4, so that both ends name it alike
        ("dup", "127.0.0.1", "1500"),  # once, with what it had in the end
        ("fork", "127.0.0.1", "1500"),  # a child that closes does not end it
        ("vfork", "127.0.0.1", "1500"),
        ("thread", "127.0.0.1", "1000"),
    ],
)
def test_both_ends_of_a_connection(build: Build, tmp_path: Path, case: str, address: str, sent: str) -> None:
    end = run(build, tmp_path / "evidence", case)
    sender, receiver = own(end, address)
    assert sender.interface == receiver.interface == "lo"
    assert (sender.sent, sender.received, receiver.sent) == (sent, "0", "0")
    assert int(receiver.received) - int(sent) in (0, 1)  # the kernel counts the end of a connection
    assert int(end["tcp"]) == sum(key.startswith("tcp.") for key in end)
    assert "tcp_lost" not in end


def test_many_connections_are_summed_up(build: Build, tmp_path: Path) -> None:
    end = run(build, tmp_path / "evidence", "many")
    lines = [Line(*value.split()) for key, value in end.items() if key.startswith("tcp.")]
    count, sent, received = map(int, end["tcp_sum.lo"].split())
    assert len(lines) == 256
    assert int(end["tcp"]) == len(lines) + count >= 1200
    on_lo = [line for line in lines if line.interface == "lo"]
    assert sent + sum(int(line.sent) for line in on_lo) >= 6000
    assert received + sum(int(line.received) for line in on_lo) >= 6000


def test_errno_is_left_alone(build: Build, tmp_path: Path) -> None:
    assert own(run(build, tmp_path / "evidence", "errno"), "127.0.0.1")


def test_an_ended_connection_keeps_its_bytes(build: Build, tmp_path: Path) -> None:
    """The kernel names its peer no more; it must not look as if nothing was sent."""
    end = run(build, tmp_path / "evidence", "ended")
    lines = [Line(*value.split()) for key, value in end.items() if key.startswith("tcp.")]
    assert max(int(line.sent) for line in lines) == 1000
    unknown = [line for line in lines if line.peer == "?"]
    assert unknown
    assert {(line.interface, line.peer_port) for line in unknown} == {("?", "0")}


def test_a_kernel_that_counts_no_bytes_gives_no_account(build: Build, tmp_path: Path) -> None:
    end = run(build, tmp_path / "evidence", "one", "old_kernel.so")
    assert int(end["tcp_lost"]) >= 2
    assert not [key for key in end if key.startswith("tcp.")]


@pytest.mark.parametrize(("case", "sent"), [("one", [0, 1000]), ("again", [0, 500, 1000])])
def test_a_kernel_without_cookies(build: Build, tmp_path: Path, case: str, sent: list[int]) -> None:
    """Inodes are used again; bytes are those acknowledged, the end of a connection among them."""
    end = run(build, tmp_path / "evidence", case, "old_kernel.so", HAS_BYTES_ACKED="1")
    found = sorted(int(line.sent) for line in own(end, *LOCAL))
    assert len(found) == len(sent)
    assert all(0 <= each - wanted <= 1 for each, wanted in zip(found, sent, strict=True))
    assert "tcp_lost" not in end


def test_more_connections_than_are_kept_give_no_account(build: Build, tmp_path: Path) -> None:
    end = run(build, tmp_path / "evidence", "thousands")
    assert int(end["tcp"]) == 4096
    assert int(end["tcp_lost"]) >= 6000 - 4096


def test_an_aborted_rank_has_no_end(build: Build, tmp_path: Path) -> None:
    path = tmp_path / "evidence"
    assert start(build, path, "abort").status != 0
    found = read_evidence(path)
    assert found["start"]
    assert not found["end"]
