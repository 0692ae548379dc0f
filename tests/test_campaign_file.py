"""Campaign files: the resulting campaigns, each kind of error, the worked examples, all keys documented."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import golden_messages
import pytest
import yaml
from build_campaigns import MACHINE, script_of, with_pattern
from jsonschema import Draft202012Validator

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.campaign.checks import limits_text
from mpicampaign.campaign.file import built_in, load_campaign
from mpicampaign.campaign.model import Campaign, campaign_schema
from mpicampaign.cli import main
from mpicampaign.cli.schema_docs import keys_document
from mpicampaign.imports.map_file import map_schema
from mpicampaign.jobs.plan import make_plan
from mpicampaign.jobs.render import script_text

OTHER_SECTIONS = {
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
    return "\n".join(dedent(text).strip("\n") for text in (OTHER_SECTIONS | sections).values()) + "\n"


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


def test_errors_that_follow_from_no_other_are_all_reported(tmp_path: Path) -> None:
    """Such as fabrics, cores, hosts and ranks beside systems; paths and directives of the nodes."""

    def said(sections: dict[str, str]) -> str:
        return golden_messages.refusal(tmp_path, lambda: load(tmp_path, **sections))

    golden_messages.check("mistakes/definitions", said)


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
    names = [f"g{number}" for number in range(1001)]
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
    assert problem.value == "100100"


# ---- the schema itself


def test_every_pattern_is_whole_and_has_a_description() -> None:
    parts = [*with_pattern(campaign_schema())]
    assert parts and all("x-message" in part for part in parts)
    assert all(part["pattern"].startswith("^") and part["pattern"].endswith("$") for part in parts)


ROOT = Path(__file__).parents[1]
EXAMPLES = sorted([*(ROOT / "campaigns").glob("*.yaml"), *(ROOT / "campaigns").glob("*/campaign.yaml")])


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_have_no_errors_and_render(path: Path) -> None:
    campaign = load_campaign(path)
    assert not campaign.warnings
    assert " = " not in limits_text(campaign)  # with a unit, which all read alike
    for system in campaign.systems:
        plan = make_plan(campaign, [system], MACHINE)
        assert plan.runs
        for run in plan.runs:
            assert script_text(script_of(run)).startswith("#!/bin/bash\n")


def test_all_keys_are_documented() -> None:
    text = keys_document()
    assert all(f"- `{key}`" in text for _, key, _ in _keys())
    assert all(f"- `{key}`" in text for key in map_schema()["properties"])
    page = (ROOT / "docs/campaign.md").read_text(encoding="utf-8")
    assert (ROOT / "campaigns/slurm-two-libraries.yaml").read_text(encoding="utf-8") in page
    builtin = built_in().data
    named = [*builtin["placements"], *builtin["mpis"]]
    assert [name for name in named if f"`{name}`" not in page] == []


def _keys() -> list[tuple[str, str, dict[str, Any]]]:
    schema = campaign_schema()
    objects = {"file": schema} | {name: of for name, of in schema["$defs"].items() if "properties" in of}
    return [(name, key, entry) for name, each in objects.items() for key, entry in each["properties"].items()]


@pytest.mark.parametrize(
    ("name", "key", "entry"), _keys(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_each_key_has_a_title_and_examples_that_are_accepted(
    name: str, key: str, entry: dict[str, Any]
) -> None:
    validator = Draft202012Validator(entry | {"$defs": campaign_schema()["$defs"]})
    values = [*entry.get("examples", []), *([entry["default"]] if "default" in entry else [])]
    assert entry["title"]
    for value in values:
        # an override of what is built in need not be complete
        wrong = [error.message for error in validator.iter_errors(value) if error.validator != "required"]
        assert wrong == []
    assert values


def _examples() -> list[Any]:
    """The data of all worked examples: campaign files, and the blocks of the documents."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "campaign.yaml", *EXAMPLES)]
    for path in (ROOT / "docs").glob("*.md"):
        texts += re.findall(
            r"^```yaml\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
    return [yaml.safe_load(text) for text in texts]


def _used(data: Any, entry: dict[str, Any], name: str, defs: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys of the schema that an example has: each with the entry it belongs to."""
    if "$ref" in entry:
        name = entry["$ref"].rpartition("/")[2]
        entry = defs[name]
    if isinstance(data, list):
        for each in data:
            yield from _used(each, entry.get("items", {}), name, defs)
    elif isinstance(data, dict):
        for key, value in data.items():
            if key in entry.get("properties", {}):
                yield name, key
                yield from _used(value, entry["properties"][key], f"{name}.{key}", defs)
            elif isinstance(entry.get("additionalProperties"), dict):
                yield from _used(value, entry["additionalProperties"], name, defs)


def test_each_key_is_in_an_example() -> None:
    schema = campaign_schema()
    defs = schema["$defs"]
    used = {each for data in _examples() for each in _used(data, schema, "", defs)}
    keys = {("", key) for key in schema["properties"]}
    keys |= {(name, key) for name, entry in defs.items() for key in entry.get("properties", {})}
    assert not keys - used


def _readme_calls() -> list[list[str]]:
    """The calls of check, plan and render in the README, each as its arguments."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    calls = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("    mpicampaign ")]
    return [call for call in calls if call[0] in ("check", "plan", "render")]


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clone as the current folder, with results elsewhere."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("mpicampaign.jobs.prepare.results_folder", lambda: tmp_path)


@pytest.mark.usefixtures("at_home")
def test_the_calls_of_the_readme_work_as_written(tmp_path: Path) -> None:
    """A file that the clone does not have is the reader's copy of an example."""
    calls = _readme_calls()
    example = next(each for call in calls for each in call if each.endswith(".yaml") and Path(each).is_file())
    assert {call[0] for call in calls} == {"check", "plan", "render"}
    for call in calls:
        as_here = [example if each.endswith(".yaml") and not Path(each).exists() else each for each in call]
        assert main(as_here) == 0, call
    assert list(tmp_path.glob("*/runs/**/job.sh"))


@pytest.mark.slow
@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_pass_check_plan_and_render(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rendering says why where this machine lacks the programs of all runs."""
    system, *_ = load_campaign(path).systems
    assert main(["check", str(path)]) == 0
    assert main(["plan", str(path), "--system", system]) == 0
    assert "error" not in capsys.readouterr().err
    rendered = main(["render", str(path), "--system", system])
    assert rendered == 0 or "no run can be made here: " in capsys.readouterr().err
