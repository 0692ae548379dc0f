"""The default number of repeats may rise: what was planned with the earlier default stays finished."""

from __future__ import annotations

from pathlib import Path

from build_campaigns import write_trivial
from conftest import ProjectCopy

from mpicampaign.jobs.prepare import Prepared, prepare, write_scripts


def planned(folder: Path, repeats: int | None = None) -> Prepared:
    return prepare(write_trivial(ProjectCopy(folder), repeats=repeats), results=folder / "results")


def test_a_damaged_plan_is_none(tmp_path: Path) -> None:
    """Of a campaign without the key, which the earlier default finished with five repeats of each case."""
    folder = tmp_path / "project"
    folder.mkdir()
    prepared = planned(folder, repeats=5)
    write_scripts(prepared)
    for script in prepared.pending:
        script.output.parent.mkdir(parents=True, exist_ok=True)
        script.output.touch()
    (folder / "results/trivial/plan.json").write_text("{")
    assert not planned(folder).pending
