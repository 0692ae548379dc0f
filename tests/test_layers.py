"""The layers of the package: imports point downwards only, and its two halves meet only in files."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "mpicampaign"

# Rooms of the package, from the lowest layer to the highest.
FOUNDATION = ["base", "mpis", "schedulers", "suites"]
EXECUTION = ["campaign", "schemes", "jobs"]
ANALYSIS = [
    *("statistics", "verdicts", "evidence", "imports", "collect", "compare", "bundle", "history"),
    *("show", "questions", "report"),
]
TOP = ["run", "site", "schedule", "cli"]
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
