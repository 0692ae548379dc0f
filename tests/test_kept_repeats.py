"""The default number of repeats may rise: what was planned with the earlier default stays finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpicampaign.jobs.prepare import Prepared, prepare, write_scripts

TEXT = """\
campaign: kept
{top}
mpis: {{none: {{launcher: hydra, command: /bin/true, transports: {{}}}}}}
systems: {{here: {{scheduler: none, mpi: none}}}}
host_groups: {{local: {{system: here}}}}
placements:
  one: {{nodes: 1, ranks_per_node: 2, transport: any, binding: none}}
  two: {{nodes: 1, ranks_per_node: 2, transport: any, binding: none}}
benchmarks: {{b: {{suite: osu, program: "true", provider: {{kind: path, location: /bin/true}}}}}}
matrix:
  - {{host_groups: local, placements: one, benchmarks: b}}
  - {{host_groups: local, placements: two, benchmarks: b{block}}}
"""


def planned(folder: Path, top: str = "", block: str = "") -> Prepared:
    path = folder / "kept.yaml"
    path.write_text(TEXT.format(top=top, block=block))
    return prepare(path, results=folder / "results")


def said(prepared: Prepared) -> list[str]:
    """The warnings about the repeats."""
    return [str(each) for each in prepared.campaign.warnings if each.key == "repeats"]


def finish(prepared: Prepared) -> None:
    write_scripts(prepared)
    for script in prepared.pending:
        script.output.parent.mkdir(parents=True, exist_ok=True)
        script.output.touch()


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A campaign without the key, which the earlier default finished with five repeats of each case."""
    finish(planned(tmp_path, "repeats: 5"))
    return tmp_path


def test_a_damaged_plan_is_none(finished: Path) -> None:
    (finished / "results/kept/plan.json").write_text("{")
    assert not planned(finished).pending
