"""The worked examples load and plan as documented; all keys are documented."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from build_campaigns import MACHINE, script_of
from jsonschema import Draft202012Validator

from mpicampaign.campaign.checks import limits_text
from mpicampaign.campaign.file import built_in, load_campaign
from mpicampaign.campaign.model import campaign_schema
from mpicampaign.cli import main
from mpicampaign.cli.schema_docs import SECTIONS, keys_document
from mpicampaign.imports.map_file import map_schema
from mpicampaign.jobs.plan import make_plan
from mpicampaign.jobs.render import script_text

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
    objects = {"file": schema} | {name: schema["$defs"][name] for name in SECTIONS}
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
