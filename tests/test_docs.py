"""The documents: every link leads somewhere, no line or cell is too wide, the citation file is complete."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import mpicampaign

PROJECT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md")])
WIDEST = 160  # cell of a table, or line of a paragraph
LINK = re.compile(r"\]\(([^()\s]+)\)")
ADDRESS = re.compile(r"[a-z]+:", re.ASCII)
CFF_KEYS = {
    "cff-version",
    "message",
    "title",
    "type",
    "abstract",
    "authors",
    "version",
    "license",
    "keywords",
}
MADE = "docs/keys.md"  # at set-up
MENTION = re.compile(r"\bdocs/[\w-]+\.md(?:#[\w-]+)?")  # of a document, in code and comments


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a document without its code blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    seen: Counter[str] = Counter()
    found = set()
    for _, line in prose(text):
        if heading := re.fullmatch(r"#{1,6} (.+)", line):
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            found.add(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
    return found


def broken_links(document: Path, text: str) -> list[str]:
    """The relative links of a document that lead nowhere."""
    broken = []
    for number, line in prose(text):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            path, _, anchor = target.partition("#")
            goal = document.parent / path
            if ADDRESS.match(target):
                continue
            there = (
                text
                if not path
                else goal.read_text(encoding="utf-8", errors="replace")
                if goal.is_file()
                else ""
            )
            if not goal.exists() or (anchor and anchor not in anchors(there)):
                broken.append(f"{document.name}:{number}: {target}")
    return broken


def wide(document: Path, text: str) -> list[str]:
    """The lines of paragraphs, and the cells of tables, that are wider than a reader's eye."""
    found = []
    for number, line in prose(text):
        table = line.startswith("|")
        for part in re.split(r"(?<!\\)\|", line)[1:-1] if table else [re.sub(r"\]\([^)]*\)", "]", line)]:
            if len(part.strip()) > WIDEST:
                found.append(f"{document.name}:{number}: {len(part)}: {part[:40]}…")
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    assert not broken_links(document, document.read_text(encoding="utf-8"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_line_or_cell_is_wide(document: Path) -> None:
    assert not wide(document, document.read_text(encoding="utf-8"))


def test_broken_links_and_wide_text_are_found() -> None:
    document = PROJECT / "docs" / "any.md"
    text = "# A `b` c: d\n[x](#a-b-c-d) [y](#a-b)\n[z](../README.md) [w](none.md)\n```\n[v](no.md)\n```\n"
    assert broken_links(document, text) == ["any.md:2: #a-b", "any.md:3: none.md"]
    kept, wider = "b" * WIDEST, "c" * (WIDEST + 1)
    assert len(wide(document, f"| a | {kept} |\n| {wider} | d |\n{kept}\n{wider}\n")) == 2


@pytest.mark.parametrize("folder", ["src", "tests", "templates", "kernels", "campaigns", "workflow", "bench"])
def test_documents_named_in_files_exist(folder: str) -> None:
    missing = []
    for path in sorted((PROJECT / folder).rglob("*")):
        if path.suffix in {".py", ".j2", ".sh", ".yaml", ".json", ".c", ".h", ".smk"} and path.is_file():
            for mention in MENTION.findall(path.read_text(encoding="utf-8", errors="replace")):
                name, _, anchor = mention.partition("#")
                goal = PROJECT / name
                if name == MADE:
                    continue
                if not goal.exists() or (anchor and anchor not in anchors(goal.read_text(encoding="utf-8"))):
                    missing.append(f"{path.relative_to(PROJECT)}: {mention}")
    assert not missing


def test_citation_is_complete_and_true() -> None:
    """The keys that CFF 1.2.0 requires, without its schema; cffconvert would bring a dozen packages."""
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    assert set(citation) <= CFF_KEYS and citation["cff-version"] == "1.2.0"
    assert all(isinstance(citation[key], str) and citation[key] for key in ("message", "title", "version"))
    assert citation["version"] == mpicampaign.__version__
    holder = re.search(r"Copyright \(c\) \d{4}, (.+)", (PROJECT / "LICENSE").read_text(encoding="utf-8"))
    assert holder and citation["authors"] == [{"name": holder[1]}]
    assert f'license = "{citation["license"]} AND' in (PROJECT / "pyproject.toml").read_text(encoding="utf-8")


def test_changelog_has_the_version() -> None:
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[?([\w.]+)\]?(?: - \d{4}-\d\d-\d\d)?$", changelog, re.MULTILINE)
    assert releases[0] == "Unreleased" or releases[0] == mpicampaign.__version__
    sections = re.findall(r"^### (.+)$", changelog, re.MULTILINE)
    assert set(sections) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
