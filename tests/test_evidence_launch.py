"""What the evidence library records of a program's start, in C with a small library and in Fortran."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import PROJECT, completed, succeeded
from test_kernels import LIMIT, Build, mpi_environment, read_evidence

MPI = """\
#include <time.h>
double MPI_Wtime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}
#include <stdio.h>
#include <stdlib.h>
int MPI_Init(int *count, char ***arguments) {
    char path[400];
    for (int i = 0; i < 2; i++) { /* as libraries do: the same file twice */
        snprintf(path, sizeof path, "%s/.openmpi/mca-params.conf", getenv("HOME") ? getenv("HOME") : "");
        FILE *file = fopen(path, "r");
        if (file)
            fclose(file);
    }
    return getenv("UCX_TLS") ? 0 : 0;
}
int PMPI_Init(int *count, char ***arguments) { return 0; }
int MPI_Finalize(void) { return 0; }
"""
PROGRAM = """\
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int MPI_Init(int *, char ***);
int MPI_Finalize(void);
int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    usleep(100000);
    if (count > 1 && *arguments[1] == 's')
        raise(SIGCONT);
    return MPI_Finalize();
}
"""
# Clocks at half speed, and a library that needs another one.
HALF = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*next)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = next(clock, now);
    long long half = (now->tv_sec * 1000000000LL + now->tv_nsec) / 2;
    now->tv_sec = half / 1000000000;
    now->tv_nsec = half % 1000000000;
    return status;
}
"""  # noqa: E501
# Other files of /proc/self, from a folder.
OTHER_PROC = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
FILE *fopen(const char *path, const char *mode) {
    FILE *(*next)(const char *, const char *) = (FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen");
    char other[4096] = "";
    if (strncmp(path, "/proc/self/", 11) == 0)
        snprintf(other, sizeof other, "%s/%s", getenv("OTHER_PROC"), path + 11);
    FILE *file = *other != 0 ? next(other, mode) : NULL;
    return file != NULL ? file : next(path, mode);
}
"""  # noqa: E501
# The functions of the CUDA driver, HIP and NCCL that are asked; CUDA's context is gone at the end, as OSU's.
CUDA = """\
static int asked;
int cuCtxGetDevice(int *device) { *device = 3; return asked++ > 0 ? 201 : 0; }
int cuDeviceGetPCIBusId(char *text, int length, int device) { __builtin_snprintf(text, length, "0000:C%d:00.0", device); return 0; }
int cuDeviceGetUuid(unsigned char *uuid, int device) { for (int i = 0; i < 16; i++) uuid[i] = 16 * device + i; return 0; }
"""  # noqa: E501
HIP = """\
int hipGetDevice(int *device) { *device = 1; return 0; }
int hipDeviceGetPCIBusId(char *text, int length, int device) { __builtin_snprintf(text, length, "0000:d%d:00.0", device); return 0; }
"""  # noqa: E501
NCCL = "int ncclGetVersion(int *version) { *version = 22005; return 0; }\n"
TOOL = "int used(void); int of_the_tool(void) { return used(); }\n"
USED = "int used(void) { return 0; }\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The evidence library, a program with its MPI library, and libraries to preload."""
    if not shutil.which("cc") or not shutil.which("make"):
        pytest.skip("cc or make is not installed")
    made = tmp_path_factory.mktemp("launch")
    subprocess.run(
        ["make", "-s", "-C", PROJECT / "kernels", f"BUILD={made}", made / "evidence.so"], check=True
    )
    library = ("-shared", "-fPIC")
    compile_text(MPI, made / "libmpi.so", *library)
    compile_text(USED, made / "libused.so", *library)
    linked = (f"-L{made}", f"-Wl,-rpath,{made}")
    compile_text(TOOL, made / "tool.so", *library, *linked, "-Wl,--no-as-needed", "-lused")
    compile_text(HALF, made / "half.so", *library, "-ldl")
    compile_text(PROGRAM, made / "program", *linked, "-lmpi")
    return made


def compile_text(source: str, target: Path, *options: str) -> None:
    command = ["cc", "-xc", "-", "-xnone", "-o", str(target), *options]
    subprocess.run(command, input=source, text=True, check=True, timeout=60)


def recorded(
    folder: Path,
    *arguments: str,
    started_by: Sequence[str] = (),
    preload: str = "",
    script: str = "",
    **variables: str,
) -> dict[str, str]:
    """The keys of rank 0; ``script``: the lines of the job script's variables."""
    lines, environment = folder / "rank", folder / "environment"
    lines.unlink(missing_ok=True)
    environment.write_text(script)
    libraries = [str(folder / "evidence.so"), *(str(folder / name) for name in preload.split())]
    own = {
        "MPICAMPAIGN_RANK": "0",
        "MPICAMPAIGN_EVIDENCE_FILE": str(lines),
        "MPICAMPAIGN_ENVIRONMENT": str(environment),
        "LD_PRELOAD": ":".join(libraries),
    }
    plain = {"PATH": os.environ["PATH"], **own, **variables}
    subprocess.run([*started_by, folder / "program", *arguments], env=plain, check=True, timeout=60)
    found = [line.removeprefix("rank 0 ").partition("=") for line in lines.read_text().splitlines()]
    return {key: value for key, _, value in found}


def test_files_of_settings_and_the_variables_that_are_read(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / ".openmpi/mca-params.conf"
    file.parent.mkdir()
    file.write_text("# of ada\n\n  btl = tcp,self \nmy_token = 1\n")
    variables = {"HOME": str(tmp_path), "MPICAMPAIGN_LOCAL_RANK": "0", "PRTE_LAUNCHED": "1"}
    seen = recorded(folder, script="job env.UCX_NONE=1\n", UCX_TLS="tcp", UCX_NONE="1", **variables)
    kept = {key: value for key, value in seen.items() if "settings" in key and "content_file" not in key}
    assert kept == {
        "end.settings.0.user": "~/.openmpi/mca-params.conf",
        "end.settings.0.reader": "libmpi.so",
        "end.settings.0.content_sha256": sha256(file.read_bytes()).hexdigest(),
        "end.settings.0.line.3": "btl = tcp,self",
        "end.settings.0.line.4": "(may be a secret)",
        "end.settings.0.count": "2",
        "end.settings_files": "1",
        "end.settings_read": "UCX_TLS",
    }
    assert "end.settings_files" not in recorded(folder, MPICAMPAIGN_LOCAL_RANK="1")


def test_arguments_are_one_line(folder: Path) -> None:
    assert recorded(folder)["start.arguments"] == ""
    assert recorded(folder, "-a", "b c", "two\nlines")["start.arguments"] == "-a b c two lines"


def test_only_variables_that_differ_from_the_script_are_recorded(folder: Path) -> None:
    script = (
        "job env.UCX_TLS=tcp\njob env.I_MPI_X=1 2\njob env.OWN=a\njob env.FI_GONE=1\njob env.SLURM_JOB_ID=7\n"
    )
    given = {"UCX_TLS": "shm", "I_MPI_X": "1\t2", "OWN": "b", "OMP_NUM_THREADS": "4\nx", "SLURM_JOB_ID": "8"}
    more = {"FI_AUTH_KEY": "secret", "HOME": "/", "MALLOC_ARENA_MAX": "1", "MPICAMPAIGN_LOCAL_RANK": "0"}
    found = recorded(folder, script=script, **given, **more)
    differ = {
        key.removeprefix("start."): found[key]
        for key in found
        if key.startswith(("start.env.", "start.unset."))
    }
    assert differ == {
        "env.UCX_TLS": "shm",
        "env.OWN": "b",
        "env.OMP_NUM_THREADS": "4 x",
        "env.MALLOC_ARENA_MAX": "1",
        "unset.FI_GONE": "",
    }
    assert found["start.variables"] == "4"
    assert "start.variables" not in recorded(folder, MPICAMPAIGN_ENVIRONMENT="/nowhere")


def test_preloaded_libraries_are_named_wherever_they_lie(folder: Path) -> None:
    assert recorded(folder)["start.preloads"] == "0"
    assert recorded(folder, preload="libmpi.so")["start.preloads"] == "0"  # the program asks for it
    found = recorded(folder, preload="tool.so half.so")
    assert found["start.preloads"] == "2"
    assert [found[f"start.preload.{number}"] for number in (0, 1)] == [
        str(folder / name) for name in ("tool.so", "half.so")
    ]
    assert found["start.preload_defines.1"] == "clock_gettime"
    assert "start.preload_defines.0" not in found


def test_the_moments_of_the_start_up_are_in_order_and_of_the_wall_clock(folder: Path) -> None:
    before = time.time_ns() // 1000
    moments = [int(each) for each in recorded(folder)["start.startup_us"].split(" ")]
    all_in_order = [before, *moments, time.time_ns() // 1000]
    assert sorted(all_in_order) == all_in_order and len(moments) == 3


def spans(found: dict[str, str]) -> list[float]:
    return [
        int(found[f"end.{key}"]) - int(found[f"start.{key}"]) for key in ("raw_ns", "libc_ns", "wtime_ns")
    ]


def test_the_kernel_s_clock_cannot_be_replaced(folder: Path) -> None:
    raw, libc, wtime = spans(recorded(folder))
    assert libc == pytest.approx(raw, rel=0.02)
    assert wtime == pytest.approx(raw, rel=0.02)
    raw, libc, wtime = spans(recorded(folder, preload="half.so"))
    assert libc == pytest.approx(raw / 2, rel=0.02)
    assert wtime == pytest.approx(raw / 2, rel=0.02)


def test_a_continued_process_and_its_nice_value(folder: Path) -> None:
    found = recorded(folder, "stopped")
    assert (found["end.continued"], found["start.nice"]) == ("1", str(os.nice(0)))
    assert recorded(folder)["end.continued"] == "0"


# Traces the program, and turns its huge pages off.
TRACED = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.prctl(41, 1, 0, 0, 0)
child = os.fork()
if child == 0:
    libc.ptrace(0, 0, 0, 0)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    _, status = os.waitpid(child, 0)
    if not os.WIFSTOPPED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
    libc.ptrace(7, child, None, None)
"""


def test_how_a_process_is_scheduled_and_who_traces_it_is_recorded(folder: Path) -> None:
    plain = set(recorded(folder)["start.attributes"].split())
    assert plain >= {"scheduler=other", "tracer=none"}
    batch = recorded(folder, started_by=["chrt", "--batch", "0"])["end.attributes"].split()
    assert {*batch} - plain == {"scheduler=batch"}
    python = Path(sys.executable).resolve()
    traced = recorded(folder, started_by=[str(python), "-c", TRACED])["start.attributes"].split()
    assert {*traced} - plain == {f"tracer={python.name[:15]}", "huge_pages=0"}


V1 = {"cpu.cfs_quota_us": "{}", "cpu.cfs_period_us": "100000", "cpu.stat": "nr_periods {}\nnr_throttled {}\n"}
V2 = {"cpu.max": "{} 100000", "cpu.stat": "usage_usec 7\nnr_periods {}\nnr_throttled {}\n"}
JOBS = [("-1", "0", "0"), ("150000", "93", "91")]  # below the other


@pytest.mark.parametrize(
    ("files", "group", "mounted", "levels"),
    [
        (V1, "3:pids:/\n4:cpu,cpuacct:/jobs/7", "/ {} rw x:9 - cgroup c rw,cpu,cpuacct", {"1": "1.5 93 91"}),
        (V1, "4:cpuacct:/jobs/7", "/ {} rw - cgroup cgroup rw,cpuacct", {}),
        (V2, "0::/jobs/7", "/ {} rw - cgroup2 cgroup2 rw", {"1": "1.5 93 91"}),
        (V2, "0::/docker/jobs/7", "/docker {} rw - cgroup2 none rw", {"1": "1.5 93 91"}),  # a container
        (V2, "0::/jobs/7", "/docker {} rw - cgroup2 none rw", {}),
        (V2, "0::/", "/ {}/jobs rw - cgroup2 none rw", {"0": "1.5 93 91"}),  # with a namespace of its own
    ],
)  # fmt: skip
def test_quotas_of_cpu_time_are_those_of_all_groups(
    folder: Path, tmp_path: Path, files: dict[str, str], group: str, mounted: str, levels: dict[str, str]
) -> None:
    compile_text(OTHER_PROC, folder / "proc.so", "-shared", "-fPIC", "-ldl")
    for path, job in zip(("jobs/7", "jobs"), JOBS, strict=True):
        (tmp_path / path).mkdir(parents=True, exist_ok=True)
        values = {"cpu.stat": job[1:], "cpu.max": (job[0].replace("-1", "max"),)}
        for name, text in files.items():
            (tmp_path / path / name).write_text(text.format(*values.get(name, job)))
    (tmp_path / "cgroup").write_text(f"{group}\n")
    (tmp_path / "mountinfo").write_text(f"31 23 0:28 {mounted.format(tmp_path)}\n")
    found = recorded(folder, preload="proc.so", OTHER_PROC=str(tmp_path))
    for moment in ("start", "end"):
        prefix = f"{moment}.cpu_quota."
        assert {key.removeprefix(prefix): found[key] for key in found if key.startswith(prefix)} == levels


def test_the_gpu_in_use_and_its_libraries(folder: Path) -> None:
    """With libraries that have the documented functions; no GPU is here."""
    library = ("-shared", "-fPIC")
    compile_text(CUDA, folder / "libcuda.so.550.54", *library)
    (folder / "libcuda.so.1").symlink_to("libcuda.so.550.54")
    compile_text(NCCL, folder / "libnccl.so.2", *library)
    compile_text(HIP, folder / "libamdhip64.so.6", *library)
    found = gpu_lines(recorded(folder, preload="libcuda.so.1 libnccl.so.2"))
    files = f"{folder}/libcuda.so.550.54 {folder}/libnccl.so.2"
    assert found == {
        "start.gpu": "0000:C3:00.0",
        "start.gpu_uuid": "GPU-30313233-3435-3637-3839-3a3b3c3d3e3f",
        "end.nccl_version": "22005",
        "end.gpu_libraries": files,
    }
    found = gpu_lines(recorded(folder, preload="libamdhip64.so.6"))
    assert found == {"end.gpu": "0000:d1:00.0", "end.gpu_libraries": f"{folder}/libamdhip64.so.6"}
    assert gpu_lines(recorded(folder)) == {}


def gpu_lines(found: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in found.items() if "gpu" in key or "nccl" in key}


class Library(NamedTuple):
    """How to compile Fortran with an MPI library and launch one rank."""

    compiler: str
    options: tuple[str, ...]
    launch: tuple[str, ...]


WHEEL = f"{sys.prefix}/lib"
LIBRARIES = {
    "Intel MPI": Library("gfortran", (f"-L{WHEEL}", "-lmpifort", "-lmpi"), ("mpirun", "-n", "1")),
    "Open MPI": Library("mpif90.openmpi", (), ("mpirun.openmpi", "-n", "1")),
    "MPICH": Library("mpif90.mpich", (), ("mpiexec.mpich", "-n", "1")),
}
PLAIN = "  implicit none\n  integer :: provided, status\n"
PROGRAMS = {
    "init": f"{PLAIN}  call mpi_init(status)\n  call mpi_finalize(status)\n",
    "init_thread": f"{PLAIN}  call mpi_init_thread(0, provided, status)\n  call mpi_finalize(status)\n",
    "f08": "  use mpi_f08\n  implicit none\n  call MPI_Init()\n  call MPI_Finalize()\n",
    "f08 thread": (
        "  use mpi_f08\n  implicit none\n  integer :: provided\n"
        "  call MPI_Init_thread(MPI_THREAD_SINGLE, provided)\n  call MPI_Finalize()\n"
    ),
}


def build_fortran(library: Library, text: str, folder: Path) -> Path:
    source, program = folder / "program.f90", folder / "program"
    source.write_text(f"program ranks\n{text}end program\n")
    command = [library.compiler, "-o", program, source, *library.options]
    done = completed(command, cwd=folder, env=environment(library))
    if "mpi_f08.mod" in done.stderr:
        pytest.skip("the library has no mpi_f08 for this compiler")
    assert done.returncode == 0, done.stderr
    return program


def environment(library: Library) -> dict[str, str]:
    """Debian's libraries must not meet the wheel's."""
    return (
        mpi_environment()
        if library.options
        else dict(os.environ)
        | {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
        }
    )


@pytest.mark.mpi
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("name", LIBRARIES)
def test_start_and_end_are_recorded_once(build: Build, tmp_path: Path, name: str, program: str) -> None:
    library = LIBRARIES[name]
    variables = environment(library)
    for needed in (library.compiler, library.launch[0]):
        if shutil.which(needed, path=variables["PATH"]) is None:
            pytest.skip(f"{needed} is not installed")
    path = tmp_path / "evidence"
    evidence = {
        "LD_PRELOAD": str(build.folder / "evidence.so"),
        "MPICAMPAIGN_RANK": "3",
        "MPICAMPAIGN_EVIDENCE_FILE": str(path),
    }
    preload = [f"{key}={value}" for key, value in evidence.items()]
    binary = build_fortran(library, PROGRAMS[program], tmp_path)
    command = [*LIMIT, *library.launch, "env", *preload, binary]
    assert succeeded(completed(command, env=variables))
    found = read_evidence(path)  # no key twice
    for moment in ("start", "end"):
        assert found[moment].keys() >= {"program", "library", "library_version", "cpu_ns"}
        assert found[moment]["program"] == str(binary)
    assert "tcp" in found["end"]
