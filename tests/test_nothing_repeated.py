"""Finished runs stay finished unless the campaign's declaration changes; results stay untouched."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import yaml
from build_campaigns import write_trivial
from conftest import ProjectCopy, copy_project, executable

from mpicampaign.base.records import MISSING, OK

pytestmark = pytest.mark.slow


def to_do(project: ProjectCopy) -> int:
    """The number of due runs in the plan."""
    done = project.succeed("plan", "--campaign", "trivial.yaml")
    return int(done.stdout.split(" still to be done")[0].rpartition(" ")[2])


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def run(project: ProjectCopy, name: str = "trivial") -> str:
    done = project.succeed("run", "--campaign", f"{name}.yaml")
    return done.stdout + done.stderr


def results(project: ProjectCopy) -> dict[str, int]:
    """The raw outputs by their path in the tree, each with its inode."""
    return {str(path.relative_to(project.folder)): path.stat().st_ino for path in project.results("trivial")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopy:
    """A clone with a finished campaign; a test works on a copy of it."""
    project = copy_project(tmp_path_factory.mktemp("finished") / "project")
    write_trivial(project)
    run(project)
    assert len(results(project)) == 4
    return project


@pytest.fixture
def project(finished: ProjectCopy, tmp_path: Path) -> ProjectCopy:
    shutil.copytree(finished.folder, tmp_path / "copy", symlinks=True)
    return ProjectCopy(tmp_path / "copy")


@pytest.mark.full
def test_what_decides_nothing_repeats_nothing(project: ProjectCopy) -> None:
    """The tree is at another path already, as it is a copy."""
    assert to_do(project) == 0
    edit(project.folder / "templates/job/job.sh.j2", "# Software", "# The software")
    edit(project.folder / "templates/job/library/run.sh", "# Control characters", "# The control characters")
    edit(project.folder / "kernels/tree_merge.c", "/*", "/* reworded: */ /*")
    campaign = project.folder / "trivial.yaml"
    edit(campaign, "time_limit: 1 min", "time_limit: 2 min")
    edit(campaign, "repeats: 2", "title: Another title\nseed: 7\nrepeats: 2")
    edit(campaign, "transport: any", "transport: any\n    description: in other words\n    loopback: false")
    shutil.rmtree(project.folder / "build")
    for number, path in enumerate(sorted(project.folder.rglob("*"))):
        os.utime(path, (number % 7 * 1e8, number % 7 * 1e8), follow_symlinks=False)
    before = results(project)
    assert to_do(project) == 0
    assert "nothing to do, all 4 runs are there" in run(project)
    assert results(project) == before
    assert not (project.folder / "build").exists()
    records = project.records("trivial")
    assert [record.status for record in records] == [OK] * 4


def test_exactly_the_runs_concerned_are_repeated(project: ProjectCopy) -> None:
    before = results(project)
    campaign = yaml.safe_load((project.folder / "trivial.yaml").read_text())
    campaign["placements"]["two"] = {**campaign["placements"]["one"], "ranks_per_node": 3}
    campaign["matrix"][0]["repeats"] = 3
    (project.folder / "trivial.yaml").write_text(yaml.safe_dump(campaign))
    said = project.call("plan", "--campaign", "trivial.yaml").stdout
    assert "6 runs here, 4 still to be done" in said
    assert "2 results that the campaign no longer describes:" in said
    assert "placement.ranks_per_node: 2 → 3 (local two trivial repeats 1-2)" in said
    assert "placement.ranks_per_node: 2 → 3" in project.call("status", "--campaign", "trivial.yaml").stdout
    assert "placement.ranks_per_node: 2 → 3" in run(project)
    after = results(project)
    assert {path: after[path] for path in before} == before
    assert len(after) == 8
    assert "placement.ranks_per_node: 2 → 3" in (project.folder / "results/trivial/report.html").read_text()


@pytest.mark.full
def test_a_program_that_reads_differently_now_is_measured_again(project: ProjectCopy) -> None:
    program = executable(project.folder.parent / "true", "#!/bin/sh\n")
    first = results(project)
    edit(project.folder / "trivial.yaml", "/bin/true", str(program))
    run(project)
    assert to_do(project) == 0
    before = results(project).items() - first.items()
    program.write_text("#!/bin/sh\n# upgraded\n")
    assert to_do(project) == 4
    assert run(project).count("the program has changed") == 4
    assert not results(project).items() & before
    assert results(project).keys() == {path for path, _ in before} | first.keys()
    earlier = (project.folder / "results/trivial").glob("runs/*/*/*/earlier/*/result.txt")
    assert {path.stat().st_ino for path in earlier} == {inode for _, inode in before}
    said = project.call("status", "--campaign", "trivial.yaml").stdout
    assert "4 results of another machine, or of an earlier program" in said


def test_results_of_another_machine_are_not_this_ones(project: ProjectCopy) -> None:
    for path in project.results("trivial"):
        edit(path, "job host=", "job host=other-")
    assert to_do(project) == 4
    said = project.call("status", "--campaign", "trivial.yaml").stdout
    assert said.count("to be run again: it was made on other-") == 4
    assert run(project).count("it was made on other-") == 4
    assert to_do(project) == 0
    earlier = (project.folder / "results/trivial").glob("runs/*/*/*/earlier/*/result.txt")
    assert len(list(earlier)) == 4


def test_two_campaign_files_of_one_name_are_refused(project: ProjectCopy) -> None:
    text = (project.folder / "trivial.yaml").read_text()
    (project.folder / "second.yaml").write_text(text.replace("repeats: 2", "repeats: 3"))
    done = project.call("plan", "--campaign", "second.yaml")
    assert done.returncode == 2
    assert "holds the results of another campaign file of this name: " in done.stderr
    assert "give this campaign another name" in done.stderr
    (project.folder / "trivial.yaml").unlink()  # renamed: the second is the first
    project.succeed("plan", "--campaign", "second.yaml")


def test_a_report_with_results_is_not_replaced_by_one_that_says_only_missing(project: ProjectCopy) -> None:
    report = project.folder / "results/trivial/report.html"
    before = report.read_text()
    edit(project.folder / "trivial.yaml", "location: /bin/true", "location: /usr/bin/true")
    done = project.call("report", "--campaign", "trivial.yaml")
    assert done.returncode == 2
    assert "the report of 4 results is kept" in done.stderr
    assert "provider.location: /bin/true → /usr/bin/true" in done.stderr
    assert report.read_text() == before
    failed = project.call("run", "--campaign", "trivial.yaml", variables={"TRIVIAL_FAILS": "yes"})
    assert failed.returncode != 0
    assert report.read_text() == before


def test_a_bundle_that_was_made_before_merges_after(project: ProjectCopy, tmp_path: Path) -> None:
    project.succeed("bundle", "--campaign", "trivial.yaml", "-o", str(tmp_path / "b.tar.gz"))
    edit(project.folder / "templates/job/job.sh.j2", "# Software", "# The software")
    edit(project.folder / "trivial.yaml", "time_limit: 1 min", "time_limit: 2 min")
    shutil.rmtree(project.folder / "results/trivial")
    project.call("render", "--campaign", "trivial.yaml")
    project.succeed("merge", str(tmp_path / "b.tar.gz"))
    project.succeed("report", "--campaign", "trivial.yaml")
    records = project.records("trivial")
    assert [record.status for record in records] == [OK] * 4 != [MISSING] * 4
