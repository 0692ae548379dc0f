"""Runs a tutorial: writes its files, calls its commands in order, and compares what they print.

    ```yaml     its first line is `# NAME`: the file NAME is written
    ```sh       commands; each block has the folder and the variables of the block before
    ```text     what the last commands printed; a line … skips lines, and line breaks do not count

Before the comparison MASKS removes from both texts what differs between machines, and nothing else.
"""

from __future__ import annotations

import calendar
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

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
