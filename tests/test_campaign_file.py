"""Campaign files: the resulting campaigns; every kind of error with its line, key path, value and hint."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpicampaign.campaign.checks import _FOR_ALL, limits_text
from mpicampaign.campaign.file import load_campaign
from mpicampaign.campaign.model import Campaign, Fabric, MatrixEntry, Provider, campaign_schema
from mpicampaign.errors import Problem, UserError
from mpicampaign.schedulers import SCHEDULERS

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


def test_the_default_campaign_loads() -> None:
    campaign = load_campaign(ROOT / "campaign.yaml")
    assert campaign.name == "this-machine"
    assert campaign.systems["this-machine"].prefix == sys.prefix


def test_a_campaign_is_complete(tmp_path: Path) -> None:
    campaign = load(tmp_path)
    assert campaign.title == "c"
    assert (campaign.seed, campaign.node_hours_cap) == (1, None)
    assert campaign.table_sizes == (1024, 8192, 32768)
    assert campaign.matrix == (MatrixEntry(("blue",), ("SHM-1", "TCP", "IBV"), ("PingPong",), 6, 600),)
    assert campaign.systems["slurm"].launcher == "openmpi"
    assert campaign.systems["slurm"].hosts_from == "scheduler"
    assert campaign.systems["here"].hosts_from == "list"
    assert campaign.host_groups["blue"].fabrics["eth"] == Fabric("eth", "tcp", "eth0", "", 1.25e8)
    assert campaign.host_groups["local"].cores is None
    assert campaign.placements["SHM-1"].sockets == 1
    assert campaign.placements["SHM-full"].ranks_per_node == "cores"
    assert campaign.benchmarks["PingPong"].provider == Provider("wheel")


def test_built_in_definitions_are_overridden_key_by_key(tmp_path: Path) -> None:
    campaign = load(tmp_path, placements="placements: {SHM-2: {description: mine}}")
    assert campaign.placements["SHM-2"].description == "mine"
    assert campaign.placements["SHM-2"].sockets == 2


def test_arguments_are_split_but_never_expanded(tmp_path: Path) -> None:
    text = """
        benchmarks:
          PingPong: {arguments: -a 010 "b c" $(date) `x` $HOME '*' grün}
          Gather: {arguments: [-n, 010, 1.50, true, "b c", "line\\nbreak", "a;b|c&d", ""]}
        """
    benchmarks = load(tmp_path, benchmarks=text).benchmarks
    assert benchmarks["PingPong"].arguments == ("-a", "010", "b c", "$(date)", "`x`", "$HOME", "*", "grün")
    tokens = ("-n", "010", "1.50", "true", "b c", "line\nbreak", "a;b|c&d", "")
    assert benchmarks["Gather"].arguments == tokens


def test_environment_values_are_texts_as_written(tmp_path: Path) -> None:
    text = """
        systems:
          slurm:
            scheduler: slurm
            mpi: openmpi5
            environment:
              {A: off, B: 010, C: true, D: "two\\nlines $(x) 'q' \\"d\\" ü", E: 1e3, F: "", _g1: 0:45}
          here: {scheduler: none, mpi: intelmpi}
          lsf: {scheduler: lsf, mpi: platform}
        """
    values = {"A": "off", "B": "010", "C": "true", "D": "two\nlines $(x) 'q' \"d\" ü", "E": "1e3", "F": ""}
    assert load(tmp_path, systems=text).systems["slurm"].environment == values | {"_g1": "0:45"}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0:45", 2700), ("90 s", 90), ("1.5 min", 90), ("10 min", 600), ("1.2 s", 2), ("1:30:00", 5400)],
)
def test_time_limits(tmp_path: Path, text: str, seconds: int) -> None:
    assert load(tmp_path, time_limit=f"time_limit: {text}").matrix[0].time_limit == seconds


@pytest.mark.parametrize(
    ("text", "both", "read"),
    [
        ("10:00", "10:00 is 10 h here (H:MM), and 10 min to users of Slurm (M:SS)", "10:00 = 10 h"),
        ("0:40", "0:40 is 40 min here (H:MM), and 40 s to users of Slurm (M:SS)", "0:40 = 40 min"),
        ("1:30", "1:30 is 90 min here (H:MM), and 90 s to users of Slurm (M:SS)", "1:30 = 90 min"),
        ("1:00:00", "", "1:00:00 = 60 min"),  # H:MM:SS to all
        ("40 min", "", "40 min"),
    ],
)
def test_a_time_limit_that_slurm_reads_otherwise_is_warned_of(
    tmp_path: Path, text: str, both: str, read: str
) -> None:
    block = f"{{host_groups: GROUP, placements: SHM, benchmarks: PingPong, time_limit: {text}}}"
    matrix, given = f"matrix:\n  - {block}", f"time_limit: {text}"
    made = load(tmp_path, time_limit=given, matrix=matrix.replace("GROUP", "blue"))
    found = [(each.key, each.message) for each in made.warnings]
    assert found == ([("time_limit", both), ("matrix[0].time_limit", both)] if both else [])
    assert limits_text(made) == f"time_limit {read}"
    sections = {
        "systems": "systems: {lsf: {scheduler: lsf, mpi: platform}}",
        "host_groups": "host_groups: {old: {system: lsf}}",
        "matrix": matrix.replace("GROUP", "old"),
    }
    assert not load(tmp_path, time_limit=given, **sections).warnings  # LSF reads it as this program does


@pytest.mark.parametrize("text", ["30", "1.5", "030"])
def test_a_time_limit_without_a_unit_is_refused_and_only_warned_of_where_cron_calls(
    tmp_path: Path, text: str
) -> None:
    (problem,) = problems(write(tmp_path, campaign_text(time_limit=f"time_limit: {text}")))
    assert (problem.key, problem.value, problem.hint) == ("time_limit", text, f"write {text} s or {text} min")
    assert f"{text} s as read so far, {text} min to Slurm and LSF" in problem.message
    made = load(tmp_path, time_limit=f"time_limit: {text}\nschedule: {{every: 1 day, series: new}}")
    assert [each.message for each in made.warnings] == [problem.message]
    assert made.time_limit == math.ceil(float(text))


def test_the_default_time_limit_is_said_too(tmp_path: Path) -> None:
    assert limits_text(load(tmp_path)) == "time_limit 10 min, the default"


def test_a_block_has_its_own_repeats_and_time_limit(tmp_path: Path) -> None:
    matrix = """
        matrix:
          - {host_groups: [blue], placements: SHM, benchmarks: PingPong, repeats: 3, time_limit: 90 s}
        """
    (entry,) = load(tmp_path, matrix=matrix).matrix
    assert entry == MatrixEntry(("blue",), ("SHM",), ("PingPong",), 3, 90)


def test_members_are_only_those_that_are_given(tmp_path: Path) -> None:
    """Schedulers may name hosts differently: evidence must cope with that."""
    groups = load(
        tmp_path, host_groups=SECTIONS["host_groups"] + "  x: {system: lsf, members: x*}\n"
    ).host_groups
    assert (groups["old"].hosts, groups["old"].members) == (("oldhosts",), ())
    assert groups["x"].members == ("x*",)


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


@pytest.mark.parametrize(
    ("system", "directive", "option"),
    [
        ("slurm", "--mem=0 --nodes=7", "--nodes"),
        ("slurm", "--mem=0 --nodes 7", "--nodes"),
        ("slurm", "--mem=0 --job=mine", "--job-name"),
        ("slurm", "--mem=0 -N 7", "-N"),
        ("slurm", "--mem=0 -N7", "-N"),
        ("slurm", "--mem=0 -HN7", "-N"),
        ("slurm", "--mem=0 '-N' 7", "-N"),
        ("slurm", "--mem=0 \\--nodes=7", "--nodes"),
        ("lsf", "-x -n 4", "-n"),
        ("lsf", "-x -W0:45", "-W"),
        ("lsf", '-R "select[mem>1]" -n 4', "-n"),
        ("lsf", "-x -oo %J.txt", "-oo"),
    ],
)
def test_a_second_option_in_a_directive_is_checked_like_the_first(
    tmp_path: Path, system: str, directive: str, option: str
) -> None:
    added = f"  more: {{system: {system}, directives: {json.dumps([directive])}}}\n"
    (problem,) = problems(write(tmp_path, campaign_text(host_groups=SECTIONS["host_groups"] + added)))
    assert (problem.key, problem.value) == ("host_groups.more.directives[0]", repr(directive))
    assert f"sets {option} itself" in problem.message


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


def test_the_sections_of_these_tests_hold_no_error(tmp_path: Path) -> None:
    load(tmp_path)


def test_ten_errors_are_reported_at_once(tmp_path: Path) -> None:
    text = campaign_text(
        campaign="campaign: -c # !\nsead: 1 # !\nrepeats: 0 # !\ntime_limit: 1 eon # !\nseed: 1\nseed: 2 # !",
        placements="placements:\n  SHM-2: {ranks_per_node: 1} # !\n  SHM: {bindig: none} # !",
        host_groups=SECTIONS["host_groups"].replace("partition: short", "queue: short # !"),
        matrix="""
        matrix:
          - host_groups: [blue, bleu] # !
            placements: [SHM-1, TCP]
            benchmarks: [PingPong, PingPang] # !
          - {host_groups: old, placements: IBV, benchmarks: PingPong} # !
        """,
    )
    path = write(tmp_path, text)
    expected = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# !")]
    assert len(expected) == 11
    assert [problem.line for problem in problems(path)] == expected


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


def test_settings_of_a_faulty_mpi_library_are_not_missed(tmp_path: Path) -> None:
    mpis = "mpis: {own: {launcher: hydra, transports: {shm: {}, tpc: {}}}}"
    systems = SECTIONS["systems"].replace("openmpi5", "own")
    matrix = "matrix: [{host_groups: blue, placements: TCP, benchmarks: PingPong}]"
    path = write(tmp_path, campaign_text(mpis=mpis, systems=systems, matrix=matrix))
    assert [problem.key for problem in problems(path)] == ["mpis.own.transports.tpc"]


def test_full_nodes_of_this_machine_need_no_cores(tmp_path: Path) -> None:
    matrix = "matrix: [{host_groups: local, placements: SHM-full, benchmarks: PingPong}]"
    assert load(tmp_path, matrix=matrix).host_groups["local"].cores is None


def test_platform_mpi_needs_no_interface(tmp_path: Path) -> None:
    load(tmp_path, matrix="matrix: [{host_groups: old, placements: TCP, benchmarks: PingPong}]")


def test_definitions_that_are_not_used_are_fine(tmp_path: Path) -> None:
    load(tmp_path, placements="placements: {X: {nodes: 9, ranks_per_node: cores, transport: ibv}}")


# ---- include


def test_included_files_lie_below(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    write(
        tmp_path / "site", "include: more.yaml\n" + campaign_text(campaign="repeats: 2\nseed: 7"), "site.yaml"
    )
    write(tmp_path / "site", "campaign: below\nrepeats: 9\ntitle: far below\n", "more.yaml")
    campaign = load_campaign(write(tmp_path, "include: [site/site.yaml]\ncampaign: above\nseed: 8\n"))
    assert (campaign.name, campaign.title, campaign.seed) == ("above", "far below", 8)
    assert campaign.matrix[0].repeats == 2


def test_errors_in_included_files_name_these_files(tmp_path: Path) -> None:
    site = write(tmp_path, "\n\n" + campaign_text(campaign="repeats: 0"), "site.yaml")
    path = write(tmp_path, "include: site.yaml\ncampaign: c\nsead: 1\n")
    assert [(problem.file, problem.line) for problem in problems(path)] == [(str(path), 3), (str(site), 3)]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = write(tmp_path, "include:\n  - none.yaml\n" + campaign_text())
    (problem,) = problems(path)
    assert problem.file == str(tmp_path / "none.yaml")
    assert "No such file" in problem.message
    assert f"{path}:2" in problem.hint


def test_circles_are_reported(tmp_path: Path) -> None:
    write(tmp_path, "include: b.yaml\n", "a.yaml")
    write(tmp_path, "include: a.yaml\n", "b.yaml")
    found = problems(write(tmp_path, "include: a.yaml\n" + campaign_text()))
    assert ["circle" in problem.message for problem in found] == [True]


def test_a_file_may_be_included_in_two_ways(tmp_path: Path) -> None:
    write(tmp_path, "seed: 5\n", "base.yaml")
    write(tmp_path, "include: base.yaml\n", "a.yaml")
    write(tmp_path, "include: base.yaml\n", "b.yaml")
    assert load_campaign(write(tmp_path, "include: [a.yaml, b.yaml]\n" + campaign_text())).seed == 5


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


def test_defaults_of_the_schema_are_those_in_use(tmp_path: Path) -> None:
    campaign = load(tmp_path, placements="placements: {X: {nodes: 1, ranks_per_node: 2, transport: shm}}")
    schema = campaign_schema()
    top = {key: value["default"] for key, value in schema["properties"].items() if "default" in value}
    (entry,) = campaign.matrix
    assert (top["seed"], top["repeats"], top["time_limit"]) == (campaign.seed, entry.repeats, "10 min")
    assert top["table_sizes"] == ["1KiB", "8KiB", "32KiB"]
    for section, made in (
        ("placement", campaign.placements["X"]),
        ("host_group", campaign.host_groups["local"]),
    ):
        for key, value in schema["$defs"][section]["properties"].items():
            if "default" in value:
                found = getattr(made, key)
                assert (list(found) if isinstance(found, tuple) else found) == value["default"]


def test_selectors_are_keys_of_host_groups() -> None:
    keys = {key for scheduler in SCHEDULERS.values() for key in scheduler.selectors}
    assert keys == set(campaign_schema()["$defs"]["host_group"]["properties"]) - _FOR_ALL


# ---- any input yields a campaign or a list of errors

BASES = [(ROOT / "campaign.yaml").read_text(encoding="utf-8"), campaign_text()]
BITS = ["", "\t", "\0", "\x1b", "\u2028", "\n", "- ", ": ", "<<: ", "&a ", "[" * 30, "ü", "🙂", "{a: b}"]
BITS += ["~", "[]", "{}", "-1", "1e99", "99999999", "*a", "!x", "true", "'", '"', "#", "$(x)", "cores"]
BITS += ["none", "slurm", "lsf", "srun", "ibv", "tcp", "SHM-1", "TCP"]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A campaign file with some tokens replaced and some lines repeated elsewhere."""
    lines = draw(st.sampled_from(BASES)).split("\n")
    known = sorted({word for base in BASES for word in base.split()})
    for _ in range(draw(st.integers(1, 6))):
        at, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        tokens = lines[at].split(" ")
        index = draw(st.integers(0, len(tokens) - 1))
        tokens[index] = draw(st.sampled_from(BITS) | st.sampled_from(known) | st.text(max_size=8))
        lines[at] = " ".join(tokens)
        if draw(st.booleans()):
            lines.insert(other, lines[at])
    return "\n".join(lines)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=mutated())
def test_mutated_files_never_crash(tmp_path: Path, text: str) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        campaign = load_campaign(path)
    except UserError as error:
        assert error.problems
        assert "\x1b" not in str(error)
        assert all(problem.message for problem in error.problems)
    else:
        assert isinstance(campaign, Campaign)
        assert campaign.matrix


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


def test_programs_of_a_system(tmp_path: Path) -> None:
    systems = "systems:\n  slurm: {scheduler: slurm, mpi: openmpi5, programs: {IMB-MPI1: /apps/IMB-MPI1}}\n"
    groups = "host_groups:\n  blue: {system: slurm}\n"
    matrix = "matrix:\n  - {host_groups: blue, placements: SHM-1, benchmarks: PingPong}\n"
    made = load(tmp_path, systems=systems, host_groups=groups, matrix=matrix)
    assert made.systems["slurm"].programs == {"IMB-MPI1": "/apps/IMB-MPI1"}
    wrong = systems.replace("/apps/IMB-MPI1", "IMB-MPI1")
    with pytest.raises(UserError, match="must be an absolute path"):
        load(tmp_path, systems=wrong, host_groups=groups, matrix=matrix)
