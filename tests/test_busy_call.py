"""The lock of the machine, and calls that find it busy: they say so and leave runs to a later call."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import build_records as make
import pytest
from build_campaigns import TRUE, UNBOUND, write_campaign, write_trivial
from conftest import ProjectCopy, completed, executable, succeeded, wait_until
from evidence_texts import read
from printed_outputs import imb
from test_job_script_run import END, evidence, execute, left_of, locked, prepared

from mpicampaign.base.records import DISTURBED, FAILED, NOT_JUDGED, WITHOUT_LOCK, read_records
from mpicampaign.collect.runs import RunFolder, read_run
from mpicampaign.evidence.condition import busy_process, condition, stopped_by_others
from mpicampaign.jobs.run import Run
from mpicampaign.run.busy import still_running
from mpicampaign.run.machine_lock import wait_for_measurement, who_measures

# What the ranks would record; rank 1 waited half of its time for a CPU while the file `busy` exists.
RANKS = """\
for each; do [ "${{each##*/}}" != rank ] || ranks=${{each%/rank}}/ranks; done
[ ! -e {busy} ] || wait=500000000
for rank in 0 1; do
    [ -z "$ranks" ] || printf "rank $rank %s\\n" start.host=n1 start.clock_ns=0 start.cpu_ns=0 \\
        start.wait_ns=0 start.allowed=$rank end.clock_ns=1000000000 end.cpu_ns=500000000 \\
        "end.wait_ns=${{wait:-0}}" "end.busy_process=python3 (pid 123, uid 0) 1.0" >"$ranks/$rank"
done
"""
PLACEMENTS = {f"P{number}": UNBOUND for number in range(1, 9)}


def write(project: ProjectCopy, **changes: object) -> Path:
    """Eight quick cases and one that may take an hour; the machine is busy while the returned file exists."""
    busy = project.folder.parent / "busy"
    busy.touch()
    local = {"host_groups": "local"}
    keys: dict[str, object] = {
        "seed": 15,  # the long case comes last in the first row
        "repeats": 4,
        "further_repeats": 1,
        "time_when_busy": "5 min",
        "placements": PLACEMENTS,
        "benchmarks": {"quick": TRUE, "long": TRUE},
        "matrix": [
            {**local, "placements": list(PLACEMENTS), "benchmarks": "quick"},
            {**local, "placements": "P1", "benchmarks": "long", "time_limit": "1 h"},
        ],
    }
    write_trivial(project, body=RANKS.format(busy=busy), **(keys | changes))
    return busy


def made(project: ProjectCopy) -> dict[str, int]:
    """How many results each benchmark has."""
    names = [path.parts[-3] for path in project.results("trivial")]
    return {name: names.count(name) for name in ("quick", "long")}


@pytest.mark.full
@pytest.mark.slow
def test_snakemake_leaves_out_the_same_as_run(project: ProjectCopy) -> None:
    write(project)
    assert succeeded(project.snakemake("--config", "campaign=trivial.yaml"))
    assert made(project) == {"quick": 8 * 3, "long": 0}
    assert (project.folder / "results/trivial/report.html").is_file()


def test_a_process_is_named_only_while_it_takes_the_cpu() -> None:
    gone = "sh (pid 4194305, uid 0) used 1.0 CPUs"
    with subprocess.Popen(["sh", "-c", "ulimit -t 60; while :; do :; done"]) as loop:
        try:
            named = f"sh (pid {loop.pid}, uid {os.getuid()}) used 1.0 CPUs"
            wait_until(lambda: still_running([gone, named, gone, ""]) == named)
            assert not still_running([named.replace("sh", "another"), named.replace("uid ", "uid 1")])
            loop.send_signal(signal.SIGSTOP)
            assert not still_running([named])
        finally:
            loop.kill()
    assert not still_running([named])


STOPPED = "claim ranks_per_node=2\njob exit_status={status}\njob others_used_cpus={others}\n"


@pytest.mark.parametrize(
    ("others", "status", "why"),
    [
        ("1.9 of 2", 124, "other processes used 1.9 of 2 CPUs"),
        ("0.1 of 2", 124, ""),  # the benchmark hangs by itself
        ("1.9 of 64", 124, ""),  # there is room for all
        ("62.5 of 64", 124, "other processes used 62.5 of 64 CPUs"),
        ("1.9 of 2", 1, ""),
        ("1.9 of 0x2", 124, ""),
        ("", 124, ""),
    ],
)
def test_a_run_at_its_time_limit_is_disturbed_where_others_took_its_cpus(
    others: str, status: int, why: str
) -> None:
    text = f"#mpicampaign-evidence 2\n{STOPPED.format(status=status, others=others)}"
    assert stopped_by_others(read(text)) == why


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        ("python3 (pid 123, uid 0) 0.9", "python3 (pid 123, uid 0) used 0.9 CPUs"),
        ("a (b) c) (pid 1, uid 1000) 12.0", "a (b) c) (pid 1, uid 1000) used 12.0 CPUs"),
        ("a\u202eb (pid 123, uid 0) 0.9", ""),
        ("<b>longer than a name (pid 123, uid 0) 0.9", ""),
        ("python3", ""),
        ("", ""),
    ],
)
def test_the_process_that_takes_the_cpu_is_named_in_the_reason(recorded: str, said: str) -> None:
    lines = ["start.host=n1", "start.clock_ns=0", "start.cpu_ns=0", "start.wait_ns=0", "start.allowed=0"]
    lines += ["end.clock_ns=1000000000", "end.cpu_ns=500000000", "end.wait_ns=500000000"]
    lines += [f"end.busy_process={recorded}"]
    evidence = read("#mpicampaign-evidence 2\n" + "".join(f"rank 0 {line}\n" for line in lines))
    assert busy_process(evidence) == said
    assert condition(evidence) == (
        DISTURBED,
        "rank 0 waited 50% of its time for a CPU" + (f"; {said}" if said else ""),
    )


@pytest.mark.parametrize(
    ("wait", "text", "expected"),
    [(500000000, "0 time-out.;", DISTURBED), (0, "0 time-out.;", NOT_JUDGED), (500000000, "", NOT_JUDGED)],
)
def test_a_program_that_others_left_no_time_for_a_value_is_disturbed_and_not_done(
    tmp_path: Path, wait: int, text: str, expected: str
) -> None:
    whole = imb()
    rows = [line for line in whole.splitlines() if line[:1] == " " and line.split()[0].isdecimal()]
    lines = ["start.host=n1", "start.clock_ns=0", "start.cpu_ns=0", "start.wait_ns=0", "start.allowed=0"]
    lines += ["end.clock_ns=1000000000", "end.cpu_ns=500000000", f"end.wait_ns={wait}"]
    output = whole.replace("\n".join(rows), f"            {text}")
    make.write_result(tmp_path / "r01-0123/result.txt", *(f"rank 0 {line}" for line in lines), output=output)
    record = read_run(make.case("P1"), "imb", RunFolder(tmp_path / "r01-0123", 1))
    assert (record.status, record.condition) == (FAILED, expected)
    assert ("waited 50% of its time" in record.reason) == (expected == DISTURBED)


@contextmanager
def busy_loops() -> Iterator[None]:
    """A busy loop for each CPU."""
    command = ["timeout", "300", "sh", "-c", "while :; do :; done"]
    loops = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.terminate()
            loop.wait()


@pytest.mark.full
def test_a_time_limit_that_was_met_beside_others_is_no_failure(project: ProjectCopy) -> None:
    write(project, repeats=1, matrix=[{"host_groups": "local", "placements": "P1", "benchmarks": "long"}])
    text = (project.folder / "trivial.yaml").read_text().replace("time_limit: 1 min", "time_limit: 2 s")
    (project.folder / "trivial.yaml").write_text(text)
    launcher = project.folder.parent / "launch"
    launcher.write_text(launcher.read_text().replace("[ -z", '[ -z "$ranks" ] || exec sleep 60\n[ -z', 1))
    with busy_loops():
        done = project.call("run", "trivial.yaml")
    assert done.returncode == 1 and "no run gave a value that counts" in done.stderr, done.stderr
    assert "long r01: not done: stopped at the time limit of 2 s while other processes used " in done.stderr
    [record] = project.records("trivial")
    assert (record.status, record.condition) == (FAILED, DISTURBED)
    assert "not done: 1 of 1 runs; the same command continues" in done.stderr


@pytest.mark.mpi
@pytest.mark.full
@pytest.mark.alone
@pytest.mark.usefixtures("imb")
def test_a_call_beside_busy_loops_ends_and_names_what_takes_the_cpu(project: ProjectCopy) -> None:
    bound = {"nodes": 1, "ranks_per_node": 2, "sockets": 1, "transport": "shm"}
    arguments = "-iter 200000 -time 10 -iter_policy off -msglog 0:1"
    write_campaign(
        project.folder / "busy.yaml",
        repeats=4,
        time_limit="1 min",
        time_when_busy="30 s",
        placements=dict.fromkeys("ABC", bound),
        benchmarks={
            name: {"arguments": f"{arguments} {name}"} for name in ("PingPong", "PingPing", "Exchange")
        },
    )
    with busy_loops():
        done = project.call("run", "busy.yaml")
    assert done.returncode == ("no run gave a value that counts" in done.stderr), done.stderr
    assert re.search(r"this machine is busy: .* runs were disturbed: .* \(pid [0-9]+, uid ", done.stderr), (
        done.stderr
    )
    assert "not run since this machine is busy: " in done.stderr
    assert len(project.results("busy")) <= 9 * 3 + 1


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
    done = completed(["bash", script.path], timeout=240)
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
    done = completed(command, timeout=240)
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
    assert not any(script.folder.glob("attempt-*"))
    os.close(holder)
    assert process.wait(240) == 0
    wait_for_measurement(said.append)
    assert len(said) == 1
    assert who_measures(lock).startswith(f"process {process.pid}, {script.folder} (of {ME}, since 20")
    assert "without_lock" not in evidence(script).job


def test_a_killed_holder_frees_the_lock(lock: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its ranks hold it until they end. A folder that replaces the lock meanwhile is the lock then."""
    alone = f"mkdir {tmp_path}/alone || exit; sleep 0.1; rmdir {tmp_path}/alone\n{END}"
    programs = {"holder": f"echo >{tmp_path}/began; exec sleep 100\n", "second": alone, "third": alone}
    for name in programs:
        (tmp_path / name).mkdir()
    holder, *others = (prepared(tmp_path / name, text).runs[0] for name, text in programs.items())
    monkeypatch.setenv("TMPDIR", str(holder.folder))
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
    assert not any(any(script.folder.glob("attempt-*")) for script in others)
    os.close(other)
    assert [process.wait(240) for process in waiting] == [0, 0]
    assert {"without_lock" in evidence(script).job for script in others} == {False}


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
