"""Kind and network of a claimed transport, each proved by the ranks' own account of their sockets.

`test_verdict.py` has evidence of earlier releases, without such an account.
"""

from __future__ import annotations

import re
from dataclasses import replace

import build_records as make
import pytest
from evidence_texts import CLAIM, INTEL_SHM, INTEL_TCP, RUN, TCP_CLAIM, evidence_text, rank_lines, read

from mpicampaign.base.records import CONTRADICTED, UNVERIFIED, VERIFIED, Series
from mpicampaign.evidence.chosen_transport import chosen_transport
from mpicampaign.evidence.connections import Moved, exchanged_over_tcp
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.judge import judge
from mpicampaign.evidence.traffic import transport_findings

IBV_CLAIM = TCP_CLAIM.replace("transport=tcp", "transport=ibv").replace("interface=eth0", "interface=")
DEVICE_CLAIM = IBV_CLAIM.replace("device=\n", "device=mlx5_0\n")
TCP_RUN = RUN.replace("FABRICS=shm", "FABRICS=ofi")
INTEL_IBV = INTEL_SHM + "[0] MPI startup(): libfabric provider: verbs;ofi_rxm\n"


def ping_pong(largest: int, repetitions: float = 1000) -> tuple[Series, ...]:
    """Sizes from 0 B on; the messages of one direction have nearly twice the largest size."""
    sizes = [0.0, *(2.0**power for power in range(largest.bit_length()))]
    columns = {"repetitions": [repetitions] * len(sizes), "time": [1e-6] * len(sizes)}
    return (make.series("PingPong", size=sizes, **columns),)


SMALL, LARGE = ping_pong(1024), ping_pong(65536)
SENT = {1024: 4_500_000, 65536: 276_000_000}  # of each rank: IMB sends 2.1 times what it prints


def sockets(rank: int, *connections: str) -> str:
    """A rank's account of connections ``INTERFACE ADDRESS PORT PEER PORT SENT RECEIVED``."""
    lines = [f"end.tcp={len(connections)}"]
    lines += [f"end.tcp.{number}={each}" for number, each in enumerate(connections)]
    return "".join(f"rank {rank} {line}\n" for line in [*lines, "end.clock_ns=7"])


def connected(interface: str, sent: int) -> str:
    """The accounts of ranks 0 and 1 of one connection, and of one of rank 0 to its launcher."""
    one, other = ("10.0.0.1 4001", "10.0.0.2 4002")
    first = sockets(0, f"{interface} {one} {other} {sent} {sent}", "lo 127.0.0.1 9 127.0.0.1 8 4900 400")
    return first + sockets(1, f"{interface} {other} {one} {sent} {sent}")


SILENT_RANKS = sockets(0, "lo 127.0.0.1 9 127.0.0.1 8 4900 400") + sockets(1)


def shm(*parts: str) -> str:
    return evidence_text(CLAIM, RUN, rank_lines(0, "blue1", 0), rank_lines(1, "blue1", 1), *parts)


def between_nodes(*parts: str, claim: str = TCP_CLAIM, run: str = TCP_RUN) -> str:
    return evidence_text(claim, run, rank_lines(0, "blue1", 0), rank_lines(1, "blue2", 0), *parts)


def judged(text: str, output: str, series: tuple[Series, ...] = SMALL) -> tuple[str, str]:
    verdict, reasons = judge(read(text), output, series)
    return verdict, "\n".join(reasons)


@pytest.mark.parametrize("output", [INTEL_SHM, ""])
@pytest.mark.parametrize("size", [1024, 65536])
def test_shared_memory_that_was_tcp_is_contradicted(output: str, size: int) -> None:
    verdict, reasons = judged(shm(connected("lo", SENT[size])), output, ping_pong(size))
    assert verdict == CONTRADICTED
    assert "over interface lo, claimed: shm" in reasons


def test_traffic_of_others_does_not_concern_ranks_with_an_account() -> None:
    """105 MB over loopback and over eth0: the counters alone would contradict."""
    busy = RUN.replace("after.net.lo.rx_bytes=5", "after.net.lo.rx_bytes=205000000")
    busy = busy.replace("after.net.eth0.rx_bytes=2000", "after.net.eth0.rx_bytes=205000000")
    ranks = rank_lines(0, "blue1", 0), rank_lines(1, "blue1", 1)
    assert judged(evidence_text(CLAIM, busy, *ranks), "", LARGE)[0] == CONTRADICTED
    assert judged(evidence_text(CLAIM, busy, *ranks, SILENT_RANKS), "", LARGE)[0] == VERIFIED
    busy = busy.replace("FABRICS=shm", "FABRICS=ofi")
    sent = connected("eth0", SENT[65536])
    assert judged(between_nodes(run=busy), INTEL_TCP, LARGE)[0] == CONTRADICTED
    assert judged(between_nodes(sent, run=busy), INTEL_TCP, LARGE)[0] == VERIFIED


@pytest.mark.parametrize("output", [INTEL_TCP, ""])
@pytest.mark.parametrize("size", [1024, 65536])
def test_tcp_over_another_interface_is_contradicted_by_name(output: str, size: int) -> None:
    """Evidence of earlier releases calls it verified up to 1 KiB."""
    sent = connected("eth1", SENT[size])
    verdict, reasons = judged(between_nodes(sent), output, ping_pong(size))
    assert verdict == CONTRADICTED
    assert (
        "0 B of " in reasons and "over interface eth0, " in reasons and "over eth1, claimed: eth0" in reasons
    )
    assert judged(between_nodes(), INTEL_TCP)[0] == VERIFIED


@pytest.mark.parametrize("output", [INTEL_TCP, ""])
def test_tcp_that_did_not_use_sockets_is_contradicted(output: str) -> None:
    verdict, reasons = judged(between_nodes(SILENT_RANKS), output)
    assert verdict == CONTRADICTED
    assert "moved 0 B over TCP of at least 2.1 MB, claimed: tcp" in reasons


def test_a_benchmark_of_unknown_traffic_needs_the_librarys_report() -> None:
    """A barrier has no sizes. What the ranks sent proves the interface, not that all went over it."""
    barrier = (make.series("Barrier", time=1e-6, repetitions=1000.0),)
    sent = between_nodes(connected("eth0", 45_000))
    assert judged(sent, INTEL_TCP, barrier)[0] == VERIFIED
    verdict, reasons = judged(sent, "", barrier)
    assert verdict == UNVERIFIED
    assert reasons.startswith("transport tcp: no evidence: MPI library's report: intelmpi reported")
    assert judged(shm(connected("lo", 45_000)), "", barrier)[0] == UNVERIFIED
    assert judged(shm(SILENT_RANKS), "", barrier)[0] == VERIFIED
    assert judged(between_nodes(SILENT_RANKS), INTEL_TCP, barrier)[0] == UNVERIFIED


def test_ranks_whose_addresses_are_translated_are_unverified() -> None:
    """Neither end knows the other's address: there is traffic, but it may be that of others."""
    ends = "eth0 10.0.0.1 4001 192.168.0.9 9 {0} {0}", "eth0 10.0.0.2 4002 192.168.0.8 8 {0} {0}"
    sent = "".join(sockets(rank, text.format(SENT[1024])) for rank, text in enumerate(ends))
    verdict, reasons = judged(between_nodes(sent), INTEL_TCP)
    assert verdict == UNVERIFIED
    assert reasons.startswith("interface eth0: no evidence")
    verdict, reasons = judged(shm(sent), "")
    assert verdict == UNVERIFIED
    assert "whose other end no rank reported" in reasons


DAMAGES = [
    ("rank 1 end.tcp=1\n", ""),
    ("rank 1 end.tcp=1\n", "rank 1 end.tcp=2\n"),
    ("rank 1 end.tcp=1\n", "rank 1 end.tcp=1\nrank 1 end.tcp_lost=1\n"),
]


@pytest.mark.parametrize(("old", "new"), DAMAGES)
def test_without_a_whole_account_of_each_rank_a_small_payload_proves_no_interface(old: str, new: str) -> None:
    """The library reports the kind. Counters need 4 MB."""
    whole = between_nodes(connected("eth0", SENT[1024]))
    assert old in whole
    verdict, reasons = judged(whole.replace(old, new), INTEL_TCP)
    assert verdict == UNVERIFIED
    assert reasons.startswith("interface eth0: no evidence: counters: only 2047000 B of payload")


def ports(**counts: tuple[int, int]) -> str:
    """Counters of each InfiniBand device of blue1: bytes sent and received."""
    return "".join(
        f"node blue1 {moment}.ib.{device}.port_{name}_data={count // 4 if moment == 'after' else 0}\n"
        for device, both in counts.items()
        for name, count in zip(("xmit", "rcv"), both, strict=True)
        for moment in ("before", "after")
    )


ENOUGH = (280_000_000, 280_000_000)
INFINIBAND = [
    # claim, report, counters, verdict, text in its reasons
    (DEVICE_CLAIM, INTEL_IBV, ports(mlx5_0=ENOUGH), VERIFIED, "device mlx5_0 of blue1 counted 280.0 MB"),
    (DEVICE_CLAIM, "", ports(mlx5_0=ENOUGH), VERIFIED, "device mlx5_0 of blue1 counted 280.0 MB"),
    (DEVICE_CLAIM, INTEL_IBV, ports(mlx5_0=(277_000_000, 200_000)), CONTRADICTED, "counted 200.0 kB, but"),
    (
        DEVICE_CLAIM,
        INTEL_IBV,
        ports(mlx5_0=(0, 0), mlx5_1=ENOUGH),
        CONTRADICTED,
        "mlx5_0 of blue1 counted 0 B",
    ),
    (DEVICE_CLAIM, INTEL_IBV, ports(mlx5_0=ENOUGH, mlx5_1=ENOUGH), UNVERIFIED, "device mlx5_0: no evidence"),
    (DEVICE_CLAIM, INTEL_IBV, ports(mlx5_0=ENOUGH, mlx5_1=(277_000_000, 0)), VERIFIED, ""),
    (DEVICE_CLAIM, INTEL_IBV, "", UNVERIFIED, "device mlx5_0: no evidence: counters: blue1 has no counters"),
    (DEVICE_CLAIM, "", "", UNVERIFIED, "transport ibv: no evidence: MPI library's report: "),
    (IBV_CLAIM, INTEL_IBV, "", VERIFIED, ""),
    (IBV_CLAIM, INTEL_IBV, ports(mlx5_0=(0, 0)), VERIFIED, ""),
    (IBV_CLAIM, "", ports(mlx5_0=(0, 0)), CONTRADICTED, "RDMA devices of blue1 counted 0 B"),
    (IBV_CLAIM, INTEL_TCP, ports(mlx5_0=ENOUGH), CONTRADICTED, "it used tcp, claimed: ibv"),
]


@pytest.mark.parametrize(("claim", "output", "counters", "expected", "text"), INFINIBAND)
def test_infiniband(claim: str, output: str, counters: str, expected: str, text: str) -> None:
    verdict, reasons = judged(between_nodes(SILENT_RANKS, counters, claim=claim), output, LARGE)
    assert verdict == expected, reasons
    assert text in reasons


def test_infiniband_that_was_tcp_is_contradicted() -> None:
    text = between_nodes(connected("eth0", SENT[1024]), claim=DEVICE_CLAIM)
    verdict, reasons = judged(text, "")
    assert verdict == CONTRADICTED
    assert "over interface eth0, claimed: ibv" in reasons


def test_half_a_counter_of_infiniband_proves_nothing() -> None:
    lost = ports(mlx5_0=ENOUGH).replace("node blue1 after.ib.mlx5_0.port_rcv_data=70000000\n", "")
    verdict, reasons = judged(between_nodes(SILENT_RANKS, lost, claim=DEVICE_CLAIM), INTEL_IBV, LARGE)
    assert verdict == UNVERIFIED
    assert "port_rcv_data of blue1 was not read before and after the run" in reasons


def test_shared_memory_on_a_node_with_infiniband() -> None:
    """Silent sockets do not exclude InfiniBand: its ports must have been quiet, or the library says so."""
    for counts, expected in (((0, 0), VERIFIED), ((277_000_000, 0), VERIFIED), (ENOUGH, UNVERIFIED)):
        text = shm(SILENT_RANKS, ports(mlx5_0=counts))
        verdict, reasons = judged(text, "", LARGE)
        assert verdict == expected, reasons
        assert judged(text, INTEL_SHM, LARGE)[0] == VERIFIED
    assert judged(shm(SILENT_RANKS, ports(mlx5_0=(0, 0))), "", SMALL)[0] == UNVERIFIED
    lost = ports(mlx5_0=(0, 0)).replace("node blue1 after.ib.mlx5_0.port_rcv_data=0\n", "")
    assert judged(shm(SILENT_RANKS, lost), "", LARGE)[0] == UNVERIFIED


FOUR = {0: "blue1", 1: "blue1", 2: "blue2", 3: "blue2"}
FULL_CLAIM = TCP_CLAIM.replace("ranks=2", "ranks=4").replace("ranks_per_node=1", "ranks_per_node=2")
SHARED_CLAIM = FULL_CLAIM + "claim within_node=shm\n"
RING = (replace(SMALL[0], benchmark="Sendrecv", ranks=4),)
ALL = (replace(RING[0], benchmark="Allreduce"),)
INTEL_ALL = INTEL_SHM + "[0] MPI startup(): libfabric provider: verbs\n" + INTEL_TCP


def four(*pairs: tuple[int, int], claim: str = SHARED_CLAIM, sent: int = SENT[1024]) -> str:
    """Four ranks on two hosts, and the accounts of connections over eth0 between these ranks."""
    ends: dict[int, list[str]] = {rank: [] for rank in FOUR}
    for one, other in pairs:
        address, peer = (f"10.0.0.{rank // 2 + 1} 40{one}{other}{rank}" for rank in (one, other))
        ends[one].append(f"eth0 {address} {peer} {sent} {sent}")
        ends[other].append(f"eth0 {peer} {address} {sent} {sent}")
    ranks = "".join(rank_lines(rank, host, rank % 2) for rank, host in FOUR.items())
    return evidence_text(claim, TCP_RUN, ranks, *(sockets(rank, *each) for rank, each in ends.items()))


BETWEEN, WITHIN = ((1, 2), (0, 3)), ((0, 1), (2, 3))
WITHIN_NODES = [
    # claim, connections, report, series, verdict, text in its reasons
    (SHARED_CLAIM, BETWEEN, INTEL_TCP, RING, VERIFIED, ""),
    (SHARED_CLAIM, BETWEEN, "", RING, VERIFIED, ""),  # shared memory within nodes is no contradiction
    (FULL_CLAIM, BETWEEN + WITHIN, "", RING, VERIFIED, ""),
    (SHARED_CLAIM, BETWEEN + WITHIN, "", RING, CONTRADICTED, "18.0 MB over TCP, claimed: shm within a node"),
    (SHARED_CLAIM, (), INTEL_TCP, RING, CONTRADICTED, "the ranks moved 0 B over TCP of at least 2.1 MB"),
    (SHARED_CLAIM, BETWEEN, INTEL_ALL, RING, CONTRADICTED, "it used ibv, tcp, claimed: tcp, and shm within"),
    (SHARED_CLAIM, BETWEEN, "", ALL, VERIFIED, ""),  # who sends how much is not known
    (SHARED_CLAIM, (), INTEL_TCP, ALL, UNVERIFIED, "interface eth0: no evidence"),
    # ranks 0 and 1 are on one node: nothing shows what its messages would use between nodes
    (SHARED_CLAIM, (), INTEL_TCP, SMALL, UNVERIFIED, "interface eth0: no evidence"),
    (FULL_CLAIM, (), INTEL_TCP, SMALL, CONTRADICTED, "the ranks moved 0 B over TCP of at least"),
]


@pytest.mark.parametrize(("claim", "pairs", "output", "series", "expected", "text"), WITHIN_NODES)
def test_shared_memory_within_nodes_is_judged_apart_from_the_network(
    claim: str,
    pairs: tuple[tuple[int, int], ...],
    output: str,
    series: tuple[Series, ...],
    expected: str,
    text: str,
) -> None:
    verdict, reasons = judged(four(*pairs, claim=claim), output, series)
    assert verdict == expected, reasons
    assert text in reasons


def test_loopback_within_nodes_is_no_traffic_between_them() -> None:
    text = four(*WITHIN, claim=FULL_CLAIM).replace("=eth0 10", "=lo 10")
    verdict, reasons = judged(text, "", RING)
    assert verdict == CONTRADICTED and "the ranks of blue1 moved 0 B over TCP of at least 2.1 MB" in reasons


def test_infiniband_with_shared_memory_within_nodes() -> None:
    """Reports of Open MPI 4 and UCX name both."""
    both = "mca: bml: Using vader btl for send to n1\nmca: bml: Using openib btl for send to n2\n"
    claim = SHARED_CLAIM.replace("transport=tcp", "transport=ibv").replace("mpi=intelmpi", "mpi=openmpi4")
    assert judged(four(claim=claim), both, RING)[0] == VERIFIED
    assert judged(four(*BETWEEN, claim=claim), both, RING)[0] == CONTRADICTED
    only_shared = both.partition("\n")[0]  # it reports endpoints that were used
    verdict, reasons = judged(four(claim=claim), only_shared, RING)
    assert verdict == UNVERIFIED
    assert "shm alone, nothing between nodes" in reasons


CHOICES = [
    # evidence, report, what the library chose
    (shm(SILENT_RANKS), INTEL_SHM, "shm (by its report and the ranks' silent sockets)"),
    (shm(SILENT_RANKS), "", "shm (by the ranks' silent sockets)"),
    (shm(connected("lo", SENT[1024])), INTEL_SHM, "shm (by its report), tcp over lo (by the ranks' sockets)"),
    (between_nodes(connected("eth0", SENT[1024])), "", "tcp over eth0 (by the ranks' sockets)"),
    (
        between_nodes(connected("eth0", SENT[1024])),
        INTEL_TCP,
        "tcp over eth0 (by its report and the ranks' sockets)",
    ),
    (between_nodes(SILENT_RANKS, ports(mlx5_0=ENOUGH)), "", "ibv over mlx5_0 (by the counters of its ports)"),
    (shm(SILENT_RANKS, ports(mlx5_0=(0, 0))), INTEL_SHM, "shm (by its report)"),
    (between_nodes(SILENT_RANKS), "", ""),  # nothing shows it
]


@pytest.mark.parametrize(("evidence", "output", "chosen"), CHOICES)
def test_what_the_library_chose_is_named_with_what_shows_it(evidence: str, output: str, chosen: str) -> None:
    assert chosen_transport(read(evidence), output, SMALL) == ""
    free = re.sub("claim transport=[a-z]+", "claim transport=any", evidence)
    assert chosen_transport(read(free), output, SMALL) == chosen
    assert transport_findings(read(free), output, SMALL) == []


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
