"""What ``mpicampaign check`` finds: with file, line and key, and nothing less than what plan refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import golden_messages
import pytest
from conftest import executable

from mpicampaign.base import places
from mpicampaign.cli import main

CAMPAIGN = """\
campaign: c
systems:
  here: {scheduler: none, mpi: own}
host_groups:
  local: {system: here}
benchmarks:
  mine:
    suite: imb
    program: IMB-MPI1
    provider: {kind: path, location: /no/such/folder/IMB-MPI1}
    arguments: PingPong
  there: {suite: imb, program: IMB-MPI1, provider: {kind: module, modules: IMB}, arguments: PingPong}
matrix:
  - host_groups: local
    placements: [SHM, SHM-1]
    benchmarks:
      - mine
      - osu_bw
      - there
mpis: {own: {launcher: hydra, command: "true", transports: {shm: {}}}}
"""


class Desk:
    """A folder with a campaign file, and calls of the command line there."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys

    def call(self, command: str, text: str, *options: str) -> tuple[int, str]:
        """The exit status, and all that was printed."""
        (self.folder / "c.yaml").write_text(text, encoding="utf-8")
        status = main([command, "--campaign", "c.yaml", *options])
        return status, "".join(self._capsys.readouterr())


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("mpicampaign.jobs.prepare.results_folder", lambda: tmp_path / "results")
    return Desk(tmp_path, capsys)


def test_the_cap_is_checked_for_systems_that_this_machine_does_not_belong_to(desk: Desk) -> None:
    text = CAMPAIGN.replace("systems:\n", "node_hours_cap: 0.5\nsystems:\n")
    text = text.replace(
        "scheduler: none, mpi: own", "scheduler: lsf, mpi: platform, login_hosts: no.such.host"
    )
    status, shown = desk.call("check", text)
    assert (status, "c.yaml:2: node_hours_cap: the plan for here may take" in shown) == (2, True)
    assert desk.call("plan", text)[0] == 0
    assert desk.call("plan", text, "--system", "here") == (2, shown)


def test_misspelt_programs_and_benchmarks_are_warned_of_with_their_lines(desk: Desk) -> None:
    def said(command: str, benchmarks: str) -> list[str]:
        status, shown = desk.call(command, CAMPAIGN.replace("benchmarks:\n", f"benchmarks:\n{benchmarks}", 1))
        return [str(status), *re.findall(r"warning: c\.yaml.*\n.*", shown)]

    golden_messages.check("mistakes/programs", said)


TIRED = """\
campaign: c
repeats: 6
time_limit: 1 min
systems:
  here: {scheduler: none, mpi: wheel}
  cl: {scheduler: slurm, mpi: openmpi5, login_hosts: "login*"}
host_groups:
  local: {system: here}
  blue: {system: cl, exclusive: true, cores: 16}
benchmarks:
  PingPong:
    arguments: -iter 100 PingPong
matrix:
  - host_groups: [local, blue]
    placements: [SHM]
    benchmarks: [PingPong]
"""


def test_mistakes_of_a_tired_person_are_explained(desk: Desk) -> None:
    def said(old: str, new: str) -> str:
        assert TIRED.count(old) == 1
        status, text = desk.call("check", TIRED.replace(old, new))
        warnings = re.findall(r"warning: (c\.yaml:.*\n.*\n)", text)
        return text if status == 2 else "".join(warnings)

    golden_messages.check("mistakes/campaign", said)


def test_no_character_that_a_terminal_acts_on_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reversed text, line separators, what cannot be seen: in names of files, warnings and errors."""
    text = CAMPAIGN.replace("/no/such", "/no{acting}such")
    for acting in ("\u202e", "\u2028", "\u2066", "\u200b", "\x85", "\x1b", "\udcff"):
        folder = tmp_path / f"a{acting}b"
        folder.mkdir()
        monkeypatch.chdir(folder)
        (folder / "c.yaml").write_text(text.replace("{acting}", acting), "utf-8", "replace")
        for command in ("check", "plan", "status", "judge"):
            for name in (str(folder / "c.yaml"), f"{acting}.yaml"):
                main([command, name])
                said = "".join(capsys.readouterr())
                assert said and acting not in said, (command, acting)


EACH = """\
campaign: each
systems: {s: {scheduler: slurm, mpi: openmpi5}}
host_groups: {all: {system: s, hosts: "n[1-6].site.org", cores: 4}}
placements: {ONE: {nodes: 1, ranks_per_node: 1, transport: any}}
matrix: [{host_groups: all, placements: ONE, benchmarks: stream, each: {unit: node, nodes_per_job: 9}}]
expect: [{benchmark: stream, metric: triad, at_least: 1 GB/s}]
"""


def test_nodes_to_be_measured_again_are_planned_and_no_refused_call_begins_them(desk: Desk) -> None:
    status, shown = desk.call("plan", EACH, "--only", "n3,n[5-6],n5.site.org")
    assert status == 0 and "all:n5.site.org ONE stream: 6 nodes, 2 rounds of at most 6: 12 runs" in shown
    assert "36 runs here" in shown
    assert "all has 6 hosts: a job has no more (found 9)" in shown and "cannot decide this" not in shown
    status, shown = desk.call("plan", EACH, "--only", "n[6-8]")
    assert status == 2 and "--only: no host group with each lists n[7-8] (found 'n[6-8]')" in shown
    status, shown = desk.call("run", EACH, "--only", "n3", "--repeat", "1-2")
    assert status == 2 and "no run of the campaign has all of these" in shown
    assert not (desk.folder / "results").exists()


def test_a_report_says_until_when_nodes_were_busy_that_pairs_wait_for(desk: Desk) -> None:
    pairs = "benchmarks: point_to_point, each: pair}]"
    text = EACH.replace("nodes: 1", "nodes: 2").partition("benchmarks")[0] + pairs
    assert desk.call("render", text)[0] == 0
    (desk.folder / "results/each/batches").mkdir(exist_ok=True)
    states = desk.folder / "results/each/batches/s-all.slurm.nodes"
    states.write_text("n5.site.org|allocated|busy until 12:00\nn6.site.org|idle|none\n")
    said = " ".join(desk.call("report", text)[1].split())
    assert "busy until 12:00, and pairs wait until all nodes of their job are free: not judged" in said


def test_errors_in_limits_are_reported_with_all_others(desk: Desk) -> None:
    """Also with one that only the results show: they are of another campaign file."""
    limits = "expect:\n- {benchmark: osu_bw, metric: latncy, at_most: 2 us}\n"
    limits += "- {benchmark: mine, metric: latency at 0 B, at_most: 2 parsec}\n"
    status, shown = desk.call("check", CAMPAIGN.replace("[SHM, SHM-1]", "[SHM-7]") + limits)
    assert status == 2 and shown.startswith("mpicampaign: 3 errors\n")
    for words in (
        "no placement 'SHM-7'",
        "can have this metric (found latncy)",
        "'2 parsec' is not a quantity",
    ):
        assert words in shown
    (desk.folder / "results/c").mkdir(parents=True)
    (desk.folder / "first.yaml").write_text(CAMPAIGN)
    (desk.folder / "results/c/plan.json").write_text(json.dumps({"campaign_file": "../../first.yaml"}))
    shown = desk.call("check", CAMPAIGN + limits.replace("parsec", "us"))[1]
    assert "of another campaign file" in shown and "(found latncy)" in shown
    good = "expect: [{benchmark: osu_bw, metric: maximum bandwidth, at_least: 1 GB/s}]\n"
    for command in ("judge", "tables", "history", "compare"):
        assert "of another campaign file" in desk.call(command, CAMPAIGN + good)[1], command


def test_check_counts_what_this_machine_cannot_make_and_says_why(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the functions of the job scripts: one socket of two cores, and a module that nobody has."""
    topology = desk.folder / "sys/devices/system/cpu"
    for cpu in (0, 1):
        (topology / f"cpu{cpu}/topology").mkdir(parents=True)
        (topology / f"cpu{cpu}/topology/thread_siblings_list").write_text(f"{cpu}\n")
        (topology / f"cpu{cpu}/topology/physical_package_id").write_text("0\n")
    monkeypatch.setenv("MPICAMPAIGN_SYSFS", str(desk.folder / "sys"))
    monkeypatch.setenv("MPICAMPAIGN_ALLOWED", "0-1")
    executable(desk.folder / "IMB-MPI1")
    text = CAMPAIGN.replace("[SHM, SHM-1]", "[SHM-1, SHM-2]").replace("      - osu_bw\n      - there\n", "")
    text = text.replace("/no/such/folder/IMB-MPI1", str(desk.folder / "IMB-MPI1"))
    status, shown = desk.call("check", text.replace("\nmatrix", "\nrepeats: 4\nmatrix"))
    assert status == 0
    assert "warning: SHM-2: 4 of 8 runs cannot be made here: needs 2 cores on 2 sockets; " in shown
    assert "offers 1 socket and 2 cores" in shown and "  4 runs can be made here\n" in shown
    shown = desk.call("plan", (desk.folder / "c.yaml").read_text())[1]
    assert "\n4 runs here, 4 still to be done" in shown and "SHM-2: 4 of 8 runs cannot be made here" in shown
    assert re.search(r"SHM-1 +SHM-2\n.* ×4 +×0\n", shown)
    data = json.loads(desk.call("plan", (desk.folder / "c.yaml").read_text(), "--json")[1])
    assert (len(data["runs"]), data["runs_possible"]) == (8, 4)
    assert "; at most " in shown and f"at most {data['node_hours'] / 2:.2f}, then " in shown
    text = text.replace("mpi: own}", "mpi: own, modules: [no-such-module]}")
    shown = desk.call("check", text.replace("\nmatrix", "\nrepeats: 4\nmatrix"))[1]
    assert shown.count("4 of 8 runs cannot be made here: not run: module load no-such-module failed") == 2
    assert "  0 runs can be made here\n" in shown


def test_results_are_beside_the_file_in_a_clone_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the clone's own files are at its top."""
    clone, folder = tmp_path / "clone", tmp_path / "mine"
    (clone / "campaigns").mkdir(parents=True)
    folder.mkdir()
    monkeypatch.setattr(places, "_CLONE", clone)
    monkeypatch.setattr(places, "_beside", [])
    for file, results in (
        (clone / "campaigns/an_example.yaml", clone / "results"),
        (folder / "c.yaml", folder / "results"),
    ):
        places.work_beside(file)
        assert (places.results_folder(), places.working_folder()) == (results, clone)
