"""MPI libraries among a site's modules and programs. No I/O."""

from __future__ import annotations

import re

from mpicampaign.site.facts import Library
from mpicampaign.site.names import usable

# A login shell knows the module command; both kinds of modules print the list to stderr.
AVAILABLE = ("bash", "-lc", "command -v module >/dev/null || exit 127; module -t avail 2>&1")
NO_MODULES = 127
_MARK = re.compile(r"\((default|D|L|S|[A-Z],)+.*\)$|<.*>$")
_KINDS = (
    ("openmpi", re.compile(r"(?:^|/)open-?mpi(?:[/-]|$)", re.IGNORECASE)),
    ("mvapich", re.compile(r"(?:^|/)mvapich[0-9]*(?:[/-]|$)", re.IGNORECASE)),
    ("mpich", re.compile(r"(?:^|/)(?:cray-)?mpich[0-9]?(?:[/-]|$)", re.IGNORECASE)),
    ("intelmpi", re.compile(r"(?:^|/)(?:impi|intel-?mpi|intel-oneapi-mpi)(?:[/-]|$)", re.IGNORECASE)),
)


def module_names(output: str) -> list[str]:
    """The names that ``module -t avail`` lists; headings, folders and messages are not among them."""
    names = [_MARK.sub("", line.strip()) for line in output.splitlines()]
    fitting = [name for name in names if name and name[-1] not in ":/" and usable("modules", name)]
    return list(dict.fromkeys(fitting))


def mpi_modules(names: list[str]) -> list[Library]:
    """The MPI libraries among modules, by their names."""
    found = []
    for name in names:
        kind = next((kind for kind, pattern in _KINDS if pattern.search(name)), "")
        if kind:
            found.append(Library(_mpi(kind, name), module=name))
    return found


def _mpi(kind: str, name: str) -> str:
    """The library as campaign files know it; empty where it is not one of those."""
    if kind == "openmpi":
        major = re.search(r"[/-]v?([0-9]+)", name)
        return "openmpi4" if major and int(major[1]) < 5 else "openmpi5"
    if kind == "mpich":
        return "" if "cray" in name.lower() else "mpich-ofi"
    return "" if kind == "mvapich" else kind


def program_library(path: str, version: str) -> Library | None:
    """The library of an mpirun on the PATH by the first line of ``mpirun --version``."""
    found = re.search(r"\(Open MPI\) ([0-9]+)", version)
    mpi = ("openmpi4" if int(found[1]) < 5 else "openmpi5") if found else ""
    mpi = "intelmpi" if "Intel(R) MPI" in version else mpi
    mpi = "mpich-ofi" if "HYDRA" in version and not mpi else mpi
    return Library(mpi, words=f"{path}: {version}") if path else None
