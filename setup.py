"""Takes the shipped files at the top of a clone into the wheel; makes the list of keys and the schemas.

The rest is in pyproject.toml.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

SHIPPED = ("Snakefile", "campaign.yaml", "workflow", "templates", "kernels", "cluster", "profiles")
SHIPPED += ("reference", "campaigns", "docs")
SCHEMAS = Path("workflow/schemas")  # in a clone, too, for editors
KEYS = Path("docs/keys.md")  # in a clone, too

sys.path.insert(0, str(Path(__file__).parent / "src"))
sys.dont_write_bytecode = True


def shipped_files() -> list[str]:
    """Apart from what is hidden, made here, or needed by tests alone."""
    found = [path for part in map(Path, SHIPPED) for path in (part, *part.rglob("*")) if path.is_file()]
    wanted = (path for path in found if not any(map(unwanted, path.parts)))
    return sorted(str(path) for path in wanted if path.parent != SCHEMAS and path != KEYS)


def unwanted(name: str) -> bool:
    return name in ("tests", "__pycache__") or name.startswith(".")


class BuildWithShipped(build_py):
    """The package, with the shipped files in mpicampaign/data; see mpicampaign/base/places.py."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:  # a clone uses them where they are
            write_keys(Path())
            return
        data = Path(self.build_lib, "mpicampaign", "data")
        for name in shipped_files():
            self.mkpath(str((data / name).parent))
            self.copy_file(name, str(data / name))
        write_keys(data)

    def get_source_files(self) -> list[str]:
        """For the source archive."""
        return [*super().get_source_files(), *shipped_files()]


class SourcesWithMade(sdist):
    """For readers: a build from the archive makes them again."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        write_keys(Path(base_dir))


def write_keys(folder: Path) -> None:
    from mpicampaign.cli.schema_docs import keys_document, schemas

    (folder / KEYS).parent.mkdir(parents=True, exist_ok=True)
    (folder / KEYS).write_text(keys_document(), encoding="utf-8")
    (folder / SCHEMAS).mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (folder / SCHEMAS / name).write_text(text, encoding="utf-8")


# Built in a folder made for it: what an earlier version left in build/ would go into the wheel.
with TemporaryDirectory() as folder:
    setup(
        cmdclass={"build_py": BuildWithShipped, "sdist": SourcesWithMade},
        options={"build": {"build_base": folder}},
    )
