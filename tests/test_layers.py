"""The layers of the package: imports point downwards only, and its two halves meet only in files."""

from __future__ import annotations

import ast
import importlib
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from conftest import PROJECT, completed

PACKAGE = PROJECT / "src/mpicampaign"

# Rooms of the package, from the lowest layer to the highest.
FOUNDATION = ["base", "mpis", "schedulers", "suites"]
EXECUTION = ["campaign", "schemes", "jobs"]
ANALYSIS = [
    *("statistics", "verdicts", "evidence", "imports", "collect", "compare", "bundle", "history"),
    *("show", "questions", "report"),
]
TOP = ["run", "site", "schedule", "interface", "cli"]
HALVES = {name: half for half in (EXECUTION, ANALYSIS) for name in half}
ORDER = [*FOUNDATION, *EXECUTION, *ANALYSIS, *TOP]


def part_of(module: str) -> str:
    """``mpicampaign.show.writers.latex`` is part of ``show``.

    What finds the answer to a question knows no sentence: it is of the layer of ``compare``.
    """
    room, *below = module.split(".")[1:]
    return "compare" if room == "questions" and below and below[-1].startswith("find") else room


def module_name(path: Path) -> str:
    return ".".join(("mpicampaign", *path.relative_to(PACKAGE).with_suffix("").parts))


def imported(path: Path) -> set[str]:
    """The modules of the package that a module imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mpicampaign":
            of_folder = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (of_folder & MODULES.keys()) or {str(node.module)}
    return found - {"mpicampaign"}


MODULES = {module_name(path): path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"}


def test_each_part_of_the_package_has_one_layer() -> None:
    assert sorted(ORDER) == sorted({part_of(module) for module in MODULES})


@pytest.mark.parametrize("part", ORDER)
def test_imports_point_downwards(part: str) -> None:
    for module in (module for module in MODULES if part_of(module) == part):
        for other in map(part_of, imported(MODULES[module])):
            assert ORDER.index(other) <= ORDER.index(part), f"{module} imports {other} of a higher layer"
            halves = {id(HALVES[name]) for name in (part, other) if name in HALVES}
            assert len(halves) < 2 or part in TOP, f"{module} imports {other} of the other half"


def test_modules_of_one_folder_do_not_import_each_other_in_a_circle() -> None:
    tuple(TopologicalSorter({module: imported(path) for module, path in MODULES.items()}).static_order())


def users(words: str) -> set[str]:
    """The modules whose text contains this."""
    return {module for module, path in MODULES.items() if words in path.read_text(encoding="utf-8")}


def test_few_modules_start_processes_and_few_load_what_is_large() -> None:
    starting = {f"mpicampaign.run.{name}" for name in ("execute", "pass_through")}
    assert users("import subprocess") == {*starting, "mpicampaign.base.commands"}
    assert users("from jinja2") == {"mpicampaign.jobs.render"}
    for words in ("resvg_py import", "svglib import", "reportlab."):
        assert users(words) == {"mpicampaign.show.figures.converted"}


def text_between(start: str, end: str) -> str:
    """The part of docs/development.md from one text to another."""
    return (PROJECT / "docs/development.md").read_text(encoding="utf-8").partition(start)[2].partition(end)[0]


def test_the_map_names_the_rooms_in_their_order_and_the_folder_of_each_question() -> None:
    rooms = re.findall(
        r"^- ((?:`[a-z]+`(?:, )?)+):", text_between("## One direction", "## The top"), re.MULTILINE
    )
    assert [name for line in rooms for name in re.findall("[a-z]+", line)] == ORDER


def test_each_name_at_the_top_of_the_project_has_its_reason() -> None:
    lines = text_between("## The top level", "\nOutside").splitlines()
    named = [
        name for line in lines for name in re.findall("`([^`]+)`", line.partition("|")[2].partition("|")[0])
    ]
    listed = completed(("git", "ls-files"), cwd=PROJECT, check=True)
    assert sorted(named) == sorted({path.partition("/")[0] for path in listed.stdout.splitlines()})


@pytest.mark.parametrize("file", [PROJECT / "Snakefile", *(PROJECT / "workflow/rules").glob("*.smk")])
def test_what_the_workflow_imports_is_there(file: Path) -> None:
    found = re.findall(r"(?m)^from (mpicampaign[\w.]*) import (.+)$", file.read_text())
    for module, names in found:
        assert all(hasattr(importlib.import_module(module), name) for name in names.split(", ")), module
