"""Any command under templates/prove.sh, with a small launcher and a small library in place of MPI."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import golden_messages
import pytest
from conftest import PROJECT, completed
from test_evidence_launch import compile_text, folder

from mpicampaign.evidence.evidence import Evidence, read_evidence

__all__ = ["folder"]
SCRIPT = PROJECT / "templates/prove.sh"
# A rank that ends in the way that its last argument says.
ENDS = """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int MPI_Init(int *, char ***);
int MPI_Finalize(void);
int main(int count, char **arguments) {
    const char *how = arguments[count - 1];
    if (strcmp(how, "without") == 0)
        return 4;
    if (strcmp(how, "exec") == 0)
        return execl(arguments[0], arguments[0], "whole", (char *)NULL);
    if (strcmp(how, "fork") == 0 && fork() == 0)
        exit(0);
    if (strcmp(how, "child") == 0) {
        pid_t child = fork();
        if (child == 0)
            execl(arguments[0], arguments[0], "whole", (char *)NULL);
        return waitpid(child, NULL, 0) < 0;
    }
    MPI_Init(&count, &arguments);
    if (strcmp(how, "exit") == 0)
        _exit(3);
    if (strcmp(how, "abort") == 0)
        abort();
    return MPI_Finalize();
}
"""
# mpirun RANKS PROGRAM ...: ranks of one node, as Open MPI numbers them. The third rank is lost on its way.
LAUNCHER = """\
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **arguments) {
    int status = 0, worst = 0;
    char number[16];
    for (int rank = 0; rank < atoi(arguments[1]); rank++) {
        sprintf(number, "%d", rank);
        setenv("OMPI_COMM_WORLD_RANK", number, 1);
        setenv("OMPI_COMM_WORLD_LOCAL_RANK", number, 1);
        setenv("OMPI_COMM_WORLD_SIZE", arguments[1], 1);
        setenv("OMPI_COMM_WORLD_LOCAL_SIZE", arguments[1], 1);
        if (rank == 2)
            unsetenv("LD_PRELOAD");
        if (fork() == 0)
            return execv(arguments[2], arguments + 2);
    }
    while (wait(&status) > 0)
        worst = WEXITSTATUS(status) > worst ? WEXITSTATUS(status) : worst;
    return count < 0 ? 1 : worst;
}
"""


@pytest.fixture(scope="module")
def ends(folder: Path) -> Path:
    """The folder with the programs above, too."""
    compile_text(ENDS, folder / "ends", f"-L{folder}", f"-Wl,-rpath,{folder}", "-lmpi")
    compile_text(LAUNCHER, folder / "mpirun")
    return folder


def prove(
    folder: Path, target: Path, /, *command: object, stdin: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    own = {"PATH": os.environ["PATH"], "MPICAMPAIGN_EVIDENCE_LIBRARY": str(folder / "evidence.so")}
    words = list(map(str, [SCRIPT, "--write", target, "--", *command]))
    return subprocess.run(
        words, env={**own, **variables}, input=stdin, cwd=folder, capture_output=True, text=True, timeout=60
    )


def moments(evidence: Evidence) -> dict[int, str]:
    """What each rank recorded: its start, its end, or both; (none) without MPI."""
    return {
        rank: " ".join(sorted({key.partition(".")[0] for key in seen}, reverse=True))
        + (" (none)" if seen.get("start.mpi") == "none" else "")
        for rank, seen in evidence.ranks.items()
    }


BOTH, START, NONE = "start end", "start", "start end (none)"


@pytest.mark.parametrize(
    ("command", "status", "expected", "programs"),
    [
        ("ends whole", 0, {0: BOTH}, None),
        ("mpirun 2 ends whole", 0, {0: BOTH, 1: BOTH}, None),
        ("mpirun 3 ends whole", 0, {0: BOTH, 1: BOTH}, None),  # the size tells that one is missing
        ("mpirun 2 ends exec", 0, {0: BOTH, 1: BOTH}, None),
        ("mpirun 2 ends fork", 0, {0: BOTH, 1: BOTH}, None),
        ("mpirun 2 ends child", 0, {0: BOTH, 1: BOTH}, None),  # what the launcher started is no rank
        ("mpirun 2 ends without", 4, {0: NONE, 1: NONE}, None),
        ("ends without", 4, {0: NONE}, None),
        ("ends exit", 3, {0: START}, None),
        ("ends abort", 128 + signal.SIGABRT, {0: START}, None),
        ("bash -c './ends without; :'", 0, {0: NONE}, None),
        ("sh -c './mpirun 2 ends whole; ./mpirun 1 ends exit; ./ends whole'", 0, {0: BOTH, 1: BOTH}, "3"),
        ("sh -c './mpirun 1 ends without; ./mpirun 1 ends whole; :'", 0, {0: BOTH}, None),
        ("mpirun 1 /nowhere", 255, {}, None),
    ],
)
def test_lines_of_ranks(
    ends: Path, tmp_path: Path, command: str, status: int, expected: dict[int, str], programs: str | None
) -> None:
    words = [f"{ends}/{word}" if (ends / word).is_file() else word for word in shlex.split(command)]
    file = tmp_path / "e.txt"
    done = prove(ends, file, *words)
    evidence = read_evidence(file.read_text())
    assert (done.returncode, done.stdout, moments(evidence)) == (status, "", expected)
    assert done.stderr == f"prove: evidence of {len(expected)} rank{'s' * (len(expected) != 1)}: {file}\n"
    assert evidence.complete
    assert evidence.job["exit_status"] == str(status)
    assert evidence.job.get("programs") == programs
    assert list(tmp_path.iterdir()) == [file]
    if words[0].endswith("mpirun"):
        assert evidence.job["launcher"] == words[0]
        assert evidence.job["launcher_arguments"] == " ".join(words[1:])
        assert all(seen["start.ranks"] == words[1] for seen in evidence.ranks.values())
    if programs:
        lines = [line for line in file.read_text().splitlines() if line.startswith("program")]
        assert {line.rpartition(".")[0].partition(".")[0] for line in lines} >= {
            "program 2 rank 0 start",
            "program 3 rank 0 end",
        }


def test_the_command_is_as_without_it(ends: Path, tmp_path: Path) -> None:
    """Its descriptors, its variables (also those with names of the script's own), its input and output."""
    show = "ls /proc/self/fd; env | grep -Ev '^(_|SHLVL)=' | sort; cat; echo error >&2; exit 9"
    names = ("threads", "name", "file", "status", "cpus", "cores", "sockets", "HOSTNAME", "process", "quiet")
    theirs = dict.fromkeys(names, "theirs")
    done = prove(ends, tmp_path / "e.txt", "bash", "-c", show, stdin="in", **theirs)
    own = {"PATH": os.environ["PATH"], "MPICAMPAIGN_EVIDENCE_LIBRARY": str(ends / "evidence.so"), **theirs}
    bare = completed(["bash", "-c", show], env=own, input="in", cwd=ends)
    kept = [line for line in done.stdout.splitlines() if "LD_PRELOAD" not in line]
    kept = [line for line in kept if not line.startswith("MPICAMPAIGN_") or "LIBRARY" in line]
    assert (kept, done.returncode) == (bare.stdout.splitlines(), bare.returncode)
    assert done.stderr.splitlines()[0] == bare.stderr.strip()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_signals_reach_the_command(ends: Path, tmp_path: Path, number: signal.Signals) -> None:
    name = number.name.removeprefix("SIG")
    script = f"trap 'echo {name}; exit 5' {name}; echo ready; while :; do sleep 0.01; done"
    environment = {**os.environ, "MPICAMPAIGN_EVIDENCE_LIBRARY": str(ends / "evidence.so")}
    file = tmp_path / "e.txt"
    started = subprocess.Popen(
        ["env", "--default-signal=INT", SCRIPT, "--quiet", "--write", file, "--", "bash", "-c", script],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    time.sleep(0.05)
    started.send_signal(number)
    assert (started.communicate(timeout=60)[0], started.returncode) == (f"{name}\n", 5)
    assert read_evidence(file.read_text()).job["exit_status"] == "5"


def test_an_earlier_file_stays(ends: Path, tmp_path: Path) -> None:
    file = tmp_path / "e.txt"
    file.write_text("mine")
    for number in (2, 3):
        done = prove(ends, file, "true")
        assert f"{file} was there before; the evidence is in {file}.{number}" in done.stderr
        assert read_evidence(Path(f"{file}.{number}").read_text()).complete
    assert file.read_text() == "mine"


@pytest.mark.parametrize("place", ["a b", "c:d"])
def test_paths_that_the_linker_splits(ends: Path, tmp_path: Path, place: str) -> None:
    there = tmp_path / place
    there.mkdir()
    shutil.copy(ends / "evidence.so", there)
    library = {"MPICAMPAIGN_EVIDENCE_LIBRARY": str(there / "evidence.so")}
    for file in (tmp_path / "e.txt", there / "e.txt"):
        done = prove(ends, file, ends / "mpirun", "2", ends / "ends", "whole", **library)
        assert done.stderr == f"prove: evidence of 2 ranks: {file}\n"
    links = Path("/tmp").glob("mpicampaign-prove-*/library.so")
    assert not [link for link in links if link.readlink().is_relative_to(tmp_path)]


def test_a_library_that_the_user_preloads_is_kept(ends: Path, tmp_path: Path) -> None:
    file = tmp_path / "e.txt"
    prove(ends, file, ends / "ends", "whole", LD_PRELOAD=str(ends / "half.so"))
    assert read_evidence(file.read_text()).ranks[0]["start.preload.0"] == str(ends / "half.so")


def test_programs_that_cannot_load_a_library_are_named(ends: Path, tmp_path: Path) -> None:
    program, odd, musl, root = (tmp_path / name for name in ("static", "odd", "musl", "root"))
    compile_text("int main(void) { return 0; }", program, "-static")
    compile_text("int main(void) { return 0; }", musl, "-Wl,--dynamic-linker=/lib/ld-musl.so.1")
    text = bytearray((ends / "ends").read_bytes())
    root.write_bytes(text)
    root.chmod(0o4755)
    text[18] = 183  # AArch64
    odd.write_bytes(text)
    odd.chmod(0o755)
    words = [
        str(ends / "mpirun"),
        "2",
        *map(str, (program, odd, musl, root)),
        "-l",
        "a,b",
        "two words; $x",
        "",
    ]
    prove(ends, tmp_path / "e.txt", *words)
    job = read_evidence((tmp_path / "e.txt").read_text()).job
    assert (job["static"], job["architecture"], job["setuid"]) == (str(program), str(odd), str(root))
    assert job["loader"] == f"/lib/ld-musl.so.1 of {musl}"
    assert shlex.split(job["launch"]) == words
    assert " -l a,b two" in job["launch"]


def test_refusals(ends: Path, tmp_path: Path) -> None:
    def said(words: str, variables: dict[str, str]) -> str:
        environment = {**os.environ, "MPICAMPAIGN_EVIDENCE_LIBRARY": str(ends / "evidence.so"), **variables}
        done = completed([SCRIPT, *words.split()], env=environment, cwd=tmp_path)
        assert not list(tmp_path.iterdir())
        return f"{done.returncode} {done.stderr.splitlines()[-1]}"

    golden_messages.check("mistakes/prove", said)


def test_containers_with_an_early_c_library_can_load_it(ends: Path) -> None:
    """Every version that the linker demands is in glibc 2.17; a later one would end the program."""
    text = (ends / "evidence.so").read_bytes()
    versions = [tuple(map(int, each.split(b"."))) for each in re.findall(rb"\0GLIBC_([0-9.]+)\0", text)]
    assert versions
    assert max(versions) <= (2, 17)
