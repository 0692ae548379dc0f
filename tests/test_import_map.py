"""Maps of imports: errors with line, key and remedy, rules, facts of jobs, and the shipped STFC map."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import golden_messages
import pytest
from printed_outputs import directives, hpl, imb, lsf, prot

from mpicampaign.base.errors import UserError
from mpicampaign.base.records import FAILED, IN_PART, OK, VERIFIED, Record
from mpicampaign.campaign.file import load_campaign
from mpicampaign.cli.schema_docs import keys_document
from mpicampaign.collect.imports import collect_imports
from mpicampaign.compare.compare import compare
from mpicampaign.imports.account import Account, account_text
from mpicampaign.imports.facts import FACTS, FAMILIES, read_facts
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.job_script import read_job_script
from mpicampaign.imports.labels import label_of
from mpicampaign.imports.map_file import ImportMap, load_map
from mpicampaign.show.sentences import note_text
from mpicampaign.suites import OutputError

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


def test_errors_are_reported_with_line_key_and_remedy(tmp_path: Path) -> None:
    def said(old: str, new: str) -> str:
        assert old in GOOD
        return golden_messages.refusal(tmp_path, lambda: load(tmp_path, GOOD.replace(old, new, 1)))

    golden_messages.check("mistakes/map", said)


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


def test_a_map_and_a_campaign_file_in_each_others_place(tmp_path: Path) -> None:
    load(tmp_path, GOOD)
    with pytest.raises(
        UserError, match=r"map\.yaml: this is an import map, not a campaign file\n +report takes it"
    ):
        load_campaign(tmp_path / "map.yaml")
    with pytest.raises(UserError, match=r"this is a campaign file, not the map of an import"):
        load_map(CAMPAIGNS.parent / "campaign.yaml")


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


def lotus(*options: str, ptile: int = 1, launch: str = IMB) -> list[str]:
    return [*directives(2, ptile, "#BSUB -q par-multi", *options), f"mpirun.lotus -prot {launch}"]


def case(record: Record) -> tuple[str, str, str, str]:
    return (record.case.system, record.case.host_group, record.case.placement, record.case.benchmark)


def test_bound_lotus_runs_are_shm_1_and_shm_2(tmp_path: Path) -> None:
    files = {}
    for number, bind in enumerate(("numactl --cpunodebind=0 -- ", "-cpu_bind=MAP_CPU:0,15 ")):
        script = lotus('#BSUB -m "broadwell256G"', ptile=2, launch=bind + IMB)
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
    said = record.reason or record.metadata.get(IN_PART) or str(record.verdict_reasons)
    assert "the scheduler reports: " in said and expected in said


SLURM = """\
#!/bin/bash
#SBATCH --job-name="lat"
#SBATCH --ntasks=32 --ntasks-per-node 16
#SBATCH -p short -N2 --exclusive
#SBATCH
module load gcc/9.3.0
  module load intel-mpi/2019.7 imb
export FI_VERBS_IFACE=ib
export A="two words" # why
# mpirun is called below
srun \\
  --cpu-bind=none \\
  /opt/osu_latency -m 1:4
"""


def test_a_slurm_script() -> None:
    found = read_job_script(SLURM)
    assert found.scheduler == "slurm"
    assert found.directives == {
        "job-name": "lat",
        "ntasks": "32",
        "ntasks-per-node": "16",
        "partition": "short",
        "nodes": "2",
        "exclusive": "",
    }
    assert found.modules == ("gcc/9.3.0", "intel-mpi/2019.7", "imb")
    assert found.environment == {"FI_VERBS_IFACE": "ib", "A": "two words"}
    assert found.commands == ("srun --cpu-bind=none /opt/osu_latency -m 1:4",)
    assert found.program == "osu_latency"


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("OMP_NUM_THREADS=1 mpirun.lotus -prot /apps/xhpl", "xhpl"),
        ("/usr/bin/mpiexec.hydra -n 2 ./IMB-MPI1 PingPong", "IMB-MPI1"),
        ('mpirun "unclosed ./hpcc', "hpcc"),
        ("echo nothing of the kind", ""),
    ],
)
def test_programs_of_command_lines(line: str, program: str) -> None:
    assert read_job_script(f"#!/bin/sh\ncd x\n{line}\n").program == program


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ("EXE=/x/osu_bw\n  time srun -n 2 $EXE -m 1:4\n", "time srun -n 2 /x/osu_bw -m 1:4"),
        ('N=$1\nO="-i 9"\nmpirun -np $N ${O} osu_bw', "mpirun -np $N -i 9 osu_bw"),
        ("A=1\nA=2\nmpirun -np $A osu_bw", "mpirun -np $A osu_bw"),
        ("cat > x <<EOF\nmpirun osu_latency\nEOF\nmpirun osu_bw\n", "mpirun osu_bw"),
        ("sbatch <<EOF\n#SBATCH -n 2\nmpirun osu_latency\nEOF\n", "mpirun osu_latency"),
        ("tr a b <<< EOF\nmpirun osu_bw\n", "mpirun osu_bw"),
        ("cat <<EOF\nmpirun osu_bw\n", "mpirun osu_bw"),
    ],
)
def test_the_command_is_what_the_shell_runs(script: str, command: str) -> None:
    assert read_job_script(script).commands == (command,)


def _report_below(job: int) -> str:
    report = lsf("", ["1*n1"], [], job=job).partition("The output")[0]
    return f"{imb(second=job)}\n{report}The output (if any) is above this job summary.\n\n"


@pytest.mark.parametrize(
    ("text", "split"),
    [
        (lsf("", ["1*n1"], [], job=1) + lsf(imb(), ["1*n2"], [], job=2), "split the file there"),
        (lsf(imb(), ["1*n1"], [], job=1) + lsf("", ["1*n2"], [], job=2), "split the file there"),
        (_report_below(1) + _report_below(2), "split the file behind line 78"),
    ],
)
def test_reports_of_several_jobs_in_one_file_are_refused_with_the_line_to_split_at(
    text: str, split: str
) -> None:
    lines = text.splitlines()
    second = max(number for number, line in enumerate(lines, 1) if line.startswith("Sender: LSF"))
    said = re.escape(f"line {second}: a second LSF job report, of job 2 after 1: bsub -o appends")
    with pytest.raises(OutputError, match=f"^{said}.*{split}"):
        read_facts("x", text)
    if "behind" in split:
        assert lines[77].startswith("The output (if any) is above")


UCX = "[1.2] [n1:7:0] ucp_worker.c:1 UCX  INFO    ep_cfg[0]: tag(rc_mlx5/mlx5_0:1)\n"


@pytest.mark.parametrize(
    ("said", "script", "mpi"),
    [
        ("", "module load openmpi/4.0.3-qpsxmnc\nsrun IMB-MPI1\n", "openmpi-ucx"),
        ("", "export OMPI_MCA_pml=ucx\nsrun IMB-MPI1\n", "openmpi-ucx"),
        ("", "mpirun --mca pml ucx IMB-MPI1\n", "openmpi-ucx"),
        ("[n1:7] mca: base: components_open: found pml ucx\n", "", "openmpi-ucx"),
        ("", "module load mpich/4.1\nsrun --mpi=pmix IMB-MPI1\n", "mpich-ucx"),
        ("MPICH Version:    4.1\n", "", "mpich-ucx"),
        ("", "export SLURM_MPI_TYPE=pmix_v2\nsrun IMB-MPI1\n", None),
        ("", "module load intel-mpi/2021\nmpiexec.hydra IMB-MPI1\n", None),
        ("", "module load mpich\nmodule load openmpi\nsrun IMB-MPI1\n", None),
        ("", "", None),
    ],
)
def test_the_library_that_used_ucx_is_named_by_evidence_only(said: str, script: str, mpi: str | None) -> None:
    facts = read_facts("x", UCX + said + imb(), script)
    assert facts["transport"] == "ibv"
    assert facts.get("mpi") == mpi
