"""docs/tutorial.md is run line by line: on this machine, and its cluster part on the test cluster."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import PROJECT
from minicluster import BLUE, MiniCluster
from tutorial import Block, Reader, StepError, blocks_of, difference, in_bash

TUTORIAL = (PROJECT / "docs/tutorial.md").read_text(encoding="utf-8")
CLUSTER = "cluster"  # the mark of a block for a login node; its output follows it
CLONE = "git clone URL mpicampaign"
LEFT_OUT = (".*", "results", "build", "__pycache__", "*.egg-info")


def machine_blocks() -> tuple[list[Block], list[Block]]:
    """The blocks for this machine, and those for a cluster with their outputs."""
    here: list[Block] = []
    cluster: list[Block] = []
    chosen = here
    for block in blocks_of(TUTORIAL):
        if block.language != "text":
            chosen = cluster if block.mark == CLUSTER else here
        chosen.append(block)
    return here, cluster


def clone(folder: Path) -> None:
    """The files of the project as a clone has them, changes that are not committed included."""
    shutil.copytree(PROJECT, folder, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))


def environment() -> dict[str, str]:
    """That of a user who has not activated the environment of the tests."""
    own = Path(sys.prefix) / "bin"
    path = [each for each in os.environ["PATH"].split(":") if Path(each) != own]
    left_out = ("VIRTUAL_ENV", "PYTHONPATH")
    return {key: value for key, value in os.environ.items() if key not in left_out} | {"PATH": ":".join(path)}


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.alone
def test_every_block_of_the_tutorial_runs_and_prints_what_it_shows(tmp_path: Path, imb: str) -> None:
    clone(tmp_path / "source")
    replaced = {CLONE: "mv source mpicampaign"}
    try:
        Reader(tmp_path, in_bash(environment(), timeout=900), replaced).follow(machine_blocks()[0])
    except StepError as error:
        # 22 short runs on a shared machine: its own changes may hide that of the program, or come beside it.
        printed = str(error).rpartition("\nprinted:\n")[2]
        alone = "with build of the program" in printed and printed.count("  since ") == 1
        if alone or "Ticks: 22 began" not in printed:
            raise
        pytest.skip(
            "the history of 22 nights found no change: this machine's own were larger than the program's"
        )


@pytest.fixture
def cluster(cluster_parts: None, tmp_path: Path) -> Iterator[MiniCluster]:
    with MiniCluster(tmp_path / "cluster", [BLUE]) as running:
        yield running


@pytest.mark.full
def test_the_cluster_blocks_run_on_the_test_cluster(cluster: MiniCluster, imb: str) -> None:
    folder = cluster.folder / "tutorial"
    clone(folder)
    cluster.give(folder)
    path = f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/sbin:/bin"
    variables = {"PATH": path, "PYTHONPATH": str(folder / "src"), **cluster.environment}

    def call(script: str) -> tuple[int, str]:
        done = cluster.call(["bash", "-c", f"exec 2>&1\n{script}"], env=variables, cwd=folder, timeout=600)
        return done.returncode, done.stdout

    Reader(folder, call, {}).follow(machine_blocks()[1])


# ---- A changed command and a changed output are seen

DOCUMENT = """\
```yaml
# mine.yaml
campaign: mine
```
```sh
mkdir -p sub; cd sub; export WHERE=here
```
```sh
pwd | grep -o 'sub$'; echo "$WHERE local SHM-1 0.170 [0.140, 0.200] µs"
cat ../mine.yaml
```
```text
sub
here local SHM-1 5.54 [4.89, 6.91] µs
…
campaign: mine
```
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("mkdir -p sub;", "mkdir -p other/sub;"),
        ("cat ../mine.yaml", "cat ../yours.yaml"),
        ("SHM-1 5.54", "SHM-2 5.54"),
        ("…\ncampaign: mine", "…\ncampaign: yours"),
        ("…\n", ""),
        ("\nsub\n", "\n"),
        ("export WHERE=here", "export WHERE=there"),
        ("```text", "```output"),
    ],
)
def test_a_changed_document_fails(tmp_path: Path, old: str, new: str) -> None:
    reader = Reader(tmp_path, in_bash(os.environ, timeout=20), {})
    blocks = blocks_of(DOCUMENT.replace(old, new))
    if not old:
        reader.follow(blocks)
        return
    with pytest.raises(StepError):
        reader.follow(blocks)


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("SHM-1 0.170 µs is 32.6 × lower than TCP 5.54 µs", "SHM-1 0.2 µs is 27 × lower than TCP 5.4 µs"),
        ("since 24 November, with program 0a1b2c3d4e5f", "since 3 March, with program ffffffffffff"),
        ("verified, quiet: 2 µs", "verified, disturbed: 3 µs (rank 1 waited 65% of its time for a CPU)"),
        ("verified, quiet: 2 µs (about 2 min left)", "verified, not judged: 9 µs"),
        ("report: /home/you/mpicampaign/results/a", "report: /tmp/x/mpicampaign/results/a"),
    ],
)
def test_what_differs_between_machines_is_masked(expected: str, printed: str) -> None:
    assert not difference(expected, printed)


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("12 runs here, 12 still to be done", "12 runs here, 11 still to be done"),
        (
            "SHM-1 0.170 µs is 32.6 × lower than TCP 5.54 µs",
            "TCP 5.54 µs is 32.6 × lower than SHM-1 0.170 µs",
        ),
        ("verified, quiet", "unverified, quiet"),
        ("a\n…\nc", "a\nb"),
        ("a", "a\nb"),
        ("…", "anything"),
        ("…\nb", "b\nc"),
        ("all 6 repeats", "all 5 repeats"),
    ],
)
def test_what_must_be_the_same_is_not_masked(expected: str, printed: str) -> None:
    assert difference(expected, printed)
