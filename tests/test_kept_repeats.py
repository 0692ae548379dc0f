"""The default number of repeats may rise: what was planned with the earlier default stays finished."""

from __future__ import annotations

import shutil
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


def test_a_new_campaign_has_six_repeats_and_keeps_them(tmp_path: Path) -> None:
    new = planned(tmp_path)
    assert (len(new.pending), new.campaign.repeats, said(new)) == (12, 6, [])
    finish(new)
    assert not planned(tmp_path).pending
    assert not said(planned(tmp_path))


@pytest.mark.parametrize("lost", ["", "plan.json", "runs"])
def test_what_the_earlier_default_finished_stays_so_and_one_line_says_how_to_go_on(
    finished: Path, lost: str
) -> None:
    folder = finished / "results/kept"
    if lost:  # a series that was packed leaves the plan
        (shutil.rmtree if lost == "runs" else Path.unlink)(folder / lost)
    for _ in range(2):  # the plan that is written now says the same
        now = planned(finished)
        assert len(now.runs) == 10
        assert len(now.pending) == (10 if lost == "runs" else 0)
        (warning,) = said(now)
        assert "write repeats: 6" in warning and "or repeats: 5" in warning and "\n" not in warning
        write_scripts(now)


def test_a_written_number_is_taken_as_it_is(finished: Path) -> None:
    for top, due in (("repeats: 5", 0), ("repeats: 6", 2), ("repeats: 5", 0)):
        now = planned(finished, top)
        assert (len(now.pending), said(now)) == (due, [])


def test_a_block_with_five_of_its_own_says_nothing_of_the_default(tmp_path: Path) -> None:
    finish(planned(tmp_path, "repeats: 4", ", repeats: 5"))
    now = planned(tmp_path, "", ", repeats: 5")
    assert (len(now.runs), said(now)) == (11, [])


def test_five_are_kept_beside_a_block_with_its_own_number(tmp_path: Path) -> None:
    finish(planned(tmp_path, "repeats: 5", ", repeats: 3"))
    now = planned(tmp_path, "", ", repeats: 3")
    assert (len(now.runs), len(now.pending), len(said(now))) == (8, 0, 1)


def test_a_damaged_plan_is_none(finished: Path) -> None:
    (finished / "results/kept/plan.json").write_text("{")
    assert not planned(finished).pending
