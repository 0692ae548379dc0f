"""Documents with excerpts of outputs: an example in them is no run, and its rest is not missing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mpicampaign.suites import OutputError, Part, above_banner, parse
from mpicampaign.suites.reading import abort_in

_DOCUMENT = re.compile(
    r"(?:.*[-_. ])?readme(?![a-z]).*|.*\.(?:md|markdown|rst|html?|xhtml|adoc|tex|ipynb|org|wiki)",
    re.IGNORECASE,
)
_NOTES = re.compile(
    r"(?:.*[-_. ])?(?:notes?|how-?to|usage|install|manual|tutorial|guide|todo)(?![a-z]).*", re.IGNORECASE
)
# With the newline above: a search for that is many times as fast as one for the begin of a line.
_MARKUP = re.compile(r"\n[ \t]*(?i:```|~~~|\.\. [a-z-]+::|<!DOCTYPE|</?(?:html|pre|code)\b)")
_LEFT_OUT = re.compile(r"\n[ \t]*(?:\.\.\.|…|[\[<](?:\.\.\.|…|snip)[\]>])[ \t]*$", re.MULTILINE)
EXCERPT = "a document: an output that it shows is an example; import the file of the output itself"


def is_document(name: str) -> bool:
    """Whether a file is a document, by its name."""
    return _DOCUMENT.fullmatch(name) is not None


def is_excerpt(name: str, text: str, outputs: Iterable[Part]) -> bool:
    """Whether a text looks like a document or notes, and none of its outputs can be read."""
    lines = f"\n{text}"
    left_out = _LEFT_OUT.search(lines) and _LEFT_OUT.search(lines, len(above_banner(text)))
    like = left_out or _NOTES.fullmatch(name) or _MARKUP.search(lines)
    return bool(like) and not abort_in(text) and not any(map(_is_whole, outputs))


def _is_whole(output: Part) -> bool:
    try:
        parse(output.suite, output.to_parse)
    except OutputError:
        return False
    return True
