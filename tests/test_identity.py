"""Changes that make a run a different one, and changes that do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from build_campaigns import BENCHMARK, INTEL_MPI, PLACEMENTS, AnyMachine, campaign, plan, write_campaign

from mpicampaign.base.identity import canonical, differences, identity
from mpicampaign.base.plan_file import plan_json
from mpicampaign.campaign.file import load_campaign
from mpicampaign.campaign.model import Campaign, HostFabric, Placement, Provider
from mpicampaign.jobs.plan import make_plan
from mpicampaign.jobs.planned import PlannedCase
from mpicampaign.jobs.software import Program
from mpicampaign.mpis import MPIS
from mpicampaign.suites import SUITES

Change = Callable[[Campaign], Campaign]


def of_system(**values: Any) -> Change:
    def change(made: Campaign) -> Campaign:
        return replace(made, systems={"here": replace(made.systems["here"], **values)})

    return change


def of_group(**values: Any) -> Change:
    def change(made: Campaign) -> Campaign:
        return replace(made, host_groups={"blue": replace(made.host_groups["blue"], **values)})

    return change


def of_placement(**values: Any) -> Change:
    def change(made: Campaign) -> Campaign:
        return replace(made, placements={n: replace(p, **values) for n, p in made.placements.items()})

    return change


def of_benchmark(**values: Any) -> Change:
    def change(made: Campaign) -> Campaign:
        return replace(made, benchmarks={n: replace(b, **values) for n, b in made.benchmarks.items()})

    return change


ETHERNET = HostFabric("ethernet", "tcp", "eth0")
TCP = {"TCP": Placement("TCP", 2, 1, "tcp")}


def made(placements: dict[str, Placement] | None = None, **system: Any) -> Campaign:
    return campaign(placements, group={"fabrics": {"ethernet": ETHERNET}}, repeats=2, **system)


def identities(campaign_: Campaign) -> list[str]:
    return [identity for case in plan(campaign_).cases for identity in named(case)]


def named(case: PlannedCase) -> list[str]:
    """The identities of a case's repeats."""
    return [run.identity for run in case.runs]


SAME: dict[str, Change] = {
    "time limit": lambda made: replace(made, matrix=(replace(made.matrix[0], time_limit=3600),)),
    "time when busy": lambda c: replace(c, time_when_busy=60),
    "account": of_group(account="project"),
    "attributes": of_group(attributes={"cpu": "Broadwell"}),
    "quality of service": of_group(qos="long"),
    "reservation": of_group(reservation="acceptance"),
    "licences": of_group(licenses="fabric:1"),
    "requeue": of_group(requeue=False),
    "type of GPUs that no placement asks for": of_group(gpu_type="a100"),
    "title, seed and name": lambda c: replace(c, title="New", seed=7, name="other"),
    "description": of_placement(description="in other words"),
    "line rate": of_group(fabrics={"ethernet": replace(ETHERNET, bytes_per_second=1e9)}),
    "another network": of_group(
        fabrics={"ethernet": ETHERNET, "ib": HostFabric("ib", "ibv", device="mlx5_0")}
    ),
    "login hosts": of_system(login_hosts=("login*",)),
    "folders of programs": of_system(programs={"IMB-MPI1": "/elsewhere/IMB-MPI1"}),
    "folder of the prefix": of_system(prefix="/moved"),
    "smallest number of ranks": of_benchmark(ranks_minimum=2),
    "cores of a node that is not filled": of_group(cores=4),
}
OTHER: dict[str, Change] = {
    "arguments": of_benchmark(arguments=("PingPong", "-iter", "7")),
    "provider": of_benchmark(provider=Provider("module", modules=("imb/2021",))),
    "module of the program": of_benchmark(provider=Provider("path", "/apps/IMB-MPI1", ("gcc/13",))),
    "modules": of_system(modules=("gcc/13",)),
    "prefix": of_system(prefix_name="/opt/mpi"),
    "launcher options": of_system(launcher_options=("-v",)),
    "variables": of_system(environment={"UCX_TLS": "all"}),
    "an empty variable": of_system(environment={"UCX_TLS": ""}),
    "MPI library": of_system(mpi=replace(INTEL_MPI, name="openmpi5")),
    "a library of its own": of_system(mpi=replace(INTEL_MPI, own=True)),
    "evidence": of_system(evidence=False),
    "hosts": of_group(hosts=("n1",)),
    "members": of_group(members=("n*",)),
    "partition": of_group(partition="compute"),
    "constraint": of_group(constraint="haswell"),
    "exclusive": of_group(exclusive=True),
    "hint": of_group(hint="nomultithread"),
    "memory": of_group(memory="64G"),
    "switches": of_group(switches="1"),
    "generic resources": of_group(gres="gpu:1"),
    "GPUs": of_placement(gpus_per_node=2),
    "GPUs of each rank": of_placement(gpu_binding="none"),
    "sockets": of_placement(sockets=2),
    "shared memory within nodes": of_placement(within_node="shm"),
    "binding": of_placement(binding="library"),
    "prefix of the program": of_placement(program_prefix=("numactl", "-i", "all")),
    "interface": of_group(fabrics={"ethernet": replace(ETHERNET, interface="eth1")}),
    "provider of libfabric": of_group(fabrics={"ethernet": replace(ETHERNET, provider="tcp")}),
    "link": of_group(fabrics={"ethernet": replace(ETHERNET, link="roce")}),
}


@pytest.mark.parametrize("what", SAME)
def test_what_decides_nothing_repeats_nothing(what: str) -> None:
    for placements in (None, TCP):
        assert identities(SAME[what](made(placements))) == identities(made(placements))


@pytest.mark.parametrize("what", OTHER)
def test_what_is_declared_otherwise_is_another_run(what: str) -> None:
    changed = OTHER[what](made(TCP))
    assert not set(identities(changed)) & set(identities(made(TCP)))


def test_exactly_the_runs_concerned_are_others() -> None:
    changed = {**PLACEMENTS, "SHM-1": replace(PLACEMENTS["SHM-1"], sockets=2)}
    before, now = plan(campaign()).cases, plan(campaign(changed)).cases
    same = [named(a) == named(b) for a, b in zip(before, now, strict=True)]
    assert same == [False, True]


def test_every_repeat_is_a_run_of_its_own_and_more_repeats_change_none() -> None:
    few, many = (plan(campaign(repeats=count)).cases for count in (2, 4))
    assert len({identity for case in many for identity in named(case)}) == 8
    assert [named(case)[:2] for case in many] == [named(case) for case in few]


def test_nothing_of_a_machine_is_in_an_identity() -> None:
    other = AnyMachine(
        find_program=lambda system, benchmark: Program("/elsewhere/IMB-MPI1", "6" * 64),
        evidence_library=lambda system: "/elsewhere/evidence.so",
        libraries=lambda system: "abcdef",
        physical_cores=lambda: 64,
    )
    full = campaign({**PLACEMENTS, "full": Placement("full", 1, "cores", "shm")})
    assert plan_json(plan(full)) == plan_json(plan(full, other))
    assert "/" not in canonical({**plan(full).cases[0].declared, "provider.location": ""})


def test_cores_are_declared_where_a_placement_fills_the_node() -> None:
    full = {"full": Placement("full", 1, "cores", "shm")}
    assert not set(identities(of_group(cores=4)(made(full)))) & set(identities(made(full)))


@pytest.mark.parametrize(
    ("number", "raised", "suite"),
    [("measurement", 2, "imb"), ("measurement", 2, "kernel"), ("versions", {"b_eff": 99}, "kernel")],
)
def test_a_raised_number_of_a_suite_makes_others_of_its_own_runs_alone(
    monkeypatch: pytest.MonkeyPatch, number: str, raised: object, suite: str
) -> None:
    bundled = of_benchmark(suite="kernel", program="b_eff", provider=Provider("bundled"))(made())
    before = [identities(each) for each in (made(), bundled)]
    monkeypatch.setattr(type(SUITES[suite]), number, raised)
    changed = [identities(each) != was for each, was in zip((made(), bundled), before, strict=True)]
    assert changed == [suite == "imb", suite == "kernel"]


def test_a_raised_number_of_an_mpi_library_makes_others_of_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = of_benchmark(suite="kernel", program="b_eff", provider=Provider("bundled"))(made())
    before = [identities(each) for each in (made(), bundled)]
    monkeypatch.setitem(MPIS._built_in, "intelmpi", replace(MPIS["intelmpi"], measurement=2))
    assert all(identities(each) != was for each, was in zip((made(), bundled), before, strict=True))


def test_a_new_field_at_its_default_changes_no_identity() -> None:
    """Declared keys at their defaults are left out: the identities of a plain run are predictable."""
    declared = {
        **{"system": "here", "host_group": "blue", "placement": "SHM", "benchmark": "PingPong", "repeat": 1},
        **{"scheduler": "none", "launcher": "hydra", "mpi": "intelmpi", "suite": "imb"},
        **{"program": "IMB-MPI1", "arguments": ["PingPong"], "provider": "path"},
        **{"provider.location": "/apps/IMB-MPI1", "placement.nodes": 1, "placement.ranks_per_node": 2},
        **{"placement.transport": "shm", "placement.binding": "none"},
    }
    [run] = [r for r in plan(campaign()).runs if r.case.placement == "SHM" and r.repeat == 1]
    assert run.declared == declared
    assert run.identity == identity(declared) == identity(json.loads(canonical(declared)))


FULL = """\
campaign: full
systems: {{here: {{scheduler: slurm, mpi: {mpi}}}}}
mpis: {{openmpi5: {{command: mpiexec}}}}
host_groups: {{blue: {{system: here, cores: 4, fabrics: {{eth: {{transport: tcp, interface: eth0}}}}}}}}
placements: {placements}
benchmarks: {{PingPong: {{provider: {{kind: path, location: /bin/true}}}}}}
matrix: [{{host_groups: blue, placements: TCP-full, benchmarks: PingPong, repeats: 1}}]
"""


@pytest.mark.parametrize(("mpi", "strict"), [("intelmpi", "0b48b452e137"), ("openmpi5", "410d0a887bb5")])
def test_a_full_placement_in_a_campaign_file_keeps_the_runs_of_releases_before_within_node(
    tmp_path: Path, mpi: str, strict: str
) -> None:
    """The built-in one has shared memory within nodes; an entry of the file has what the file says."""
    entries = (
        "{}",
        "{TCP-full: {within_node: shm}}",
        "{TCP-full: {within_node: network}}",
        "{TCP-full: {description: as ever}}",
        "{TCP-full: {nodes: 2, ranks_per_node: cores, transport: tcp}}",
    )
    found = []
    for entry in entries:
        path = tmp_path / "campaign.yaml"
        path.write_text(FULL.format(mpi=mpi, placements=entry))
        [case] = make_plan(load_campaign(path), ["here"], AnyMachine()).cases
        found += named(case)
    built_in, shared, *others = found
    assert built_in == shared != strict
    assert set(others) == {strict}


def test_a_library_that_the_campaign_describes_is_part_of_the_identity(tmp_path: Path) -> None:
    found = {}
    for mpi, command in (("mine", "mpirun"), ("mine", "mpiexec"), ("intelmpi", "mpirun"), ("intelmpi", "x")):
        path = write_campaign(
            tmp_path / "own.yaml",
            mpis={"mine": {"launcher": "hydra", "command": command, "transports": {"shm": {}}}},
            system={"mpi": mpi},
            benchmarks={"PingPong": {"provider": {"kind": "path", "location": "/bin/true"}}},
        )
        [case] = make_plan(load_campaign(path), ["here"], AnyMachine()).cases
        found[mpi, command] = case.declared
    assert found["mine", "mpirun"] != found["mine", "mpiexec"]
    assert found["intelmpi", "mpirun"] == found["intelmpi", "x"]  # a change of another library
    assert not [key for key in found["intelmpi", "x"] if key.startswith("mpi.")]


def test_differences_are_named_key_by_key() -> None:
    before = {"arguments": ["-iter", "1000"], "placement.sockets": 1, "same": "x"}
    now = {"arguments": ["-iter", "2000", "a b"], "same": "x", "environment.A": "1"}
    assert differences(before, now) == [
        "arguments: -iter 1000 → -iter 2000 'a b'",
        "placement.sockets: 1 → (default)",
        "environment.A: (default) → 1",
    ]
    assert BENCHMARK.name == "PingPong"
