"""Takes the shipped files at the top of a clone into the wheel; the rest is in pyproject.toml."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = ("Snakefile", "campaign.yaml", "workflow", "templates", "kernels", "cluster", "profiles")
SHIPPED += ("reference", "campaigns", "docs")


def shipped_files() -> list[str]:
    """Apart from what is hidden, and what only tests need."""
    found = [path for part in map(Path, SHIPPED) for path in (part, *part.rglob("*")) if path.is_file()]
    return sorted(str(path) for path in found if not any(map(unwanted, path.parts)))


def unwanted(name: str) -> bool:
    return name in ("tests", "__pycache__") or name.startswith(".")


class BuildWithShipped(build_py):
    """The package, with the shipped files in mpicampaign/data; see mpicampaign/places.py."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # a clone uses them where they are
            for name in shipped_files():
                target = Path(self.build_lib, "mpicampaign", "data", name)
                self.mkpath(str(target.parent))
                self.copy_file(name, str(target))

    def get_source_files(self) -> list[str]:
        """For the source archive."""
        return [*super().get_source_files(), *shipped_files()]


# Built in a folder made for it: what an earlier version left in build/ would go into the wheel.
with TemporaryDirectory() as folder:
    setup(cmdclass={"build_py": BuildWithShipped}, options={"build": {"build_base": folder}})
