"""`mpicampaign prove` on real commands: the lies that a bare command can tell, and what is no MPI program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PROJECT, completed, executable

pytestmark = [pytest.mark.mpi, pytest.mark.slow, pytest.mark.full]

PING_PONG = "IMB-MPI1 -iter 100 -time 1 -msglog 0:12 PingPong"
SILENT = "IMB-MPI1 -iter 1000 -time 1 Barrier"
SHM, TCP = "-genv I_MPI_FABRICS shm", "-genv I_MPI_FABRICS ofi -genv FI_PROVIDER tcp"
MPI, SOCKETS = "mpirun -n 2", "env MPICAMPAIGN_SYSFS={folder}/sys"
PROVED, CONTRADICTED, NOT_PROVED = 0, 1, 3
HALF = """\
#define _GNU_SOURCE
#include <dlfcn.h>
double MPI_Wtime(void) { return ((double (*)(void))dlsym(RTLD_NEXT, "MPI_Wtime"))() / 2; }
"""
COMMANDS = {
    "honest": (f"{MPI} {SHM} {PING_PONG}", "SHM-1", PROVED, "of at least"),
    "TCP called SHM": (f"{MPI} {TCP} {PING_PONG}", "SHM-1", CONTRADICTED, "over interface lo, claimed: shm"),
    "SHM called TCP": (f"{MPI} {SHM} {PING_PONG}", "TCP-loopback", CONTRADICTED, "claimed: tcp"),
    "TCP": (f"{MPI} {TCP} {PING_PONG}", "TCP-loopback", PROVED, "over interface lo"),
    "unbound": (f"{MPI} {SHM} -genv I_MPI_PIN off {SILENT}", "SHM-1", CONTRADICTED, "may use"),
    "one core": (f"taskset -c 0 {MPI} {SHM} {SILENT}", "SHM-1", CONTRADICTED, "share"),
    "unknown payload": (f"{MPI} {TCP} {SILENT}", "TCP-loopback", NOT_PROVED, "or with I_MPI_DEBUG=5"),
    "report": (f"{MPI} {TCP} -genv I_MPI_DEBUG 5 {SILENT}", "TCP-loopback", PROVED, "report: tcp"),
    "half clock": (f"{MPI} {SHM} ./halved {SILENT}", "SHM-1", NOT_PROVED, "MPI_Wtime()"),
    "two sockets": (f"{SOCKETS} {MPI} {SHM} {SILENT}", "SHM-1", CONTRADICTED, "ran on sockets 0, 1"),
    "declared": (f"{SOCKETS} {MPI} {SHM} {SILENT}", "SHM-2", PROVED, "topology: declared by "),
    "two caches": (f"{SOCKETS} {MPI} {SHM} {SILENT}", "SHM-L3-1", CONTRADICTED, "ran on L3 caches 0, 1"),
    "declared caches": (f"{SOCKETS} {MPI} {SHM} {SILENT}", "SHM-L3-2", PROVED, "topology: declared by "),
    "one domain": (f"{SOCKETS} {MPI} {SHM} {SILENT}", "SHM-NUMA-2", CONTRADICTED, "ran on NUMA domains 0 at"),
    "no MPI": ("true", "SHM-1", NOT_PROVED, "never called MPI_Init"),
    "failed": ("false", "SHM-1", NOT_PROVED, "exit status: 1"),
    "static": ("./static", "SHM-1", NOT_PROVED, "./static is linked statically"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, imb: str) -> Path:
    """A clock that runs at half speed, and a program that no library is loaded into."""
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("prove")
    made = {"half.so": (HALF, "-shared", "-fPIC"), "static": ("int main(void) { return 0; }", "-static")}
    for name, (source, *options) in made.items():
        command = ["cc", "-xc", *options, "-o", name, "-"]
        subprocess.run(command, input=source, text=True, check=True, cwd=folder)
    executable(folder / "halved", f'#!/bin/sh\nLD_PRELOAD={folder}/half.so:$LD_PRELOAD exec "$@"\n')
    for cpu in os.sched_getaffinity(0):
        topology = folder / f"sys/devices/system/cpu/cpu{cpu}/topology"
        topology.mkdir(parents=True)
        (topology.parent / "node0").mkdir()
        (topology.parent / "cache/index3").mkdir(parents=True)
        for name in ("physical_package_id", "core_id", "../cache/index3/shared_cpu_list"):
            (topology / name).write_text(f"{cpu}\n")
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_real_command_proves_its_label_or_not(name: str, folder: Path) -> None:
    command, label, status, said = COMMANDS[name]
    done = prove(folder, "--placement", label, "--", *command.format(folder=folder).split())
    last = done.stderr.splitlines()[-1]
    assert (done.returncode, said in last) == (status, True), done.stderr
    assert not list(folder.glob(".prove*"))


def prove(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    prefix = Path(sys.prefix)
    environment = {
        **os.environ,
        "PYTHONPATH": str(PROJECT / "src"),
        "PATH": f"{prefix}/bin:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": f"{prefix}/lib",
        "I_MPI_ROOT": str(prefix),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    return completed(
        [sys.executable, "-m", "mpicampaign.cli", "prove", *arguments], cwd=folder, env=environment
    )


def test_the_file_of_the_shell_form_is_read_later(folder: Path) -> None:
    assert prove(folder, "--install", "bin").returncode == 0
    for name in ("evidence", "evidence.2"):
        command = ["bin/prove", "--quiet", "--write", "evidence", "--", "false"]
        assert subprocess.run(command, cwd=folder, check=False).returncode == 1
        done = prove(folder, "--read", name)
        assert done.returncode == 0 and "never called MPI_Init" in done.stdout
    assert prove(folder, "--write", "evidence", "--", "sh", "-c", "exit 9").returncode == 9, "as the command"
    assert (folder / "evidence.3").exists()


def test_with_json_the_document_has_standard_output_to_itself(folder: Path) -> None:
    done = prove(folder, "--json", "--", "sh", "-c", "echo printed; exit 7")
    data = json.loads(done.stdout)
    assert (done.returncode, data["status"], done.stderr) == (7, 7, "printed\n")
