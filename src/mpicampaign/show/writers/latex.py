"""Tables as LaTeX with booktabs; every text is escaped for any engine and input encoding.

Grids are floats where each fits on a page with its footnotes, else longtables: LaTeX cuts off
floats that are too long. The size of letters is that of the document around them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from mpicampaign.base.text import visible
from mpicampaign.show.document import Box, Grid, Node, Text, plain
from mpicampaign.show.writer import TextWriter

_LINES = 45  # of table and footnotes that a page of LaTeX's own classes holds beside the caption
_NOTE_LINE = 80  # letters of a footnote in a line
_SHORT = 3  # letters of marks that the gap between columns holds
_FLOATS = 16  # tables that wait for their places at a time: LaTeX holds no more than 18, since 2015 52

# Brackets and stars would be arguments of the \\, \toprule or \midrule before them; quotes are active
# characters in some languages; < > | are other glyphs in the old font encodings.
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "`": r"{\char96}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "µ": r"\textmu{}",
    "μ": r"\textmu{}",
    "×": r"$\times$",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "…": r"\ldots{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "\u2018": r"\textquoteleft{}",
    "\u2019": r"\textquoteright{}",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\to$",
    "†": r"\dag{}",
    "∞": r"$\infty$",
    **{character: f"\\{character}" for character in "{}$&#%_"},
}


# Accents (combining characters) and letters of every engine's default fonts.
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327")
_LETTERS = frozenset("ßæÆœŒøØłŁ")


def latex_text(text: Text) -> str:
    r"""The text so that LaTeX prints it as it is: ``50\,%`` becomes ``50\textbackslash{},\%``.

    Letters that not every engine has are written as their code points, such as ``U+5BBD``.
    """
    composed = unicodedata.normalize("NFC", visible(plain(text)))
    escaped = "".join(_ESCAPES.get(character) or _plain(character) for character in composed)
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)  # two hyphens are no dash, two quotes no other quote


def _plain(character: str) -> str:
    parts = unicodedata.normalize("NFD", character)
    if (parts[0].isascii() and _ACCENTS.issuperset(parts[1:])) or character in _LETTERS:
        return character
    return f"U+{ord(character):04X}"


def to_latex(document: Iterable[Node]) -> str:
    """One table for each grid, after a line with the packages to load; other nodes are left out."""
    found = [node for node in document if isinstance(node, Grid)]
    if any(_lines(grid) > _LINES for grid in found):  # floats would drift between the parts of the others
        return "\n".join([r"% needs \usepackage{booktabs,longtable}", *map(_longtable, found)])
    barrier = "\\clearpage\n"
    texts = [barrier * (n > 0 and n % _FLOATS == 0) + _float(grid) for n, grid in enumerate(found)]
    return "\n".join([r"% needs \usepackage{booktabs}", *texts])


def _lines(grid: Grid) -> int:
    """How many lines the grid takes with its footnotes."""
    return len(grid.lines) + sum(1 + len(text) // _NOTE_LINE for _, text in grid.footnotes)


def _float(grid: Grid) -> str:
    lines = [
        r"\begin{table}[htbp]",
        r"  \centering",
        rf"  \caption{{{latex_text(grid.title)}}}",
        rf"  \begin{{tabular}}{{{_columns(grid)}}}",
        *_head(grid),
        *_rows(grid),
        r"    \bottomrule",
        r"  \end{tabular}",
        *_footnotes(grid),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _longtable(grid: Grid) -> str:
    lines = [
        r"\begingroup",
        rf"  \begin{{longtable}}{{{_columns(grid)}}}",
        rf"    \caption{{{latex_text(grid.title)}}} \\",
        *_head(grid),
        r"    \endfirsthead",
        *_head(grid),
        r"    \endhead",
        r"    \bottomrule",
        r"    \endfoot",
        *_rows(grid),
        r"  \end{longtable}",
        *_footnotes(grid),
        r"\endgroup",
    ]
    return "\n".join(lines) + "\n"


def _columns(grid: Grid) -> str:
    """Left for names, right for numbers."""
    return "l" * grid.names + "r" * (len(grid.header) - grid.names)


def _head(grid: Grid) -> list[str]:
    return [
        r"    \toprule",
        f"    {' & '.join(latex_text(head) for head in grid.header)} \\\\",
        r"    \midrule",
    ]


def _rows(grid: Grid) -> list[str]:
    return [
        f"    {' & '.join(_cell(box, beside=n >= grid.names) for n, box in enumerate(line))} \\\\"
        for line in grid.boxes
    ]


def _cell(box: Box, beside: bool) -> str:
    """The text and the marks of footnotes; short ones ``beside`` the column, so that numbers stay aligned."""
    text = ",".join(box.marks)
    marks = rf"\textsuperscript{{{latex_text(text)}}}" if text else ""
    return latex_text(box.text) + (
        rf"\rlap{{{marks}}}" if marks and beside and len(text) <= _SHORT else marks
    )


def _breakable(text: str) -> str:
    """Escaped, with places where a long path, address or foreign name may be broken."""
    return re.sub(r"(/|\\_|[a-z]\.(?=[a-z])|U\+[0-9A-F]{4,6}(?=U))", r"\1\\allowbreak{}", latex_text(text))


def _footnotes(grid: Grid) -> list[str]:
    if not grid.footnotes:
        return []
    notes = [
        rf"  \noindent\textsuperscript{{{latex_text(mark)}}}~{_breakable(text)}\par"
        for mark, text in grid.footnotes
    ]
    return [r"  \par\smallskip\raggedright", r"  \footnotesize", *notes]


WRITER = TextWriter(".tex", to_latex)
