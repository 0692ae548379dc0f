"""Where the shipped files are, and the folder in which a user works.

In a clone both are its top folder, wherever a command is called. A wheel has the shipped files in data/ of
the package; results/ and build/ are then beside the campaign file. An installation is never written to.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_DATA = _PACKAGE / "data"  # made by setup.py, only in a wheel
_CLONE = None if _DATA.is_dir() else _PACKAGE.parents[1]
_beside: list[Path] = []  # the folder of this call's campaign file or map, where it can be written


def work_beside(file: Path) -> None:
    """Have results/ and build/ beside this file, wherever a command is called.

    They stay in the current folder for an example of the installation, for a file in a folder that this user
    cannot write, for one that a bundle brought into results/, and where there are results/ and none beside
    the file: those of a version before 0.2.
    """
    folder, here = file.resolve().parent, Path.cwd()
    before = (here / "results").is_dir() and not (folder / "results").exists()
    brought = any(each.name == "merged" and each.parents[1].name == "results" for each in folder.parents[:-2])
    beside = not (before or brought or folder.is_relative_to(_DATA)) and os.access(folder, os.W_OK)
    _beside[:] = [folder] * beside


def shipped(name: str) -> Path:
    """A file or folder shipped with the program, by its name at the top of a clone."""
    return (_CLONE or _DATA) / name


def working_folder() -> Path:
    """Where results/ and build/ are."""
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
    return working_folder() / "results"
