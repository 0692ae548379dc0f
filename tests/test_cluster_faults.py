"""Faults of a cluster during a campaign on a real Slurm: nothing is lost or doubled, and the summary tells.

A few jobs in ``full``, hundreds in ``soak``.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pytest
from cluster_site import Site, killed_after
from conftest import completed, succeeded

from mpicampaign.base.records import OK

pytestmark = pytest.mark.slow

LIMIT = 3600.0  # seconds for all jobs
MANY = 300  # runs


def few_and_many(few: int, many: int = MANY) -> list[object]:
    return [pytest.param(few, marks=pytest.mark.full), pytest.param(many, marks=pytest.mark.soak)]


@contextmanager
def meanwhile(action: Callable[[Event], None]) -> Iterator[None]:
    """The action in a thread, which is to end when the event is set; its error is this test's."""
    errors: list[BaseException] = []
    stopping = Event()

    def act() -> None:
        try:
            action(stopping)
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()
    assert not errors, errors


def has_results(site: Site, number: int) -> bool:
    return len(list(site.folder.glob("results/jobs/runs/*/*/*/*/result.txt"))) >= number


def wait_for(condition: Callable[[], bool], stopping: Event) -> bool:
    """Whether the condition came true before the call ended."""
    while not stopping.is_set():
        if condition():
            return True
        stopping.wait(0.05)
    return False


def finished(site: Site, runs: int) -> None:
    """The same command leaves nothing to do, and no run had two jobs at a time or after a success."""
    if len([record for record in site.records() if record.status == OK]) < runs:
        for record in site.records():
            assert record.status == OK or record.reason, record
        assert succeeded(site.run(timeout=LIMIT))
    assert [record.status for record in site.records()] == [OK] * runs
    counted = site.submissions()
    print(f"{len(counted)} runs with results, {sum(counted.values())} submissions")
    assert len(counted) == runs
    assert site.submitted_while_alive() == []


def lines_with(site: Site, words: str) -> list[str]:
    return [line for line in site.done.stderr.splitlines() if words in line]


@pytest.mark.parametrize("runs", few_and_many(12))
def test_the_controller_is_down_twice(site: Site, runs: int) -> None:
    """Once while jobs are submitted, and once while they run; each time until the call has noticed."""
    site.write(repeats=runs)
    site.replace("squeue", '/usr/bin/squeue "$@" || { status=$?; touch "$0.failed"; exit $status; }')
    failed = site.commands / "squeue.failed"
    log = site.folder / "results/jobs/submissions.txt"

    def stop_twice(stopping: Event) -> None:
        for begun in (log.exists, partial(has_results, site, runs // 2)):
            if wait_for(begun, stopping):
                site.cluster.stop_controller()
                failed.unlink(missing_ok=True)
                wait_for(failed.exists, stopping)
                site.cluster.start_controller()

    with meanwhile(stop_twice):
        site.done = site.run(timeout=LIMIT)
    assert succeeded(site.done)
    [line] = lines_with(site, "the scheduler did not answer for")
    assert line.endswith(" in all, twice"), line
    finished(site, runs)


@pytest.mark.parametrize("runs", few_and_many(6, 30))
@pytest.mark.parametrize(
    ("requeue", "words"),
    [
        (False, "lost (node failure) and submitted again"),
        pytest.param(True, "requeued by the scheduler", marks=pytest.mark.soak),
    ],
)
def test_a_node_dies_in_every_fifth_job(site: Site, runs: int, requeue: bool, words: str) -> None:
    """The node of the script itself; all of its processes, like at a power cut."""
    # Two jobs that begin at once would both count both: the lock gives each its own number.
    count = '( flock 9; echo >&9; [ "$(($(wc -l <"$0.jobs") % 5))" -ne 0 ] ) 9>>"$0.jobs"'
    die = 'die="$0.die.$SLURM_JOB_ID"; hostname >"$die.part"; mv "$die.part" "$die"'
    site.write(
        body=f'[ -e "$0.peace" ] || {{ {count}; }} || {{ {die}; sleep 60; }}',
        repeats=runs,
        group={"requeue": requeue},
    )

    def kill_nodes(stopping: Event) -> None:
        while wait_for(lambda: any(dying(site)), stopping):
            for file in dying(site):
                node = file.read_text().strip()
                file.unlink()
                site.cluster.kill_node(node)
                site.cluster.boot_node(node)

    with meanwhile(kill_nodes):
        site.done = site.run(timeout=LIMIT)
    (site.folder / "program.peace").touch()
    print(site.done.stderr)
    assert len(lines_with(site, words)) == 1
    finished(site, runs)


def dying(site: Site) -> list[Path]:
    return [file for file in site.folder.glob("program.die.*") if file.suffix != ".part"]


@pytest.mark.soak
def test_results_are_read_only_twice(site: Site, runs: int = MANY) -> None:
    """While jobs begin and end, and again while a call submits."""
    site.write(repeats=runs, system={"max_queued": 8})

    def forbid_twice(stopping: Event) -> None:
        for enough in (runs // 5, runs * 3 // 5):
            if wait_for(partial(has_results, site, enough), stopping):
                read_only(site, 8)

    with meanwhile(forbid_twice):
        site.done = site.run(timeout=LIMIT)
    print(site.done.stderr)
    [line] = lines_with(site, "results could not be written for")
    assert line.endswith(" in all, twice"), line
    assert succeeded(site.done)
    finished(site, runs)


def read_only(site: Site, seconds: float) -> None:
    """On the head and all nodes. Files that are open can be written still, as the mount is a new one.

    One that a job opens between the two mounts keeps it writable until the job ends: hence the tries.
    """
    folder = site.folder / "results"
    places = (None, *site.cluster.nodes)
    for node in places:
        tries = 'for _ in $(seq 100); do mount -o remount,bind,ro "$0" && exit; sleep 0.1; done; exit 1'
        script = f'mount --bind "$0" "$0"; {tries}'
        site.cluster.administer(["sh", "-ec", script, str(folder)], node)
    time.sleep(seconds)
    for node in places:
        site.cluster.administer(["umount", "--lazy", str(folder)], node)


@contextmanager
def small_disk(site: Site) -> Iterator[Path]:
    """The results on a file system of 16 MB: here, on the head and on all nodes."""
    folder, image = site.folder / "results", site.folder / "disk.img"
    folder.mkdir()
    make = (
        'truncate -s 16M "$0" && mkfs.ext4 -qm 0 "$0" && mount -o loop "$0" "$1" && losetup -nO NAME -j "$0"'
    )
    made = completed(["sh", "-c", make, image, folder])
    if made.returncode != 0:
        pytest.skip(f"no small file system can be made here: {made.stderr.strip()}")
    try:
        for node in (None, *site.cluster.nodes):
            site.cluster.administer(["mount", made.stdout.strip(), str(folder)], node)
        site.cluster.give(folder)
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.soak
def test_a_disk_is_full_for_a_while(site: Site, runs: int = MANY) -> None:
    """Jobs begin and end meanwhile, and some of them fail; no run does."""
    site.write(body="sleep 0.3", repeats=runs, system={"max_queued": 8})
    with small_disk(site) as folder:

        def fill(stopping: Event) -> None:
            if wait_for(partial(has_results, site, runs // 3), stopping):
                with suppress(OSError), (folder / "fill").open("wb") as file:
                    while True:
                        file.write(bytes(2**16))
                time.sleep(15)
                (folder / "fill").unlink()

        with meanwhile(fill):
            site.done = site.run(timeout=LIMIT)
        print(site.done.stderr)
        assert succeeded(site.done)
        assert "FAILED" not in site.done.stderr
        assert lines_with(site, f"results can't be written: {folder}/jobs: No space left on device, ")
        finished(site, runs)


# One list of three ends somewhere, with exit status 0: within a line, or, where nobody sees it, between two.
CUT = r"""
/usr/bin/squeue "$@" >"$0.$$" || { status=$?; rm "$0.$$"; exit $status; }
echo >>"$0.calls"
size=$(stat -c %s "$0.$$")
if [ "$(($(wc -l <"$0.calls") % 3))" -eq 0 ]; then head -c "$((size * (RANDOM % 100) / 100))" "$0.$$"
elif [ "$(($(wc -l <"$0.calls") % 3))" -eq 1 ]; then head -n "$((RANDOM % 3))" "$0.$$"
else cat "$0.$$"
fi
rm "$0.$$"
"""


@pytest.mark.parametrize("runs", few_and_many(20))
def test_lists_of_jobs_that_are_cut(site: Site, runs: int) -> None:
    """Also the first list of a call: each is interrupted, and the next one must take up all jobs."""
    site.write(body='while [ ! -e "$0.go" ]; do sleep 0.2; done', repeats=runs)
    site.replace("squeue", CUT)
    told = 0
    for _ in range(6):
        site.done = site.run(before=killed_after("", signal.SIGINT, 5), timeout=300)
        assert "Traceback" not in site.done.stderr
        told += len(lines_with(site, "incomplete; no job was considered lost"))
    assert told, "else nothing was tried"
    (site.folder / "program.go").touch()
    site.done = site.run(timeout=LIMIT)
    assert succeeded(site.done)
    assert "submitted again" not in site.done.stderr
    finished(site, runs)
