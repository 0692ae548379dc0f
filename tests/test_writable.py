"""Whether results can be written, and that nobody else may change files that are executed."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest
from build_campaigns import TWO_NODES, write_jobs
from conftest import ProjectCopy, completed, executable, succeeded

from mpicampaign.run.faults import why_not_writable


def test_a_folder_with_room_is_writable_and_nothing_is_left_in_it(tmp_path: Path) -> None:
    assert why_not_writable(tmp_path) == why_not_writable(tmp_path, write=False) == ""
    assert why_not_writable(tmp_path / "removed") == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EDQUOT, errno.ENOSPC, errno.EROFS, errno.EIO])
def test_writing_shows_a_quota_and_what_a_server_says_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(file: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.fsync", refuse)
    assert why_not_writable(tmp_path).startswith(f"{tmp_path}: {os.strerror(number)}, ")
    assert why_not_writable(tmp_path, write=False) == ""
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert why_not_writable(tmp_path, write=False), "a mount became read-only"


LAUNCH = """#!/bin/bash
while [ "${1##*/}" != rank ]; do shift; done
stat -c %a "$1" >"$0.mode"
export PMI_RANK=0 MPI_LOCALRANKID=0
exec "$@"
"""
PROGRAM = "#!/bin/bash\nprintf '# OSU MPI Latency Test v7.4\\n# Size Latency (us)\\n1 0.50\\n'\n"


def write(project: ProjectCopy, scheduler: str = "none", evidence: str = "off") -> None:
    for name, text in (("launch", LAUNCH), ("program", PROGRAM)):
        executable(project.folder / name, text)
    write_jobs(
        project.folder,
        system={"scheduler": scheduler, "evidence": evidence},
        placements={"one": {**TWO_NODES, "nodes": 1}},
    )


def call(project: ProjectCopy, umask: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    return completed(
        project.command(*arguments), cwd=project.folder, env=project.environment, umask=umask, timeout=240
    )


@pytest.mark.slow
def test_nobody_else_can_write_what_is_executed(project: ProjectCopy) -> None:
    write(project, evidence="on")
    (project.folder / "build").mkdir(exist_ok=True)
    assert succeeded(call(project, 0, "run", "jobs.yaml"))
    made = [*(project.folder / "results").rglob("*"), *(project.folder / "build").rglob("*")]
    assert not [path for path in made if path.lstat().st_mode & 0o002 and not path.is_symlink()]
    executed = [path for path in made if path.suffix in (".sh", ".so")]
    assert {path.name for path in executed} >= {"job.sh", "evidence.so"}
    assert not [path for path in executed if path.stat().st_mode & 0o022]
    assert (project.folder / "launch.mode").read_text() == "755\n"  # of what starts each rank


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("scheduler", ["none", "slurm"])
def test_what_others_can_replace_is_not_run(scheduler: str, project: ProjectCopy) -> None:
    write(project, scheduler)
    [script] = map(Path, call(project, 0o022, "render", "jobs.yaml").stdout.split())
    executable(project.folder / "sbatch", f"#!/bin/sh\nbash {script}; echo 17\n")
    for command in ("squeue", "scontrol"):
        (project.folder / command).symlink_to("/bin/true")
    path = f"{project.folder}:{project.environment['PATH']}"
    for folder in (script.parent, script.parents[5]):
        folder.chmod(0o777)
        done = project.call("run", "jobs.yaml", variables={"PATH": path})
        assert done.returncode != 0
        assert (
            f"{folder}: others can write it, so that nothing is run from it; 'chmod o-w {folder}'"
            in done.stderr
        )
        assert not list(script.parent.glob("attempt-*"))
        folder.chmod(0o775)  # of the group: a shared project folder
