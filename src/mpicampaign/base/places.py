"""Where the shipped files are, and the folder in which a user works.

Results are beside the campaign file; those of a clone's own files at its top. A clone has the shipped files
and build/ at its top; a wheel has them in data/ of the package, and build/ is then beside the campaign file.
An installation is never written to.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_DATA = _PACKAGE / "data"  # made by setup.py, only in a wheel
_CLONE = None if _DATA.is_dir() else _PACKAGE.parents[1]
_beside: list[Path] = []  # the folder of this call's campaign file or map, where it can be written


def work_beside(file: Path) -> None:
    """Have results/ (and build/, of a wheel) beside this file, wherever a command is called.

    They stay in the clone, or in the current folder, for an example that is shipped, and for a file in a
    folder that this user cannot write. One that a bundle brought into results/ has its results there.
    """
    folder = file.resolve().parent
    merged = (part for part in folder.parents[:-2] if part.name == "merged")
    folder = next((part.parents[2] for part in merged if part.parents[1].name == "results"), folder)
    shipped_file = folder.is_relative_to(_CLONE or _DATA)
    _beside[:] = [folder] * (not shipped_file and os.access(folder, os.W_OK))


def shipped(name: str) -> Path:
    """A file or folder shipped with the program, by its name at the top of a clone."""
    return (_CLONE or _DATA) / name


def schema_line() -> str:
    """The first line of a campaign file, by which editors complete and check its keys."""
    schema = shipped("workflow/schemas/campaign.schema.json")
    return f"# yaml-language-server: $schema={schema.as_uri()}\n"


def working_folder() -> Path:
    """Where build/ is: the top of a clone, or beside the campaign file."""
    return _CLONE or (_beside[0] if _beside else Path.cwd())


def wheel_folder(name: str) -> Path:
    """The environment with the wheel of an MPI library other than this program's own."""
    return working_folder() / "build" / "mpi" / name


def how_to_get_wheel(name: str) -> str:
    """The command that makes that environment."""
    folder = wheel_folder(name)
    return "make mpis" if _CLONE else f"python3 -m venv {folder} && {folder}/bin/pip install {name}"


def results_folder() -> Path:
    """The folder with a folder for each campaign."""
    return (_beside[0] if _beside else working_folder()) / "results"
