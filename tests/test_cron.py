"""Ticks by a real cron daemon: kills, overlapping ticks, a full disk, power cuts: nothing lost or doubled."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from build_campaigns import write_trivial
from conftest import ProjectCopy

from mpicampaign.history.ticks import BEGAN, BUSY, TickLog

if TYPE_CHECKING:
    from collections.abc import Iterator

# Folders of the daemon's own; then the crontab is made by a command, and the daemon started.
_START = """set -eu
mount -t proc proc /proc && mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs spool /var/spool/cron
mkdir -m 1730 /var/spool/cron/crontabs && chgrp crontab /var/spool/cron/crontabs
mount -t tmpfs jobs /etc/cron.d && mount --bind /dev/null /etc/crontab && mount -t tmpfs run /run
[ -z "$ZONE" ] || mount --bind "/usr/share/zoneinfo/$ZONE" /etc/localtime
mount --bind "$BOOT_ID" /proc/sys/kernel/random/boot_id
sh -ec "$INSTALL"
exec faketime -f "$CLOCK" cron -f -L 0
"""
_PROGRAMS = ("cron", "faketime", "unshare", "nsenter")

needs_cron = pytest.mark.skipif(
    os.geteuid() != 0
    or not all(shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin") for program in _PROGRAMS),
    reason=f"needs root and {', '.join(_PROGRAMS)}",
)


class SmallDisk:
    """A file system of a few MB at a folder, seen only by this process's children that enter it."""

    def __init__(self, folder: Path, size: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        script = 'mount -t tmpfs -o "size=$1" small "$2" && echo && exec sleep infinity'
        command = [
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-ec",
            script,
            "sh",
            size,
            str(folder),
        ]
        self._holder = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._holder.stdout is not None and self._holder.stdout.readline()
        self.folder = Path(f"/proc/{self._holder.pid}/root{folder}")
        self.enter = ("nsenter", f"--target={self._holder.pid}", "--mount")

    @contextmanager
    def full(self) -> Iterator[None]:
        """Nothing more can be written."""
        filler = self.folder / "filler"
        with filler.open("wb", buffering=0) as file:
            while True:
                try:
                    file.write(b"\0" * 4096)
                except OSError:
                    break
        try:
            yield
        finally:
            filler.unlink()

    def end(self) -> None:
        self._holder.kill()
        self._holder.wait()


@contextmanager
def cron_daemon(
    folder: Path, install: str, clock: str, *, enter: tuple[str, ...] = (), zone: str = "", boot: int = 1
) -> Iterator[subprocess.Popen[bytes]]:
    """A daemon with a crontab of its own.

    Parameters
    ----------
    install : shell command that writes the crontab
    clock : as for ``faketime -f``, such as ``+0 x60``
    enter : command that enters other namespaces first
    boot : number of the boot: another one has another boot id
    """
    boot_id = folder / f"boot-{boot}"
    boot_id.write_text(f"00000000-0000-4000-8000-{boot:012d}\n")
    variables = {"INSTALL": install, "CLOCK": clock, "ZONE": zone, "BOOT_ID": str(boot_id)}
    namespaces = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]
    with (folder / "cron.log").open("ab") as log:
        daemon = subprocess.Popen(
            [*enter, *namespaces, "sh", "-c", _START],
            env={**os.environ, **variables, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield daemon
    finally:
        os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()


def processes_of(text: str) -> list[int]:
    """The processes whose command line holds a text, such as the path of a test's folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and text in (entry / "cmdline").read_text(errors="replace"):
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


pytestmark = [needs_cron, pytest.mark.slow, pytest.mark.full]

EVERY_MINUTE = {"every": "1 min", "series": "repeats"}


def install(project: ProjectCopy, campaign: str) -> str:
    """The shell command that installs the schedule of a campaign."""
    folder = shlex.quote(str(project.folder))
    variables = f"PYTHONPATH={folder}/src PATH={Path(sys.executable).parent}:$PATH"
    # The copy is not installed: its script needs the path of its modules, too.
    script = f"{folder}/results/{campaign}/schedule/tick.sh"
    add = f"sed -i '2a export PYTHONPATH={folder}/src' {script}"
    return f"cd {folder} && {variables} python -m mpicampaign.cli schedule {campaign}.yaml --install && {add}"


def kill_one(project: ProjectCopy, generator: random.Random) -> None:
    """End one of the programs of the ticks, whichever is found."""
    found = processes_of(str(project.folder))
    if found:
        with suppress(ProcessLookupError):
            os.kill(generator.choice(found), signal.SIGKILL)


def survive(project: ProjectCopy, tmp_path: Path, repeats: int, seconds: float) -> None:
    """Run a campaign of two cases by cron alone; every few seconds something dies."""
    launches = tmp_path / "launches"
    body = f'echo "$PWD" >>"{launches}"; sleep 1'  # so long that some ticks meet another
    write_trivial(project, name="ticks", body=body, repeats=repeats, schedule=EVERY_MINUTE)
    disk = SmallDisk(project.folder / "results", "64m")
    generator = random.Random(14)
    faults: Counter[str] = Counter()
    end, boot = time.monotonic() + seconds, 0
    results: Callable[[], list[Path]] = lambda: list(disk.folder.glob("ticks/runs/*/*/*/*/result.txt"))  # noqa: E731
    try:
        while len(results()) < 2 * repeats:
            assert time.monotonic() < end, (tmp_path / "cron.log").read_text()
            boot += 1
            with cron_daemon(tmp_path, install(project, "ticks"), "+0 x25", enter=disk.enter, boot=boot):
                for _ in range(12):
                    time.sleep(generator.uniform(1, 4))
                    fault = generator.choice(["kill", "kill", "nothing", "nothing", "full disk"])
                    faults[fault] += 1
                    if fault == "kill":
                        kill_one(project, generator)
                    elif fault == "full disk":
                        with disk.full():
                            time.sleep(generator.uniform(1, 4))
            faults["power cut"] += 1
        log = TickLog(disk.folder / "ticks")
        found = results()
        evidence = [path.read_text() for path in found]
        attempts = list(disk.folder.glob("ticks/runs/*/*/*/*/attempt-*"))
        launched = launches.read_text().splitlines()
        events = Counter(tick.event for tick in log.ticks)
        print(f"{dict(faults)}; {dict(events)}; {len(launched)} launches, {len(attempts)} without result")
        runs = Counter(path.parent.relative_to(disk.folder).as_posix() for path in found)
        assert len(runs) == 2 * repeats and set(runs.values()) == {1}
        starts = {line for text in evidence for line in text.splitlines() if line.startswith("job started=")}
        assert 2 * repeats <= len(launched)
        assert len(starts) >= repeats  # no result is a copy of one of another tick
        assert events[BEGAN] >= repeats, "a tick makes one repeat of each case"
        assert events[BUSY] and faults["kill"] and faults["full disk"], "else nothing was tried"
    finally:
        disk.end()


@pytest.mark.soak
def test_a_hundred_ticks_lose_and_double_nothing(project: ProjectCopy, tmp_path: Path) -> None:
    survive(project, tmp_path, repeats=100, seconds=3600)


def test_twelve_ticks_lose_and_double_nothing(project: ProjectCopy, tmp_path: Path) -> None:
    survive(project, tmp_path, repeats=12, seconds=600)


@pytest.mark.parametrize("night", [pytest.param("2026-03-27", marks=pytest.mark.soak), "2026-10-23"])
def test_days_of_23_and_25_hours_have_one_tick_each(project: ProjectCopy, tmp_path: Path, night: str) -> None:
    """Three nights around the change of the clock in Berlin, at a time that one of them does not have."""
    write_trivial(
        project, name="nights", repeats=1, schedule={"every": "1 day", "series": "new", "at": "2:30"}
    )
    clock = f"@{night} 20:00:00 x7200"
    with cron_daemon(tmp_path, install(project, "nights"), clock, zone="Europe/Berlin"):
        time.sleep(72 * 3600 / 7200 - 2)
    ticks = TickLog(project.folder / "results/nights").ticks
    assert [tick.event for tick in ticks].count(BEGAN) + [tick.event for tick in ticks].count(BUSY) == 3
