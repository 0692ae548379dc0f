"""Each room has a budget of lines in pyproject.toml: size is a cost, and no room grows unnoticed."""

from __future__ import annotations

import tomllib
from collections import Counter

from conftest import PROJECT

SLACK = 0.02  # of a room below its budget: after a larger removal the budget goes down, too
SOURCE = PROJECT / "src/mpicampaign"


def rooms() -> Counter[str]:
    """Lines of Python of the package's folders, of the modules beside them (``base``), of tests and bench."""
    count = Counter[str]()
    for folder in (SOURCE, PROJECT / "tests", PROJECT / "bench"):
        for file in folder.rglob("*.py"):
            above = file.relative_to(SOURCE if folder == SOURCE else PROJECT).parts[:-1]
            count[above[0] if above else "base"] += len(file.read_bytes().splitlines())
    return count


def test_no_room_is_above_its_budget_and_no_budget_far_above_its_room() -> None:
    """Raising a budget takes a line in CHANGELOG.md that says what for."""
    with (PROJECT / "pyproject.toml").open("rb") as file:
        budget = tomllib.load(file)["tool"]["mpicampaign"]["budget"]
    lines = rooms()
    wrong = {
        name: f"{lines[name]} lines, budget {budget.get(name, 0)}"
        for name in lines.keys() | budget.keys()
        if not lines[name] <= budget.get(name, 0) <= lines[name] * (1 + SLACK) + 1
    }
    assert wrong == {}, "lower the budget after a removal; raise it with a line in CHANGELOG.md"
