"""What the ranks sent each other over TCP, by the kernel's account of each rank's own sockets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.verdict.findings import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.verdict.evidence import Evidence

_SUM = "end.tcp_sum."


@dataclass(frozen=True, slots=True)
class Connection:
    """One end of a TCP connection; bytes without retransmission, ``ends`` its own and the other address."""

    interface: str
    ends: tuple[str, str]
    sent: int
    received: int


@dataclass(frozen=True, slots=True)
class Sent:
    """Bytes that each rank sent to other ranks over TCP, by interface."""

    by_rank: Mapping[int, Mapping[str, int]]

    @property
    def interfaces(self) -> dict[str, int]:
        """Bytes of all ranks by interface."""
        sums: dict[str, int] = {}
        for of_rank in self.by_rank.values():
            for name, count in of_rank.items():
                sums[name] = sums.get(name, 0) + count
        return sums


def sent_over_tcp(evidence: Evidence) -> Sent | None:
    """What the ranks sent each other; None where a rank has no whole account of its sockets.

    A connection is the ranks' own when another rank reports the same pair of addresses; the others lead to
    the launcher. Beyond a number of connections a rank records sums: a launcher has not so many.
    """
    accounts = {rank: _connections(seen) for rank, seen in evidence.ranks.items()}
    if not accounts or None in accounts.values():
        return None
    known = {rank: found for rank, found in accounts.items() if found is not None}
    received = {each.ends: each.received for found in known.values() for each in found}
    sums: dict[int, dict[str, int]] = {}
    for rank, found in known.items():
        of_rank = sums.setdefault(rank, _sums(evidence.ranks[rank]))
        for each in found:
            mirrored = received.get((each.ends[1], each.ends[0]))
            if mirrored is not None:
                # Old kernels count what was acknowledged, which lags behind what the other end has.
                of_rank[each.interface] = of_rank.get(each.interface, 0) + max(each.sent, mirrored)
    return Sent(sums)


def _connections(seen: Mapping[str, str]) -> list[Connection] | None:
    count = number(seen.get("end.tcp", ""))
    if count is None or "end.tcp_lost" in seen:
        return None
    found = [_connection(seen[key].split()) for key in seen if key.startswith("end.tcp.")]
    sums = [_sum(seen[key]) for key in seen if key.startswith(_SUM)]
    whole = [each for each in found if each is not None]
    summed = [each[0] for each in sums if each is not None]
    if len(whole) < len(found) or len(summed) < len(sums):
        return None
    return whole if len(whole) + sum(summed) == count else None


def _connection(fields: list[str]) -> Connection | None:
    if len(fields) != 7 or not all(fields[i].isdecimal() for i in (2, 4, 5, 6)):
        return None
    interface, address, port, peer, peer_port, sent, received = fields
    return Connection(interface, (f"{address} {port}", f"{peer} {peer_port}"), int(sent), int(received))


def _sum(value: str) -> tuple[int, int] | None:
    """Connections and bytes sent of a line of sums; None where it is damaged."""
    fields = [number(field) for field in value.split()]
    if len(fields) != 3 or fields[0] is None or fields[1] is None or fields[2] is None:
        return None
    return fields[0], fields[1]


def _sums(seen: Mapping[str, str]) -> dict[str, int]:
    found = {key.removeprefix(_SUM): _sum(value) for key, value in seen.items() if key.startswith(_SUM)}
    return {interface: each[1] for interface, each in found.items() if each is not None}
