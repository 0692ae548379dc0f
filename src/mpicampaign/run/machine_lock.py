"""The wait for a job script that holds the lock of this machine; templates/job/library/lock.sh takes it."""

from __future__ import annotations

import fcntl
import os
import pwd
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from mpicampaign.base.text import visible
from mpicampaign.base.this_machine import measuring_lock

SECONDS_BETWEEN_LOOKS = 0.1
_OPEN_TO_ALL = 0o1777
_CHANGEABLE = 0o022  # by a group, or by all


def wait_for_measurement(say: Callable[[str], None], stop: Callable[[], bool] = lambda: False) -> None:
    """Return when no job script holds the machine; before a wait, ``say`` gets one message.

    Whoever holds it may be another user's run, or what an earlier run of the same campaign left.
    """
    lock, announced = measuring_lock(), False
    while _is_held(lock) and not stop():
        if not announced:
            say(f"waiting for the lock of this machine, {lock}; last taken by {who_measures(lock)}")
            announced = True
        time.sleep(SECONDS_BETWEEN_LOOKS)


def who_measures(lock: Path) -> str:
    """Who took the lock last. Anybody may write a link, but its owner and its time are the kernel's."""
    try:
        links = [link for link in lock.iterdir() if link.name[0].isdecimal()]
        newest = max(links, key=lambda link: link.lstat().st_ctime_ns)
        facts, text = newest.lstat(), visible(str(newest.readlink()))
    except (OSError, ValueError):
        return "an unknown process"
    user = f"uid {facts.st_uid}"
    with suppress(KeyError):
        user = pwd.getpwuid(facts.st_uid).pw_name
    since = datetime.fromtimestamp(facts.st_ctime, UTC)
    return f"{text} (of {user}, since {since:%Y-%m-%dT%H:%M:%SZ})"


def _is_held(lock: Path) -> bool:
    """False also for what is no lock: a job script names it, and goes without."""
    try:
        folder = os.open(lock, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        facts = os.fstat(folder)
        # open to all users, or ours or root's and nobody else may change it
        is_ours = facts.st_uid in (0, os.geteuid()) and not facts.st_mode & _CHANGEABLE
        if is_ours or facts.st_mode & _OPEN_TO_ALL == _OPEN_TO_ALL:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False  # a file system without locks
    finally:
        os.close(folder)
    return False
