"""The campaign file that the doctor writes: it loads, matches the findings, and no name does harm."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import succeeded
from hypothesis import given
from hypothesis import strategies as st
from minicluster import MiniCluster

from mpicampaign.campaign.file import load_campaign
from mpicampaign.campaign.model import Campaign
from mpicampaign.schedulers import SCHEDULERS
from mpicampaign.schedulers.listings import Node, NodeClass, Queue
from mpicampaign.schedulers.slurm import SCHEDULER as SLURM
from mpicampaign.schedulers.slurm import read_nodes
from mpicampaign.site.campaign_file import campaign_text, refusal
from mpicampaign.site.facts import Interface, NodeGroup, NodeProbe, Port, Site, SiteLibrary
from mpicampaign.site.text import site_lines

ETHERNET = Interface("eno1", True, 25000, True, True)
DEVICE = Port("mlx5_0", "1", True, 100.0, "infiniband")
MILAN_NODES = tuple(Node(name, True, ("milan",), 2, 128, 256) for name in ("m1", "m2"))
ROME_NODES = tuple(Node(name, True, ("rome",), 2, 64, 64) for name in ("r1", "r2"))
MILAN = NodeClass("compute", MILAN_NODES, ROME_NODES)
ROME = NodeClass("compute", ROME_NODES, MILAN_NODES)
PROBE = NodeProbe("m1", 2, 128, 256, (ETHERNET,), (DEVICE,), {"numactl": "/usr/bin/numactl"})
WHEEL = SiteLibrary("wheel")


def site(*groups: NodeGroup, scheduler: str = "slurm", libraries: tuple[SiteLibrary, ...] = (WHEEL,)) -> Site:
    return Site(SCHEDULERS[scheduler], groups, libraries=libraries, modules="none", host="login1.example")


def loaded(found: Site, folder: Path) -> Campaign:
    path = folder / "site.yaml"
    path.write_text(campaign_text(found), encoding="utf-8")
    return load_campaign(path)


def matrix(campaign: Campaign) -> dict[str, tuple[str, ...]]:
    return {group: entry.placements for entry in campaign.matrix for group in entry.host_groups}


@pytest.mark.parametrize(
    ("programs", "words"),
    [
        (["numactl"], ""),
        (["numactl", "taskset"], ""),
        (["taskset"], "taskset binds the ranks"),
        ([], "are n/a"),
    ],
)
def test_the_tools_that_bind_ranks_are_reported(programs: list[str], words: str) -> None:
    probe = replace(PROBE, programs={name: f"/bin/{name}" for name in programs})
    lines = site_lines(site(NodeGroup("milan", MILAN, probe)))
    assert {f"  {name} on the PATH: /bin/{name}" for name in programs} <= set(lines)
    said = [line for line in lines if "ranks" in line]
    assert [words in line for line in said] == ([True] if words else [])


def test_down_interfaces_and_virtual_speeds_are_not_claims(tmp_path: Path) -> None:
    interfaces = (
        replace(ETHERNET, hardware=False),
        Interface("eno2", False, 1000, True, False),
        Interface("eno3", True, None, True, False),
    )
    found = site(
        NodeGroup("g", MILAN, replace(PROBE, interfaces=interfaces, ports=(replace(DEVICE, active=False),)))
    )
    fabrics = loaded(found, tmp_path).host_groups["g"].fabrics
    assert list(fabrics) == ["eno1"] and fabrics["eno1"].bytes_per_second is None
    text = campaign_text(found)
    for note in (
        "eno2 is not up",
        "eno3 has no IPv4 route",
        "ports not active (1): mlx5_0/1",
        "eno1 reports 25000",
    ):
        assert note in text


def test_groups_that_are_down_stay_out_of_the_matrix(tmp_path: Path) -> None:
    down = ROME.only(node._replace(usable=False) for node in ROME_NODES)
    found = site(NodeGroup("milan", MILAN, PROBE), NodeGroup("rome", down))
    campaign = loaded(found, tmp_path)
    assert list(matrix(campaign)) == ["milan"] and "rome" in campaign.host_groups
    assert "# rome is left out" in campaign_text(found)


def test_modules_where_there_is_no_wheel(tmp_path: Path) -> None:
    libraries = (
        SiteLibrary("openmpi5", module="openmpi/5.0"),
        SiteLibrary("intelmpi", module="impi/1"),
        SiteLibrary("", "x/1"),
    )
    found = site(NodeGroup("milan", MILAN, PROBE), libraries=libraries)
    campaign = loaded(found, tmp_path)
    system = campaign.systems["cluster"]
    assert (system.mpi.name, system.modules) == ("openmpi5", ("openmpi/5.0",))
    assert campaign.matrix[0].benchmarks == ("point_to_point", "tree_gather")
    with_imb = NodeGroup("milan", MILAN, replace(PROBE, programs={"IMB-MPI1": "/apps/IMB-MPI1"}))
    provider = loaded(site(with_imb, libraries=libraries), tmp_path).benchmarks["PingPong"].provider
    assert (provider.kind, provider.location) == ("path", "/apps/IMB-MPI1")
    text = campaign_text(found)
    assert "# Other MPI libraries found here." in text and "of these hosts are listed" not in text
    assert "    # - {mpi: intelmpi, modules: impi/1}\n" in text
    assert "    # x/1: not one of the built-in libraries" in text


# ---- Hostile names

HOSTILE = [
    "all\nmpis: {x: 1}",
    "p #comment",
    "p: {a: b}",
    "*alias",
    "&anchor",
    "!!python/object:os.system",
    "{{ jinja }}",
    "$(touch pwned)",
    "'; touch pwned; '",
    "-p --wrap=x",
    "é\u2028x",
    "\x1b[2J",
    "",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_no_job_script_may_hold_are_refused_with_a_message(name: str) -> None:
    words = refusal(replace(MILAN, queue=name), SLURM)
    assert "cannot be used in a job script" in words and words.isprintable()
    nodes = NodeClass("p", (Node("n1", features=(name,)),), (Node("n2"),))
    assert not refusal(nodes, SLURM)
    assert SLURM.host_group(nodes) == {"partition": "p", "constraint": "", "directives": ["--exclude=n2"]}
    named_so = NodeClass("p", (Node("n1"),), (Node(name),))
    assert SLURM.host_group(named_so)["directives"] == []
    assert "cannot be used in a job script" in refusal(NodeClass("q", (Node(name),)), SCHEDULERS["lsf"])  # type: ignore[arg-type]


@given(st.text(max_size=20))
def test_what_is_printed_cannot_steer_a_terminal(text: str) -> None:
    probe = NodeProbe(text, 1, 2, 2, (Interface(text, True, 1, True, True),), programs={"mpirun": text})
    nodes = NodeClass(text, (Node(text, True, (text,), 1, 2),), (Node("n2"),), (text,))
    found = Site(
        SLURM,
        (NodeGroup("g", nodes, probe),),
        (Queue(text, True, True, text),),
        (SiteLibrary("", text),),
        text,
    )
    assert all(line.isprintable() for line in site_lines(found))


Done = subprocess.CompletedProcess[str]


@pytest.fixture
def folder(minicluster: MiniCluster, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder of the ordinary user's in the file system that head and nodes share."""
    path = minicluster.home / f"{request.node.name[:40]} %j"
    path.mkdir()
    minicluster.give(path)
    yield path
    shutil.rmtree(path)


def run(cluster: MiniCluster, folder: Path, *arguments: str) -> Done:
    command = [sys.executable, "-m", "mpicampaign.cli", *arguments]
    return cluster.call(command, env=cluster.environment, cwd=folder)


def last_job(cluster: MiniCluster) -> int:
    return max((int(job) for job in cluster.queue()), default=0)


@pytest.mark.slow
def test_two_groups_are_found_with_their_sockets_cores_and_networks(
    minicluster: MiniCluster, folder: Path
) -> None:
    before = last_job(minicluster)
    done = run(minicluster, folder, "doctor")
    assert done.returncode == 0, done.stderr + done.stdout
    words = done.stdout
    assert "scheduler: Slurm" in words and "partition all: default, at most 1:00:00" in words
    for group, hardware in (
        ("blue (all, blue): 2 nodes, 2 usable: n1, n2", "sockets of a node: 1, cores: 2, memory: "),
        ("red (all, red): 2 nodes, 2 usable: n3, n4", "sockets of a node: 2, cores: 2, memory: "),
    ):
        assert f"host group {group}\n  {hardware}" in words
    assert words.count("network interfaces: eth0 up, ") == words.count("; eth1 up, ") == 2
    assert words.count("RDMA devices: not found") == 2
    assert "hardware read from MPICAMPAIGN_SYSFS" in words
    assert last_job(minicluster) == before + 2
    assert [path.name for path in folder.iterdir()] == ["site.yaml"]


@pytest.mark.slow
def test_the_headers_that_slurm_prints_are_known(minicluster: MiniCluster) -> None:
    """Where a wrapper of a site drops --noheader."""
    for command, read in ((SLURM.site_questions[0], read_nodes), (SLURM.query("root"), SLURM.read_queue)):
        plain = minicluster.call([*command]).stdout
        headed = minicluster.call([word for word in command if word != "--noheader"]).stdout
        assert sorted(headed.splitlines()[1:]) == sorted(plain.splitlines())  # sinfo's order changes
        assert sorted(map(repr, read(headed))) == sorted(map(repr, read(plain)))


@pytest.mark.slow
@pytest.mark.full
def test_busy_nodes_are_waited_for_so_long_and_the_probe_is_cancelled(
    minicluster: MiniCluster, folder: Path
) -> None:
    holder = minicluster.call(["sbatch", "--parsable", "-pblue", "-N2", "--exclusive", "--wrap=sleep 60"])
    job = holder.stdout.strip()
    try:
        minicluster.wait_for(lambda: minicluster.queue()[job] == "RUNNING", 20, "the nodes are busy")
        done = run(minicluster, folder, "doctor", "--partition", "blue", "--time-limit", "2 s")
        assert done.returncode == 0, done.stderr
        assert f"probe job {int(job) + 1} had not started after 2 s (PENDING" in done.stdout
        assert "sockets of a node: 1, cores: 2 (from the scheduler)" in done.stdout
        states = minicluster.queue()
        assert (states[job], states[str(int(job) + 1)]) == ("RUNNING", "CANCELLED")
        assert succeeded(run(minicluster, folder, "plan", "--campaign", "site.yaml"))
    finally:
        minicluster.call(["scancel", job])
        minicluster.wait_for(lambda: minicluster.queue()[job] == "CANCELLED", 20, "the nodes are free")


@pytest.mark.slow
@pytest.mark.full
def test_a_folder_that_nodes_do_not_see_is_named_as_the_reason(minicluster: MiniCluster) -> None:
    """Each node has its own /tmp: Slurm cannot write the log there, and the output is not visible."""
    done = run(minicluster, minicluster.home, "doctor", "--partition", "red", "--output", "/tmp/site.yaml")
    assert done.returncode == 0, done.stderr
    assert "its output is not seen in /tmp: is that folder shared with the nodes?" in done.stdout
