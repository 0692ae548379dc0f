"""Mutants: one small change each, made from the syntax tree (Python) or by token (shell, C).

No library does this: mutmut and cosmic-ray plant in Python alone, and neither says which tests kill a mutant.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BYTES = "latin-1"  # a character of a source is a byte, as ast counts them
Change = tuple[int, int, str]  # from start to end, the new text
SWAPS: dict[type[ast.AST], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is", ast.And: "or", ast.Or: "and",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "+",
}  # fmt: skip
PAIRS = (
    *("< <=", "> >=", "== !=", "&& ||", "+ -"),
    *("-eq -ne", "-ge -gt", "-lt -le", "= !=", "-z -n"),  # of the shell
)
TOKENS = [
    *(
        (rf" {re.escape(old)} ", f" {new} ")
        for pair in PAIRS
        for old, new in (pair.split(), pair.split()[::-1])
    ),
    *((r" \* ", " + "), (r"\+\+;", "--;"), (r"\b0\b", "1"), (r"\b1\b", "2"), (r"^\s+\w+\([^;{]*\);$", ";")),
]
PYTHON, NATIVE = "src/mpicampaign/**/*.py", ("templates/**/*.sh", "kernels/*.c", "kernels/[ce]*/**/*.c")


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    start: int
    end: int
    text: str

    def planted(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]


def of_python(source: str) -> Iterator[Change]:
    starts = [0, *(found.end() for found in re.finditer("\n", source))]

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def swapped(left: ast.expr, operator: ast.AST, right: ast.expr) -> Change:
        """An operator stands between its operands; brackets and line breaks around it stay."""
        start, end = span(left)[1], span(right)[0]
        new = re.sub(r"[^\s()#]+(?: (?:in|not)\b)?", SWAPS[type(operator)], source[start:end], count=1)
        return start, end, new

    for node in ast.walk(ast.parse(source.encode(BYTES))):
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                yield swapped(left, operator, right)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in SWAPS:
                yield swapped(left, operator, right)
            case ast.BoolOp(op=operator, values=[left, right, *_]):
                yield swapped(left, operator, right)
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                start, end = span(test)
                yield start, end, f"(not ({source[start:end]}))"
            case ast.Constant(value=bool() as value):
                yield *span(node), str(not value)
            case ast.Constant(value=int() | float() as value):
                yield *span(node), str(value + 1)
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                yield *span(value), "None"
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
                yield *span(node), "pass"
            case ast.UnaryOp(op=ast.Not()):
                yield span(node)[0], span(node)[0] + len("not "), ""
            case ast.Continue():
                yield *span(node), "break"


def of_tokens(source: str) -> Iterator[Change]:
    for line in re.finditer(r"(?m)^(?!\s*(?:#|//|/?\*|static const)).+$", source):
        for pattern, new in TOKENS:
            for found in re.finditer(pattern, line[0]):
                yield line.start() + found.start(), line.start() + found.end(), new


def drawn(tree: Path, seed: int, number: int) -> list[Mutant]:
    """Of all that can be planted."""
    mutants = []
    for path in sorted(path for pattern in (PYTHON, *NATIVE) for path in tree.glob(pattern)):
        source, file = path.read_text(BYTES), str(path.relative_to(tree))
        for change in of_python(source) if path.suffix == ".py" else of_tokens(source):
            if source[change[0] : change[1]] != change[2]:
                mutants.append(Mutant(file, source.count("\n", 0, change[0]) + 1, *change))
    return random.Random(seed).sample(mutants, min(number, len(mutants)))
