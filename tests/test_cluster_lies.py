"""False claims on the test cluster: every run that differs from its label is contradicted.

The honest runs of the same cases are in test_cluster_campaign.

A lie is planted in a rendered job script as a lying campaign file would have had it rendered: what is
claimed of its settings and its launch is changed with them, and the claim knows the changed script by its
checksum. So nothing but what the run really did can give it away.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from minicluster import MiniCluster
from on_cluster import ClusterProject, cluster_project, host_groups, system_of

from mpicampaign.base.identity import run_path
from mpicampaign.base.plan_file import read_plan
from mpicampaign.base.records import CONTRADICTED, FAILED, Record
from mpicampaign.collect.runs import collect

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.mpi, pytest.mark.usefixtures("imb")]

REPORT, SOCKETS, VARIABLES = "MPI library's report", "ranks' sockets", "variables"


# An edit holds for script, claim and library alike, wherever its text is: a setting, for example, is exported
# by the script and claimed.
SHARED_MEMORY = [("I_MPI_FABRICS=ofi", "I_MPI_FABRICS=shm")]
SILENT = [("I_MPI_DEBUG=5", "I_MPI_DEBUG=0")]
LOOPBACK = [
    ("I_MPI_FABRICS=shm", "I_MPI_FABRICS=ofi"),
    ("\nprogram=", "\nexport FI_PROVIDER=tcp FI_TCP_IFACE=lo\nprogram="),
]
SECOND_NETWORK = [("FI_TCP_IFACE=eth0", "FI_TCP_IFACE=eth1")]
FIRST_NETWORK = [("FI_TCP_IFACE=eth1", "FI_TCP_IFACE=eth0")]
BOUND = [(" binding=none interface", " binding=core interface")]


@dataclass(frozen=True)
class Lie:
    """``kinds``: all evidence that contradicts the claim; ``words``: text in its reasons."""

    name: str
    group: str
    placement: str
    edits: list[tuple[str, str]]
    kinds: set[str]
    words: str
    benchmark: str = "PingPong"


LIES = [
    Lie("tcp that used shared memory", "blue", "TCP-loopback", SHARED_MEMORY, {REPORT, SOCKETS},
        "it used shm, claimed: tcp"),
    Lie("the same, and the library says nothing", "blue", "TCP-loopback", SHARED_MEMORY + SILENT,
        {SOCKETS}, "moved 0 B over TCP"),
    Lie("tcp between nodes that stayed in one", "blue", "TCP-first",
        [*SHARED_MEMORY, ("--nodes=2 ", "--nodes=1 "), ("--ntasks-per-node=1\n", "--ntasks-per-node=2\n"),
         ("-ppn 1", "-ppn 2"), ("\nranks_per_node=1 ", "\nranks_per_node=2 ")],
        {"hosts", REPORT, SOCKETS}, "n1 (2 ranks); claimed 2 nodes of 1 rank"),
    Lie("a kernel, and the library says nothing", "blue", "TCP-loopback", SHARED_MEMORY + SILENT,
        {SOCKETS}, "moved 0 B over TCP", "tree_gather"),
    Lie("a setting overridden behind the script's back", "blue", "TCP-loopback",
        [('    exec "${bind[@]}" "$@"\n', '    exec env I_MPI_FABRICS=shm "${bind[@]}" "$@"\n')],
        {REPORT, SOCKETS, VARIABLES}, "it used shm, claimed: tcp"),
    Lie("shared memory that was tcp", "red", "SHM", LOOPBACK, {REPORT, SOCKETS, VARIABLES},
        "it used tcp, claimed: shm"),
    Lie("the same, and the library says nothing", "red", "SHM", LOOPBACK + SILENT, {SOCKETS, VARIABLES},
        "over interface lo, claimed: shm"),
    Lie("a kernel in shared memory that was tcp", "red", "SHM", LOOPBACK + SILENT, {SOCKETS, VARIABLES},
        "over interface lo, claimed: shm", "tree_gather"),
    Lie("InfiniBand that was tcp", "blue", "TCP-first",
        [("claim transport=tcp\n", "claim transport=ibv\n"), ("claim device=\n", "claim device=mlx5_0\n"),
         ("claim interface=eth0\n", "claim interface=\n")],
        {REPORT, SOCKETS}, "it used tcp, claimed: ibv"),
    Lie("EFA that was tcp", "blue", "TCP-first",
        [("claim transport=tcp\n", "claim transport=ofi\nclaim provider=efa\n"),
         ("claim interface=eth0\n", "claim interface=\n")],
        {REPORT, SOCKETS}, "its provider of libfabric is tcp, claimed: efa"),
    Lie("libfabric over TCP that was shared memory", "blue", "TCP-loopback",
        [*SHARED_MEMORY, ("claim transport=tcp\n", "claim transport=ofi\nclaim provider=tcp\n")],
        {SOCKETS}, "moved 0 B over TCP"),
    Lie("SHM-1 on two sockets", "red", "SHM-1", [(" sockets=1 binding", " sockets=0 binding")], {"sockets"},
        "ran on sockets 0, 1 at start, claimed: 1 socket"),
    Lie("SHM-2 on one socket", "blue", "SHM-2", [(" sockets=2 binding", " sockets=0 binding")], {"sockets"},
        "ran on sockets 0 at start, claimed: 2 sockets"),
    Lie("unbound that was bound", "blue", "SHM", BOUND, {"binding"}, "is bound to CPU"),
    Lie("the wrong network", "blue", "TCP-first", SECOND_NETWORK, {SOCKETS},
        "0 B of "),
    Lie("the other wrong network", "red", "TCP-second", FIRST_NETWORK, {SOCKETS},
        "over eth0, claimed: eth1"),
    Lie("a kernel on the wrong network", "blue", "TCP-first", SECOND_NETWORK, {SOCKETS},
        "over eth1, claimed: eth0", "tree_gather"),
    Lie("the wrong network with messages up to 1 KiB", "blue", "TCP-first", SECOND_NETWORK, {SOCKETS},
        "over eth1, claimed: eth0", "Small"),
    Lie("messages up to 1 KiB in shared memory that was tcp, and the library says nothing", "red", "SHM",
        LOOPBACK + SILENT, {SOCKETS, VARIABLES}, "over interface lo, claimed: shm", "Small"),
    Lie("hosts of another group", "red", "TCP-first", [("--constraint=red\n", "--constraint=blue\n")],
        {"host group", "constraint"}, "not in host group red (n3 n4): n1, n2"),
    Lie("shared memory of two nodes, where Intel MPI falls back to libfabric", "blue", "TCP-first",
        [*SHARED_MEMORY, ("claim transport=tcp\n", "claim transport=shm\n"),
         ("claim interface=eth0\n", "claim interface=\n")],
        {REPORT, SOCKETS}, "it used tcp, claimed: shm"),
    Lie("the same, and the library says nothing", "blue", "TCP-first",
        [*SHARED_MEMORY, *SILENT, ("claim transport=tcp\n", "claim transport=shm\n"),
         ("claim interface=eth0\n", "claim interface=\n")],
        {SOCKETS}, "over interface eth0, claimed: shm"),
]  # fmt: skip


@dataclass(frozen=True)
class Plant:
    """A campaign with some scripts altered to lie; only those run."""

    made: ClusterProject
    scripts: list[Path]
    library: Path

    def script(self, group: str, placement: str, benchmark: str) -> Path:
        """The next honest script of a case, taken out."""
        wanted = self.made.results / "runs" / group / placement / benchmark
        found = next(path for path in self.scripts if path.is_relative_to(wanted))
        self.scripts.remove(found)
        return found

    def lie(self, lie: Lie) -> Path:
        """The lying script with its claim, and its own library if that lies, too."""
        script = self.script(lie.group, lie.placement, lie.benchmark)
        claim = script.with_name("claim")
        library = self.library
        texts = {path: path.read_text() for path in (script, claim, library)}
        for honest, lying in lie.edits:
            assert any(honest in text for text in texts.values()), honest
            texts = {path: text.replace(honest, lying) for path, text in texts.items()}
        if texts[library] != library.read_text():
            new, old = sha256(texts[library]), sha256(library.read_text())
            lying_library = library.with_name(f"run-{new[:16]}.sh")
            lying_library.write_text(texts[library])
            texts[script] = texts[script].replace(str(library), str(lying_library)).replace(old, new)
        script.write_text(texts[script])
        rendered = f"claim scripts={sha256(texts[script])}\n"
        claimed, number = re.subn(r"(?m)^claim scripts=.*\n", rendered, texts[claim])
        assert number == 1
        claim.write_text(claimed)
        self.made.cluster.give(self.made.results)
        return script

    def records(self) -> dict[Path, Record]:
        """The records by the script that made them."""
        records = collect(read_plan(self.made.results / "plan.json"), self.made.results)
        return {self.made.results / run_path(r.case, r.repeat, r.identity) / "job.sh": r for r in records}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def plant(
    cluster: MiniCluster,
    name: str,
    repeats: int,
    mpis: dict[str, object] | None = None,
    **system_values: object,
) -> Plant:
    placements = ("SHM-1", "SHM-2", "SHM", "TCP-first", "TCP-second", "TCP-loopback")
    made = cluster_project(
        cluster,
        name,
        (("blue", "red"), placements, ("PingPong", "Allreduce", "tree_gather")),
        ("blue", "TCP-first", "Small"),
        ("red", "SHM", "Small"),
        repeats=repeats,
        mpis=mpis or {},
        system=system_of(cluster, **system_values),
    )
    scripts = made.render()
    [library] = made.results.glob("lib/run-*.sh")
    return Plant(made, scripts, library)


def kinds(record: Record) -> set[str]:
    return {reason.partition(": ")[0] for reason in record.verdict_reasons}


@pytest.fixture(scope="module")
def lying(minicluster: MiniCluster) -> list[Record]:
    """The record of each lie."""
    return run_lies(plant(minicluster, "lies", repeats=6), LIES)


@pytest.mark.parametrize("number", range(len(LIES)), ids=[lie.name for lie in LIES])
def test_a_lie_is_contradicted_by_what_the_run_did_and_by_nothing_else(
    lying: list[Record], number: int
) -> None:
    lie, record = LIES[number], lying[number]
    assert record.verdict == CONTRADICTED, (record.status, record.reason, record.verdict_reasons)
    assert kinds(record) == lie.kinds, record.verdict_reasons
    assert lie.words in " ".join(record.verdict_reasons)


def run_lies(field: Plant, lies: list[Lie]) -> list[Record]:
    scripts = [field.lie(lie) for lie in lies]
    field.made.submit(scripts)
    records = field.records()
    return [records[script] for script in scripts]


# Open MPI shares its traffic among all networks unless one is named.
STRIPES = [
    ("claim setting.OMPI_MCA_btl_tcp_if_include=eth0\n", ""),
    (" OMPI_MCA_btl_tcp_if_include=eth0", ""),
    ("claim settings=5\n", "claim settings=4\n"),
]


def test_open_mpi_on_both_networks_at_once(minicluster: MiniCluster) -> None:
    if not shutil.which("mpirun.openmpi") or not shutil.which("mpicc.openmpi"):
        pytest.skip("Open MPI is not installed")
    environment = {**minicluster.environment, "MPICC": "mpicc.openmpi"}
    mpis = {"openmpi4": {"command": "mpirun.openmpi"}}
    field = plant(minicluster, "stripes", 1, mpis, mpi="openmpi4", prefix=None, environment=environment)
    lie = Lie("", "blue", "TCP-first", STRIPES, {SOCKETS}, "", "tree_gather")
    (record,) = run_lies(field, [lie])
    assert (record.verdict, kinds(record)) == (CONTRADICTED, {SOCKETS}), record.verdict_reasons
    assert "over eth1, claimed: eth0" in record.verdict_reasons[0]


WITHOUT_PMI = [("srun --mpi=pmi2 ", "srun --mpi=none ")]


def test_single_processes_of_mpich_with_the_pmi_of_another_library(minicluster: MiniCluster) -> None:
    if not shutil.which("mpiexec.hydra") or not shutil.which("mpicc.mpich"):
        pytest.skip("MPICH is not installed")
    environment = {**minicluster.environment, "MPICC": "mpicc.mpich"}
    values = {"mpi": "mpich-ucx", "prefix": None, "launcher": "srun", "environment": environment}
    field = plant(minicluster, "singletons-mpich", 1, **values)
    lie = Lie("", "blue", "TCP-first", [("srun --mpi=pmi2 ", "srun --mpi=pmix ")], set(), "", "tree_gather")
    (record,) = run_lies(field, [lie])
    assert (record.status, record.series) == (FAILED, ()), (record.verdict, record.verdict_reasons)
    assert record.reason


def test_single_processes_instead_of_ranks_give_no_values(minicluster: MiniCluster) -> None:
    """srun with a PMI other than the library's starts each rank as a separate program."""
    field = plant(minicluster, "singletons", 1, launcher="srun")
    benchmarks = ("PingPong", "Allreduce", "tree_gather")
    lies = [Lie("", "blue", "TCP-first", WITHOUT_PMI, set(), "", benchmark) for benchmark in benchmarks]
    for record in run_lies(field, lies):
        assert record.status == FAILED, (record.verdict, record.verdict_reasons)
        assert record.series == ()
        assert record.reason


def test_a_campaign_file_that_lies(minicluster: MiniCluster) -> None:
    """Settings without their usual effect, and members unknown to the scheduler."""
    groups = host_groups()
    # Within a node this is shared memory; between nodes the library falls back to TCP, on the second network.
    groups["red"]["members"] = ["n1", "n2"]
    tcp = {"I_MPI_FABRICS": "shm", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth1"}
    transports = {"shm": {}, "tcp": {"environment": tcp}}
    unbound = {"environment": {"I_MPI_PIN": "off"}}
    liar = {"launcher": "hydra", "unbound": unbound, "transports": transports}
    project = cluster_project(
        minicluster,
        "lying-file",
        ("blue", ["TCP-first", "TCP-loopback"], "PingPong"),
        ("red", "SHM", "PingPong"),
        system=system_of(minicluster, mpi="liar"),
        mpis={"liar": liar},
        host_groups=groups,
    )
    records = project.run()
    assert [record.verdict for record in records] == [CONTRADICTED] * 3
    found = {record.case.placement: kinds(record) for record in records}
    assert found == {"TCP-first": {SOCKETS}, "TCP-loopback": {SOCKETS}, "SHM": {"host group"}}
