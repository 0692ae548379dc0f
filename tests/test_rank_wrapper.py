"""The per-rank wrapper of the job scripts, on recorded topologies: which CPUs it gives to which ranks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mpicampaign.jobs.render import wrapper_text

DEFAULTS = {
    "ranks_per_node": 2,
    "sockets_wanted": 1,
    "binding": "core",
    "device": "",
    "interface": "",
    "rank_variable": "PMI_RANK",
    "local_rank_variable": "MPI_LOCALRANKID",
    "evidence_library": "",
}


def record_topology(
    root: Path, sockets: int, cores: int, threads: int = 1, interleaved: bool = False
) -> Path:
    """A sysfs tree of a machine; hyper-threads are numbered after all cores, as Linux does."""
    total = sockets * cores
    for cpu in range(total * threads):
        core = cpu % total
        socket = core % sockets if interleaved else core // cores
        folder = root / "devices/system/cpu" / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{socket}\n")
        siblings = ",".join(str(core + total * thread) for thread in range(threads))
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
    return root


def run_wrapper(tmp_path: Path, sysfs: Path, allowed: str, option: str, **settings: object) -> str:
    script = tmp_path / "rank.sh"
    script.write_text(wrapper_text({**DEFAULTS, **settings}))
    environment = {**os.environ, "MPICAMPAIGN_SYSFS": str(sysfs), "MPICAMPAIGN_ALLOWED": allowed}
    done = subprocess.run(
        ["bash", script, option], env=environment, capture_output=True, text=True, check=True, timeout=240
    )
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
    shown = run_wrapper(tmp_path, sysfs, allowed, "--topology", ranks_per_node=ranks, sockets_wanted=wanted)
    chosen = [line.removeprefix("cpus=") for line in shown.splitlines() if line.startswith("cpus=")]
    assert [" ".join(chosen[0].split()[:ranks])] == [cpus]
    complaint = run_wrapper(tmp_path, sysfs, allowed, "--check", ranks_per_node=ranks, sockets_wanted=wanted)
    assert bool(complaint) == (not cpus)


def test_reason_names_what_is_wanted_and_what_is_there(tmp_path: Path) -> None:
    sysfs = record_topology(tmp_path / "sys", 1, 2)
    complaint = run_wrapper(tmp_path, sysfs, "0-1", "--check", sockets_wanted=2)
    assert "needs 2 cores on 2 socket(s)" in complaint
    assert "offers 1 socket(s) and 2 core(s)" in complaint


def test_unbound_ranks_need_no_cores(tmp_path: Path) -> None:
    sysfs = record_topology(tmp_path / "sys", 1, 1)
    assert run_wrapper(tmp_path, sysfs, "0", "--check", binding="none", sockets_wanted=0) == ""


def test_infiniband_device_and_port_state(tmp_path: Path) -> None:
    sysfs = record_topology(tmp_path / "sys", 1, 2)
    assert "no InfiniBand device mlx5_0" in run_wrapper(tmp_path, sysfs, "0-1", "--check", device="mlx5_0")
    port = sysfs / "class/infiniband/mlx5_0/ports/1"
    port.mkdir(parents=True)
    (port / "state").write_text("1: DOWN\n")
    assert "no active port" in run_wrapper(tmp_path, sysfs, "0-1", "--check", device="mlx5_0")
    (port / "state").write_text("4: ACTIVE\n")
    assert run_wrapper(tmp_path, sysfs, "0-1", "--check", device="mlx5_0") == ""


def test_missing_network_interface(tmp_path: Path) -> None:
    sysfs = record_topology(tmp_path / "sys", 1, 2)
    assert "no network interface eth7" in run_wrapper(tmp_path, sysfs, "0-1", "--check", interface="eth7")
    (sysfs / "class/net/eth7").mkdir(parents=True)
    assert run_wrapper(tmp_path, sysfs, "0-1", "--check", interface="eth7") == ""
