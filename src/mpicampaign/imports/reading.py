"""A file of outputs as it is read: each with its facts, and the job script and standard error beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mpicampaign.imports.facts import belongs, facts_of_outputs
from mpicampaign.imports.files import SCRIPT, STDERR, Companions, text_of
from mpicampaign.suites import OutputError, Part, above_banner, parts, without_labels

_LEAST = 500  # B; shorter outputs may be alike by chance


class OutputsOfFile(NamedTuple):
    """A file, without the labels of its lines, and the outputs in it; ``why``: why it has none.

    ``beside``: the paths of its job script and standard error, by role.
    """

    text: str
    stderr: str
    beside: dict[str, str]
    cut: Sequence[Part] = ()
    facts: Sequence[dict[str, str]] = ()
    why: str = ""


def read_output(
    path: str, content: bytes, companions: Companions, read: Callable[[str], bytes | str]
) -> OutputsOfFile:
    """A file of outputs, and what is beside it; ``read``: the content of a path, or why there is none."""
    named = {role: name for role in (SCRIPT, STDERR) if (name := companions.of(path, role))}
    contents = {role: read(name) for role, name in named.items()}
    beside = {role: named[role] for role in named if isinstance(contents[role], bytes)}
    script, stderr = (text_of(contents.get(role, "")) for role in (SCRIPT, STDERR))
    text = text_of(content)
    try:
        text = without_labels(text)
        cut = parts(text)
        if not belongs(named.get(SCRIPT), script, path, {part.suite for part in cut}):
            script = ""
            beside.pop(SCRIPT, None)
        facts = facts_of_outputs(path, text, cut, script, stderr)
    except OutputError as error:
        return OutputsOfFile(text, stderr, beside, why=str(error))
    return OutputsOfFile(text, stderr, beside, cut, facts)


def content_of(part: Part, sha256: str) -> str:
    """What copies of an output share: the SHA-256 of its file, or of its text where the file has several.

    Then that of its words from the title on: line ends and the report above it may differ. So an output that
    was also imported alone counts once. Short outputs may be alike by chance: theirs is the checksum of the
    file, a colon, and their lines.
    """
    if len(part.text) - len(above_banner(part.text)) < _LEAST:
        return f"{sha256}:{part.lines}"
    texts = part.text, " ".join(part.output[len(above_banner(part.output)) :].split())
    text, values = (hashlib.sha256(of.encode("utf-8", "surrogatepass")).hexdigest() for of in texts)
    return f"{text if part.lines else sha256} {values}"
