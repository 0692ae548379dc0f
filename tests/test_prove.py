"""`mpicampaign prove` on evidence as text; `test_prove_runs.py` has real commands."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from default_signals import popen_with_default_signals
from printed_outputs import imb_pingpong

from mpicampaign.cli import main
from mpicampaign.cli.prove import placements
from mpicampaign.evidence.evidence import read_evidence
from mpicampaign.evidence.proof import command_of
from mpicampaign.jobs.claim import placement_claim
from mpicampaign.questions.proof.say import Shown, shown

JOB = """\
#mpicampaign-evidence 2
job launch=mpirun -n 2 ./program
job exit_status=0
job launcher_version=Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626
"""
NODE = """\
node {0} cores=8
node {0} numa_maps=yes
node {0} before.net.eth0.rx_bytes=1000
node {0} before.net.eth0.tx_bytes=1000
node {0} after.net.eth0.rx_bytes=2000
node {0} after.net.eth0.tx_bytes=2000
"""
RANK = """\
rank {rank} start.ranks=2
rank {rank} start.world=2
rank {rank} start.nice=0
rank {rank} start.variables=0
rank {rank} start.preloads=0
rank {rank} start.raw_ns=1000000000
rank {rank} end.raw_ns=3000000000
rank {rank} start.libc_ns=1000000000
rank {rank} end.libc_ns=3000000000
rank {rank} start.library=/opt/libmpi.so.12
rank {rank} start.library_version=Intel(R) MPI Library 2021.18.1 for Linux* OS
rank {rank} end.library=/opt/libmpi.so.12
rank {rank} end.library_version=Intel(R) MPI Library 2021.18.1 for Linux* OS
rank {rank} end.library_build_id=abc
rank {rank} end.program=/opt/program
rank {rank} end.clock_ns=7
rank {rank} end.tcp=0
"""
PLACE = """\
rank {rank} {moment}.host={host}
rank {rank} {moment}.cpu={cpu}
rank {rank} {moment}.core={cpu}
rank {rank} {moment}.allowed={cpu}
rank {rank} {moment}.socket=0
rank {rank} {moment}.numa=0
rank {rank} {moment}.memory=N0=900,N1=100
"""


def rank_text(rank: int, host: str, cpu: int) -> str:
    places = (PLACE.format(rank=rank, host=host, cpu=cpu, moment=moment) for moment in ("start", "end"))
    return "".join([RANK.format(rank=rank), *places])


def connected(text: str, interface: str, count: int) -> str:
    """With a connection between the ranks that carried so many bytes each way."""
    for rank, ends in enumerate(("10.0.0.1 4001 10.0.0.2 4002", "10.0.0.2 4002 10.0.0.1 4001")):
        account = f"rank {rank} end.tcp=1\nrank {rank} end.tcp.0={interface} {ends} {count} {count}\n"
        text = text.replace(f"rank {rank} end.tcp=0\n", account)
    return text


ONE = JOB + NODE.format("n1") + rank_text(0, "n1", 0) + rank_text(1, "n1", 1)
TWO = JOB + NODE.format("n1") + NODE.format("n2") + rank_text(0, "n1", 0) + rank_text(1, "n2", 0)
SENT = connected(TWO, "eth0", 50_000_000)
PORT = "node n1 before.ib.mlx5_0/1.port_xmit_data=5\nnode n1 after.ib.mlx5_0/1.port_xmit_data={}\n"
PRELOAD = "rank 0 start.preload.0=/x/half.so\nrank 0 start.preload_defines.0=MPI_Wtime\n"
NO_RANKS = JOB + NODE.format("n1")
PROVED, CONTRADICTED, NOT_PROVED = 0, 1, 3
HT = ONE.replace("allowed=0\n", "allowed=0,2\n").replace("allowed=1\n", "allowed=1,3\n")
THIRD = rank_text(2, "n1", 2).replace("s=2\n", "s=3\n").replace("world=2\n", "world=3\n")
CORES = "".join(
    f"rank {rank} {moment}.siblings={rank},{rank + 2}\n" for rank in (0, 1) for moment in ("start", "end")
)
LABELS = {
    "honest": (ONE, "SHM-1", PROVED, "SHM-1 is proved"),
    "more ranks": (ONE.replace("=2\n", "=3\n") + THIRD, "SHM-1", PROVED, "n1 (3 ranks)"),
    "ranks without their number": (ONE.replace("start.ranks=2\n", "x=\n"), "SHM-1", PROVED, "n1 (2 ranks)"),
    "unbound": (ONE.replace("allowed=1\n", "allowed=0-1\n"), "SHM-1", CONTRADICTED, "rank 1 may use 2 CPUs"),
    "two CPUs of a core": (HT + CORES, "SHM-1", PROVED, "one core per rank"),
    "two CPUs, of two cores": (HT, "SHM-1", CONTRADICTED, "rank 0 may use 2 CPUs"),
    "bound": (ONE, "SHM", CONTRADICTED, "not unbound"),
    "one core": (ONE.replace("core=1\n", "core=0\n"), "SHM-1", CONTRADICTED, "ranks 0 and 1 share core 0"),
    "two sockets": (
        ONE.replace("rank 1 start.socket=0", "rank 1 start.socket=1"),
        "SHM-1",
        CONTRADICTED,
        "ran on sockets 0, 1",
    ),
    "declared": (
        ONE + "node n1 declared_topology=/x\n",
        "SHM-1",
        PROVED,
        "declared by /x, not the node's own",
    ),
    "far memory": (ONE.replace("N0=900", "N0=9"), "SHM-1", CONTRADICTED, "8% of its memory"),
    "one rank": (JOB + NODE.format("n1") + RANK.replace("=2", "=1").format(rank=0), "SHM-1", NOT_PROVED, ""),
    "two hosts": (TWO, "SHM-1", CONTRADICTED, "n1 (1 rank), n2 (1 rank); claimed 1 node of"),
    "TCP called SHM": (connected(ONE, "lo", 50_000_000), "SHM-1", CONTRADICTED, "50.0 MB over TCP"),
    "a little TCP": (connected(ONE, "lo", 50_000), "SHM-1", NOT_PROVED, "I_MPI_DEBUG=5"),
    "no account": (ONE.replace("rank 1 end.tcp=0\n", ""), "SHM-1", NOT_PROVED, "I_MPI_DEBUG=5"),
    "a launcher's topology": (
        ONE.replace(
            "rank 0 end.tcp=0", "rank 0 end.tcp=1\nrank 0 end.tcp.0=lo 127.0.0.1 9 127.0.0.1 8 955 188028"
        ),
        "SHM-1",
        PROVED,
        "0 B over TCP",
    ),
    "InfiniBand": (ONE + PORT.format(5), "SHM-1", NOT_PROVED, "n1 has RDMA devices"),
    "no counters": (ONE.replace("before.net", "x").replace("after.net", "y"), "SHM-1", NOT_PROVED, "of n1"),
    "TCP over loopback": (connected(ONE, "lo", 50_000_000), "TCP-loopback", NOT_PROVED, "prove it with"),
    "silent TCP": (ONE, "TCP-loopback", NOT_PROVED, "prove it with a benchmark whose messages are known"),
    "TCP": (SENT, "TCP", PROVED, "100.0 MB between ranks that are alone on their hosts"),
    "TCP, one host's counters": (SENT.replace("node n2", "x"), "TCP", PROVED, "alone on their hosts"),
    "TCP, no counters": (SENT.replace("node n", "x"), "TCP", NOT_PROVED, "prove it with"),
    "TCP that was silent": (TWO, "TCP", NOT_PROVED, "prove it with"),
    "TCP beside InfiniBand": (SENT + PORT.format(9_000_000), "TCP", NOT_PROVED, "prove it with"),
    "TCP beside a port that was read once": (
        SENT + PORT.partition("\n")[0] + "\n",
        "TCP",
        NOT_PROVED,
        "prove it",
    ),
    "TCP beside old telemetry": (
        SENT + PORT.format(5).replace("ib.mlx5_0/1", "rdma.cxi0"),
        "TCP",
        NOT_PROVED,
        "prove it",
    ),
    "TCP called IBV": (SENT, "IBV", CONTRADICTED, "over interface eth0, claimed: ibv"),
    "full": (ONE.replace("cores=8", "cores=2"), "SHM-full", PROVED, "n1 (2 ranks)"),
    "not full": (ONE, "SHM-full", CONTRADICTED, "claimed 1 node of 8 ranks"),
    "unknown cores": (ONE.replace("node n1 cores=8\n", ""), "SHM-full", NOT_PROVED, "how many cores"),
    "any": (ONE, "default-node", PROVED, "one core per rank"),
    "preloaded": (
        ONE.replace("rank 0 start.preloads=0\n", f"rank 0 start.preloads=1\n{PRELOAD}"),
        "SHM-1",
        NOT_PROVED,
        "defines MPI_Wtime(); neither the program nor the command asks",
    ),
    "clock": (ONE.replace("end.libc_ns=3", "end.libc_ns=2"), "SHM-1", NOT_PROVED, "by clock_gettime()"),
    "strangers": (ONE.replace("world=2", "world=1"), "SHM-1", NOT_PROVED, "MPI_COMM_WORLD has 1"),
    "failed": (ONE.replace("exit_status=0", "exit_status=9"), "SHM-1", NOT_PROVED, "exit status: 9"),
    "not MPI": (ONE + "rank 0 start.mpi=none\nrank 1 start.mpi=none\n", "SHM-1", NOT_PROVED, "MPI_Init"),
    "several": (ONE + "job programs=3\n", "SHM-1", NOT_PROVED, "3 MPI programs ran"),
    "lost rank": (ONE.replace("start.ranks=2", "start.ranks=3"), "SHM-1", NOT_PROVED, "rank 2 recorded no"),
    "killed": (ONE.replace("rank 1 end.", "rank 1 x."), "SHM-1", NOT_PROVED, "rank 1 recorded no evidence"),
    "static": (NO_RANKS + "job static=./program\n", "SHM-1", NOT_PROVED, "./program is linked statically"),
    "nothing": (NO_RANKS, "SHM-1", NOT_PROVED, "no rank recorded anything"),
}


PLACEMENTS = placements(None)
OUTCOMES = {PROVED: "proved", CONTRADICTED: "contradicted", NOT_PROVED: "not proved"}


def of(text: str, label: str = "") -> Shown:
    claim = placement_claim(PLACEMENTS[label]) if label else {}
    return shown(command_of(read_evidence(f"{text}end of evidence\n"), claim), label)


@pytest.mark.parametrize("name", LABELS)
def test_a_label_is_judged_by_the_evidence(name: str) -> None:
    text, label, status, said = LABELS[name]
    found = of(text, label)
    assert found.outcome == OUTCOMES[status] and len(found.lines) <= 10
    assert f"{label} is {OUTCOMES[status]}: " in found.lines[-1] and said in found.lines[-1]
    assert not of(text).outcome


@pytest.mark.parametrize("name", ["honest", "TCP called SHM", "a little TCP"])
def test_text_data_and_exit_status_agree(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, label, status, _ = LABELS[name]
    file = tmp_path / "evidence"
    file.write_text(f"{text}end of evidence\n")
    assert main(["prove", "--read", str(file), "--placement", label]) == status
    lines = capsys.readouterr().out.splitlines()
    assert main(["prove", "--read", str(file), "--placement", label, "--json"]) == status
    data = json.loads(capsys.readouterr().out)
    assert (data["status"], data["label"]["outcome"]) == (status, OUTCOMES[status])
    texts = {title: data[title]["text"] for title in data if isinstance(data[title], dict)}
    assert [f"{title + ':':<12}{text}" for title, text in texts.items()] == lines
    assert main(["prove", "--read", str(file), "--quiet"]) == 0 and not capsys.readouterr().out


WITH_VARIABLE = ONE.replace(
    "rank 1 start.variables=0", "rank 1 start.variables=1\nrank 1 start.env.I_MPI_FABRICS=ofi"
)
FILE_AND_OPTION = WITH_VARIABLE.replace("mpirun", "mpirun -genv I_MPI_FABRICS ofi") + "".join(
    f"rank 0 end.settings{line}\n"
    for line in ("_files=1", ".0.user=~/mpi.conf", ".0.count=1", ".0.line.1=I_MPI_FABRICS=shm")
)
DOUBTS = {
    "file and option": (FILE_AND_OPTION, "none"),
    "traced": (
        ONE + "rank 1 start.attributes=scheduler=other tracer=none\n"
        "rank 1 end.attributes=scheduler=idle tracer=gdb huge_pages=0\n",
        "ranks: rank 1 had scheduler=idle, tracer=gdb and huge_pages=0",
    ),
    "": (ONE, "none"),
    "shared core": (ONE.replace("core=1\n", "core=0\n"), "binding: ranks 0 and 1 share core 0"),
    "one CPU": (ONE.replace("=1\n", "=0\n"), "binding: 2 ranks on 1 CPU of n1"),
    "nice": (ONE.replace("rank 1 start.nice=0", "rank 1 start.nice=9"), "rank 1 has 9 as its nice value"),
    "launcher": (
        ONE.replace("Intel(R) MPI Library for Linux* OS, Version 2021.18.1", "mpirun (Open MPI) 5.0.1"),
        "launcher: it is that of Open MPI, but the ranks mapped Intel MPI",
    ),
    "version": (ONE.replace("Version 2021.18.1", "Version 2021.9"), "but the launcher is of version 2021.9"),
    "libraries": (
        ONE.replace("rank 1 end.library_build_id=abc", "rank 1 end.library_build_id=d"),
        "rank 1 /opt",
    ),
    "replaced": (ONE.replace("=/opt/program\n", "=/opt/program (deleted)\n"), "replaced or removed"),
    "variable": (WITH_VARIABLE, "rank 1 had I_MPI_FABRICS=ofi, which the command does not set"),
    "variable of an option": (WITH_VARIABLE.replace("mpirun", "mpirun -genv I_MPI_FABRICS ofi"), "none"),
    "misspelt": (
        WITH_VARIABLE.replace("mpirun", "mpirun -genv I_MPI_FABRIX ofi").replace("FABRICS=ofi", "FABRIX=ofi")
        + "rank 1 end.settings_read=I_MPI_PIN\n",
        "variables: nothing reads I_MPI_FABRIX, which the command sets",
    ),
    "within a word": (
        WITH_VARIABLE.replace("mpirun", "bash -c mpirun\\ -genv\\ I_MPI_FABRICS\\ ofi"),
        "none",
    ),
    "within a script": (WITH_VARIABLE + "job launcher_arguments=-genv I_MPI_FABRICS ofi -n 2\n", "none"),
    "InfiniBand": (SENT + PORT.format(5), "TCP between hosts, though n1 has RDMA devices (mlx5_0/1)"),
    "slow interface": (
        SENT + "node n1 speed.eth0=1000\nnode n1 speed.eth1=25000\n",
        "TCP over eth0 (1000 Mb/s), though eth1 (25000 Mb/s) is up",
    ),
    "failed": (ONE.replace("exit_status=0", "exit_status=9"), "exit status: the command failed (9)"),
    "two programs": (ONE + "job programs=2\n", "programs: 2 MPI programs ran; this is of the first"),
    "disturbed": (
        ONE + "rank 1 end.continued=1\n",
        "condition: disturbed, so the command's times say little",
    ),
    "another clock rate": (
        ONE + "rank 0 start.clock_ghz=3.600\nrank 0 end.clock_ghz=1.800\n",
        "machine: clock rate changed while the ranks ran",
    ),
    "balancing": (ONE + "node n1 numa_balancing=1\n", "automatic NUMA balancing of n1"),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_what_one_should_doubt_is_said(name: str) -> None:
    text, said = DOUBTS[name]
    [line] = [line for line in of(text).lines if line.startswith("doubts:")]
    assert said in line


PROBED = "".join(
    f"rank {rank} {moment}.round_trip_ns={trip} to rank {1 - rank}\n"
    f"rank {rank} {moment}.clock_ghz={rate}\nrank {rank} {moment}.copy_gbs=10.0\n"
    for rank in (0, 1)
    for moment, trip, rate in (("start", "70.0", "3.0"), ("end", "280.0", "3.1"))
)
PROBES = "(n1, same socket), clock rate 3 GHz (n1), copy 10 GB/s (n1);"
EACH = "binding:    each rank may use 1 CPU (rank 0: 0, rank 1: 1)"
SHOWN = {
    "one host": (ONE, "hosts:      2 ranks on n1"),
    "as many on each": (TWO, "hosts:      2 ranks, 1 on each of n[1-2]"),
    "one host with more": (TWO + rank_text(2, "n2", 1), "hosts:      3 ranks on n1 (1), n2 (2)"),
    "two CPUs": (
        HT.replace("launch=", "launch=numactl "),
        "binding:    each rank may use 2 CPUs (rank 0: 0,2, rank 1: 1,3), on 1 socket; bound by numactl",
    ),
    "library": (
        ONE,
        "MPI:        /opt/libmpi.so.12 (Intel MPI 2021.18.1, abc); launcher: Intel MPI 2021.18.1",
    ),
    "no launcher": (
        ONE.replace("job launcher_version=", "job x="),
        "MPI:        /opt/libmpi.so.12 (Intel MPI 2021.18.1, abc)",
    ),
    "bytes": (SENT, "transport:  tcp over eth0 (by the ranks' sockets); TCP carried 100.0 MB over eth0"),
    "no bytes": (TWO, "transport:  not known"),
    "no account": (
        TWO.replace("rank 1 end.tcp=0\n", ""),
        "transport:  not known; the ranks have no account of their sockets",
    ),
    "program": (
        f"{ONE}job program=/opt/program\njob program_sha256={'ab' * 32}\n",
        "program:    /opt/program (sha256 abababababab)",
    ),
    "not bound": (ONE.replace("cores=8", "cores=1"), f"{EACH}, on 1 socket"),
    "cores not recorded": (ONE.replace("cores=8", "cores="), f"{EACH}, on 1 socket"),
    "bound": (ONE, f"{EACH}, on 1 socket; bound by the launcher or the MPI library"),
    "no round trip": (ONE, "machine:    round trip not probed"),
    "no pair": (TWO, "machine:    not probed"),
    "changed": (ONE + PROBED, f"machine:    round trip 70 to 280 ns {PROBES} round trip changed"),
    "the same": (ONE + PROBED.replace("=280", "=70"), f"machine:    round trip 70 ns {PROBES} unchanged"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_facts_are_shown_in_the_units_that_people_read(name: str) -> None:
    text, line = SHOWN[name]
    assert line in of(text).lines


def test_an_output_of_another_run_tells_nothing_of_this_one() -> None:
    """It accounts for more than the 2 s that passed, and for messages that nobody sent over TCP."""
    claim, evidence = placement_claim(PLACEMENTS["TCP-loopback"]), read_evidence(f"{ONE}end of evidence\n")
    outcomes = {}
    for time in (9.0, 9000.0):
        printed = imb_pingpong("2019 Update 1", [time] * 9, 1e6)
        found = shown(command_of(evidence, claim, printed), "TCP-loopback")
        outcomes[time] = found.outcome, ["output: it accounts for" in line for line in found.lines[-2:]]
    assert outcomes == {9.0: ("contradicted", [False] * 2), 9000.0: ("not proved", [True] * 2)}


def test_a_file_that_is_cut_or_no_evidence_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "evidence"
    for text, said in (
        (ONE, "cut: its last line"),
        ("hello\n", "not a file of evidence"),
        ("", "not a file"),
    ):
        file.write_text(text)
        assert main(["prove", "--read", str(file)]) == 2
        assert f"{file}" in (error := capsys.readouterr().err) and said in error


THROUGH = """\
import sys
from mpicampaign.run.pass_through import pass_through
print(pass_through(sys.argv[1:]), file=open("passed", "w"))
"""
PRINTS = r"printf 'a\n\377b\r\n'; [ -t 1 ] && echo terminal; echo c >&2; exit 7"


def through(folder: Path, script: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", THROUGH, "sh", "-c", script]
    return popen_with_default_signals(command, cwd=folder, **options)


def test_output_passes_unchanged_and_is_read(tmp_path: Path) -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    assert through(tmp_path, PRINTS, **pipes).communicate() == (b"a\n\xffb\r\n", b"c\n")
    assert (tmp_path / "passed").read_text() == "Passed(status=7, out='a\\n\ufffdb\\r\\n', err='c\\n')\n"
    reading, writing = pty.openpty()
    through(tmp_path, PRINTS, stdout=writing, stderr=subprocess.DEVNULL).wait()  # two streams have no order
    os.close(writing)
    assert os.read(reading, 1000) == b"a\r\n\xffb\r\r\nterminal\r\n", "as without anything between"
    os.close(reading)


def test_signals_reach_the_command_and_its_status_is_kept(tmp_path: Path) -> None:
    script = "trap 'exit 5' INT TERM; echo on; for n in $(seq 500); do sleep 0.02; done"
    for number in (signal.SIGTERM, signal.SIGINT):
        process = through(tmp_path, script, stdout=subprocess.PIPE, start_new_session=True)
        assert process.stdout is not None and process.stdout.readline() == b"on\n"
        process.send_signal(number)
        process.communicate()
        assert (tmp_path / "passed").read_text().startswith("Passed(status=5,")
