"""Lists of hosts: the schedulers' notation, as Slurm itself reads it, at each key."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from conftest import completed

from mpicampaign.base.errors import UserError
from mpicampaign.base.host_lists import expand
from mpicampaign.campaign.file import load_campaign
from mpicampaign.imports.map_file import load_map
from mpicampaign.schedulers import slurm

CAMPAIGN = """\
campaign: hosts
systems:
  slurm: {scheduler: slurm, mpi: openmpi5, login_hosts: "login[1-"}
  here: {scheduler: none, mpi: openmpi5, login_hosts: "login[01-03]"}
host_groups:
  many: {system: slurm, hosts: ["gpu[01-02]-ib[0,1],m1", "n[3-1]"], cores: 4}
  twice: {system: slurm, hosts: ["n[1-3]", m1, n2.cluster], cores: 4}
  by_hand: {system: here, hosts: ["n[01-02]-ib[0,1],m1"], members: ["n[01-16]-ib?", "m[10-12]"], cores: 4}
matrix: [{host_groups: by_hand, placements: SHM, benchmarks: stream}]
"""


@pytest.mark.skipif(not shutil.which("scontrol"), reason="no Slurm here")
@pytest.mark.parametrize(
    "text", ["n[1-2]b[0,1],gpu[01-02]-ib[0,1],m1", "n[08-11,7]", "n[1-2]b[0-1]c[5,7-8]", "n1,,n2"]
)
def test_a_list_is_what_slurm_makes_of_it(tmp_path: Path, text: str) -> None:
    settings = tmp_path / "slurm.conf"
    settings.write_text("ClusterName=c\nSlurmctldHost=h\n")
    command = ["scontrol", "show", "hostnames", text]
    environment = os.environ | {"SLURM_CONF": str(settings)}
    slurm = completed(command, check=True, env=environment).stdout
    assert sorted(expand(text)) == sorted(slurm.split())


@pytest.mark.parametrize(
    "text", ["n[1-", "n]1", "n[1-3:2]", "n[a]", "n[]", "n[3-1]", "n[[1]]", "n[²]", "n[1-999][1-999]"]
)
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"range of hosts|range of numbers|more than 100000"):
        expand(text)


def test_lists_in_a_campaign_file(tmp_path: Path) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text(CAMPAIGN)
    with pytest.raises(UserError) as raised:
        load_campaign(file)
    assert str(raised.value).splitlines() == [
        f"{file}:{said}"
        for said in (
            "3: systems.slurm.login_hosts: a range of hosts is written cn[049-080,090] (found 'login[1-')",
            "6: host_groups.many.hosts[1]: '3-1' is not a range of numbers such as 049-080 (found 'n[3-1]')",
            "7: host_groups.twice.hosts[2]: named twice: n2,n2.cluster (found 'n2.cluster')",
        )
    ]
    sound = CAMPAIGN.replace("login[1-", "login*").replace(', "n[3-1]"', "").replace(", n2.cluster", "")
    file.write_text(sound.replace('"n[1-3]", m1', '"a[1-60000]", "b[1-60000]"'))
    campaign = load_campaign(file)
    assert campaign.host_groups["many"].hosts == ("gpu[01-02]-ib[0,1],m1",)  # as Slurm gets it
    assert campaign.host_groups["by_hand"].hosts == ("n01-ib0", "n01-ib1", "n02-ib0", "n02-ib1", "m1")
    warnings = [str(each) for each in campaign.warnings if "members" in each.key]
    assert [text.partition("members")[2] for text in warnings] == [
        "[1]: matches none of the hosts: m[10-12]\n    known: m1, n01-ib0, n01-ib1, n02-ib0, n02-ib1"
    ]


def test_lists_in_a_map(tmp_path: Path) -> None:
    file = tmp_path / "map.yaml"
    file.write_text(
        "import: i\ncampaign: c\nhost_groups: {blue: {system: s, hosts: ['n[1-2]-ib[0,1],M1.site.org']}}\n"
        "rules: [{label: {host_group: g, system: s, placement: p, benchmark: b}}]\n"
    )
    chosen = load_map(file)
    assert [*chosen.group_of] == ["n1-ib0", "n1-ib1", "n2-ib0", "n2-ib1", "m1"]


def test_five_thousand_long_names_fit_the_commands_that_ask_for_their_states(tmp_path: Path) -> None:
    names = [f"r{rack:04}n{node}.compute.example.org" for rack in range(1250) for node in range(4)]
    (tmp_path / "sinfo").write_text('#!/bin/sh\necho "$3" | tr , "\\n"\n')
    (tmp_path / "sinfo").chmod(0o755)
    script = 'PATH=$2:$PATH; . "$1"; mapfile -t names; ask_states "${names[@]}"'
    command = ["bash", "-c", script, "bash", str(slurm.SCHEDULER.rounds), str(tmp_path)]
    asked = completed(command, input="\n".join(names), check=True)
    assert asked.stdout.replace("--nodes=", "").split() == names
    assert max(map(len, slurm.SCHEDULER.state_query(names))) < 2**17  # what Linux passes as an argument
