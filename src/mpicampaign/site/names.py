"""Names from a site: valid ones for a campaign file, and MPI libraries among those of modules. No I/O."""

from __future__ import annotations

import re
import shlex
from collections.abc import Container

from mpicampaign.campaign.model import campaign_schema
from mpicampaign.mpis import library_of_module, library_of_mpirun
from mpicampaign.site.facts import SiteLibrary

_LENGTH = 40


def usable(kind: str, text: str) -> bool:
    """Whether a text is of this kind in the campaign file's schema: word, constraint, device, …"""
    pattern = campaign_schema()["$defs"][kind]["pattern"]
    return re.search(pattern, text) is not None and "\n" not in text and text.isprintable()


def name_from(text: str, taken: Container[str], otherwise: str = "nodes") -> str:
    """A name for a campaign file, similar to a text and not in ``taken`` (lower case)."""
    plain = re.sub(r"[^a-z0-9._+-]+", "-", text.lower()).lstrip("._+-")[:_LENGTH].rstrip("._+-")
    base = plain or otherwise
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    return name


# ---- modules

# A login shell knows the module command; both kinds of modules print the list to stderr.
AVAILABLE = ("bash", "-lc", "command -v module >/dev/null || exit 127; module -t avail 2>&1")
NO_MODULES = NO_COMPILER = 127


def compiler_after(module: str) -> tuple[str, ...]:
    """The command that loads a module, if one is named, and ends with `NO_COMPILER` where there is no cc."""
    load = f"module load {shlex.quote(module)} || exit 1; " if module else ""
    return ("bash", "-lc", f'{load}command -v "${{CC:-cc}}" >/dev/null || exit {NO_COMPILER}')


_MARK = re.compile(r"\((default|D|L|S|[A-Z],)+.*\)$|<.*>$")


def module_names(output: str) -> list[str]:
    """The names that ``module -t avail`` lists, without headings, folders and messages."""
    names = [_MARK.sub("", line.strip()) for line in output.splitlines()]
    fitting = [name for name in names if name and name[-1] not in ":/" and usable("modules", name)]
    return list(dict.fromkeys(fitting))


def mpi_modules(names: list[str]) -> list[SiteLibrary]:
    """The MPI libraries among modules, by their names."""
    libraries = ((name, library_of_module(name)) for name in names)
    return [SiteLibrary(mpi, module=name) for name, mpi in libraries if mpi is not None]


def program_library(path: str, version: str) -> SiteLibrary | None:
    """The library of an mpirun on the PATH, by the first line of ``mpirun --version``."""
    return SiteLibrary(library_of_mpirun(version), about=f"{path}: {version}") if path else None
