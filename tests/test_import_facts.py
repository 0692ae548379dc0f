"""Facts read from LSF reports and job scripts of other people."""

from __future__ import annotations

import re

import pytest
from foreign_outputs import imb, lsf

from mpicampaign.imports.facts import read_facts
from mpicampaign.imports.job_script import announced_launch, read_job_script
from mpicampaign.schedulers.lsf import SCHEDULER as LSF
from mpicampaign.suites import OutputError

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


def test_dates_of_a_report_where_they_are() -> None:
    text = lsf(imb(), ["1*n1"], []).replace(
        "Started at Results reported on ", "Started at Tue Mar  7 05:01:02 2017\nResults reported at Wed"
    )
    report = LSF.read_report(text)
    assert report is not None
    assert report.started == "Tue Mar  7 05:01:02 2017"
    assert read_facts("x", text.replace("# Date", "# Dale"))["started"] == "2017-03-07T05:01:02"


def test_what_the_output_says_is_not_a_line_of_lsf() -> None:
    text = lsf("Exited with exit code 3.\nTERM_MEMLIMIT\n" + imb(), ["1*n1"], [])
    report = LSF.read_report(text)
    assert report is not None
    assert report.trouble == ""


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


@pytest.mark.parametrize("prompt", ["", "++ ", "$ ", "[me@n1 run]$ ", "me@n1:~/run$ "])
def test_a_launch_printed_above_an_output_is_its_command(prompt: str) -> None:
    launch = "srun -n 2 ./osu_latency D D"
    assert announced_launch(f"module loaded\n{prompt}{launch}\n# OSU\n", "osu_latency") == launch
    assert announced_launch(f"in $HOME $ {launch}x\n{prompt}cat osu_latency\n", "osu_latency") == ""
