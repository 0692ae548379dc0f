"""Start-up: whole processes of the default campaign, without results and with a finished campaign's results.

python bench/start_up.py [RESULTS]: RESULTS is a results/CAMPAIGN to copy beside the campaign.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from common import PROJECT, ProjectCopy, alternate, line, project_copy, title, usually

ROUNDS = usually(15, smallest=1)
LIMITS = {"--help": 0.1, "check": 0.2, "plan": 0.2, "status": 0.2}


def main(results: Path = PROJECT / "results" / "this-machine") -> None:
    title("Start-up of whole processes")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has compiled modules
    with project_copy() as project:
        measure(project, "no results")
        if not (results / "plan.json").is_file():
            print(f"  {results} holds no campaign: skipping the part with results")
            return
        shutil.copytree(results, project.folder / "results" / results.name)
        measure(project, "with results")


def measure(project: ProjectCopy, state: str) -> None:
    actions = [call(project, name) for name in LIMITS]
    for action in actions:  # the first call fills caches for the others
        action()
    for (name, limit), found in zip(LIMITS.items(), alternate(ROUNDS, *actions), strict=True):
        line(f"mpicampaign {name}, {state}", found, limit)


def call(project: ProjectCopy, name: str) -> Callable[[], object]:
    return partial(project.call, *project.mpicampaign(name))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
