"""Rooms for things that people add: built in, or from other packages through entry points."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mpicampaign.base.errors import UserError
from mpicampaign.base.registry import Registry

THING = """
class Thing:
    def __init__(self, name):
        self.name = name
"""


class Installed:
    """A room, and packages that add to it, as installed in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "shed").mkdir()
        (folder / "shed_things.py").write_text(THING)
        (folder / "shed" / "__init__.py").write_text("")
        self.built_in("spade", 'Thing("spade")')
        self.built_in("rakes", '(Thing("rake"), Thing("hoe"))')
        (folder / "shed" / "helpers.py").write_text("")

    def built_in(self, module: str, value: str) -> None:
        text = f"from shed_things import Thing\nTHING = {value}\n"
        (self.folder / "shed" / f"{module}.py").write_text(text)

    def bring(self, package: str, text: str) -> None:
        (self.folder / f"{package}.py").write_text(f"from shed_things import Thing\n{text}\n")
        info = self.folder / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[shed]\nit = {package}:THING\n")

    def registry(self) -> Registry:
        from shed_things import Thing  # type: ignore[import-not-found]

        return Registry("shed", "THING", Thing)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("shed", "shed_things", "garden")]:
        monkeypatch.delitem(sys.modules, name)
    return Installed(tmp_path)


def test_what_is_built_in_and_what_a_package_brings(installed: Installed) -> None:
    installed.bring("garden", 'THING = Thing("scythe")')
    found = installed.registry()
    assert list(found) == ["rake", "hoe", "spade", "scythe"]
    assert found["scythe"].name == "scythe" and "rake" in found
    assert found.get("fork") is None and "fork" not in found
    assert [thing.name for thing in found.values()] == list(found)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('raise RuntimeError("rusty")', "it cannot be loaded: rusty"),
        ('THING = "a text"', "it is a str, not a Thing"),
        ('THING = Thing("spade")', "'spade' exists already"),
    ],
)
def test_a_package_that_cannot_be_used_is_named(installed: Installed, text: str, reason: str) -> None:
    installed.bring("garden", text)
    found = installed.registry()
    assert found["spade"].name == "spade"  # what is built in needs no other package
    with pytest.raises(UserError, match=r"it = garden:THING of garden cannot be used") as error:
        list(found)
    assert reason in str(error.value)
