"""The shell file behind ``mpicampaign prove``, with the evidence library that it preloads."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import tempfile
from pathlib import Path

from mpicampaign.base.commands import call
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import copy_whole, naming, write_whole
from mpicampaign.base.places import shipped

SCRIPT, LIBRARY = "prove", "evidence.so"
_SOURCES = ("Makefile", "evidence", "common")
_SECONDS = 120.0
_PART = re.compile(r'^\. "\$here/(job/library/\w+\.sh)"$', re.MULTILINE)


def installed() -> Path:
    """The shell file in the user's cache; made there where this version has not been used yet."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mpicampaign"
    folder = cache / f"prove-{_version()}"
    if not (folder / SCRIPT).exists():
        install(folder)
    return folder / SCRIPT


def install(folder: Path) -> None:
    """Put the shell file and the evidence library into a folder.

    Raises
    ------
    UserError
        where the library cannot be compiled.
    """
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as build:
        for name in _SOURCES:
            source = shipped("kernels") / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, Path(build) / name)
        command = ["make", "--no-print-directory", "-C", build, "BUILD=built", f"built/{LIBRARY}"]
        # MAKEFLAGS: of a make that called us
        made = call(command, _SECONDS, without=lambda name: name.startswith("MAKE"))
        if made.failure:
            hint = "it needs make and a C compiler; prove --install FOLDER makes a copy for machines without"
            raise UserError(Problem(f"the evidence library was not built: {made.failure}", hint=hint))
        copy_whole(Path(build, "built", LIBRARY), folder / LIBRARY)
    write_whole(folder / SCRIPT, _shell_file())
    (folder / SCRIPT).chmod(0o755)


def _shell_file() -> str:
    """The shell file with the functions that it shares with job scripts, in one."""
    templates = shipped("templates")

    def part(line: re.Match[str]) -> str:
        return (templates / line[1]).read_text(encoding="utf-8")

    return re.sub(_PART, part, (templates / "prove.sh").read_text(encoding="utf-8"))


def _version() -> str:
    """A checksum of all that is installed, and of the processor's kind: homes are shared."""
    digest = hashlib.sha256(f"{platform.machine()}\n{_shell_file()}".encode())
    kernels = shipped("kernels")
    for path in sorted((kernels / "evidence").iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
