"""What ranks sent each other over TCP, from the account that each keeps of its own sockets."""

from __future__ import annotations

import pytest

from mpicampaign.evidence.connections import Moved, exchanged_over_tcp
from mpicampaign.evidence.evidence import Evidence

HERE, THERE, LAUNCHER = "10.0.0.1 4001", "10.0.0.2 4002", "127.0.0.1 9"


def evidence_of(**lines: str) -> Evidence:
    """Two ranks with one connection between them, and one of rank 0 to its launcher."""
    first = {
        "end.tcp": "2",
        "end.tcp.0": f"eth0 {HERE} {THERE} 1000 900",
        "end.tcp.1": f"lo {LAUNCHER} 127.0.0.1 7 4900 400",
    }
    altered = first | {f"end.{key}": value for key, value in lines.items()}
    return Evidence(ranks={0: altered, 1: {"end.tcp": "1", "end.tcp.0": f"eth1 {THERE} {HERE} 900 1000"}})


def test_a_connection_that_lost_a_race_carried_no_message() -> None:
    found = exchanged_over_tcp(evidence_of(**{"tcp.0": f"eth0 {HERE} {THERE} 43 0"}))
    assert found is not None
    assert [each.rank for each in found.moved] == [1]


def test_beside_sums_all_connections_count() -> None:
    """The other end of a listed connection may be in a sum."""
    found = exchanged_over_tcp(evidence_of(tcp="9", **{"tcp_sum.eth0": "7 50 60"}))
    assert found is not None
    assert found.moved == (
        Moved(0, "eth0", 50, 60, within=False),
        Moved(0, "eth0", 1000, 900, within=True),
        Moved(0, "lo", 4900, 400, within=True),
        Moved(1, "eth1", 900, 1000, within=True),
    )
    assert found.carried({0}) == 5950
    assert found.carried({0}, without="lo") == 1050


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tcp", "3"),
        ("tcp", ""),
        ("tcp_lost", "1"),
        ("tcp.0", "eth0"),
        ("tcp.0", f"eth0 {HERE} {THERE} -1 900"),
        *(("tcp_sum.eth0", value) for value in ("", "x", "1", "1 x 2", "1 2", "-1 2 3")),
    ],
)
def test_a_damaged_account_is_none(key: str, value: str) -> None:
    assert exchanged_over_tcp(evidence_of(**{key: value})) is None
