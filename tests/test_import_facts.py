"""Facts read from LSF reports and job scripts of other people."""

from __future__ import annotations

import re

import pytest
from foreign_outputs import directives, imb, lsf, prot

from mpicampaign.imports.facts import read_facts
from mpicampaign.imports.job_script import read_job_script
from mpicampaign.schedulers.lsf import read_report
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


def test_an_lsf_report() -> None:
    hosts = ["2*n1.site.org", "2*n2.site.org", "1*n3"]
    text = lsf(imb(), hosts, [*directives(5, 2, '#BSUB -m "old"'), "mpirun -TCP IMB-MPI1"], job=77)
    found = read_report(text)
    assert found is not None
    assert (found.job_id, found.name, found.cluster, found.state) == ("77", "PingPong", "here", "Done")
    assert found.hosts == (("n1.site.org", 2), ("n2.site.org", 2), ("n3", 1))
    assert (found.queue, found.started, found.trouble) == ("par", "", "")


def test_dates_of_a_report_where_they_are() -> None:
    text = lsf(imb(), ["1*n1"], []).replace(
        "Started at Results reported on ", "Started at Tue Mar  7 05:01:02 2017\nResults reported at Wed"
    )
    report = read_report(text)
    assert report is not None
    assert report.started == "Tue Mar  7 05:01:02 2017"
    assert read_facts("x", text.replace("# Date", "# Dale"))["started"] == "2017-03-07T05:01:02"


def test_what_the_output_says_is_not_a_line_of_lsf() -> None:
    text = lsf("Exited with exit code 3.\nTERM_MEMLIMIT\n" + imb(), ["1*n1"], [])
    report = read_report(text)
    assert report is not None
    assert report.trouble == ""


def test_facts_of_a_report() -> None:
    script = [*directives(2, 1, '#BSUB -m "old"'), "module load a", "mpirun -prot -TCP /x/IMB-MPI1 PingPong"]
    facts = read_facts("raw/1.out", lsf(prot("TCP", 2) + imb(), ["1*n1", "1*n2"], script))
    expected = {
        "path": "raw/1.out",
        "suite": "imb",
        "program": "IMB-MPI1",
        "benchmark": "PingPong",
        "scheduler": "lsf",
        "job": "1000",
        "hosts": "n1 n2",
        "nodes": "2",
        "mpi_hosts": "2",
        "modules": "a",
        "command": "mpirun -prot -TCP /x/IMB-MPI1 PingPong",
        "directive.m": "old",
        "directive.x": "",
        "directive.R": "span[ptile=1]",
        "transport": "tcp",
        "mpi": "platform",
        "state": "Done",
        "started": "2017-03-22T05:28:00",
    }
    assert {name: facts.get(name) for name in expected} == expected
    assert "trouble" not in facts


def test_the_header_of_a_cron_run_and_the_time_in_its_name() -> None:
    text = "#HOSTS=2\r\n" + imb().replace("# Date", "# Dale").replace("\n", "\r\n")
    facts = read_facts("outputs/20170322_112501.out", text)
    assert facts["header.HOSTS"] == "2"
    assert facts["started"] == "2017-03-22T11:25:01"
    assert "hosts" not in facts
    assert "nodes" not in facts


@pytest.mark.parametrize("cut", [0, 40, 150, 400, 800])
def test_cut_reports_are_read_as_far_as_they_go(cut: int) -> None:
    text = lsf(imb(), ["1*n1", "1*n2"], directives(2, 1))[:cut]
    facts = read_facts("x.out", text)
    assert facts.get("job") in (None, "1000")
    assert "suite" not in facts


def test_a_directive_that_is_commented_out_is_not_in_force_but_known() -> None:
    found = read_job_script('#BSUB -U root#10\n##BSUB -m "old"\n# #BSUB -W 1:00\n# BSUB is LSF\nxhpl\n')
    assert found.directives == {"U": "root#10"}
    assert found.disabled == {"m": "old", "W": "1:00"}
    facts = read_facts("x/1.out", "text", '##BSUB -m "old"\nxhpl\n')
    assert facts["disabled.m"] == "old" and "directive.m" not in facts


@pytest.mark.parametrize(
    ("title", "benchmark"),
    [
        ("OSU MPI Latency Test v7.4", "osu_latency"),
        ("OSU MPI-CUDA Bi-Directional Bandwidth Test v5.9", "osu_bibw"),
        ("OSU MPI All-to-All Personalized Exchange Latency Test v5.6.2", "osu_alltoall"),
        ("OSU MPI Multiple Bandwidth / Message Rate Test v7.0", "osu_mbw_mr"),
        ("OSU MPI_Put Latency Test v5.8", "osu_put_latency"),
        ("OSU MPI_Put-CUDA Latency Test v5.9", "osu_put_latency"),
        ("OSU One Sided MPI_Get latency Test v3.6", "osu_get_latency"),
        ("OSU MPI_Compare_and_swap latency Test v5.7.1", "osu_cas_latency"),
        ("OSU MPI_Fetch_and_op latency Test v5.7.1", "osu_fop_latency"),
        ("OSU MPI_Get_accumulate latency Test v5.8", "osu_get_acc_latency"),
        ("OSU MPI Multi-process Latency Test v5.8", "osu_latency_mp"),
        ("OSU MPI Init Test v7.4", "osu_init"),
        ("OSU MPI All-to-Allw Personalized Exchange Latency Test v7.4", "osu_alltoallw"),
        ("OSU MPI Non-blocking All-to-All Latency Test v5.6.3", "osu_ialltoall"),
        ("OSU MPI Non-blocking All-to-Allv Personalized Exchange Latency Test v5.7.1", "osu_ialltoallv"),
        ("OSU MPI-CUDA Non-blocking Allreduce Latency Test v7.5", "osu_iallreduce"),
        ("OSU MPI Non-Blocking Broadcast Latency Test v5.8", "osu_ibcast"),
        ("OSU MPI Reduce_scatter Persistent Latency Test v7.4", "osu_reduce_scatter_persistent"),
        ("OSU MPI Bi-Directional Bandwidth Persistent Test v7.4", "osu_bibw_persistent"),
        ("OSU MPI Non-blocking Neighborhood Alltoallw Latency Test v7.4", "osu_ineighbor_alltoallw"),
        ("OSU MPI Neighborhood All-to-Allv Latency Test v7.4", "osu_neighbor_alltoallv"),
    ],
)
def test_an_osu_output_says_itself_what_it_is(title: str, benchmark: str) -> None:
    text = f"srun: job 9 has been allocated resources\n# {title}\n# Size   Latency (us)\n1   1.0\n"
    assert read_facts("a/slurm-9.out", text)["benchmark"] == benchmark
    other = read_facts("a/slurm-9.out", text, "#!/bin/sh\nsrun ./osu_reduce > r.out\nsrun ./prog\n")
    assert other["benchmark"] == benchmark


def test_many_benchmarks_of_one_call_are_named_by_their_program() -> None:
    """All benchmarks that IMB-MPI1 runs by default: joined, their names are too long for a label."""
    names = ("PingPong", "PingPing", "Sendrecv", "Exchange", "Allreduce", "Reduce", "Reduce_scatter", "Bcast")
    call = "# Calling sequence was: \n\n# ./IMB-MPI1 \n\n"
    few, many = (
        call + "".join(f"# Benchmarking {name} \n" for name in chosen) for chosen in (names[:3], names)
    )
    banner = "#    Intel (R) MPI Benchmarks 4.1, MPI-1 part\n"
    assert read_facts("a/x.out", banner + few)["benchmark"] == "PingPong+PingPing+Sendrecv"
    assert read_facts("a/x.out", banner + many)["benchmark"] == "IMB-MPI1"


def test_the_script_names_an_osu_program_of_an_unknown_title() -> None:
    text = "# OSU MPI Brandnew Latency Test v9\n"
    assert "benchmark" not in read_facts("a/x.out", text)
    assert read_facts("a/x.out", text, "srun ./osu_brandnew\n")["benchmark"] == "osu_brandnew"


def test_why_a_job_was_ended_according_to_lsf() -> None:
    end = "TERM_RUNLIMIT: job killed after reaching LSF run time limit.\nExited with exit code 140."
    report = read_report(lsf(imb(), ["1*n1"], [], state="Exited", end=end))
    trouble = "Exited, TERM_RUNLIMIT: job killed after reaching LSF run time limit, exit code 140"
    assert report is not None and report.trouble == trouble


TWO_LAUNCHES = """\
mpirun -IBV IMB-MPI1 PingPong > out/ibv_$SLURM_JOB_ID.out
mpirun -TCP IMB-MPI1 PingPong | tee tcp.out
"""


@pytest.mark.parametrize(
    ("path", "script", "command"),
    [
        ("out/ibv_77.out", TWO_LAUNCHES, "mpirun -IBV IMB-MPI1 PingPong > out/ibv_$SLURM_JOB_ID.out"),
        ("tcp.out", TWO_LAUNCHES, "mpirun -TCP IMB-MPI1 PingPong | tee tcp.out"),
        ("slurm-77.out", TWO_LAUNCHES, ""),
        ("a.out", "srun hostname\nsrun osu_bw\nsrun IMB-MPI1 PingPong\n", "srun IMB-MPI1 PingPong"),
        ("a.out", "srun IMB-MPI1 PingPong\nsrun IMB-MPI1 PingPong\n", "srun IMB-MPI1 PingPong"),
        ("a.out", "srun IMB-MPI1 PingPong 2> a.err > b.out\n", "srun IMB-MPI1 PingPong 2> a.err > b.out"),
    ],
)
def test_of_several_launches_the_one_that_printed_the_output_is_its_command(
    path: str, script: str, command: str
) -> None:
    facts = read_facts(path, imb(), script)
    assert (facts.get("command", ""), facts["program"]) == (command, "IMB-MPI1")


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


def test_short_options_of_slurm_with_their_value_behind_them() -> None:
    found = read_job_script("#SBATCH -n4 -pshort -Jlat -t10\n##SBATCH -wnode1\n")
    assert found.directives == {"ntasks": "4", "partition": "short", "job-name": "lat", "time": "10"}
    assert found.disabled == {"nodelist": "node1"}
    assert read_job_script("#BSUB -app openmpi -n4\n").directives == {"app": "openmpi", "n": "4"}


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


@pytest.mark.parametrize(
    ("forms", "short", "long", "value"),
    [
        (("-n4", "-n 4", "--ntasks=4", "--ntasks 4"), "n", "ntasks", "4"),
        (("-N2", "-N 2", "--nodes=2"), "N", "nodes", "2"),
        (("-pfast", "-p fast", "--partition=fast"), "p", "partition", "fast"),
        (("-J lat", "--job-name=lat"), "J", "job-name", "lat"),
        (("-t 5", "--time=5", "--time 5", "-t 9 --time=5"), "t", "time", "5"),
    ],
)
def test_a_slurm_option_is_there_under_both_of_its_names(
    forms: tuple[str, ...], short: str, long: str, value: str
) -> None:
    for form in forms:
        for mark, family in (("#SBATCH", "directive"), ("##SBATCH", "disabled")):
            facts = read_facts("x", imb(), f"{mark} {form} --exclusive\n")
            assert facts[f"{family}.{short}"] == facts[f"{family}.{long}"] == value


def test_lsf_has_no_long_names_and_a_quality_of_service_is_not_a_queue() -> None:
    assert "directive.ntasks" not in read_facts("x", imb(), "#BSUB -n 2 -q par\n")
    facts = read_facts("x", imb(), "#SBATCH -q high -p fast\n")
    assert (facts["queue"], facts["directive.qos"], facts["directive.q"]) == ("fast", "high", "high")


@pytest.mark.parametrize(
    ("path", "asked", "job"),
    [
        ("a/slurm-1234.out", "", "1234"),
        ("a/slurm-1234_7.out", "", "1234_7"),
        ("a/slurm-1234_7.out.old", "", "1234_7"),
        ("a/slurm-1234_7b.out", "", "1234"),
        ("a/lat_1234_7.out", "-o /home/me/lat_%A_%a.out", "1234_7"),
        ("a/lat-n1-1234.out", "--output=%x-%N-%j.out", "1234"),
        ("a/20170322_112501.out", "--output=lat.out", None),
        ("a/20170322_112501.out", "", None),
    ],
)
def test_the_job_by_the_name_of_slurms_file(path: str, asked: str, job: str | None) -> None:
    assert read_facts(path, imb(), f"#SBATCH {asked}\n").get("job") == job


@pytest.mark.parametrize("line", ["#HOSTS=2", "# HOSTS=2", "#HOSTS = 2 ", "#\tHOSTS =2"])
def test_spaces_in_the_header_of_a_cron_run_do_not_matter(line: str) -> None:
    assert read_facts("x", f"{line}\n{imb()}")["header.HOSTS"] == "2"


def test_what_a_benchmark_or_a_script_in_a_report_says_is_not_a_header() -> None:
    above, banner, below = imb().partition("# Date")
    texts = [
        f"{above}# window_size = 64\n# #processes = 2\n{banner}{below}",
        "# OSU MPI Latency Test v5.6.2\n# Window = 3\n# Size          Latency (us)\n",
        lsf(imb(), ["1*n1"], ["# HOSTS = 2", "mpirun IMB-MPI1"]),
        f"# HOSTS == 2\n# two words = 1\n# Size: 1\n{imb()}",
    ]
    for text in texts:
        assert [name for name in read_facts("x", text) if name.startswith("header.")] == []
