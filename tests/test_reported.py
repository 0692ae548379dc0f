"""A report is made again if and only if something that it is made from, or a file of it, has changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from test_importing import MAP, chosen

from mpicampaign.cli import main
from mpicampaign.cli.report import _report
from mpicampaign.collect.unchanged_files import state_of
from mpicampaign.imports import importing
from mpicampaign.imports.importing import import_folders
from mpicampaign.report import analyse

FIXTURE = Path(__file__).parent / "fixtures/imb/pingpong.out"
Report = Callable[..., tuple[str, bool]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    raw = tmp_path / "raw" / "TCP"
    raw.mkdir(parents=True)
    shutil.copy(FIXTURE, raw / "a.out")
    import_folders([raw.parent], chosen(tmp_path), tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def report(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """What is said, and whether anything was read."""
    calls: list[int] = []
    real = analyse.analyse

    def counted(*arguments: object) -> object:
        calls.append(1)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(analyse, "analyse", counted)

    def call(text: str = MAP, figures: tuple[str, ...] = (), recheck: bool = False) -> tuple[str, bool]:
        calls.clear()
        said = _report(folder, chosen(tmp_path, text).presentation, text, figures, recheck)
        return said, bool(calls)

    return call


def same_size(file: Path) -> None:
    text = file.read_text()
    file.write_text(text.replace("0.", "1.", 1))


def touched(file: Path) -> None:
    os.utime(file, ns=(1, 1))


@pytest.mark.parametrize("change", [same_size, touched, Path.unlink])
def test_a_changed_raw_file_changes_the_state(folder: Path, change: Callable[[Path], None]) -> None:
    before = state_of(folder)
    assert state_of(folder) == before
    [output] = [path for path in (folder / "imports").rglob("*") if path.is_file() and path.suffix == ".out"]
    change(output)
    assert state_of(folder) != before


# Imports


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, bool]]:
    """The exit status of an import, and whether anything was read."""
    calls: list[int] = []
    real = importing.import_folders

    def counted(*arguments: object) -> object:
        calls.append(1)
        return real(*arguments)  # type: ignore[arg-type]

    raw = tmp_path / "raw" / "TCP"
    raw.mkdir(parents=True)
    shutil.copy(FIXTURE, raw / "a.out")
    chosen(tmp_path)
    monkeypatch.setattr(importing, "import_folders", counted)
    monkeypatch.setattr("mpicampaign.base.places.results_folder", lambda: tmp_path / "results")

    def call(*options: str) -> tuple[int, bool]:
        calls.clear()
        return main(["import", str(raw.parent), "--map", str(tmp_path / "map.yaml"), *options]), bool(calls)

    return call


def test_an_unchanged_import_is_not_read_again_unless_asked(
    imported: Callable[..., tuple[int, bool]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported() == (0, True)
    first = capsys.readouterr().out
    assert imported() == (0, False)
    assert capsys.readouterr().out == first.replace("1 new in", "0 new in") != first
    assert imported("--recheck") == (0, True)


@pytest.mark.parametrize("change", ["source", "new file", "copy", "map", "tables", "broken link"])
def test_an_import_is_read_again_after_a_change(
    change: str, imported: Callable[..., tuple[int, bool]], tmp_path: Path
) -> None:
    assert imported() == (0, True)
    raw = tmp_path / "raw" / "TCP"
    (copy,) = (tmp_path / "results").rglob("a.out")
    (tables,) = (tmp_path / "results").rglob("comparison.csv")
    match change:
        case "source":
            os.utime(raw / "a.out")
        case "new file":
            shutil.copy(FIXTURE, raw / "b.out")
        case "copy":
            os.utime(copy)
        case "map":
            with (tmp_path / "map.yaml").open("a") as file:
                file.write("# changed\n")
        case "tables":
            tables.unlink()
        case "broken link":
            (raw / "link").symlink_to("nowhere")
    assert imported() == (0, True)
