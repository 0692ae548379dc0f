"""What this machine offers to the ranks: cores and memory."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_GIB = 1 << 30


@cache  # each case of a campaign asks
def physical_cores() -> int:
    """Physical cores of this machine; hyper-threads count once."""
    cpus = Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology/thread_siblings_list")
    return len({path.read_text() for path in cpus}) or (os.cpu_count() or 1)


@cache
def memory() -> int | None:
    """Memory of this machine (B), in whole GiB: what the kernel takes for itself differs with its version."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
    return found // _GIB * _GIB or found
