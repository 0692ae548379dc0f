"""What this machine lacks for the test cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

# Where Debian's packages put daemons; it is not on each user's PATH.
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

COMPILERS = Path(__file__).resolve().parents[1] / "compilers"  # the tests' own
USER_PATH = f"{Path(sys.prefix) / 'bin'}:{COMPILERS}:{SYSTEM_PATH}"

# Others than root get a user namespace with many users in it: the cluster's root and its ordinary user.
USER_NAMESPACE = () if os.geteuid() == 0 else ("--user", "--map-auto", "--map-root-user")

PACKAGES = {
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "srun": "slurm-client",
    "munged": "munge",
    "ip": "iproute2",
    "tc": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
}


def missing_parts() -> list[str]:
    """One sentence for each thing that is missing; nothing where the cluster can run."""
    missing = [
        f"{program} (Debian package {package})"
        for program, package in PACKAGES.items()
        if shutil.which(program, path=SYSTEM_PATH) is None
    ]
    if USER_NAMESPACE and shutil.which("newuidmap", path=SYSTEM_PATH) is None:
        missing.append("the rights of root, or newuidmap (Debian package uidmap)")
    return missing or missing_rights()


def missing_rights() -> list[str]:
    """Users, and root in a container, may lack the right to make namespaces, the kernel a kind of device."""
    links = "ip link add name bridge0 type bridge; ip link add name card0 type veth peer name card1"
    namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--mount-proc"]
    command = ["unshare", *USER_NAMESPACE, *namespaces, "sh", "-ec", f"mount -t tmpfs held /media; {links}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    if done.returncode == 0:
        return []
    return [
        f"root, or the right to make namespaces, mounts, bridges and veth devices ({done.stderr.strip()})"
    ]
