"""docs/tutorial.md is run line by line: on this machine, and its cluster part on the test cluster."""

from __future__ import annotations

import calendar
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import PROJECT
from minicluster import BLUE, MiniCluster

SKIP = "…"
NUMBER = r"\d[\d.,]*(?:e[+-]?\d+)?"
UNIT = r"(?:µs|ms|s|min|h|MB/s|GB/s|Gflop/s|steps/s|B|KiB|MiB|GiB)"
MASKS = (
    # names of files and runs
    (r"/\S*/mpicampaign(?=/)", "CLONE"),
    (r"\b\d{8}T\d{6}Z-[0-9a-f]{8}\b", "SERIES"),
    (r"\b[0-9a-f]{12}\b", "CHECKSUM"),
    # dates and times
    (r"\b\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?", "DATE"),
    (rf"\b\d{{1,2}} (?:{'|'.join(calendar.month_name[1:])})\b", "DATE"),
    (r" \((?:about|less than) [^()]* left\)", ""),
    # the condition of a run, with its reason
    (r" \((?:rank \d+ waited|[\d.]+ s between MPI_Init|no time of waiting)(?:[^()]|\([^()]*\))*\)", ""),
    (r"\b(?:quiet|disturbed|not judged)\b", "CONDITION"),
    # what was measured: a value with interval, with unit, a ratio, a probability
    (rf"{NUMBER} +\[{NUMBER}, {NUMBER}\]", "VALUE [LOW, HIGH]"),
    (rf"\b{NUMBER} {UNIT}(?![\w/])", "VALUE"),
    (rf"\b{NUMBER} (?:×|times)", "RATIO"),
    (r"worse by \d+ %", "worse by SHARE"),
    (r"p [=<] [\d.e-]+", "p"),
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the rest of its first line, and its text."""

    language: str
    mark: str
    text: str
    line: int


def blocks_of(document: str) -> list[Block]:
    """The fenced blocks of a document, in order."""
    found = re.finditer(r"^```(\w+)(?: (\w+))?\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)
    return [Block(m[1], m[2] or "", m[3], document[: m.start()].count("\n") + 1) for m in found]


def masked(text: str) -> list[str]:
    """The words without what differs between machines; the numbers in a line move its breaks."""
    kept = " ".join(text.split())
    for pattern, name in MASKS:
        kept = re.sub(pattern, name, kept)
    return kept.split()


def difference(expected: str, printed: str) -> str:
    """The first part of the expected output that was not printed at its place; empty: all was printed."""
    parts = [masked(part) for part in re.split(rf"^{SKIP}$", expected, flags=re.MULTILINE)]
    if not any(parts):
        return "an output of … alone shows nothing"
    words = masked(printed)
    place, last = 0, len(parts) - 1
    for number, part in enumerate(parts):
        end = len(words) - len(part)
        first_start = end if number == last and part else place  # the last part ends the output
        last_start = 0 if number == 0 else end
        starts = range(max(first_start, place), last_start + 1)
        found = next((start for start in starts if words[start : start + len(part)] == part), None)
        if found is None:
            return "not printed here:\n" + " ".join(part)
        place = found + len(part)
    return ""


class StepError(AssertionError):
    """A block that failed, or whose output is another one."""


@dataclass(frozen=True)
class Reader:
    """Who follows a tutorial: ``call`` runs a shell script in the folder and returns status and output."""

    folder: Path
    call: Callable[[str], tuple[int, str]]
    replaced: Mapping[str, str]

    def follow(self, blocks: list[Block]) -> None:
        """Run the blocks in order; a failure names the line of the document."""
        printed, used = "", set()
        for block in blocks:
            if block.language == "yaml":
                name = re.match(r"# (\S+)\n", block.text)
                assert name, f"line {block.line}: a file's block begins with its name"
                (self._here() / name[1]).write_text(block.text, encoding="utf-8")
            elif block.language == "sh":
                commands = block.text
                for old, new in self.replaced.items():
                    used |= {old} if old in commands else set()
                    commands = commands.replace(old, new)
                status, printed = self.call(self._session(commands))
                if status != 0:
                    raise StepError(f"line {block.line}: exit status {status}\n{block.text}\n{printed}")
            elif block.language == "text":
                if found := difference(block.text, printed):
                    raise StepError(f"line {block.line}: {found}\n\nprinted:\n{printed}")
            else:
                raise StepError(f"line {block.line}: a block of {block.language} is not followed")
        assert used == set(self.replaced), "a replaced command is no longer in the document"

    def _here(self) -> Path:
        kept = self.folder / "session.folder"
        return Path(kept.read_text().strip()) if kept.exists() else self.folder

    def _session(self, commands: str) -> str:
        """The commands with the folder and the variables of the block before; they end at the first error."""
        kept = self.folder / "session"
        return (
            f"cd '{self.folder}'\n"
            f"if [ -f '{kept}' ]; then . '{kept}'; cd \"$(cat '{kept}.folder')\"; fi\n"
            f"set -e\n{commands}\nexport -p >'{kept}'\npwd >'{kept}.folder'\n"
        )


def in_bash(environment: Mapping[str, str], timeout: float) -> Callable[[str], tuple[int, str]]:
    """Runs a script in bash; standard error is part of what it prints, as on a terminal."""

    def call(script: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", script],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
        return done.returncode, done.stdout

    return call


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
