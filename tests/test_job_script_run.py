"""Real runs of job scripts, with a launcher and a program that misbehave like real ones."""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import re
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from build_campaigns import BENCHMARK, PLACEMENTS, campaign, prepared_in, with_draft
from conftest import completed, executable, wait_until
from default_signals import popen_with_default_signals

from mpicampaign import mpis
from mpicampaign.base.run_files import attempt_name, part_of
from mpicampaign.base.this_machine import measuring_lock
from mpicampaign.campaign.model import Placement, System
from mpicampaign.collect.runs import evidence_in, exit_status, unwritten
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.jobs.prepare import Prepared, write_scripts
from mpicampaign.jobs.render import build_script_text, script_text
from mpicampaign.jobs.run import Run
from mpicampaign.jobs.software import Program, build_problem

END = 'echo "#@end rows=1 status=ok"\n'
ONE_RANK = {"SHM": replace(PLACEMENTS["SHM"], ranks_per_node=1)}
LAUNCHER = '#!/bin/bash\n[ "$1" != --version ] || exit\nshift 4\nexport PMI_RANK=0 MPI_LOCALRANKID=0\n'


@pytest.fixture(autouse=True)
def disk_of_the_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def prepared(
    folder: Path,
    program: str,
    launcher: str = 'exec "$@"\n',
    suite: str = "kernel",
    placements: dict[str, Placement] = ONE_RANK,
    **system: object,
) -> Prepared:
    """A campaign of one run whose program and launcher are the given shell texts."""
    commands = {"mpirun": LAUNCHER + launcher, "program": "#!/bin/bash\n" + program}
    (folder / "bin").mkdir()
    for name, text in commands.items():
        executable(folder / "bin" / name, text)
    benchmark = replace(BENCHMARK, suite=suite, program="program", arguments=())
    made = campaign(placements, benchmark, repeats=1, prefix=str(folder), **system)
    found = prepared_in(folder / "results", made)
    run = found.runs[0]
    entry, command = replace(run.draft.entry, time_limit=1), Program(str(folder / "bin/program"))
    found = replace(found, plan=replace(found.plan, runs=(with_draft(run, program=command, entry=entry),)))
    write_scripts(found)
    return found


def execute(script: Run, **options: object) -> int:
    command = ["bash", str(script.path)]
    return subprocess.run(command, check=False, timeout=240, capture_output=True, **options).returncode  # type: ignore[call-overload,no-any-return]


def evidence(script: Run, kind: str = "result.txt") -> Evidence:
    return evidence_in(next(script.folder.glob(kind)))


def test_what_a_kernel_lacks_is_not_available_and_no_failure(tmp_path: Path) -> None:
    found = prepared(tmp_path, 'printf "#mpicampaign-kernel 1\\n#@not_available=too little memory\\n"\n')
    assert execute(found.runs[0]) == 0
    job = evidence(found.runs[0]).job
    assert abs(int(job["launched_us"]) / 1e6 - time.time()) < 60
    assert (job["not_available"], job["not_available_kind"]) == ("too little memory", "memory")


def test_an_output_that_counts_no_rows_is_not_a_success(tmp_path: Path) -> None:
    found = prepared(tmp_path, END.replace("rows=1", "rows=0"))
    assert execute(found.runs[0]) == 65


def test_a_rank_without_numactl_is_bound_by_taskset_and_without_both_not_at_all(tmp_path: Path) -> None:
    """A numactl that fails, as in containers; then a taskset that fails, too."""
    bound = {"SHM-1": replace(PLACEMENTS["SHM-1"], ranks_per_node=1)}
    program = f'echo "$(taskset -cp $$)" >>{tmp_path}/bound\n{END}'
    script = prepared(tmp_path, program, placements=bound).runs[0]
    for tool in ("numactl", "taskset"):
        executable(tmp_path / "bin" / tool, "#!/bin/sh\nexit 1\n")
        assert execute(script) == 0
        seen = evidence(script)
        if tool == "numactl":
            assert seen.ranks[0]["launch.bound_by"] == "taskset"
            assert (
                (tmp_path / "bound").read_text().endswith(f"list: {seen.nodes[seen.job['host']]['cpus']}\n")
            )
            script.result.unlink()
    assert seen.job["not_available_kind"] == "program"
    assert "no working numactl or taskset" in seen.job["not_available"]
    assert len((tmp_path / "bound").read_text().splitlines()) == 1


def processes_of(folder: Path) -> list[str]:
    """The processes whose environment names the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"={folder}/".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


def left_of(folder: Path) -> list[str]:
    """The same, without those that end soon: a killed rank may have started a `sleep 0.1`."""
    deadline = time.monotonic() + 30
    while (left := processes_of(folder)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def test_ranks_that_ignore_the_time_limit_are_ended_and_free_the_machine(tmp_path: Path) -> None:
    """The launcher dies of TERM at once; its rank, in its own session, ignores TERM."""
    stubborn = "trap '' TERM HUP INT\nwhile :; do sleep 0.1; done\n"
    found = prepared(tmp_path, stubborn, 'setsid "$@" & sleep 60\n')
    script = found.runs[0]
    assert execute(script) == 124
    assert left_of(tmp_path) == []
    holder = locked(measuring_lock())
    os.close(holder)
    seen = evidence(script, "attempt-*")
    assert seen.job["reason"] == "stopped at the time limit of 1 s"
    assert "did not end with its launcher" in seen.job["killed"]
    assert exit_status(script.folder, "") == 124


@pytest.mark.parametrize(
    ("answer", "recorded"),
    [(r"printf 'Some MPI\n\n  Version 1.2\n'", "Some MPI    Version 1.2"), ("sleep 60", ""), ("exit 1", "")],
)
def test_what_the_launcher_says_of_its_version(answer: str, recorded: str, tmp_path: Path) -> None:
    """A launcher that does not answer stops no run."""
    script = prepared(tmp_path, END).runs[0]
    launcher = tmp_path / "bin/mpirun"
    launcher.write_text(launcher.read_text().replace("|| exit\n", f"|| {{ {answer}; exit; }}\n"))
    assert execute(script) == 0
    job = evidence(script).job
    assert (job["launcher_version"], job["program_kind"]) == (recorded, "script #!/bin/bash")
    assert left_of(tmp_path) == []


def test_what_a_failed_launcher_leaves_of_itself_is_ended(tmp_path: Path) -> None:
    """Its helpers are not ranks, and have no variable of a rank."""
    helper = """bash -c "trap '' TERM; for n in {1..100}; do sleep 0.1; done" &\nexit 3\n"""
    script = prepared(tmp_path, END, helper).runs[0]
    assert execute(script) == 3
    assert left_of(tmp_path) == []


def test_interrupted_script_ends_its_ranks_too(tmp_path: Path) -> None:
    stubborn = "trap '' TERM HUP INT\necho started >\"$0.started\"\nwhile :; do sleep 0.1; done\n"
    script = prepared(tmp_path, stubborn, 'setsid "$@" & sleep 60\n', environment={"X": "1"}).runs[0]
    script.path.write_text(script.path.read_text().replace("time_limit=1\n", "time_limit=60\n"))
    process = popen_with_default_signals(["bash", str(script.path)], start_new_session=True)
    wait_until((tmp_path / "bin/program.started").exists)
    process.terminate()
    assert process.wait(30) == 143  # long before the time limit
    assert left_of(tmp_path) == []


def test_a_signal_between_the_launch_and_its_note_ends_the_ranks(tmp_path: Path) -> None:
    stubborn = "trap '' TERM HUP INT\nwhile :; do sleep 0.1; done\n"
    script = prepared(tmp_path, stubborn, 'setsid "$@" & sleep 60\n', environment={"X": "1"}).runs[0]
    text = script_text(script, inline=True)
    there = 'while [ ! -s "$attempt/ranks/0" ]; do sleep 0.05; done\n    kill -TERM $$\n    launched=$!\n'
    assert text.count("    launched=$!\n") == 1
    script.path.write_text(text.replace("    launched=$!\n", f"    {there}"))
    process = popen_with_default_signals(["bash", str(script.path)], start_new_session=True)
    assert process.wait(30) == 143
    assert left_of(tmp_path) == []


@pytest.mark.parametrize("name", ["SIGUSR1", "SIGUSR2", "SIGXCPU", "SIGALRM", "SIGQUIT"])
def test_no_signal_of_a_scheduler_makes_a_result(name: str, tmp_path: Path) -> None:
    """LSF sends USR2 at the run limit; a shell that dies of it runs its trap of EXIT with status 0."""
    program = 'echo half\necho started >"$0.started"\nsleep 30\n'
    script = prepared(tmp_path, program).runs[0]
    script.path.write_text(script.path.read_text().replace("time_limit=1\n", "time_limit=60\n"))
    process = popen_with_default_signals(["bash", str(script.path)], start_new_session=True)
    wait_until((tmp_path / "bin/program.started").exists)
    os.killpg(process.pid, signal.Signals[name])
    assert process.wait(240) == 128 + signal.Signals[name]
    assert not script.has_result
    assert exit_status(script.folder, "") == process.returncode
    assert evidence(script, "attempt-*").job["reason"].startswith("interrupted by signal")


def locked(folder: Path) -> int:
    """An open folder, locked for this process; an error where another one holds it."""
    holder = os.open(folder, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return holder


def test_script_read_from_standard_input_cannot_check_itself(tmp_path: Path) -> None:
    script = prepared(tmp_path, END).runs[0]
    with script.path.open() as text:
        subprocess.run(["bash"], stdin=text, check=True, timeout=240, cwd=tmp_path)
    assert "script_sha256" not in evidence(script).job
    assert "program_sha256" in evidence(script).job


def test_what_ran_is_recorded_not_what_was_rendered(tmp_path: Path) -> None:
    """Also for a script edited without changing its launch."""
    script = prepared(tmp_path, END).runs[0]
    script.path.write_text(
        script.path.read_text().replace("# Software", "# The software\nexport UCX_TLS=all")
    )
    assert execute(script) == 0
    seen = evidence(script)
    for name, path in (("script", script.path), ("program", tmp_path / "bin/program")):
        assert seen.job[f"{name}_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert seen.job["script_sha256"] not in seen.claim["scripts"].split()
    assert seen.job["env.UCX_TLS"] == "all"


def test_every_claimed_setting_is_recorded_whatever_its_name(tmp_path: Path) -> None:
    settings = {"HCOLL_X": "1", "UCX_IB_PKEY": "0x1", "I_MPI_FABRICS": "shm:ofi", "I_MPI_DEBUG": "a\nb 'c'"}
    made = prepared(tmp_path, END, environment=settings)
    mpi = made.campaign.systems["here"].mpi
    extended = replace(mpi, environment={**mpi.environment, "HCOLL_X": "0", "UCX_IB_PKEY": "0x0"})
    run = made.plan.runs[0]
    run = with_draft(run, job=replace(run.job, system=replace(run.job.system, mpi=extended)))
    changed = Prepared(made.campaign, replace(made.plan, runs=(run,)), made.results)
    write_scripts(changed)
    assert execute(changed.runs[0]) == 0
    seen = evidence(changed.runs[0])
    for name, value in settings.items():
        assert seen.job[f"env.{name}"] == value.replace("\n", " ")
        assert seen.claim[f"setting.{name}"] == value.replace("\n", " ")
    assert seen.claim["settings"] == str(sum(key.startswith("setting.") for key in seen.claim))


def test_secrets_of_the_environment_are_not_recorded(tmp_path: Path) -> None:
    secret = {"I_MPI_HYDRA_pwd": "hush", "UCX_TOKEN": "hush", "UCX_TLS": "all"}
    script = prepared(tmp_path, END, environment=secret).runs[0]
    assert execute(script) == 0
    assert "hush" not in script.result.read_text()
    assert evidence(script).job["env.UCX_TLS"] == "all"


def submitted(script: Run) -> None:
    """Make the script one of a scheduler's."""
    text = script.path.read_text()
    script.path.write_text(re.sub(r"(?m)^(job=.* lock=).*$", r"\1''", text))


@pytest.mark.parametrize("where", ["here", "here, inside an allocation", "slurm", "lsf"])
def test_nothing_of_the_shell_steers_a_launcher_and_its_ranks(where: str, tmp_path: Path) -> None:
    """Whatever SLURM_EXPORT_ENV says; a library of the shell is still found, but not in a job of Slurm."""
    settings = {f"{prefix}X": "1" for prefix in mpis.steering()} | {
        **dict.fromkeys(("I_MPI_HYDRA_BOOTSTRAP", "OMPI_MCA_plm", "SLURM_CPU_BIND", "SRUN_DEBUG"), "1"),
        **dict.fromkeys(("LD_PRELOAD", "BASH_ENV", "GLIBC_TUNABLES"), ""),
    }
    places = dict.fromkeys((*mpis.places(), "LD_LIBRARY_PATH"), "/nowhere")
    slurm = {"SLURM_JOB_ID": "17", "SLURM_NODELIST": "n1", "SLURM_EXPORT_ENV": "ALL"}
    lsf = {"LSB_JOBID": "17", "LSB_QUEUE": "main"}
    outer = {**slurm, **lsf, "PBS_JOBID": "17", "PALS_APID": "17"}
    given = {"here": {}, "here, inside an allocation": outer, "slurm": slurm, "lsf": lsf}[where]
    script = prepared(tmp_path, END, f'env >{tmp_path}/seen\nexec "$@"\n').runs[0]
    if where in ("slurm", "lsf"):
        submitted(script)
    assert execute(script, env={**os.environ, **settings, **places, **given}) == 0
    seen = {line.partition("=")[0] for line in (tmp_path / "seen").read_text().splitlines()}
    assert not settings.keys() & seen
    of_prefix = {"LD_LIBRARY_PATH", "I_MPI_ROOT"}  # which this script sets itself
    assert places.keys() & seen == (of_prefix if where == "slurm" else places.keys())
    assert outer.keys() & seen == (given.keys() if where in ("slurm", "lsf") else set())


def test_an_srun_of_a_system_without_a_scheduler_keeps_its_allocation(tmp_path: Path) -> None:
    script = prepared(tmp_path, END, f'env >{tmp_path}/seen\nexec "$@"\n').runs[0]
    (tmp_path / "bin/mpirun").rename(tmp_path / "bin/srun")
    script.path.write_text(script.path.read_text().replace("measure mpirun", "measure srun"))
    assert execute(script, env={**os.environ, "SLURM_JOB_ID": "17", "SLURM_CPU_BIND": "cores"}) == 0
    seen = (tmp_path / "seen").read_text()
    assert "SLURM_JOB_ID=17\n" in seen
    assert "SLURM_CPU_BIND" not in seen


@pytest.mark.parametrize(
    ("environment", "bootstrap"),
    [
        ({"LSB_MCPU_HOSTS": "n1 2 "}, "fork"),
        ({"LSB_MCPU_HOSTS": "n1 1 n2 1"}, "ssh"),
        ({"LSB_MCPU_HOSTS": "n1 1 n2 1", "I_MPI_HYDRA_BOOTSTRAP": "rsh"}, "rsh"),
        ({"LSB_MCPU_HOSTS": "n1 1 n2 1", "LSF_BINDIR": "HERE"}, None),
        ({"LSB_MCPU_HOSTS": "n1 1 n2 1", "PATH": f"HERE:{os.environ['PATH']}"}, None),
        ({}, None),
    ],
)
def test_hydra_does_without_the_blaunch_that_an_lsf_lacks(
    environment: dict[str, str], bootstrap: str | None, tmp_path: Path
) -> None:
    own = {name: environment[name] for name in environment.keys() & {"I_MPI_HYDRA_BOOTSTRAP"}}
    program = 'echo "$HYDRA_LAUNCHER" >"$0.mpich"\n' + END
    script = prepared(tmp_path, program, environment=own).runs[0]
    submitted(script)
    (tmp_path / "lsf").mkdir()
    (tmp_path / "lsf/blaunch").symlink_to("/bin/true")
    given = {name: value.replace("HERE", f"{tmp_path}/lsf") for name, value in environment.items()}
    assert execute(script, env={"PATH": os.environ["PATH"], **given}) == 0
    assert evidence(script).job.get("env.I_MPI_HYDRA_BOOTSTRAP") == bootstrap
    of_mpich = (tmp_path / "bin/program.mpich").read_text().strip()
    assert of_mpich == ("ssh" if bootstrap == "rsh" else bootstrap or "")


def test_a_job_with_no_environment_at_all_has_a_home(tmp_path: Path) -> None:
    script = prepared(tmp_path, 'echo "$HOME" >"$0.home"\n' + END).runs[0]
    assert execute(script, env={}) == 0
    assert (tmp_path / "bin/program.home").read_text().startswith("/")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("echo '# All processes entering MPI_Finalize'\n", "output is incomplete"),
        (
            "echo 'Invalid benchmark name pingpongg'\necho ' 0 1000 0.1 0.0'\n"
            "echo '# All processes entering MPI_Finalize'\n",
            "rejected its arguments: Invalid benchmark name pingpongg",
        ),
    ],
)
def test_exit_status_0_alone_is_not_a_success(tmp_path: Path, program: str, reason: str) -> None:
    script = prepared(tmp_path, program, suite="imb").runs[0]
    assert execute(script) == 65
    assert not script.has_result
    assert reason in evidence(script, "attempt-*").job["reason"]


def test_what_a_whole_output_holds_must_be_in_the_output(tmp_path: Path) -> None:
    script = prepared(tmp_path, "echo half\n" + END.replace("\n", " >&2\n")).runs[0]
    assert execute(script) == 65
    assert "output is incomplete" in evidence(script, "attempt-*").job["reason"]


def test_a_script_that_ends_early_with_exit_status_0_makes_no_result(tmp_path: Path) -> None:
    """So does a shell that was killed."""
    script = prepared(tmp_path, END).runs[0]
    script.path.write_text(script.path.read_text().replace("\nmeasure ", "\nexit 0\nmeasure "))
    assert execute(script) == exit_status(script.folder, "") == 75
    assert not script.has_result


def test_a_result_that_cannot_be_put_in_its_place_is_not_a_success(tmp_path: Path) -> None:
    script = prepared(tmp_path, END).runs[0]
    executable(tmp_path / "bin/mv", "#!/bin/bash\nexit 1\n")
    assert execute(script) == 74
    assert not script.has_result


def test_a_launcher_that_ignores_the_time_limit_is_killed(tmp_path: Path) -> None:
    """Otherwise it would end at any time, and `timeout` with 124."""
    script = prepared(tmp_path, END, "trap '' TERM\nfor n in {1..60}; do sleep 0.1; done\n").runs[0]
    text = script_text(script, inline=True)
    script.path.write_text(text.replace("--kill-after=10 ", "--kill-after=0.1 "))
    assert execute(script) == 124
    assert evidence(script, "attempt-*").job["reason"] == "stopped at the time limit of 1 s"


# What a site's file says that defines `module`, and what the message says.
MODULES = {
    "unset -f module; find_module() { return 1; }": "there is no module command; name ",
    "module() { echo \"ERROR: Unable to locate a modulefile for '$2'\" >&2; return 1; }": "unknown module; ",
    "module() { echo 'The following module(s) are unknown: \"no/such\"' >&2; return 1; }": "unknown module; ",
    "module() { printf '%s: conflict\\n\\n' $2 >&2; return 1; }": "no/such: conflict",
}


@pytest.mark.parametrize("defined", MODULES)
def test_a_module_that_does_not_load_is_one_sentence(defined: str, tmp_path: Path) -> None:
    """In a job, and before a build, of which status says the same."""
    (tmp_path / "modules.sh").write_text(f"{defined}\n")
    found = prepared(tmp_path, END, modules=("no/such",), source=(str(tmp_path / "modules.sh"),))
    script = found.runs[0]
    assert execute(script) == 69
    said = f"not run: module load no/such failed on {os.uname().nodename}: {MODULES[defined]}"
    assert evidence(script, "attempt-*").job["reason"].startswith(said)
    assert said in build(found.campaign.systems["here"], tmp_path)


def test_a_compiler_that_is_missing_is_one_sentence(tmp_path: Path) -> None:
    wrapper = tmp_path / "bin/mpicc"
    system = prepared(tmp_path, END, environment={"MPICC": str(wrapper)}).campaign.systems["here"]
    host = os.uname().nodename
    assert f"not built: there is no {wrapper} on {host}; let modules: of system " in build(system, tmp_path)
    executable(wrapper, "#!/bin/sh\n[ $1 != -show ] || exec echo nocc -I/include\nexit 1\n")
    assert f"not built: there is no nocc on {host}; " in build(system, tmp_path)


def build(system: System, folder: Path) -> str:
    """Why the kernels are not built, as it is kept for status."""
    names, kernels = ["tree_gather"], folder / "kernels"
    kernels.mkdir(exist_ok=True)
    text = build_script_text(system, "", folder / "built", folder / "mark", kernels, names)
    done = completed(["bash", "-s"], input=text)
    assert done.returncode == 1
    problem = build_problem(folder / "built").read_text()
    assert done.stderr.endswith(problem)
    return problem


def test_bytes_are_counted_in_both_directions_before_and_after(tmp_path: Path) -> None:
    script = prepared(tmp_path, END).runs[0]
    assert execute(script) == 0
    [counted] = evidence(script).nodes.values()
    for name in (f"{moment}.net.lo.{way}_bytes" for moment in ("before", "after") for way in ("rx", "tx")):
        assert counted[name].isdecimal(), name


def on_a_small_disk(script: Run, commands: str) -> subprocess.CompletedProcess[str]:
    """The job script, written below a mount of 100 kB, and what is called there."""
    small = f'mount -t tmpfs -o size=100k tmpfs "$1" && printf %s "$2" >"$1/job.sh" && {commands}'
    command = ["unshare", "--mount", "bash", "-c", small, "bash", str(script.folder), script.path.read_text()]
    return completed(command, timeout=240)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
@pytest.mark.parametrize("variables", ["", "TMPDIR=$1"])
def test_a_full_disk_is_a_failure_never_a_result(variables: str, tmp_path: Path) -> None:
    """Also where the run works there; the part that fitted stays as an attempt."""
    last_words = "echo begun >&2\nprintf 'rank 0 end.x=%05000d\\n' 0 >>\"$MPICAMPAIGN_EVIDENCE_FILE\"\n"
    script = prepared(tmp_path, last_words + "head -c 300000 /dev/zero | tr '\\0' x\n" + END).runs[0]
    listed = 'find "$1" -name "result*"; cat "$1"/attempt-*.txt'
    done = on_a_small_disk(script, f'{variables} bash "$1/job.sh"; s=$?; {listed}; exit $s')
    assert done.returncode == 74
    assert "/result.txt" not in done.stdout
    assert "\njob exit_status=74\nend of evidence\n\n==> stderr.txt, " in done.stdout
    assert "\n==> output.txt, 4096 bytes <==\n" in done.stdout
    assert f"job reason=could not write to {script.folder} on {os.uname().nodename}: is the" in done.stdout
    assert f"rank 0 end.x={0:05000}" in done.stdout.splitlines()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_disk_that_is_full_before_the_run_leaves_no_attempt(tmp_path: Path) -> None:
    script = prepared(tmp_path, END).runs[0]
    filled = 'cat /dev/zero >"$1/fill"; bash "$1/job.sh"'
    done = on_a_small_disk(script, f'{filled}; s=$?; ls "$1"; exit $s')
    assert (done.returncode, done.stdout) == (73, "fill\njob.sh\n")
    assert f"results could not be written: is the file system of {script.folder} full" in done.stderr


def test_a_benchmark_that_ends_with_such_a_status_has_failed_itself(tmp_path: Path) -> None:
    script = prepared(tmp_path, "exit 73\n").runs[0]
    assert execute(script) == 73
    [attempt] = script.folder.glob("attempt-*")
    number = attempt_name(attempt).partition("-")[2]
    assert not unwritten(script.folder, number, 73)
    assert unwritten(script.folder, "another", 73)
    assert not unwritten(script.folder, "another", 65)


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.soak)])
def test_a_kill_at_any_moment_leaves_a_whole_result_or_none(kills: int, tmp_path: Path) -> None:
    script = prepared(tmp_path, "seq 30000\n" + END).runs[0]
    noise, seconds, whole = random.Random(1), -time.monotonic(), 0
    assert execute(script) == 0
    seconds += time.monotonic()
    text = part_of(script.result, "output")
    for _ in range(kills):
        script.result.unlink(missing_ok=True)
        process = popen_with_default_signals(["bash", str(script.path)], start_new_session=True)
        time.sleep(noise.uniform(0.6, 1.1) * seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        whole += script.has_result
        assert not script.has_result or evidence(script).complete
        ended = [place for place in script.folder.glob("*-*.txt") if evidence_in(place).complete]
        ended += [script.result] if script.has_result else []
        assert all(part_of(place, "output") == text for place in ended)
    print(f"{kills} kills: {whole} results")
    assert execute(script) == 0


def test_evidence_that_cannot_be_written_is_not_a_success(tmp_path: Path) -> None:
    script = prepared(tmp_path, END).runs[0]
    script.path.write_text(script.path.read_text().replace("\nmeasure ", "\nexec 3>/dev/full\nmeasure "))
    assert execute(script) == 74
    assert not script.has_result


def test_a_result_of_an_earlier_release_counts_if_it_has_its_output(tmp_path: Path) -> None:
    script = prepared(tmp_path, END).runs[0]
    (script.folder / "result").mkdir()
    assert execute(script) == 0
    assert script.result.read_text().endswith("status=ok\n")
    script.result.unlink()
    (script.folder / "result/output.txt").touch()
    assert execute(script) == 0
    assert script.result.name == "output.txt"


def test_program_that_is_missing_is_not_available_for_now(tmp_path: Path) -> None:
    script = prepared(tmp_path, END).runs[0]
    (tmp_path / "bin/program").unlink()
    assert execute(script) == 0
    seen = evidence(script)
    assert seen.job["not_available_kind"] == "program"
    assert seen.job["not_available"].startswith("program is not on ")


def test_script_that_was_edited_by_hand_is_restored_unless_it_has_a_result(tmp_path: Path) -> None:
    found = prepared(tmp_path, END)
    script = found.runs[0]
    script.path.write_text("echo other\n")
    write_scripts(found)
    assert script.path.read_text() == script_text(script)
    assert execute(script) == 0
    script.path.write_text("echo other\n")
    write_scripts(found)
    assert script.path.read_text() == "echo other\n"
