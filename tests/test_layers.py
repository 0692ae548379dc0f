"""The layers of the package: imports point downwards only, and its two halves meet in files alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "mpicampaign"

FOUNDATION = [
    {"errors", "units", "files"},
    {"campaign", "records", "yaml_lines"},
]
EXECUTION = [
    {"host_ranges", "campaign_shape", "campaign_build"},
    {"campaign_checks", "campaign_combinations", "campaign_notes"},
    {"campaign_file", "schema_docs", "launchers", "schedulers", "osu_sizes"},
    {"site_facts", "site_names"},
    {"site_slurm", "site_lsf", "site_modules", "site_probe", "site_campaign", "site_text"},
    {"software", "plan", "plan_text"},
    {"render"},
    {"prepare"},
]
ANALYSIS = [
    {"effective_bandwidth"},
    {"parsers", "statistics", "evidence", "wording", "findings"},
    {"balance", "parsers", "statistics", "evidence", "wording", "findings"},
    {"transport_reports", "metrics", "figure_style", "rows"},
    {"traffic"},
    {"verdict"},
    {"monotony"},
    {"ranking", "collect"},
    {"comparison"},
    {"tables", "figures", "report"},
    {"analyse"},
]
TOP = [
    {"execute", "doctor_calls"},
    {"build", "progress", "set_aside", "cluster_jobs", "doctor_probe"},
    {"doctor", "queue_status"},
    {"doctor_options"},
    {"cli"},
]


def modules() -> set[str]:
    names = {path.stem for path in PACKAGE.glob("*.py")} | {"parsers"}
    return names - {"__init__"}


def imported(name: str) -> set[str]:
    """The modules of the package that a module imports, anywhere in it."""
    paths = list((PACKAGE / name).glob("*.py")) if name == "parsers" else [PACKAGE / f"{name}.py"]
    found: set[str] = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mpicampaign."):
                found.add(str(node.module).split(".")[1])
    return found - {name}


def level(name: str) -> tuple[str, int]:
    for half, layers in (("execution", EXECUTION), ("analysis", ANALYSIS)):
        for number, layer in enumerate(layers):
            if name in layer:
                return half, len(FOUNDATION) + number
    for number, layer in enumerate(FOUNDATION):
        if name in layer:
            return "foundation", number
    for number, layer in enumerate(TOP):
        if name in layer:
            return "top", 100 + number
    raise AssertionError(f"{name} has no layer: name it in this file")


@pytest.mark.parametrize("name", sorted(modules()))
def test_imports_point_downwards(name: str) -> None:
    half, number = level(name)
    for other in imported(name):
        other_half, other_number = level(other)
        assert other_number <= number, f"{name} imports {other} of a higher layer"
        if half in ("execution", "analysis"):
            assert other_half in (half, "foundation"), f"{name} ({half}) imports {other} ({other_half})"


def test_only_two_modules_start_processes_and_only_two_modules_use_jinja() -> None:
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "import subprocess" in text:
            assert path.name in ("execute.py", "doctor_calls.py")
        if "from jinja2" in text:
            assert path.name in ("render.py", "report.py")
        if "matplotlib" in text and "import matplotlib" in text:
            assert path.name == "figures.py"
