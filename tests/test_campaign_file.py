"""Campaign files: the resulting campaigns; every kind of error with its line, key path, value and hint."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from build_campaigns import MACHINE

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.campaign.file import load_campaign
from mpicampaign.campaign.model import Campaign, MatrixEntry, campaign_schema
from mpicampaign.jobs.plan import make_plan

ROOT = Path(__file__).parents[1]
SECTIONS = {
    "campaign": "campaign: c",
    "systems": """\
systems:
  here: {scheduler: none, mpi: intelmpi}
  slurm: {scheduler: slurm, mpi: openmpi5}
  lsf: {scheduler: lsf, mpi: platform}
""",
    "host_groups": """\
host_groups:
  local: {system: here}
  blue:
    system: slurm
    partition: short
    cores: 16
    fabrics:
      eth: {transport: tcp, interface: eth0, rate: 1 Gbit/s}
      ib: {transport: ibv, device: mlx5_0}
  old: {system: lsf, queue: normal, hosts: oldhosts}
""",
    "matrix": """\
matrix:
  - {host_groups: blue, placements: [SHM-1, TCP, IBV], benchmarks: PingPong}
""",
}


def campaign_text(**sections: str) -> str:
    """A campaign file without errors, with some sections replaced or added."""
    return "\n".join(dedent(text).strip("\n") for text in (SECTIONS | sections).values()) + "\n"


def write(folder: Path, text: str, name: str = "campaign.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def load(folder: Path, **sections: str) -> Campaign:
    return load_campaign(write(folder, campaign_text(**sections)))


def problems(path: Path) -> list[Problem]:
    with pytest.raises(UserError) as caught:
        load_campaign(path)
    return list(caught.value.problems)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0:45", 2700), ("90 s", 90), ("1.5 min", 90), ("10 min", 600), ("1.2 s", 2), ("1:30:00", 5400)],
)
def test_time_limits(tmp_path: Path, text: str, seconds: int) -> None:
    assert load(tmp_path, time_limit=f"time_limit: {text}").matrix[0].time_limit == seconds


def test_selectors_reach_the_host_group(tmp_path: Path) -> None:
    text = """
        host_groups:
          local: {system: here}
          blue:
            {system: slurm, partition: "short,long", constraint: "[rack1|rack2]&(a|b)*2", reservation: r_1,
             account: p@x, qos: high, licenses: "fabric:1,x@server:2",
             exclusive: true, directives: ["--mem=0", '--comment="a b"'],
             members: "n*"}
          old: {system: lsf, queue: normal}
        """
    matrix = "matrix: [{host_groups: blue, placements: SHM-1, benchmarks: PingPong}]"
    group = load(tmp_path, host_groups=text, matrix=matrix).host_groups["blue"]
    assert (group.partition, group.constraint) == ("short,long", "[rack1|rack2]&(a|b)*2")
    assert (group.reservation, group.account, group.qos, group.exclusive) == ("r_1", "p@x", "high", True)
    assert group.licenses == "fabric:1,x@server:2"
    assert group.directives == ("--mem=0", '--comment="a b"')
    assert group.members == ("n*",)


@pytest.mark.parametrize("directive", ["--comment='a", '--comment=a"', "--comment=a\\"])
def test_a_directive_with_malformed_quoting_is_reported(tmp_path: Path, directive: str) -> None:
    own = SECTIONS["host_groups"].replace("cores: 16", f"cores: 16\n    directives: {json.dumps(directive)}")
    (problem,) = problems(write(tmp_path, campaign_text(host_groups=own)))
    assert (problem.key, problem.value) == ("host_groups.blue.directives", repr(directive))
    assert "cannot split this line into options: no " in problem.message


def test_several_options_and_quoted_texts_in_a_directive_are_fine(tmp_path: Path) -> None:
    directives = ["--mem=0 --hint=nomultithread", "--comment='-N 7'", "--time-min=5", "-C a", "--nodelist=n1"]
    systems = SECTIONS["systems"].replace("openmpi5}", f"openmpi5, directives: {json.dumps(directives)}}}")
    lsf = '-R "select[type==any]" -Jd "a -n 4"'
    systems = systems.replace("platform}", f"platform, directives: {json.dumps(lsf)}}}")
    assert load(tmp_path, systems=systems).systems["slurm"].directives == tuple(directives)


FIXTURE = Path(__file__).parent / "fixtures" / "campaign_errors.yaml"
ERRORS = yaml.safe_load(FIXTURE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("error", ERRORS, ids=[error["name"] for error in ERRORS])
def test_each_error_is_reported_with_line_key_and_value(tmp_path: Path, error: dict[str, Any]) -> None:
    text = campaign_text(**error.get("sections", {}))
    for old, new in error.get("edits", {}).items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = write(tmp_path, text)
    (problem,) = problems(path)
    lines = [number for number, line in enumerate(path.read_text().splitlines(), 1) if line.endswith("# !")]
    assert problem.file == str(path)
    assert [problem.line] == (lines or [1])
    assert (problem.key, problem.value) == (error["key"], error.get("value", ""))
    assert error["message"] in f"{problem.message} {problem.hint}"


def test_consequences_of_an_error_are_not_reported(tmp_path: Path) -> None:
    """IBV needs a fabric, but the misspelt key probably gives it; SHM-full needs cores, which are wrong."""
    host_groups = """
        host_groups:
          local: {system: here}
          blue: {system: slurm, cores: lots, fabric: {ib: {transport: ibv, device: mlx5_0}}}
        """
    matrix = "matrix: [{host_groups: blue, placements: [IBV, SHM-full], benchmarks: PingPong}]"
    path = write(tmp_path, campaign_text(host_groups=host_groups, matrix=matrix))
    assert {problem.key for problem in problems(path)} == {
        "host_groups.blue.fabric",
        "host_groups.blue.cores",
    }


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("scheduler: slurm", "scheduler: slrum", "systems.slurm.scheduler"),
        ("mpi: openmpi5", "mpi: openmpi6", "systems.slurm.mpi"),
        ("mpi: openmpi5", "mpi: openmpi5, launcher: hydra", "systems.slurm.launcher"),
        ("slurm: {scheduler: slurm, mpi: openmpi5}", "slurm: 5", "systems.slurm"),
        ("system: slurm", "system: slrum", "host_groups.blue.system"),
    ],
)
def test_errors_independent_of_the_systems_are_reported_with_it(
    tmp_path: Path, old: str, new: str, key: str
) -> None:
    """Fabrics, cores, hosts and ranks are the host group's own; settings for tcp are the MPI library's."""
    host_groups = "host_groups:\n  blue: {system: slurm, cores: 4, hosts: [n1, n1]}\n"
    placements = """
        placements:
          many: {nodes: 1, ranks_per_node: 5, transport: any}
          one: {nodes: 1, ranks_per_node: 1, transport: any}
        """
    matrix = "matrix: [{host_groups: blue, placements: [IBV, TCP, many, one], benchmarks: PingPong}]"
    text = campaign_text(host_groups=host_groups, matrix=matrix, placements=placements)
    assert text.count(old) == 1
    found = {problem.key: problem.message for problem in problems(write(tmp_path, text.replace(old, new)))}
    tcp = found.pop("matrix[0].placements[1]", None)
    assert (tcp is not None) == key.endswith(("launcher", "scheduler"))
    assert set(found) == {key, "host_groups.blue.hosts[1]"} | {
        f"matrix[0].{each}" for each in ("placements[0]", "placements[2]", "benchmarks")
    }
    assert "no fabric for transport ibv" in found["matrix[0].placements[0]"]


def test_platform_mpi_needs_no_interface(tmp_path: Path) -> None:
    load(tmp_path, matrix="matrix: [{host_groups: old, placements: TCP, benchmarks: PingPong}]")


# ---- include


def test_circles_are_reported(tmp_path: Path) -> None:
    write(tmp_path, "include: b.yaml\n", "a.yaml")
    write(tmp_path, "include: a.yaml\n", "b.yaml")
    found = problems(write(tmp_path, "include: a.yaml\n" + campaign_text()))
    assert ["circle" in problem.message for problem in found] == [True]


def test_too_many_included_files(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path, f"include: [f{number + 1}.yaml, f{number + 1}.yaml]\n", f"f{number}.yaml")
    write(tmp_path, "seed: 1\n", "f20.yaml")
    found = problems(write(tmp_path, "include: f0.yaml\n" + campaign_text()))
    assert any("files are included" in problem.message for problem in found)


@pytest.mark.parametrize("value", ["5", "[5]", "{a: b}", "[[a]]", '""', '"a\\0b"', "[~x, 1.5]"])
def test_include_takes_names(tmp_path: Path, value: str) -> None:
    found = problems(write(tmp_path, f"include: {value}\n" + campaign_text()))
    assert all(problem.line == 1 or problem.hint.endswith(":1") for problem in found)


@pytest.mark.parametrize("text", ["", "# nothing\n", "[]", "just a text", "5", "- campaign: c"])
def test_files_that_are_not_campaigns(tmp_path: Path, text: str) -> None:
    assert problems(write(tmp_path, text))


def test_a_very_large_matrix_is_refused_at_once(tmp_path: Path) -> None:
    names = [f"g{number}" for number in range(2000)]
    groups = "host_groups:\n" + "\n".join(f"  {name}: {{system: slurm}}" for name in names)
    placements = "placements:\n" + "\n".join(
        f"  p{n}: {{nodes: 1, ranks_per_node: 2, transport: shm}}" for n in range(100)
    )
    listed = ", ".join(f"p{number}" for number in range(100))
    matrix = (
        f"matrix:\n  - {{host_groups: [{', '.join(names)}], placements: [{listed}], benchmarks: PingPong}}"
    )
    (problem,) = problems(
        write(tmp_path, campaign_text(host_groups=groups, placements=placements, matrix=matrix))
    )
    assert problem.value == "200000"


# ---- the schema itself


def test_every_pattern_is_whole_and_has_a_description() -> None:
    def walk(node: object) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("pattern"), str):
                assert node["pattern"].startswith("^")
                assert node["pattern"].endswith("$")
                assert "x-message" in node
            for each in (value for name, value in node.items() if name != "examples"):
                walk(each)
        elif isinstance(node, list):
            for each in node:
                walk(each)

    walk(campaign_schema())


# ---- any input yields a campaign or a list of errors

BITS = ["", "\t", "\0", "\x1b", "\u2028", "\n", "- ", ": ", "<<: ", "&a ", "[" * 30, "ü", "🙂", "{a: b}"]
BITS += ["~", "[]", "{}", "-1", "1e99", "99999999", "*a", "!x", "true", "'", '"', "#", "$(x)", "cores"]
BITS += ["none", "slurm", "lsf", "srun", "ibv", "tcp", "SHM-1", "TCP"]


@pytest.mark.parametrize(("machine", "mpi"), [("x86_64", "intelmpi"), ("aarch64", "mpich-ofi")])
def test_mpi_of_the_wheels_is_the_one_that_exists_for_the_machine(machine: str, mpi: str) -> None:
    code = (
        "import os, types; os.uname = lambda: types.SimpleNamespace(machine=%r)\n"
        "from pathlib import Path; from mpicampaign.campaign.file import load_campaign\n"
        "system = load_campaign(Path(%r)).systems['this-machine']; print(system.mpi.name, system.prefix)"
    )
    command = [sys.executable, "-c", code % (machine, str(ROOT / "campaign.yaml"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    assert done.stdout.split() == [mpi, sys.prefix]


def test_a_block_has_its_own_repeats_and_time_limit(tmp_path: Path) -> None:
    matrix = """
        matrix:
          - {host_groups: [blue], placements: SHM, benchmarks: PingPong, repeats: 3, time_limit: 90 s}
        """
    (entry,) = load(tmp_path, matrix=matrix).matrix
    assert entry == MatrixEntry(("blue",), ("SHM",), ("PingPong",), 3, 90)


WITH_PATHS = """\
campaign: c
include: site/more.yaml
schedule: {every: 1 day, series: new, notify: ./tell me}
systems: {here: {scheduler: none, mpi: wheel, source: [set-up.sh, /etc/profile]}}
host_groups: {local: {system: here}}
benchmarks:
  path: {suite: imb, program: p, provider: {kind: path, location: bin/p}, inputs: mesh.bin}
  conda: {suite: imb, program: p, provider: {kind: conda, location: env}}
  spack: {suite: imb, program: p, provider: {kind: spack, location: imb}}
  earlier: {suite: imb, program: p, provider: {kind: path, location: only-here/p}}
matrix: [{host_groups: local, placements: SHM, benchmarks: [path, conda, spack, earlier, source]}]
"""
MORE = "benchmarks: {source: {suite: imb, program: p, provider: {kind: source, location: s, build: make}}}\n"


def test_all_paths_are_relative_to_the_file_that_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    (folder / "site").mkdir(parents=True)
    (tmp_path / "only-here").mkdir()
    (tmp_path / "only-here/p").touch()  # programs before 0.2 were relative to the working folder
    (folder / "mesh.bin").touch()
    write(folder, WITH_PATHS)
    write(folder, MORE, "site/more.yaml")
    monkeypatch.chdir(tmp_path)
    made = load_campaign(Path("mine/campaign.yaml"))
    providers = {name: each.provider for name, each in made.benchmarks.items() if name in WITH_PATHS + MORE}
    assert {name: each.location for name, each in providers.items()} == {
        "path": str(folder / "bin/p"),
        "conda": str(folder / "env"),
        "source": str(folder / "site/s"),
        "spack": "imb",
        "earlier": str(tmp_path / "only-here/p"),
    }
    assert made.systems["here"].source == (str(folder / "set-up.sh"), "/etc/profile")
    assert Path(made.benchmarks["path"].inputs[0]).absolute() == folder / "mesh.bin"
    assert made.schedule and made.schedule.notify == (str(folder / "tell"), "me")
    plan = make_plan(made, ["here"], MACHINE)
    declared = {each.case.benchmark: each.declared for each in plan.cases}
    assert declared["path"]["provider.location"] == "bin/p"  # identities hold no folder of a machine
    assert declared["path"]["source"] == ["set-up.sh", "/etc/profile"]


@pytest.mark.parametrize(
    ("systems", "mpis"),
    [
        ("{scheduler: none, mpi: mine, prefix: opt/mpi}", ""),
        ("{scheduler: none, mpi: mine, programs: {IMB-MPI1: bin/IMB-MPI1}}", ""),
        ("{scheduler: none, mpi: mine}", "command: bin/mpirun, "),
    ],
)
def test_a_path_on_the_nodes_is_absolute(tmp_path: Path, systems: str, mpis: str) -> None:
    text = WITH_PATHS.replace("include: site/more.yaml\n", "").replace(", source]", "]")
    text = text.replace("{scheduler: none, mpi: wheel, source: [set-up.sh, /etc/profile]}", systems)
    text += f"mpis: {{mine: {{launcher: hydra, {mpis}transports: {{shm: {{}}}}}}}}\n"
    (tmp_path / "mesh.bin").touch()
    [problem] = problems(write(tmp_path, text))
    assert "absolute path" in problem.message
