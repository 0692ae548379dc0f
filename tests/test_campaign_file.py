"""Campaign files: the resulting campaigns; every kind of error with its line, key path, value and hint."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.campaign.file import load_campaign
from mpicampaign.campaign.model import Campaign, campaign_schema

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
