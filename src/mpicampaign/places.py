"""Where the shipped files are, and the folder in which a user works.

In a clone both are its top folder, wherever a command is called. A wheel has the shipped files in data/ of
the package; results/ and build/ are then in the current folder. An installation is never written to.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_DATA = _PACKAGE / "data"  # made by setup.py, only in a wheel
_CLONE = None if _DATA.is_dir() else _PACKAGE.parents[1]


def shipped(name: str) -> Path:
    """A file or folder shipped with the program, by its name at the top of a clone."""
    return (_CLONE or _DATA) / name


def working_folder() -> Path:
    """Where results/ and build/ are."""
    return _CLONE or Path.cwd()


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
