"""Which MPI library ran, with its version: as it says itself, or as the path of its file tells."""

from __future__ import annotations

import re

# Each begins with letters that are searched fast: all of an output is looked through.
_SAID = {
    "Intel MPI": re.compile(
        r"Intel\(R\) MPI Library,? (?:Version )?(\d[\w.]*(?: Update \d+)?)|"
        r"Intel\(R\) MPI Library for [^\n]{1,30}?Version (\d[\w.]*(?: Update \d+)?)"
    ),
    "Open MPI": re.compile(r"Open MPI v(\d[\w.]*)"),
    "MVAPICH2": re.compile(r"MVAPICH2(?:-| Version\s*:\s*)(\d[\w.]*)"),
    "MPICH": re.compile(r"MPICH Version\s*:\s*(\d[\w.]*)"),
}
_IN_PATH = re.compile(r"\d+(?:\.\d+)+")


def library_version(text: str) -> str:
    """``Intel MPI 2021.18.1``, by what the library printed; empty where it names no version."""
    for name, pattern in _SAID.items():
        if found := pattern.search(text):
            return f"{name} {found[1] or found[found.lastindex or 1]}"
    return ""


def library_file(path: str) -> str:
    """The file's name, with the versions that its folders name: the folders themselves may be anybody's."""
    folder, _, name = path.rpartition("/")
    versions = " ".join(dict.fromkeys(_IN_PATH.findall(folder)))
    return f"{name} ({versions})" if name and versions else name
