"""What ranks sent each other over TCP, from the account that each keeps of its own sockets."""

from __future__ import annotations

import pytest

from mpicampaign.verdict.connections import sent_over_tcp
from mpicampaign.verdict.evidence import Evidence

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


def test_connections_that_no_other_rank_reports_are_the_launchers() -> None:
    found = sent_over_tcp(evidence_of())
    assert found is not None
    assert found.by_rank == {0: {"eth0": 1000}, 1: {"eth1": 900}}
    assert found.interfaces == {"eth0": 1000, "eth1": 900}


def test_connections_beyond_the_listed_ones_are_summed() -> None:
    found = sent_over_tcp(evidence_of(tcp="9", **{"tcp_sum.eth0": "7 50 60"}))
    assert found is not None
    assert found.by_rank[0] == {"eth0": 1050}


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
    assert sent_over_tcp(evidence_of(**{key: value})) is None
