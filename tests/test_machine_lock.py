"""The lock of the machine: a folder that all users share. Without it a run is made, and marked."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import build_records as make
import pytest
from build_campaigns import write_trivial
from conftest import ProjectCopy, executable, wait_until
from test_job_script_run import END, evidence, execute, left_of, locked, prepared

from mpicampaign.base.records import WITHOUT_LOCK, read_records
from mpicampaign.compare.compare import compare
from mpicampaign.jobs.run import Run
from mpicampaign.report.summary import notices
from mpicampaign.run.machine_lock import wait_for_measurement, who_measures
from mpicampaign.show.sentences import note_text

ME, OTHER = Path("/proc/self").owner(), 64001
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder to others, or mount one")


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a lock that is not made yet."""
    path = tmp_path / "place" / "lock"
    path.parent.mkdir()
    monkeypatch.setenv("MPICAMPAIGN_LOCK", str(path))
    return path


def make_lock(lock: Path, mode: int, user: int = -1) -> None:
    lock.mkdir()
    lock.chmod(mode)
    os.chown(lock, user, -1)


def link_to_a_folder(lock: Path) -> None:
    make_lock(lock.with_name("precious"), 0o1777)
    (lock.with_name("precious") / str(os.geteuid())).write_text("kept")
    lock.symlink_to("precious")


Make = Callable[[Path], object]
NO_LOCK: dict[str, tuple[Make, str]] = {
    "a file": (Path.touch, "file, no folder, of {me}"),
    "a fifo": (os.mkfifo, "special file, no folder, of {me}"),
    "a dangling link": (lambda lock: lock.symlink_to("nowhere"), "link, no folder, of {me}"),
    "a link to a folder": (link_to_a_folder, "link, no folder, of {me}"),
    "a folder that all may change": (lambda lock: make_lock(lock, 0o777), "folder with mode 777, of {me}"),
    "a folder of a group": (lambda lock: make_lock(lock, 0o775), "folder with mode 775, of {me}"),
}
OF_ANOTHER_USER: dict[str, tuple[Make, str]] = {
    "another's folder": (
        lambda lock: make_lock(lock, 0o755, OTHER),
        "folder with mode 755, of UNKNOWN (uid 64001)",
    ),
    "another's closed one": (
        lambda lock: make_lock(lock, 0o700, OTHER),
        "folder with mode 700, of UNKNOWN (uid 64001)",
    ),
}


@pytest.mark.parametrize("what", [*NO_LOCK, *(pytest.param(name, marks=as_root) for name in OF_ANOTHER_USER)])
def test_what_is_no_lock_is_named_and_stops_no_run(what: str, lock: Path, tmp_path: Path) -> None:
    """Nor does a lock on it, and nothing is changed there."""
    made, kind = (NO_LOCK | OF_ANOTHER_USER)[what]
    why = f"{lock} is a {kind.format(me=ME)}"
    script = prepared(tmp_path, END).runs[0]
    made(lock)
    held = locked(lock) if lock.is_dir() else None
    said: list[str] = []
    wait_for_measurement(said.append, stop=lambda: bool(said))
    done = subprocess.run(["bash", script.path], capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, said) == (0, [])
    assert evidence(script).job["without_lock"].startswith(why)
    assert f"warning: another measurement may run at the same time: {why}" in done.stderr
    assert held is None or os.close(held) is None
    if what == "a link to a folder":
        [kept] = lock.iterdir()
        assert kept.read_text() == "kept" and not kept.is_symlink()


# What the file system of the lock becomes before the run
PLACES = {
    "read-only": ("mount -o remount,ro $place", "cannot be made: Read-only file system"),
    "full": ("mount -o remount,nr_inodes=1 $place", "cannot be made: No space left on device"),
    "read-only, with the lock": ("mkdir -m 1777 $place/lock; mount -o remount,ro $place", None),
    "full, with the lock": ("mkdir -m 1777 $place/lock; mount -o remount,nr_inodes=2 $place", None),
}


@as_root
@pytest.mark.parametrize("what", PLACES)
def test_a_file_system_that_takes_no_lock_stops_no_run(what: str, lock: Path, tmp_path: Path) -> None:
    """A folder that is there is locked all the same, though its holder has no name."""
    script = prepared(tmp_path, END).runs[0]
    change, why = PLACES[what]
    commands = f'place=$1; mount -t tmpfs small $place && {change} && bash "$2"'
    command = ["unshare", "--mount", "bash", "-ec", commands, "bash", str(lock.parent), str(script.path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert evidence(script).job.get("without_lock") == (why and f"{lock} {why}")
    assert ("warning" in done.stderr) == (why is not None)


def test_without_the_program_flock_a_run_is_marked(lock: Path, tmp_path: Path) -> None:
    script = prepared(tmp_path, END).runs[0]
    executable(tmp_path / "bin/flock", "#!/bin/sh\nexit 71\n")
    assert execute(script, env={**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}) == 0
    assert evidence(script).job["without_lock"] == f"{lock} cannot be locked: flock ended with status 71"


def start(script: Run) -> subprocess.Popen[str]:
    return subprocess.Popen(["bash", script.path], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("owner", [-1, pytest.param(OTHER, marks=as_root)])
def test_a_run_waits_for_another_users_in_another_folder(owner: int, lock: Path, tmp_path: Path) -> None:
    """The lock is not below the results, and whoever made it shares it. The newest link in it counts."""
    script = prepared(tmp_path, END).runs[0]
    make_lock(lock, 0o1777, owner)
    (lock / "5").symlink_to("process 4, ended long ago")
    time.sleep(0.02)  # a step of the file system's clock
    (lock / "4").symlink_to("process 4711, /some\x1bwhere")
    os.lchown(lock / "4", owner, -1)
    (lock / "not a user").symlink_to("process 1, /")
    holder = locked(lock)
    process = start(script)
    assert process.stdout
    name = f"uid {OTHER}" if owner == OTHER else ME
    told = rf"waiting for the lock of this machine, {lock}; last taken by "
    told += rf"process 4711, /some(\$\\033|\\x1b)where \(of {name}, since 20..-..-..T..:..:..Z\)"
    assert re.fullmatch(told, process.stdout.readline().rstrip())
    said: list[str] = []
    wait_for_measurement(said.append, stop=lambda: bool(said))
    assert len(said) == 1 and re.fullmatch(told, said[0])
    time.sleep(0.3)
    assert not (script.folder / "attempts").exists()
    os.close(holder)
    assert process.wait(240) == 0
    wait_for_measurement(said.append)
    assert len(said) == 1
    assert who_measures(lock).startswith(f"process {process.pid}, {script.folder} (of {ME}, since 20")
    assert "without_lock" not in evidence(script).job


def test_a_killed_holder_frees_the_lock(lock: Path, tmp_path: Path) -> None:
    """Its ranks hold it until they end. A folder that replaces the lock meanwhile is the lock then."""
    alone = f"mkdir {tmp_path}/alone || exit; sleep 0.1; rmdir {tmp_path}/alone\n{END}"
    programs = {"holder": f"echo >{tmp_path}/began; exec sleep 100\n", "second": alone, "third": alone}
    for name in programs:
        (tmp_path / name).mkdir()
    holder, *others = (prepared(tmp_path / name, text).runs[0] for name, text in programs.items())
    held = start(holder)
    wait_until((tmp_path / "began").exists)
    waiting = [start(script) for script in others]
    for process in waiting:
        assert process.stdout
        assert f"process {held.pid}, {holder.folder}" in process.stdout.readline()
    held.kill()
    lock.rename(tmp_path / "removed")
    make_lock(lock, 0o1777)
    other = locked(lock)
    assert left_of(holder.folder) == []
    time.sleep(0.2)
    assert not any((script.folder / "attempts").exists() for script in others)
    os.close(other)
    assert [process.wait(240) for process in waiting] == [0, 0]
    assert {"without_lock" in evidence(script).job for script in others} == {False}


def test_the_mark_stands_at_the_row_and_in_what_is_said_of_the_runs() -> None:
    marked = {WITHOUT_LOCK: "/tmp/x is a link\x1b"}
    comparison = compare(make.case_runs("SHM", metadata=lambda n: marked if n == 3 else {}))
    [note] = [note for _, _, note in comparison.notes() if note.kind == "without_lock"]
    assert note_text(note) == "perhaps beside another measurement: /tmp/x is a link\\x1b (repeat 3)"
    told = "Another measurement may have run beside 1 of 6 runs: /tmp/x is a link\\x1b."
    assert told in notices(comparison)


def test_a_campaign_without_the_lock_ends_well_and_says_so(project: ProjectCopy, lock: Path) -> None:
    lock.touch()
    write_trivial(project)
    results = project.folder / "results/trivial"
    done = project.succeed("run", "--campaign", "trivial.yaml")
    why = f"{lock} is a file, no folder, of {ME}"
    assert done.stderr.count(f"warning: another measurement may run at the same time: {why}") == 1
    summary = " ".join((results / "tables/summary.txt").read_text().split())
    assert f"Another measurement may have run beside 4 of 4 runs: {why}" in summary
    records = read_records(results / "records.jsonl")[1]
    assert [run.metadata[WITHOUT_LOCK].startswith(why) for run in records] == [True] * 4
    assert why in (results / "report.html").read_text()
