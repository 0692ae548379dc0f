"""Verdicts: an honest run is verified, and altering one recorded value of any kind flips it."""

from __future__ import annotations

import build_records as make
import pytest
from evidence_texts import (
    CLAIM,
    IDENTITY,
    INTEL_SHM,
    INTEL_TCP,
    RUN,
    TCP_CLAIM,
    evidence_text,
    rank_lines,
    read,
    split,
)

from mpicampaign.base.host_lists import is_member
from mpicampaign.base.records import CONTRADICTED, DECLARED, UNVERIFIED, VERIFIED, Series
from mpicampaign.evidence.evidence import read_evidence
from mpicampaign.evidence.judge import judge
from mpicampaign.mpis import reported_transports

SERIES = (
    Series("PingPong", 2, {"size": [0.0, 1048576.0], "repetitions": [1000.0, 100.0], "time": [2e-7, 1e-4]}),
)
HONEST = evidence_text(CLAIM, RUN, rank_lines(0, "blue1", 0), rank_lines(1, "blue1", 1))


def verdict_of(text: str, output: str = INTEL_SHM) -> tuple[str, tuple[str, ...]]:
    return judge(read(text), output, SERIES)


def altered(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


PAIR = (rank_lines(0, "blue1", 0), rank_lines(1, "blue2", 0))  # one rank on each of two nodes
TWO_EACH = [rank_lines(n, f"blue{1 + n // 2}", n % 2) for n in range(4)]
FREE = [rank_lines(rank, "blue1", rank, allowed="0-7") for rank in (0, 1)]
UNBOUND = CLAIM.replace("binding=core", "binding=none").replace("sockets=1", "sockets=")
WITHIN = CLAIM.replace("sockets=1", "sockets=") + "claim numa_domains=1\nclaim l3_caches=1\n"
CACHES = "".join(f"rank {rank} {moment}.l3=0\n" for rank in (0, 1) for moment in ("start", "end"))
IN_CACHE = evidence_text(WITHIN, RUN, rank_lines(0, "blue1", 0), rank_lines(1, "blue1", 1), CACHES)
THREADS = CLAIM + "claim threads=4\n"
TCP_RUN = RUN.replace("FABRICS=shm", "FABRICS=ofi").replace(
    "after.net.eth0.tx_bytes=2000", "after.net.eth0.tx_bytes=220000000"
)
QUIET = TCP_RUN.replace("220000000", "2000")
TCP = evidence_text(TCP_CLAIM, TCP_RUN, *PAIR)
TWO_EACH_CLAIM = TCP_CLAIM.replace("ranks=2", "ranks=4").replace("ranks_per_node=1", "ranks_per_node=2")
IBV_CLAIM = TCP_CLAIM.replace("transport=tcp", "transport=ibv").replace("interface=eth0", "interface=")
INTEL_IBV = INTEL_SHM + "[0] MPI startup(): libfabric provider: verbs;ofi_rxm\n"
NO_MEMORY = "\n".join(line for line in HONEST.split("\n") if ".memory=" not in line)
MOVED = altered(HONEST, "rank 1 end.cpu=1", "rank 1 end.cpu=0")
DECLARED_TOPOLOGY = evidence_text(
    CLAIM,
    RUN,
    "node blue1 declared_topology=/recorded\n",
    rank_lines(0, "blue1", 0),
    rank_lines(1, "blue1", 1),
)


def counted(name: str, after: int) -> str:
    """A counter of blue1 and its difference."""
    return f"node blue1 before.{name}=0\nnode blue1 after.{name}={after}\n"


def over_infiniband(after: int, device: str = "mlx5_0", claim: str = IBV_CLAIM) -> str:
    """The counters of InfiniBand count four bytes."""
    return evidence_text(claim, QUIET, counted(f"ib.{device}.port_xmit_data", after), *PAIR)


OF_DEVICE = IBV_CLAIM.replace("device=\n", "device=mlx5_0\n")
SECOND = counted("net.eth1.tx_bytes", 220000000)
# With several ranks per node, TCP to the node's own address is counted on lo.
OVER_LO = "\n".join(line for line in TCP_RUN.splitlines() if ".net.lo." not in line) + "\n"
OVER_LO += counted("net.lo.tx_bytes", 900000000)


def loopback(count: int) -> str:
    """105 MB of payload cannot explain 900 MB over loopback; it can explain 200 MB."""
    return altered(HONEST, "after.net.lo.rx_bytes=5", f"after.net.lo.rx_bytes={count}")


def recorded(text: str, lines: str) -> str:
    return altered(text, "end of evidence", f"{lines}end of evidence")


def of_members(pattern: str) -> str:
    return altered(HONEST, "claim members=blue*", f"claim members={pattern}")


WHOLE_RUNS = {
    "honest": (HONEST, INTEL_SHM, VERIFIED, "no interface carried it"),
    "no evidence": ("", INTEL_SHM, UNVERIFIED, ""),
    "no evidence library": (evidence_text(CLAIM, RUN), INTEL_SHM, UNVERIFIED, "evidence library"),
    "evidence switched off": (
        altered(evidence_text(CLAIM, RUN), "claim evidence=on", "claim evidence=off"),
        *(INTEL_SHM, UNVERIFIED, "evidence is off in the campaign file"),
    ),
    "no counter": (
        "\n".join(line for line in HONEST.split("\n") if ".net." not in line),
        *(INTEL_SHM, UNVERIFIED, "no interface counters"),
    ),
    "memory not recorded": (NO_MEMORY, INTEL_SHM, UNVERIFIED, ""),
    "a kernel that does not tell where memory is": (
        NO_MEMORY.replace("numa_maps=yes", "numa_maps=no"),
        *(INTEL_SHM, VERIFIED, ""),
    ),
    "submitted with a script of an earlier version": (
        altered(HONEST, "script_sha256=abc123", "script_sha256=abc124"),
        *(INTEL_SHM, VERIFIED, ""),
    ),
    "fell back to libfabric": (HONEST, INTEL_TCP, CONTRADICTED, "it used tcp"),
    **{
        f"members {pattern}": (of_members(pattern), INTEL_SHM, VERIFIED, "")
        for pattern in ("blue1", "blue*", "blue1.site.org", "red* blue*", "*.org")
    },
    "members blue": (of_members("blue"), INTEL_SHM, CONTRADICTED, ""),
    "a machine with two names": (  # the job's host and that of its ranks
        recorded(HONEST, "node vm boot_id=1\nrank 0 start.boot_id=1\nrank 1 end.boot_id=1\n"),
        *(INTEL_SHM, UNVERIFIED, "hosts: blue1 and vm are one machine, by the boot of its kernel"),
    ),
    "two machines with one name": (
        recorded(HONEST, "rank 0 start.boot_id=1\nrank 1 start.boot_id=2\n"),
        *(INTEL_SHM, CONTRADICTED, "hosts: blue1 is the name of 2 machines"),
    ),
    "a machine with one name": (
        recorded(HONEST, "node blue1 boot_id=1\nrank 0 start.boot_id=1\n"),
        *(INTEL_SHM, VERIFIED, ""),
    ),
    "two ranks on one core": (
        evidence_text(CLAIM, RUN, rank_lines(0, "blue1", 0), rank_lines(1, "blue1", 0)),
        *(INTEL_SHM, CONTRADICTED, "share CPU 0"),
    ),
    "two threads of one core": (
        recorded(
            evidence_text(CLAIM, RUN, rank_lines(0, "blue1", 0), rank_lines(1, "blue1", 4)),
            "rank 0 start.core=0\nrank 1 start.core=0\n",
        ),
        *(INTEL_SHM, CONTRADICTED, "share core 0 of socket 0"),
    ),
    "four threads on cores of their own": (
        evidence_text(THREADS, RUN, rank_lines(0, "blue1", 2, "0-3"), rank_lines(1, "blue1", 4, "4-7")),
        *(INTEL_SHM, VERIFIED, ""),
    ),
    "four threads on one core": (
        evidence_text(THREADS, RUN, rank_lines(0, "blue1", 0), rank_lines(1, "blue1", 1)),
        *(INTEL_SHM, CONTRADICTED, "may use 1 CPUs at start, not 4, one for each thread"),
    ),
    "threads of two ranks on one core": (
        evidence_text(THREADS, RUN, rank_lines(0, "blue1", 2, "0-3"), rank_lines(1, "blue1", 4, "3-6")),
        *(INTEL_SHM, CONTRADICTED, "ranks 0 and 1 share CPU 3 of blue1"),
    ),
    "a bound rank ended on another CPU": (
        altered(MOVED, "rank 1 end.allowed=1", "rank 1 end.allowed=0"),
        *(INTEL_SHM, CONTRADICTED, "binding: rank 1 was moved from CPU 1 to CPU 0"),
    ),
    "single processes in place of ranks": (
        evidence_text(CLAIM, RUN, rank_lines(0, "blue1", 0), rank_lines(0, "blue1", 1)),
        *(INTEL_SHM, CONTRADICTED, "more than once"),
    ),
    "unbound": (evidence_text(UNBOUND, RUN, *FREE), INTEL_SHM, VERIFIED, ""),
    "unbound, but a rank is bound": (
        evidence_text(UNBOUND, RUN, FREE[0], rank_lines(1, "blue1", 1)),
        *(INTEL_SHM, CONTRADICTED, "bound to CPU 1"),
    ),
    "declared topology": (DECLARED_TOPOLOGY, INTEL_SHM, DECLARED, "declared by /recorded"),
    "declared topology, other sockets": (
        altered(DECLARED_TOPOLOGY, "rank 1 start.socket=0", "rank 1 start.socket=1"),
        *(INTEL_SHM, CONTRADICTED, ""),
    ),
    "within an L3 cache": (IN_CACHE, INTEL_SHM, VERIFIED, ""),
    "within a NUMA domain, but in two L3 caches": (
        altered(IN_CACHE, "rank 1 end.l3=0", "rank 1 end.l3=8"),
        *(INTEL_SHM, CONTRADICTED, "l3_caches: ranks of blue1 ran on L3 caches 0, 8 at end"),
    ),
    "a machine that shows no L3 cache": (
        altered(IN_CACHE, CACHES, ""),
        *(INTEL_SHM, UNVERIFIED, "l3_caches: rank 0 recorded no L3 cache at start"),
    ),
    "TCP": (TCP, INTEL_TCP, VERIFIED, ""),
    "TCP, nothing moved": (evidence_text(TCP_CLAIM, QUIET, *PAIR), INTEL_TCP, CONTRADICTED, "payload moved"),
    "TCP, but the library reports shared memory": (TCP, INTEL_SHM, CONTRADICTED, ""),
    "TCP striped over a second interface": (
        evidence_text(TCP_CLAIM, TCP_RUN, SECOND, *PAIR),
        *(INTEL_TCP, CONTRADICTED, "interface eth1"),
    ),
    "TCP over an interface below a bond": (
        evidence_text(TCP_CLAIM, TCP_RUN, SECOND, "node blue1 below.eth0/eth1=yes\n", *PAIR),
        *(INTEL_TCP, VERIFIED, ""),
    ),
    "TCP over lo between ranks of one node": (
        evidence_text(TWO_EACH_CLAIM, OVER_LO, *TWO_EACH),
        *(INTEL_TCP, VERIFIED, ""),
    ),
    "TCP over lo": (evidence_text(TCP_CLAIM, OVER_LO, *PAIR), INTEL_TCP, CONTRADICTED, ""),
    "InfiniBand": (over_infiniband(30_000_000), INTEL_IBV, VERIFIED, ""),
    "InfiniBand, too little": (over_infiniband(1000), INTEL_IBV, CONTRADICTED, ""),
    "InfiniBand device": (over_infiniband(30_000_000, "mlx5_0", OF_DEVICE), INTEL_IBV, VERIFIED, ""),
    "InfiniBand, other device": (
        over_infiniband(30_000_000, "mlx5_1", OF_DEVICE),
        INTEL_IBV,
        CONTRADICTED,
        "",
    ),
    "loopback of others": (loopback(900_000_000), INTEL_SHM, VERIFIED, ""),
    "loopback of others, no report": (loopback(900_000_000), "", UNVERIFIED, ""),
    "loopback": (loopback(200_000_000), INTEL_SHM, CONTRADICTED, ""),
    "loopback, no report": (loopback(200_000_000), "", CONTRADICTED, ""),
}


@pytest.mark.parametrize("run", WHOLE_RUNS)
def test_verdicts_of_whole_runs(run: str) -> None:
    text, output, expected, reason = WHOLE_RUNS[run]
    verdict, reasons = verdict_of(text, output)
    assert verdict == expected, reasons
    assert any(reason in each for each in reasons), reasons


ALTERATIONS = [
    ("exit status", "job exit_status=0", "job exit_status=7"),
    ("job script", "job script_sha256=abc123", "job script_sha256=abc125"),
    ("job script", "job launch=mpirun -n 2", "job launch=mpirun -n 4"),
    ("job script", "job arguments=--budget 3", "job arguments=--budget 1"),
    ("result", f"r01-{IDENTITY}\n", f"r02-{IDENTITY}\n"),
    ("claim", '"--budget","3"', '"--budget","1"'),
    ("program", "job program_sha256=5555", "job program_sha256=5556"),
    ("settings", "job env.I_MPI_FABRICS=shm", "job env.I_MPI_FABRICS=ofi"),
    ("hosts", "rank 1 start.host=blue1", "rank 1 start.host=blue2"),
    ("hosts", "rank 1 end.host=blue1", "rank 1 end.host=blue2"),
    ("hosts", "claim nodes=1", "claim nodes=2"),
    ("host group", "claim members=blue*", "claim members=red*"),
    ("ranks", "claim ranks=2", "claim ranks=1"),
    ("binding", "rank 1 start.cpu=1", "rank 1 start.cpu=3"),
    ("binding", "rank 1 end.cpu=1", "rank 1 end.cpu=3"),
    ("binding", "rank 1 start.allowed=1", "rank 1 start.allowed=0-1"),
    ("binding", "rank 1 end.allowed=1", "rank 1 end.allowed=0-1"),
    ("sockets", "rank 1 start.socket=0", "rank 1 start.socket=1"),
    ("sockets", "rank 1 end.socket=0", "rank 1 end.socket=1"),
    ("sockets", "claim sockets=1", "claim sockets=2"),
    ("memory", "rank 1 end.memory=N0=900", "rank 1 end.memory=N0=9"),
    ("memory", "rank 0 end.numa=0", "rank 0 end.numa=1"),
    ("counters", "after.net.eth0.tx_bytes=2000", "after.net.eth0.tx_bytes=200000000"),
    ("counters", "after.net.lo.rx_bytes=5", "after.net.lo.rx_bytes=200000000"),
]


@pytest.mark.parametrize(("kind", "old", "new"), ALTERATIONS)
def test_one_altered_value_contradicts(kind: str, old: str, new: str) -> None:
    verdict, reasons = verdict_of(altered(HONEST, old, new))
    assert verdict == CONTRADICTED
    assert any(reason.startswith(kind) for reason in reasons), reasons


REMOVALS = [
    ("evidence", "end of evidence\n"),
    ("job script", "job script_sha256=abc123\n"),
    ("job script", "job launch=mpirun -n 2\n"),
    ("job script", "job arguments=--budget 3\n"),
    ("evidence", f"job run=blue/SHM-1/tree_gather/r01-{IDENTITY}\n"),
    ("binding", "rank 0 start.allowed=0\n"),
    ("sockets", "rank 0 end.socket=0\n"),
    ("ranks", "rank 1 end.cpu=1\n"),
    ("program", "job program_sha256=5555\n"),
    ("settings", "job env.I_MPI_FABRICS=shm\n"),
    ("hosts", "rank 1 start.host=blue1\n"),
    ("hosts", "rank 1 launch.host=blue1\n"),
    ("memory", "rank 1 end.memory=N0=900,N1=100\n"),
    ("memory", "rank 0 end.numa=0\n"),
    ("counters", "node blue1 after.net.eth0.tx_bytes=2000\n"),
    ("counters", "node blue1 before.net.eth0.tx_bytes=1000\n"),
    *(("claim", line + "\n") for line in CLAIM.splitlines()),
]


@pytest.mark.parametrize(("kind", "line"), REMOVALS)
def test_one_missing_value_leaves_it_unverified(kind: str, line: str) -> None:
    verdict, reasons = verdict_of(altered(HONEST, line, ""))
    assert verdict == UNVERIFIED
    assert any(reason.startswith(kind) for reason in reasons), reasons


@pytest.mark.parametrize("key", ["system", "placement", "repeat", "identity"])
def test_the_result_of_another_run_is_contradicted(key: str) -> None:
    claim = dict(line.removeprefix("claim ").split("=", 1) for line in CLAIM.splitlines())
    expected = {name: claim[name] for name in ("system", "placement", "repeat", "identity")}
    evidence = read(HONEST)
    assert judge(evidence, INTEL_SHM, SERIES, expected)[0] == VERIFIED
    verdict, reasons = judge(evidence, INTEL_SHM, SERIES, {**expected, key: "other"})
    assert verdict == CONTRADICTED
    assert f"{key} {claim[key]}, not other" in reasons[0]


def test_a_run_cannot_claim_what_its_campaign_did_not() -> None:
    evidence = read_evidence(
        "#mpicampaign-evidence 2\nclaim ranks=9\nclaim nodes=1\n", split("claim ranks=2\n")[1]
    )
    assert (evidence.claim, evidence.repeated) == ({"ranks": "2"}, [])


def test_a_domain_is_compared_where_both_have_one() -> None:
    assert is_member("n1", "n1.site.org")
    assert is_member("n1.site.org", "n1")
    assert not is_member("n1.other.org", "n1.site.org")


@pytest.mark.parametrize(
    ("start", "end", "moved"), [("3", "5", True), ("3", "3", False), ("", "5", False), ("3", "?", False)]
)
def test_a_bound_rank_that_was_moved_and_came_back(start: str, end: str, moved: bool) -> None:
    counts = f"rank 1 start.migrations={start}\nrank 1 end.migrations={end}\n"
    verdict, reasons = verdict_of(altered(HONEST, "rank 1 start.cpu=1\n", f"rank 1 start.cpu=1\n{counts}"))
    assert verdict == (CONTRADICTED if moved else VERIFIED), reasons
    assert not moved or reasons == ("binding: rank 1 changed its CPU 2 times between start and end",)


def table(benchmark: str, ranks: int, repetitions: bool = True) -> tuple[Series, ...]:
    counts = {"repetitions": [100.0, 20.0]} if repetitions else {}
    return (make.series(benchmark, ranks, size=[2.0**20, 2.0**22], time=[1e-4, 4e-4], **counts),)


def test_a_benchmark_that_sends_less_than_its_sizes_is_not_contradicted() -> None:
    """Reduce_scatter of two ranks sends half of each size: 94 of 189 MB."""
    half = altered(TCP, "after.net.eth0.tx_bytes=220000000", "after.net.eth0.tx_bytes=96000000")
    assert judge(read(half), INTEL_TCP, table("Reduce_scatter", 2))[0] == VERIFIED
    assert judge(read(half), INTEL_TCP, table("Sendrecv", 2))[0] == CONTRADICTED


@pytest.mark.parametrize("title", ["MPI Latency", "MPI Bandwidth", "MPI Bi-Directional Bandwidth"])
def test_two_ranks_of_osu_that_sent_nothing_are_contradicted(title: str) -> None:
    """OSU names its benchmarks by titles, and each size was sent at least once."""
    quiet = altered(TCP, "after.net.eth0.tx_bytes=220000000", "after.net.eth0.tx_bytes=2000")
    osu = table(title, 2, repetitions=False)
    assert judge(read(quiet), "", osu)[0] == CONTRADICTED
    assert judge(read(TCP), "", osu)[0] == VERIFIED


PROT = " Prot -  All Intra-node communication is: SHM\n"
REPORTS = [
    ("intelmpi", INTEL_SHM, {"shm"}),
    ("intelmpi", INTEL_TCP, {"tcp"}),
    ("intelmpi", "no startup lines", None),
    ("platform", PROT + " Prot -  All Inter-node communication is: TCP\n", {"tcp"}),
    ("platform", PROT, {"shm"}),
    ("openmpi4", "[n1:7] mca: bml: Using vader btl for send to [[1,1],1] on node n1\n", {"shm"}),
    (
        "openmpi4",
        "[n1:7] mca: bml: Using tcp btl for send to [[1,1],1] on node n2\n"
        "[n1:7] mca: bml: Using self btl for send to [[1,1],0] on node n1\n",
        {"tcp"},
    ),
    ("openmpi5", "  on-host:  all connections are sm\n  off-host: all connections are n/a\n", {"shm"}),
    ("openmpi5", "  on-host:  all connections are sm\n  off-host: all connections are tcp\n", {"tcp"}),
    ("mpich-ucx", "UCX  INFO    ep_cfg[0]: tag(tcp/lo) rma_am(tcp/lo) am(tcp/lo)\n", {"tcp"}),
    ("mpich-ucx", "UCX  INFO    ep_cfg[1]: tag(self/memory0 cma/memory)\n", None),
    ("mpich-ucx", "UCX  INFO    ep_cfg[0]: tag(sysv/memory cma/memory)\n", {"shm"}),
    ("mpich-ucx", "UCX  INFO    ep_cfg[0]: tag(rc_mlx5/mlx5_0:1)\n", {"ibv"}),
    ("unknown", "anything", None),
]


@pytest.mark.parametrize(("mpi", "output", "expected"), REPORTS)
def test_reports_of_mpi_libraries(mpi: str, output: str, expected: set[str] | None) -> None:
    assert reported_transports(mpi, output) == expected
