"""The per-rank wrapper of the job scripts, on recorded topologies: the CPUs of each rank."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import completed, executable

from mpicampaign.jobs.render import TEMPLATES
from mpicampaign.site.probe import read_probe

LIBRARY = TEMPLATES / "library"
LOAD = f'. "{LIBRARY / "rank.sh"}"; . "{LIBRARY / "gpus.sh"}"'
BASH = shutil.which("bash") or "bash"
DEFAULTS = {"ranks_per_node": 2, "sockets": 1, "binding": "core", "device": "", "interface": ""}


def record_topology(
    root: Path,
    sockets: int,
    cores: int,
    threads: int = 1,
    interleaved: bool = False,
    domains: int = 0,
    caches: int = 0,
) -> Path:
    """A sysfs tree of a machine; hyper-threads are numbered after all cores, as Linux does.

    ``domains`` and ``caches``: NUMA domains and L3 caches of the machine; 0 where it shows none.
    """
    total = sockets * cores
    for cpu in range(total * threads):
        core = cpu % total
        socket = core % sockets if interleaved else core // cores
        folder = root / "devices/system/cpu" / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{socket}\n")
        siblings = ",".join(str(core + total * thread) for thread in range(threads))
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
        if domains:
            (folder.parent / f"node{core * domains // total}").mkdir()
        if caches:
            each = total // caches
            alike = [
                range(core // each * each + more, core // each * each + more + each) for more in (0, total)
            ]
            shared = ",".join(f"{span[0]}-{span[-1]}" for span in alike[:threads])
            (folder.parent / "cache/index3").mkdir(parents=True)
            (folder.parent / "cache/index3/shared_cpu_list").write_text(f"{shared}\n")
    return root


def on_node(
    sysfs: Path,
    allowed: str,
    command: str,
    path: str | None = None,
    variables: dict[str, str] | None = None,
    **settings: object,
) -> str:
    """The output of a library command on a node with this topology; ``path``: another PATH."""
    placement = " ".join(f"{name}='{value}'" for name, value in {**DEFAULTS, **settings}.items())
    text = f"{LOAD}; {placement}; read_topology; choose_cpus; {command}"
    environment = {**os.environ, "MPICAMPAIGN_SYSFS": str(sysfs), "MPICAMPAIGN_ALLOWED": allowed}
    environment |= {} if path is None else {"PATH": path}
    environment |= variables or {}
    done = completed([BASH, "-c", text], env=environment, timeout=240)
    assert done.stderr == ""
    return done.stdout


CASES = [
    # sockets, cores, threads, interleaved, allowed, ranks, sockets wanted, expected CPUs
    (1, 2, 1, False, "0-1", 2, 1, "0 1"),
    (2, 4, 1, False, "0-7", 2, 1, "0 1"),
    (2, 4, 1, False, "0-7", 2, 2, "0 4"),
    (2, 4, 1, True, "0-7", 2, 1, "0 2"),
    (2, 4, 1, True, "0-7", 2, 2, "0 1"),
    (2, 4, 2, False, "0-15", 4, 2, "0 1 4 5"),
    (1, 2, 2, False, "0-3", 2, 1, "0 1"),
    (1, 2, 2, False, "2,3", 2, 1, "2 3"),  # only the second threads are ours: still two cores
    (1, 1, 2, False, "0-1", 2, 1, ""),  # two threads of one core are one core
    (2, 1, 1, False, "0-1", 2, 1, ""),
    (1, 2, 1, False, "0-1", 2, 2, ""),
    (2, 4, 1, False, "0,4-6", 2, 1, "4 5"),  # the first socket has only one core left for the job
    (2, 2, 1, False, "0-3", 4, 0, "0 1 2 3"),
    (2, 2, 1, False, "0-3", 5, 0, ""),
    (2, 2, 1, False, "0-3", 3, 2, "0 1 2"),
]


@pytest.mark.parametrize(
    ("sockets", "cores", "threads", "mixed", "allowed", "ranks", "wanted", "cpus"), CASES
)
def test_cpus_of_ranks(
    tmp_path: Path,
    sockets: int,
    cores: int,
    threads: int,
    mixed: bool,
    allowed: str,
    ranks: int,
    wanted: int,
    cpus: str,
) -> None:
    sysfs = record_topology(tmp_path / "sys", sockets, cores, threads, mixed)
    placement = {"ranks_per_node": ranks, "sockets": wanted}
    shown = on_node(sysfs, allowed, 'echo "${cpus[*]:0:ranks_per_node}"; lacks', **placement)
    assert shown.splitlines()[0] == cpus
    assert bool(shown.splitlines()[1:]) == (not cpus)


# sockets, cores of a socket, threads, NUMA domains, L3 caches
MILAN_NPS1, MILAN_NPS4, SNC4, FLAT = (2, 64, 2, 2, 16), (2, 64, 1, 8, 16), (2, 16, 2, 8, 2), (1, 4, 1, 1, 0)
L3_1, L3_2 = {"l3_caches": 1}, {"numa_domains": 1, "l3_caches": 2}
NUMA_2 = {"sockets": 1, "numa_domains": 2}
WITHIN_SOCKET = [
    (MILAN_NPS1, "0-255", L3_1, "0 1"),
    (MILAN_NPS1, "0-255", L3_2, "0 8"),
    (MILAN_NPS1, "0-255", NUMA_2, ""),
    (MILAN_NPS1, "0,8,16,64-65", L3_1, "64 65"),  # an allocation with one core of each of three caches
    (MILAN_NPS1, "0-7,64-71", L3_2, ""),  # one cache of each of two domains
    (MILAN_NPS1, "0-255", {"sockets": 2, "l3_caches": 4, "ranks_per_node": 4}, "0 8 64 72"),
    ((2, 64, 1, 2, 32), "0-127", {"sockets": 1, "l3_caches": 17, "ranks_per_node": 17}, ""),  # 2^16 choices
    (MILAN_NPS4, "0-127", L3_2, "0 8"),
    (MILAN_NPS4, "0-127", NUMA_2, "0 16"),
    (MILAN_NPS4, "9-15,64-127", NUMA_2, "64 80"),  # the second socket: of the first, the job has one domain
    (MILAN_NPS4, "0-127", {"numa_domains": 2, "l3_caches": 4, "ranks_per_node": 8}, "0 1 8 9 16 17 24 25"),
    (SNC4, "0-63", L3_1, "0 1"),
    (SNC4, "0-63", NUMA_2, "0 4"),
    (SNC4, "0-63", L3_2, ""),  # all domains of a socket share its cache
    (FLAT, "0-3", L3_1, ""),
    (FLAT, "0-3", {"numa_domains": 1}, "0 1"),
]


@pytest.mark.parametrize(("machine", "allowed", "claims", "cpus"), WITHIN_SOCKET)
def test_cpus_within_and_across_the_caches_and_domains_of_a_socket(
    tmp_path: Path, machine: tuple[int, int, int, int, int], allowed: str, claims: dict[str, int], cpus: str
) -> None:
    sockets, cores, threads, domains, caches = machine
    sysfs = record_topology(tmp_path / "sys", sockets, cores, threads, domains=domains, caches=caches)
    claims = {"sockets": 0, **claims}
    shown = on_node(sysfs, allowed, 'echo "${cpus[*]}"; lacks', **claims).splitlines()
    assert shown[0] == cpus
    assert bool(shown[1:]) == (not cpus)


def test_reason_names_the_caches_that_are_known(tmp_path: Path) -> None:
    sysfs = record_topology(tmp_path / "sys", 1, 4, domains=1)
    assert re.fullmatch(
        r"cores: needs 2 cores on 2 L3 caches of 1 NUMA domain; \S+ offers 1 socket, 1 known NUMA domain, "
        r"0 known L3 caches and 4 cores\n",
        on_node(sysfs, "0-3", "lacks", **{"sockets": 0, **L3_2}),
    )


def test_sockets_without_a_number_count_as_the_probe_counts_them(tmp_path: Path) -> None:
    """Some kernels say -1, others nothing; CPUs without siblings are not described."""
    sysfs = record_topology(tmp_path / "sys", 2, 2)
    files = [sysfs / f"devices/system/cpu/cpu{cpu}/topology/physical_package_id" for cpu in range(4)]
    for numbers, sockets in (("0 0 1 1", 2), ("-1 -1 -1 -1", 1), ("- -1 -1 -", 1), ("-1 - 0 1", 2)):
        for file, number in zip(files, numbers.split(), strict=True):
            file.unlink(missing_ok=True)
            if number != "-":
                file.write_text(f"{number}\n")
        counted = on_node(sysfs, "0-3", 'echo "${#found[@]} ${#cores[@]}"')
        probe = ["bash", LIBRARY.parents[1] / "doctor/probe.sh", tmp_path / "probe.txt"]
        subprocess.run(probe, env={**os.environ, "MPICAMPAIGN_SYSFS": str(sysfs)}, check=True, timeout=240)
        said = read_probe((tmp_path / "probe.txt").read_text())
        assert (counted.split(), said.sockets, said.cores) == ([str(sockets), "4"], sockets, 4), numbers


@pytest.mark.parametrize(("sockets", "cpus"), [(1, "0,1 2,3"), (2, "0,1 4,5"), (0, "0,1 2,3")])
def test_a_rank_of_two_threads_has_two_cores(tmp_path: Path, sockets: int, cpus: str) -> None:
    sysfs = record_topology(tmp_path / "sys", 2, 4)
    command = 'echo "${cpus[*]}"; threads=5; choose_cpus; echo "${cpus[*]}"; lacks'
    shown = on_node(sysfs, "0-7", command, threads=2, ranks_per_node=2, sockets=sockets).splitlines()
    assert shown[:2] == [cpus, ""] and shown[2].startswith("cores: needs 10 cores")


def test_reason_names_what_is_wanted_and_what_is_there(tmp_path: Path) -> None:
    sysfs = record_topology(tmp_path / "sys", 1, 2)
    complaint = on_node(sysfs, "0-1", "lacks", sockets=2)
    assert "needs 2 cores on 2 sockets" in complaint
    assert "offers 1 socket and 2 cores" in complaint


def test_unbound_ranks_need_no_cores(tmp_path: Path) -> None:
    sysfs = record_topology(tmp_path / "sys", 1, 1)
    assert on_node(sysfs, "0", "lacks", binding="none", sockets=0) == ""


def test_infiniband_device_and_port_state(tmp_path: Path) -> None:
    sysfs = record_topology(tmp_path / "sys", 1, 2)
    assert "no RDMA device mlx5_0" in on_node(sysfs, "0-1", "lacks", device="mlx5_0")
    port = sysfs / "class/infiniband/mlx5_0/ports/1"
    port.mkdir(parents=True)
    (port / "state").write_text("1: DOWN\n")
    assert "no active port" in on_node(sysfs, "0-1", "lacks", device="mlx5_0")
    (port / "state").write_text("4: ACTIVE\n")
    assert on_node(sysfs, "0-1", "lacks", device="mlx5_0") == ""


def one_rank(folder: Path, sysfs: Path, program: str, numactl: str = 'echo "$@"', **settings: object) -> str:
    """The output of a rank's program; stand-ins for numactl and taskset print their arguments."""
    (folder / "ranks").mkdir()
    for name, body in (("numactl", numactl), ("taskset", 'echo "$@"')):
        executable(folder / name, f"#!/bin/bash\n{body}\n")
    values = {**DEFAULTS, "rank_variable": "RANK", "local_rank_variable": "RANK", **settings}
    placement = " ".join(f"{name}='{value}'" for name, value in values.items())
    variables = {"MPICAMPAIGN_SYSFS": str(sysfs), "MPICAMPAIGN_ALLOWED": "0-1", "RANK": "1"}
    variables |= {"PATH": f"{folder}:{os.environ['PATH']}", "LD_PRELOAD": "/users/own.so"}
    command = ["bash", "-c", f"{LOAD}; {placement}; become {program}", str(folder / "rank")]
    # the loader prints messages about missing libraries
    done = completed(command, env=os.environ | variables, check=True, timeout=240)
    return done.stdout


@pytest.mark.parametrize(
    ("numactl", "bound", "recorded"),
    [
        ('echo "$@"', "--physcpubind=1 --localalloc -- program", ("numactl", "local")),
        ("exit 1", "-c 1 program", ("taskset", "first touch")),  # a container forbids memory policies
    ],
    ids=["numactl", "taskset"],
)
def test_numactl_binds_a_rank_and_taskset_where_it_does_not_work(
    tmp_path: Path, numactl: str, bound: str, recorded: tuple[str, str]
) -> None:
    sysfs = record_topology(tmp_path / "sys", 1, 2)
    assert one_rank(tmp_path, sysfs, "program", numactl, evidence_library="") == f"{bound}\n"
    tool, memory = recorded
    lines = (tmp_path / "ranks/1").read_text().splitlines()
    assert {f"rank 1 launch.bound_by={tool}", f"rank 1 launch.memory={memory}"} < set(lines)


def test_a_node_without_numactl_and_taskset_binds_no_ranks(tmp_path: Path) -> None:
    sysfs = record_topology(tmp_path / "sys", 1, 2)
    complaint = on_node(sysfs, "0-1", "lacks", path=str(tmp_path))
    assert complaint.startswith("program: no working numactl or taskset on ")
    assert complaint.endswith("to bind the ranks; install numactl, or util-linux\n")
    assert on_node(sysfs, "0-1", "lacks", path=str(tmp_path), binding="none", sockets=0) == ""


@pytest.mark.parametrize(
    ("folder", "loaded"), [("a", ""), ("a b", "/proc/self/fd/8"), ("a:b", "/proc/self/fd/8")]
)
def test_the_evidence_library_is_preloaded_beside_the_users_own(
    tmp_path: Path, folder: str, loaded: str
) -> None:
    """LD_PRELOAD is a list separated by spaces and colons."""
    library = tmp_path / folder / "evidence.so"
    library.parent.mkdir()
    library.touch()
    found = one_rank(tmp_path, tmp_path, "printenv LD_PRELOAD", binding="none", evidence_library=library)
    assert found == f"{loaded or library}:/users/own.so\n"


def test_missing_network_interface(tmp_path: Path) -> None:
    sysfs = record_topology(tmp_path / "sys", 1, 2)
    assert "no network interface eth7" in on_node(sysfs, "0-1", "lacks", interface="eth7")
    (sysfs / "class/net/eth7").mkdir(parents=True)
    assert on_node(sysfs, "0-1", "lacks", interface="eth7") == ""
