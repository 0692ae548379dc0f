"""The worked examples load and plan as documented; the documentation matches the schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import MACHINE, script_of
from jsonschema import Draft202012Validator

from mpicampaign.campaign.file import load_campaign
from mpicampaign.campaign.model import campaign_schema
from mpicampaign.imports.map_file import map_schema
from mpicampaign.jobs.plan import make_plan
from mpicampaign.schema_docs import (
    DOCUMENT,
    MAP_DOCUMENT,
    MAP_SCHEMA,
    SCHEMA,
    SECTIONS,
    document_text,
    map_document_text,
    schema_text,
)

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted([*(ROOT / "campaigns").glob("*.yaml"), *(ROOT / "campaigns").glob("*/campaign.yaml")])


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_have_no_errors_and_render(path: Path) -> None:
    campaign = load_campaign(path)
    for system in campaign.systems:
        plan = make_plan(campaign, [system], MACHINE)
        assert plan.runs
        for run in plan.runs:
            assert script_of(run).text().startswith("#!/bin/bash\n")


@pytest.mark.parametrize(
    ("name", "runs"),
    [("slurm-two-groups", 280), ("lsf-two-groups", 96), ("cloud-cron", 240), ("stfc-2017/campaign", 140)],
)
def test_examples_hold_the_runs_that_they_speak_of(name: str, runs: int) -> None:
    campaign = load_campaign(ROOT / "campaigns" / f"{name}.yaml")
    (system,) = campaign.systems
    assert campaign.name == name.removesuffix("/campaign")
    assert len(make_plan(campaign, [system], MACHINE).runs) == runs


def test_the_stfc_campaign_is_short() -> None:
    path = ROOT / "campaigns" / "stfc-2017/campaign.yaml"
    campaign = load_campaign(path)
    (entry,) = campaign.matrix
    assert (len(entry.host_groups), len(entry.placements), entry.repeats) == (7, 4, 5)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    assert len(lines) <= 40


def test_the_stfc_campaign_launches_as_published() -> None:
    campaign = load_campaign(ROOT / "campaigns" / "stfc-2017/campaign.yaml")
    plan = make_plan(campaign, ["scarf"], MACHINE)
    scripts = {run.case.placement: script_of(run).text() for run in plan.runs}
    assert "mpirun -lsf -prot numactl --cpunodebind=0 --" in scripts["SHM-1"]
    assert "mpirun -lsf -prot -cpu_bind=MAP_CPU:0,15" in scripts["SHM-2"]
    assert "mpirun -lsf -prot -TCP" in scripts["TCP"]
    assert "mpirun -lsf -prot -IBV" in scripts["IBV"]
    assert all("#BSUB -W 0:45\n" in script and "#BSUB -x\n" in script for script in scripts.values())


def test_the_documentation_is_that_of_the_schema() -> None:
    message = "write it anew: python -m mpicampaign.schema_docs"
    assert DOCUMENT.read_text(encoding="utf-8") == document_text(), message
    assert MAP_DOCUMENT.read_text(encoding="utf-8") == map_document_text(), message
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(campaign_schema()), message
    assert MAP_SCHEMA.read_text(encoding="utf-8") == schema_text(map_schema()), message


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
