"""What the ranks sent each other over TCP, by the kernel's account of each rank's own sockets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from mpicampaign.evidence.evidence import Evidence, below
from mpicampaign.evidence.findings import number

_SUM = "end.tcp_sum."
LOOPBACK = "lo"
# A connection that lost the race with its peer's carried 43 B at most, one with a single message more.
LOST_RACE_BYTES = 100


class Connection(NamedTuple):
    """One end of a TCP connection; bytes without retransmission, ``ends`` its own and the other address."""

    interface: str
    ends: tuple[str, str]
    sent: int
    received: int


class Moved(NamedTuple):
    """Bytes that a rank sent to other ranks over one interface, and received from them.

    ``within``: these are ranks of its own host, as far as is known.
    """

    rank: int
    interface: str
    sent: int
    received: int
    within: bool


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What the ranks sent each other over TCP.

    ``unpaired``: the most that a rank sent over connections whose other end no rank reports (B): those to
    the launcher, and those of ranks whose addresses are translated between them.
    """

    moved: tuple[Moved, ...]
    unpaired: int = 0

    @property
    def total(self) -> int:
        """Bytes that all ranks sent; one way, where an end was not seen."""
        return max(sum(moved.sent for moved in self.moved), sum(moved.received for moved in self.moved))

    @property
    def within_hosts(self) -> Exchanged:
        """What ranks of one host sent each other."""
        return replace(self, moved=tuple(moved for moved in self.moved if moved.within))

    @property
    def between_hosts(self) -> Exchanged:
        """What ranks of different hosts sent each other."""
        return replace(self, moved=tuple(moved for moved in self.moved if not moved.within))

    def over(self, interface: str) -> Exchanged:
        """What went over one interface."""
        return replace(self, moved=tuple(moved for moved in self.moved if moved.interface == interface))

    @property
    def interfaces(self) -> Counter[str]:
        """Bytes that the ranks sent and received over each interface of theirs."""
        by_interface: Counter[str] = Counter()
        for moved in self.moved:
            by_interface[moved.interface] += moved.sent + moved.received
        return by_interface

    @property
    def of_ranks(self) -> Counter[int]:
        """Bytes that each rank moved, the larger of both directions."""
        sent, received = Counter[int](), Counter[int]()
        for moved in self.moved:
            sent[moved.rank] += moved.sent
            received[moved.rank] += moved.received
        return sent | received

    def carried(self, ranks: Container[int], without: str = "") -> int:
        """Bytes that these ranks moved, the larger of both directions; without those of one interface."""
        theirs = [moved for moved in self.moved if moved.rank in ranks and moved.interface != without]
        return max(sum(moved.sent for moved in theirs), sum(moved.received for moved in theirs))


def exchanged_over_tcp(evidence: Evidence) -> Exchanged | None:
    """What the ranks sent each other; None where a rank has no whole account of its sockets.

    A connection is the ranks' own when another rank reports the same pair of addresses; the others lead to
    the launcher. Beyond a number of connections a rank records sums, without addresses. Then all connections
    count: a launcher has few, which carry little.
    """
    accounts = {rank: _connections(seen) for rank, seen in evidence.ranks.items()}
    if not accounts or None in accounts.values():
        return None
    known = [(rank, connection) for rank, account in accounts.items() for connection in account or ()]
    ends = {
        (_where(evidence, rank, connection), connection.ends): (rank, connection)
        for rank, connection in known
    }
    summed = ((rank, sums_of) for rank, seen in evidence.ranks.items() for sums_of in _sums(seen))
    sums = [Moved(rank, *sums_of, sums_of[0] == LOOPBACK) for rank, sums_of in summed]
    moved, unpaired = list(sums), Counter[int]()
    for rank, connection in known:
        if max(connection.sent, connection.received) <= LOST_RACE_BYTES:
            continue
        peer, other = ends.get(
            (_where(evidence, rank, connection), connection.ends[::-1]), (rank, connection)
        )
        if peer != rank:
            # Old kernels count acknowledged bytes, which lag behind those that the other end has.
            sent, received = max(connection.sent, other.received), max(connection.received, other.sent)
            within = evidence.host_of(rank) == evidence.host_of(peer)
            moved.append(Moved(rank, connection.interface, sent, received, within))
        elif sums:
            within = connection.interface == LOOPBACK
            moved.append(Moved(rank, connection.interface, connection.sent, connection.received, within))
        else:
            # a launcher may send the topology; a message has a rank that sent it
            unpaired[rank] += connection.sent
    return Exchanged(tuple(moved), max(unpaired.values(), default=0))


def _where(evidence: Evidence, rank: int, connection: Connection) -> str:
    """The host whose addresses a connection names: loopback addresses are the same on every host."""
    return evidence.host_of(rank) if connection.interface == LOOPBACK else ""


def _connections(seen: Mapping[str, str]) -> list[Connection] | None:
    count = number(seen.get("end.tcp", ""))
    if count is None or "end.tcp_lost" in seen:
        return None
    recorded = [_connection(value.split()) for value in below(seen, "end.tcp.").values()]
    connections = [connection for connection in recorded if connection is not None]
    summed = [_sum(value) for value in below(seen, _SUM).values()]
    sums = [volumes[0] for volumes in summed if volumes is not None]
    if len(connections) < len(recorded) or len(sums) < len(summed):
        return None
    return connections if len(connections) + sum(sums) == count else None


def _connection(fields: list[str]) -> Connection | None:
    if len(fields) < 7:
        return None
    interface, address, port, peer, peer_port, *counts = fields[:7]
    sent, received = map(number, counts)
    if None in (number(port), number(peer_port)) or sent is None or received is None:
        return None
    return Connection(_device(interface), (f"{address} {port}", f"{peer} {peer_port}"), sent, received)


def _device(interface: str) -> str:
    """Further addresses of an interface may have labels: ``eth0:1``."""
    return interface.partition(":")[0]


def _sum(value: str) -> tuple[int, int, int] | None:
    """Connections, bytes sent and bytes received of a line of sums; None where it is damaged."""
    fields = [number(field) for field in value.split()]
    if len(fields) != 3 or fields[0] is None or fields[1] is None or fields[2] is None:
        return None
    return fields[0], fields[1], fields[2]


def _sums(seen: Mapping[str, str]) -> Iterator[tuple[str, int, int]]:
    """Interface, bytes sent and bytes received of the connections that a rank summed up."""
    for interface, value in below(seen, _SUM).items():
        if total := _sum(value):
            yield _device(interface), total[1], total[2]
