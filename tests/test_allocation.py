"""Campaigns without a scheduler inside an allocation of one: a shell of srun, bsub -I, a notebook."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest
from build_campaigns import OF_DEBIAN, of_debian, write_campaign
from cluster_site import Site
from conftest import ProjectCopy, succeeded

from mpicampaign.base.records import OK, VERIFIED
from mpicampaign.cli import main
from mpicampaign.run.scheduler_calls import ignored_lines
from mpicampaign.schedulers import SCHEDULERS

GATHER = "--tree natural --min-size 64KiB --max-size 1MiB --budget 1"
HERE = socket.gethostname()
SLURM = {
    **{"SLURM_JOBID": "17", "SLURM_JOB_ID": "17", "SLURM_NODELIST": HERE, "SLURM_JOB_NODELIST": HERE},
    **{
        "SLURM_NNODES": "1",
        "SLURM_JOB_NUM_NODES": "1",
        "SLURM_TASKS_PER_NODE": "1",
        "SLURM_JOB_CPUS_PER_NODE": "1",
    },
    **{"PMI_RANK": "0", "PMI_SIZE": "1", "PMIX_NAMESPACE": "slurm.17.0", "PMIX_RANK": "0"},
}
LSF = {"LSB_JOBID": "17", "LSB_HOSTS": HERE, "LSB_MCPU_HOSTS": f"{HERE} 1", "LSB_DJOB_NUMPROC": "1"}
PBS = {"PBS_JOBID": "17.head", "PBS_ENVIRONMENT": "PBS_BATCH", "PBS_NODEFILE": "/nonexistent", "NCPUS": "1"}
HYDRA = {"I_MPI_HYDRA_BOOTSTRAP": "slurm", "HYDRA_BOOTSTRAP": "slurm", "OMPI_MCA_plm": "slurm"}
OUTER = {"slurm": SLURM | HYDRA, "lsf": LSF, "pbs": PBS}


def write(folder: Path, library: str) -> None:
    wheel = {"mpi": "intelmpi", "prefix": "wheel", "environment": {"MPICC": "mpicc"}}
    write_campaign(
        folder / "other.yaml",
        seed=3,
        repeats=1,
        busy_machine="rank",
        time_limit="1 min",
        benchmarks={"tree_gather": {"arguments": GATHER}},
        **({"system": wheel} if library == "intelmpi" else of_debian(library)),
    )


@pytest.mark.mpi
@pytest.mark.full
@pytest.mark.usefixtures("imb")
@pytest.mark.parametrize(("library", "outer"), [("intelmpi", ["slurm"]), ("openmpi4", ["lsf", "pbs"])])
def test_a_launcher_does_not_see_the_allocation_around_it(
    library: str, outer: list[str], project: ProjectCopy
) -> None:
    """One repeat in each allocation; the kernels are built once."""
    write(project.folder, library)
    file = project.folder / "other.yaml"
    for repeats, scheduler in enumerate(outer, 1):
        file.write_text(re.sub("repeats: .*", f"repeats: {repeats}", file.read_text()))
        done = project.succeed("run", "--campaign", "other.yaml", variables=OUTER[scheduler])
        records = project.records("other")
        assert [(record.status, record.verdict) for record in records] == [(OK, VERIFIED)] * repeats, records
        assert ("I_MPI_HYDRA_BOOTSTRAP" in done.stderr) == (scheduler == "slurm")
        assert "PMI" not in done.stderr.replace("I_MPI", "")  # set by the allocation, not by the user


@pytest.mark.mpi
@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("library", ["intelmpi", *OF_DEBIAN])
def test_everything_works_in_a_shell_of_srun(library: str, site: Site) -> None:
    """Programs are built, runs are made, and the doctor looks at this machine."""
    write(site.folder, library)
    site.cluster.give(site.folder)
    inside = ("srun", "--nodes=1", "--ntasks=1", *(["--mpi=pmi2"] if library != "openmpi4" else []))
    done = site.command("run", "--campaign", "other.yaml", before=inside)
    assert succeeded(done)
    [record] = site.records("other")
    assert (record.status, record.verdict) == (OK, VERIFIED), (record.reason, record.verdict_reasons)
    said = site.command("check", "--campaign", "other.yaml", before=inside).stdout
    assert (
        f"inside allocation 2 of Slurm, which has 1 of this node's {os.cpu_count()} CPUs: others may" in said
    )
    if library == "intelmpi":  # the doctor looks at all of them
        assert succeeded(site.command("doctor", "--scheduler", "none", before=inside))
        assert succeeded(site.command("doctor", "--output", "cluster.yaml", before=inside))


def test_check_and_plan_name_the_allocation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "openmpi4")
    for command, job in (("check", "a\u202e7"), ("plan", "a\u202e7"), ("check", ""), ("plan", "")):
        monkeypatch.setenv("LSB_JOBID", job) if job else monkeypatch.delenv("LSB_JOBID", raising=False)
        main([command, "--campaign", str(tmp_path / "other.yaml")])
        said = capsys.readouterr().out
        if job:
            assert "inside allocation 'a\\u202e7' of LSF, which has all CPUs of this node: no" in said
        assert ("allocation" in said) == bool(job)


def test_ignored_variables_are_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"SBATCH_PARTITION": "x", "UCX_TLS": "tcp", "I_MPI_ROOT": "/opt", "SLURM_CONF": "/etc/slurm.conf"}
    monkeypatch.setattr(os, "environ", given)
    end = "; put what you want into the campaign file"
    assert ignored_lines(SCHEDULERS["slurm"]) == [f"ignored from your shell: SBATCH_PARTITION, UCX_TLS{end}"]
    assert ignored_lines(SCHEDULERS["none"]) == [f"ignored from your shell: UCX_TLS{end}"]
    given |= {"SLURM_JOB_ID": "17", "SLURM_HINT": "x", "UCX_B\n\u202e": ""} | {
        f"SBATCH_{n}": "" for n in range(9)
    }
    assert ignored_lines(SCHEDULERS["slurm"]) == [
        f"ignored from your shell: SBATCH_0, SBATCH_1, SBATCH_2, SBATCH_3, SBATCH_4, SBATCH_5 and 6 more{end}"
    ]
    given.clear()
    assert ignored_lines(SCHEDULERS["slurm"]) == []
