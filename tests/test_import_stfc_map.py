"""The shipped STFC map on invented outputs of the kinds in its report: LOTUS, Cloud, odd jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_outputs import directives, hpl, imb, lsf, prot

from mpicampaign.base.records import FAILED, IN_PART, OK, VERIFIED, Record
from mpicampaign.collect.imports import collect_imports
from mpicampaign.compare.compare import compare
from mpicampaign.imports.account import Account, account_text
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.map_file import load_map
from mpicampaign.show.sentences import note_text

MAP = Path(__file__).parents[1] / "campaigns" / "stfc-2017" / "import.yaml"
IMB = "/home/someone/imb/src/IMB-MPI1 -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong"


def take(tmp_path: Path, files: dict[str, str], folder: str = "") -> tuple[Account, list[Record]]:
    for name, text in files.items():
        path = tmp_path / "raw" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    campaign = tmp_path / "results"
    account = import_folders([tmp_path / "raw" / folder], load_map(MAP), campaign)
    return account, collect_imports(campaign)


def lotus(host: str, *options: str, ptile: int = 1, launch: str = IMB) -> list[str]:
    return [*directives(2, ptile, "#BSUB -q par-multi", *options), f"mpirun.lotus -prot {launch}"]


def case(record: Record) -> tuple[str, str, str, str]:
    return (record.case.system, record.case.host_group, record.case.placement, record.case.benchmark)


def test_bound_lotus_runs_are_shm_1_and_shm_2(tmp_path: Path) -> None:
    files = {}
    for number, bind in enumerate(("numactl --cpunodebind=0 -- ", "-cpu_bind=MAP_CPU:0,15 ")):
        script = lotus("", '#BSUB -m "broadwell256G"', ptile=2, launch=bind + IMB)
        files[f"{number}.out"] = lsf(prot("SHM", 1) + imb(second=number), ["2*host1"], script)
    _, records = take(tmp_path, files)
    assert [record.case.placement for record in records] == ["SHM-1", "SHM-2"]
    assert all("were not recorded" in " ".join(record.verdict_reasons) for record in records)


@pytest.mark.parametrize(
    ("folder", "placement"),
    [("Cloud_HPL_2Nodes/outputs", "TCP"), ("Cloud_HPL/1_node", "SHM"), ("cloud/two hosts", "TCP")],
)
def test_cloud_hpl_by_its_folder(tmp_path: Path, folder: str, placement: str) -> None:
    _, (record,) = take(tmp_path, {f"{folder}/20170327_005001.out": hpl()}, folder)
    assert case(record) == ("cloud", "Cloud", placement, "HPL")


def scarf(group: str, *options: str) -> list[str]:
    return [*directives(2, 1, f'#BSUB -m "{group}"'), " ".join(["mpirun -lsf -prot", *options, IMB])]


def test_the_group_of_the_actual_hosts_wins_and_is_reported(tmp_path: Path) -> None:
    hosts = ["1*cn352.elsewhere.org", "1*cn353"]
    text = lsf(prot("IBV", 2) + imb(2), hosts, scarf("scarf10", "-IBV"))
    account, (record,) = take(tmp_path, {"1.out": text})
    assert record.case.host_group == "scarf11"
    assert record.verdict == VERIFIED
    assert "requested scarf10, ran on hosts of scarf11" in account_text(account)
    (row,) = compare([record]).tables[0].rows
    assert any("the job requested scarf10" in note_text(note) for note in row.notes)


def test_hosts_of_two_groups_are_refused(tmp_path: Path) -> None:
    text = lsf(prot("IBV", 2) + imb(2), ["1*cn052", "1*cn352"], scarf("scarf10", "-IBV"))
    account, records = take(tmp_path, {"1.out": text})
    assert records == []
    assert "several host groups: cn052 (scarf10), cn352 (scarf11)" in account.entries[0].reason


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("Exited with exit code 139.", "exit code 139"),
        (
            "TERM_RUNLIMIT: job killed after reaching LSF run time limit.\nExited with exit code 140.",
            "TERM_RUNLIMIT",
        ),
    ],
)
@pytest.mark.parametrize("output", [imb(), imb()[:1500], imb()[:700], ""])
def test_a_job_that_did_not_end_well(tmp_path: Path, end: str, expected: str, output: str) -> None:
    """What it printed before counts; without values it failed."""
    text = lsf(output, ["1*cn052", "1*cn053"], scarf("scarf10", "-TCP"), state="Exited", end=end)
    _, (record,) = take(tmp_path, {"1.out": text})
    assert case(record) == ("scarf", "scarf10", "TCP", "PingPong")
    assert record.status == (OK if len(output) > 700 else FAILED)
    assert record.verdict != VERIFIED
    said = record.reason or record.metadata[IN_PART]
    assert "the scheduler reports: " in said and expected in said
