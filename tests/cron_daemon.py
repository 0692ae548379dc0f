"""A real cron daemon in seconds: in namespaces of its own, with a clock that runs faster (faketime).

The programs that it starts see the real time. Ending it kills all that it started, as a power cut does.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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
