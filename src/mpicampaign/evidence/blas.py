"""The BLAS library that the ranks mapped, by the name and version that it gives itself."""

from __future__ import annotations

import re
from typing import NamedTuple

from mpicampaign.base.records import REFERENCE_BLAS
from mpicampaign.evidence.evidence import Evidence

_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+(?: ?Update ?[0-9]+)?")
_BY_ITSELF = {"openblas": "OpenBLAS", "blis": "BLIS", "mkl": "Intel MKL"}
# Libraries that do not name themselves, by their files.
_BY_FILE = {
    r"libmkl": "Intel MKL",
    r"libflexiblas": "FlexiBLAS",
    r"libarmpl": "Arm Performance Libraries",
    r"libessl": "ESSL",
    r"lib(sat|tat|at|f77bl|cbl)las": "ATLAS",
    r"libsci_": "Cray LibSci",
    r"lib(c|ref)?blas\.": REFERENCE_BLAS,
}


class Blas(NamedTuple):
    """A BLAS library: name and version, and the build-id of its file (empty where it has none)."""

    name: str
    build_id: str


def blas_of(evidence: Evidence) -> Blas | None:
    """The library of all ranks; None where none was seen: the program has none, or has it built in."""
    mapped = [seen for seen in evidence.ranks.values() if "end.blas" in seen]
    libraries = [Blas(_name(seen), seen.get("end.blas_build_id", "")) for seen in mapped]
    if not libraries:
        return None
    names = dict.fromkeys(library.name for library in libraries)
    return Blas(" and ".join(names), libraries[0].build_id if len(set(libraries)) == 1 else "")


def _name(seen: dict[str, str]) -> str:
    for key, name in _BY_ITSELF.items():
        if text := seen.get(f"end.blas_{key}", ""):
            version = _VERSION.search(text)
            return f"{name} {version[0]}" if version else name
    file = seen["end.blas"].rpartition("/")[2]
    return next((name for pattern, name in _BY_FILE.items() if re.match(pattern, file)), f"BLAS {file}")
