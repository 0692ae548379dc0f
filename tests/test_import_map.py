"""Maps of imports: every error is reported with line, key and remedy; what rules do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mpicampaign.base.errors import UserError
from mpicampaign.campaign.file import load_campaign
from mpicampaign.cli.schema_docs import keys_document
from mpicampaign.imports.facts import FACTS, FAMILIES
from mpicampaign.imports.labels import label_of
from mpicampaign.imports.ledger import Label
from mpicampaign.imports.map_file import ImportMap, load_map

CAMPAIGNS = Path(__file__).parents[1] / "campaigns"
GOOD = """\
import: raw
campaign: c
table_sizes: [1KiB, 4096]
host_groups:
  blue: {system: s, hosts: ["cn[08-11,20]", login1.site.org]}
placements:
  TCP: {nodes: 2, transport: tcp}
rules:
  - when: {directive.m: '^(?P<group>\\w+)$'}
    label: {host_group: '{group}', system: s}
  - label: {placement: TCP, benchmark: '{benchmark}'}
"""


def load(tmp_path: Path, text: str) -> ImportMap:
    path = tmp_path / "map.yaml"
    path.write_text(text)
    return load_map(path)


def test_a_map_is_typed(tmp_path: Path) -> None:
    found = load(tmp_path, GOOD)
    assert (found.name, found.campaign, found.presentation.title) == ("raw", "c", "c")
    assert found.presentation.table_sizes == (1024, 4096)
    assert found.group_of == dict.fromkeys(["cn08", "cn09", "cn10", "cn11", "cn20", "login1"], "blue")
    assert found.placements["TCP"].nodes == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("import: raw\n", "", r"map\.yaml:1: import: this key is missing"),
        ("import: raw", "import: ../raw", r"map\.yaml:1: import: not usable as a name"),
        ("rules:", "rule:", r"map\.yaml:8: rule: unknown key 'rule'.*\n.*did you mean 'rules'"),
        ("directive.m", "directve.m", r"map\.yaml:9: .*unknown fact 'directve\.m'\n +did you mean"),
        ("(?P<group>", "(?P<group", r"map\.yaml:9: .*not a regular expression"),
        ("'{group}'", "'{grup}'", r"map\.yaml:10: .*\{grup\} is neither a group.*\n +did you mean 'group'"),
        ("nodes: 2", "nodes: two", r"map\.yaml:7: placements\.TCP\.nodes: must be a whole number"),
        ("transport: tcp", "transport: ethernet", r"map\.yaml:7: .*must be shm, tcp, ibv or ofi"),
        ("cn[08-11,20]", "cn[11-08]", r"map\.yaml:5: .*'11-08' is not a range of numbers"),
        ("cn[08-11,20]", "cn[1-999999999]", r"map\.yaml:5: .*more than 100000 hosts"),
        ("1KiB", "1Kib", r"map\.yaml:3: table_sizes\[0\]: "),
        (
            "placements:",
            "  green: {system: s, hosts: [cn09]}\nplacements:",
            r"map\.yaml:6: .*already in host group blue",
        ),
        ("hosts: [", "attributes: {cpu: [a]}, hosts: [", r"map\.yaml:5: .*attributes\.cpu: must be a text"),
        ("system: s}", "sistem: s}", r"map\.yaml:10: .*unknown key 'sistem'\n +did you mean 'system'"),
    ],
)
def test_errors_are_reported_with_line_key_and_remedy(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in GOOD
    with pytest.raises(UserError, match=message):
        load(tmp_path, GOOD.replace(old, new, 1))


@pytest.mark.parametrize("text", ["", "- a\n", "text\n", "import: [\n"])
def test_what_is_not_a_map_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError, match=r"map\.yaml"):
        load(tmp_path, text)


def label(tmp_path: Path, rules: str, **facts: str) -> Any:
    head = GOOD[: GOOD.index("rules:")]
    named = {name.replace("__", "."): value for name, value in facts.items()}
    return label_of(named, load(tmp_path, f"{head}rules:\n{rules}"))


@pytest.mark.parametrize("value", ["a/b", "../x", "a\nb", "", " ", "<b>"])
def test_names_from_foreign_files_are_checked(tmp_path: Path, value: str) -> None:
    found = label(
        tmp_path, "  - label: {system: s, host_group: g, placement: '{queue}', benchmark: b}\n", queue=value
    )
    assert isinstance(found, str)
    assert "placement" in found


def test_every_fact_is_documented() -> None:
    text = " ".join(keys_document().split())
    rows = [f"- `{name}`: {meaning}" for name, meaning in FACTS.items()]
    rows += [f"- `{name}.NAME`: {meaning}" for name, meaning in FAMILIES.items()]
    assert [row for row in rows if row not in text] == []


def test_hosts_are_known_by_their_names_however_written(tmp_path: Path) -> None:
    groups = {"cn049": "blue", "10.0.0.5": "blue", "10.0.0.6": "red"}
    text = "import: i\ncampaign: c\nrules: [{label: {system: s, placement: p, benchmark: b}}]\n"
    chosen = replace(load(tmp_path, text), group_of=groups)
    for hosts, group in (("CN049.Site.org", "blue"), ("10.0.0.6", "red")):
        found = label_of({"hosts": hosts}, chosen)
        assert isinstance(found, Label) and found.host_group == group


def test_a_map_and_a_campaign_file_in_each_others_place(tmp_path: Path) -> None:
    load(tmp_path, GOOD)
    with pytest.raises(
        UserError, match=r"map\.yaml: this is an import map, not a campaign file\n +report takes it"
    ):
        load_campaign(tmp_path / "map.yaml")
    with pytest.raises(UserError, match=r"this is a campaign file, not the map of an import"):
        load_map(CAMPAIGNS.parent / "campaign.yaml")
