"""A report is made again if and only if something that it is made from, or a file of it, has changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from test_importing import MAP, chosen

from mpicampaign import analyse
from mpicampaign.cli import main
from mpicampaign.cli.report import ALL, _report
from mpicampaign.collect import outputs_read, reported
from mpicampaign.collect.reported import state_of
from mpicampaign.imports import importing
from mpicampaign.imports.importing import import_folders

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


def test_an_unchanged_report_is_not_made_again_unless_asked(folder: Path, report: Report) -> None:
    said, read = report()
    assert read and "1 run: 1 ok" in said
    assert report() == (said, False)
    assert report(recheck=True) == (said, True)


def same_size(file: Path) -> None:
    text = file.read_text()
    file.write_text(text.replace("0.", "1.", 1))


def touched(file: Path) -> None:
    os.utime(file, ns=(1, 1))


@pytest.mark.parametrize("name", ["report.html", "records.jsonl", "tables/comparison.csv", "figures"])
def test_a_file_of_the_report_that_is_gone_or_edited_is_made_again(
    folder: Path, report: Report, name: str
) -> None:
    report()
    file = next((folder / name).glob("*.svg")) if name == "figures" else folder / name
    text = file.read_text()
    file.write_text(text + " an edit")
    assert report()[1]
    assert " an edit" not in file.read_text()
    file.unlink()
    assert report()[1]
    assert file.is_file()


def test_the_campaign_the_program_and_other_figures_make_it_again(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    report()
    assert report(text=MAP + "# a comment\n")[1]
    assert report(figures=("png",))[1]
    assert report(figures=(ALL,))[1]
    assert not report(figures=(ALL,))[1]
    monkeypatch.setattr(reported, "program_state", lambda: "another")
    assert report(figures=(ALL,))[1]


@pytest.mark.parametrize("change", [same_size, touched, Path.unlink])
def test_a_changed_raw_file_changes_the_state(folder: Path, change: Callable[[Path], None]) -> None:
    before = state_of(folder)
    assert state_of(folder) == before
    [output] = [path for path in (folder / "imports").rglob("*") if path.is_file() and path.suffix == ".out"]
    change(output)
    assert state_of(folder) != before


def test_a_new_run_makes_it_again(folder: Path, report: Report) -> None:
    report()
    (folder / "runs/g/TCP/b/r01-0123456789ab").mkdir(parents=True)
    assert report()[1]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"state": 1}'])
def test_a_damaged_note_is_not_a_note(folder: Path, report: Report, damage: str) -> None:
    report()
    (folder / reported.REPORTED).write_text(damage)
    assert report()[1]


def test_the_program_is_its_sources_templates_and_publications() -> None:
    names = {line.split()[0] for line in outputs_read._files(os.fspath(outputs_read._PACKAGE))}
    assert any(name.endswith("analyse.py") for name in names)
    assert len(outputs_read.program_state()) == 64


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
    monkeypatch.setattr("mpicampaign.places.results_folder", lambda: tmp_path / "results")

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
