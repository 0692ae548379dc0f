"""The import as people call it: the command line, and Snakemake itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import ProjectCopy
from printed_outputs import imb

from mpicampaign.cli import main
from mpicampaign.cli.exit_status import UNREAD

MAP = """\
import: cron
campaign: two-hosts
rules:
  - label: {system: cloud, host_group: g, benchmark: '{benchmark}'}
  - when: {header.HOSTS: '^2$'}
    label: {placement: TCP}
"""
MADE = ["imported-cron.json", "imports", "records.jsonl", "tables"]  # in the results folder


def raw(folder: Path) -> Path:
    outputs = folder / "raw outputs {1}"
    outputs.mkdir()
    (outputs / "one.out").write_text("#HOSTS=2\n" + imb())
    (outputs / "other.out").write_text("#HOSTS=1\n" + imb(second=1))
    (folder / "map.yaml").write_text(MAP)
    return outputs


@pytest.mark.slow
@pytest.mark.parametrize("target", [[], pytest.param(["import"], marks=pytest.mark.full)])
def test_snakemake_import_takes_in_and_reports(
    project: ProjectCopy, tmp_path: Path, target: list[str]
) -> None:
    outputs = raw(tmp_path)
    config = ["--config", f"map={tmp_path / 'map.yaml'}", f'folders=["{outputs}"]']
    done = project.snakemake(*target, *config)
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results" / "two-hosts"
    assert (results / "report.html").is_file()
    assert "n/a" not in (results / "tables" / "comparison.txt").read_text()
    assert "other.out: no rule gives its placement" in done.stdout + done.stderr


def unread(project: ProjectCopy, *arguments: object) -> tuple[int, str]:
    """Call the command with a standard output without a reader; exit status and standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        project.command(*map(str, arguments)),
        cwd=project.folder,
        env=project.environment,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )
    os.close(writer)
    return done.returncode, done.stderr


def test_an_import_is_done_whether_its_account_is_read_or_not(project: ProjectCopy, tmp_path: Path) -> None:
    assert unread(project, "import", raw(tmp_path), "--map", tmp_path / "map.yaml") == (0, "")
    results = tmp_path / "results" / "two-hosts"
    assert sorted(path.name for path in results.iterdir()) == MADE
    status, said = unread(project, "tables", "--results", results)
    assert status in (0, UNREAD) and not said  # it had nothing to do but to print


def test_a_map_and_a_campaign_file_are_not_reported_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw(tmp_path)
    mistakes = {
        "other.yaml": "or --map, not both",
        "--system=here": "--system: cannot be combined with --map",
    }
    for option, said in mistakes.items():
        assert main(["report", "--map", str(tmp_path / "map.yaml"), option]) == 2
        assert said in capsys.readouterr().err


def test_host_groups_of_unknown_hosts_have_attributes_by_which_tables_group(
    project: ProjectCopy, tmp_path: Path
) -> None:
    outputs = raw(tmp_path)
    known = "host_groups: {g: {system: cloud, attributes: {cpu: Haswell, year: 2016}}}\n"
    (tmp_path / "map.yaml").write_text(known + MAP)
    project.call("import", outputs, "--map", tmp_path / "map.yaml")
    results = tmp_path / "results" / "two-hosts"
    done = project.call("tables", "--results", results, "--by", "cpu")
    assert "g (Haswell)" in done.stdout
    done = project.call("tables", "--results", results, "--by", "years")
    assert done.returncode == 2
    assert "--by: unknown attribute (found years)\n    did you mean 'year'? known: cpu, year" in done.stderr
