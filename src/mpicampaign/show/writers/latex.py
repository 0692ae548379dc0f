"""Tables as LaTeX with booktabs; every text is escaped for any engine and input encoding.

Grids are floats where each fits on a page with its footnotes, else longtables: LaTeX cuts off
floats that are too long. The size of letters depends on the length of the texts.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from mpicampaign.show.document import Grid, plain
from mpicampaign.show.writer import TextWriter
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.show.document import Box, Node, Text

_LINES = 45  # of table and footnotes that a page of LaTeX's own classes holds beside the caption
_NOTE_LINE = 80  # letters of a footnote in a line
_FLOATS = 16  # tables that wait for their places at a time: LaTeX holds no more than 18, since 2015 52
_NAME = 24  # letters of a host group or placement, longer ones are broken
_UNBROKEN = 11  # widest letters that such a column holds in a line
_UNBROKEN_NOTE = 30  # and a footnote
_WIDTH = 340  # points of a line of LaTeX's own classes at 10 points
# The width of a letter in points, a little more than that of digits, in each size, the largest first.
_SIZES = (("", 5.3), (r"\small", 4.9), (r"\footnotesize", 4.5), (r"\scriptsize", 4.0), (r"\tiny", 3.3))
_SHORT = 3  # letters of marks that the gap between columns holds
_GAP = 6.0  # points between columns where letters are not of the usual size; usually 12

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
    **{character: f"\\{character}" for character in "{}$&#%_"},
}


# Accents (combining characters) and letters of every engine's default fonts.
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327")
_LETTERS = frozenset("ßæÆœŒøØłŁ")


# A letter of an escaped text with what belongs to it: accents, and braces that end a command.
_PRINTED = re.compile(
    r"(?:U\+[0-9A-F]{4,6}|\\[A-Za-z]+\{\}|\{[^{}]*\}|\$[^$]*\$|\\[^A-Za-z]|.)(?:\{\}|[\u0300-\u036f])*",
    re.DOTALL,
)


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
        *_size(grid),
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
        *_size(grid),
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


def _widths(grid: Grid) -> list[int]:
    """The letters of each column, those of its footnotes' marks included."""
    lines = [[_letters(box.text) + 2 * len(box.marks) for box in line] for line in grid.lines]
    widths = [max(column) for column in zip(map(_letters, grid.header), *lines, strict=True)]
    return [min(width, _NAME) if i < grid.names else width for i, width in enumerate(widths)]


def _size(grid: Grid) -> list[str]:
    """Commands that make letters and gaps small enough for the page, as far as possible."""
    letters, gaps = sum(_widths(grid)), len(grid.header)
    if letters * _SIZES[0][1] + gaps * 2 * _GAP <= _WIDTH:
        return []
    sizes = (size for size, width in _SIZES[1:] if letters * width + gaps * _GAP <= _WIDTH)
    return [rf"  {next(sizes, _SIZES[-1][0])}\setlength{{\tabcolsep}}{{{_GAP / 2:g}pt}}"]


def _letters(text: Text) -> int:
    """How many letters are printed for the text."""
    return sum(1 if c in _ESCAPES else len(_plain(c)) for c in visible(plain(text)))


def _columns(grid: Grid) -> str:
    """Left for names, in lines where they are long; right for numbers."""
    names = "".join(f"p{{{_NAME * 0.45:g}em}}" if broken else "l" for broken in _broken(grid))
    return names + "r" * (len(grid.header) - grid.names)


def _broken(grid: Grid) -> list[bool]:
    """Whether the names of each column of names are too long for one line."""
    return [any(_letters(line[i].text) > _NAME for line in grid.lines) for i in range(grid.names)]


def _head(grid: Grid) -> list[str]:
    return [
        r"    \toprule",
        f"    {' & '.join(latex_text(head) for head in grid.header)} \\\\",
        r"    \midrule",
    ]


def _rows(grid: Grid) -> list[str]:
    broken = _broken(grid)
    return [f"    {' & '.join(_cells(line, broken))} \\\\" for line in grid.lines]


def _cells(line: Sequence[Box], broken: Sequence[bool]) -> Iterable[str]:
    for box, is_broken in zip(line, broken, strict=False):  # names
        text = rf"\raggedright {_breakable(box.text, _UNBROKEN)}" if is_broken else latex_text(box.text)
        yield text + _marks(box)
    for box in line[len(broken) :]:
        yield latex_text(box.text) + _marks(box, beside=True)


def _marks(box: Box, beside: bool = False) -> str:
    """The marks of footnotes; short ones ``beside`` the column, so that numbers stay aligned."""
    text = ",".join(box.marks)
    marks = rf"\textsuperscript{{{latex_text(text)}}}" if text else ""
    return rf"\rlap{{{marks}}}" if marks and beside and len(text) <= _SHORT else marks


def _breakable(text: Text, unbroken: int) -> str:
    """Escaped, with places where a long path, address or foreign name may be broken.

    What is longer than ``unbroken`` letters even so may be broken anywhere.
    """
    places = r"(/|\\_|[a-z]\.(?=[a-z])|U\+[0-9A-F]{4,6}(?=U))"
    broken = re.sub(places, r"\1\\allowbreak{}", latex_text(text))
    parts = re.split(r"(\\allowbreak\{\}|\s+|-)", broken)
    return "".join(_cut(part) if len(_PRINTED.findall(part)) > unbroken else part for part in parts)


def _cut(part: str) -> str:
    """With a break between any two letters, at a penalty that prefers better places."""
    return r"\penalty500{}".join(_PRINTED.findall(part))


def _footnotes(grid: Grid) -> list[str]:
    if not grid.footnotes:
        return []
    notes = [
        rf"  \noindent\textsuperscript{{{latex_text(mark)}}}~{_breakable(text, _UNBROKEN_NOTE)}"
        for mark, text in grid.footnotes
    ]
    return [r"  \par\smallskip\raggedright", r"  \footnotesize", *(f"{note}\\par" for note in notes)]


WRITER = TextWriter(".tex", to_latex)
