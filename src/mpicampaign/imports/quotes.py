"""Outputs that documents quote, in fenced blocks of Markdown and literal blocks of reStructuredText."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mpicampaign.base.text import line_of
from mpicampaign.imports.files import EXCERPT, ImportSource, is_document, name_of, read_source, text_of
from mpicampaign.suites import above_banner

_MARKDOWN = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^`\n]*\n(?P<block>.*?)^[ \t>]*(?P=fence)", re.M | re.S
)
_RST = re.compile(
    r"^(?P<indent>[ \t]*)(?:\S[^\n]*)?::[^\n]*\n(?:(?P=indent)[ \t]+:[^\n]*\n)*"
    r"(?P<block>(?:[ \t]*\n|(?P=indent)[ \t]+\S[^\n]*(?:\n|\Z))+)",
    re.M,
)
_BLOCKS = {"md": _MARKDOWN, "markdown": _MARKDOWN, "rst": _RST}
_QUOTE = re.compile(r"^[ \t]*>[ \t]?", re.M)
_NONE = (
    "a document without an output in a fenced block that is closed (.md) or a literal block (.rst): "
    "import the output file itself"
)
_PATH = re.compile(r"(?:.*/)?(?P<document>[^/]+)/quoted-[0-9]+-[0-9]+\.txt")


def with_quotes(sources: Sequence[ImportSource]) -> list[ImportSource]:
    """The sources, documents among them replaced by the blocks that hold outputs."""
    without = [replace(source, refused=_NONE) if source.refused == EXCERPT else source for source in sources]
    pairs = zip(sources, without, strict=True)
    return [part for source, refused in pairs for part in ([*_quotes(source)] or [refused])]


def quoting_document(path: str) -> str:
    """The name of the document that quotes an output; empty for a file of its own."""
    match = _PATH.fullmatch(path)
    return match["document"] if match and is_document(match["document"]) else ""


def _quotes(source: ImportSource) -> Iterator[ImportSource]:
    blocks = _BLOCKS.get(name_of(source.path).rpartition(".")[2].lower())
    if not blocks or source.refused != EXCERPT:
        return
    text = text_of(read_source(replace(source, refused=""))).replace("\r\n", "\n")
    for match in blocks.finditer(text):
        block = textwrap.dedent(_QUOTE.sub("", match["block"]))
        if above_banner(block) != block:
            first, last = line_of(text, match.start("block")), line_of(text, match.end("block") - 1)
            path = f"{source.path}/quoted-{first}-{last}.txt"
            yield replace(source, path=path, refused="", content=block.encode())
