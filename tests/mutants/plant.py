"""Mutants: one small change each, made from the syntax tree (Python) or by token (shell, C).

No library does this: mutmut and cosmic-ray plant in Python alone, and neither says which tests kill a mutant.
"""

from __future__ import annotations

import ast
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SWAPS: dict[type[ast.AST], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "+",
}  # fmt: skip
SHELL = [
    (r" -eq ", " -ne "), (r" -ne ", " -eq "), (r" -ge ", " -gt "), (r" -gt ", " -ge "), (r" -lt ", " -le "),
    (r" -le ", " -lt "), (r" && ", " || "), (r" \|\| ", " && "), (r" = ", " != "), (r" != ", " = "),
    (r" -z ", " -n "), (r" -n ", " -z "), (r" < ", " <= "), (r" <= ", " < "),
    (r" \+ ", " - "), (r" - ", " + "), (r"\b1\b", "2"),
]  # fmt: skip
C = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "),
    (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "),
    (r" \* ", " + "), (r"\+\+;", "--;"), (r"\b0\b", "1"), (r"\b1\b", "2"), (r"^\s+\w+\([^;{]*\);$", ";"),
]  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """The characters from start to end of a file become ``text``."""

    file: str
    line: int
    start: int
    end: int
    text: str

    @property
    def room(self) -> str:
        parts = Path(self.file).parts
        if parts[0] == "src":
            return parts[2] if parts[1] == "mpicampaign" and len(parts) > 3 else f"{parts[1]} (modules)"
        return "/".join(parts[:2]) if parts[1] == "evidence" else parts[0]

    def planted(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]


class _Python:
    """Changes of a module's text; ast counts bytes, so the text is cut as bytes of latin characters."""

    def __init__(self, source: str) -> None:
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = source.splitlines()
        self.source = source

    def at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def between(self, left: ast.expr, right: ast.expr, word: str) -> tuple[int, int, str]:
        """An operator stands between its operands; brackets and line breaks around it stay."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = self.source[start:end]
        return start, end, re.sub(r"[^\s()#]+(?: (?:in|not)\b)?", word, gap, count=1)

    def of(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in SWAPS:
                yield self.between(left, right, SWAPS[type(operator)])
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in SWAPS:
                yield self.between(left, right, SWAPS[type(operator)])
            case ast.BoolOp(op=operator, values=[left, right, *_]):
                yield self.between(left, right, "or" if isinstance(operator, ast.And) else "and")
            case ast.UnaryOp(op=ast.Not()):
                start = self.span(node)[0]
                yield start, start + len("not "), ""
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                start, end = self.span(test)
                yield start, end, f"(not ({self.source[start:end]}))"
            case ast.Constant(value=bool() as value):
                yield *self.span(node), str(not value)
            case ast.Constant(value=int() | float() as value):
                yield *self.span(node), str(value + 1)
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                yield *self.span(value), "None"
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
                yield *self.span(node), "pass"
            case ast.Continue():
                yield *self.span(node), "break"


def _of_python(file: str, source: str) -> Iterator[Mutant]:
    text = _Python(source)
    for node in ast.walk(ast.parse(source)):
        for start, end, new in text.of(node):
            if source[start:end] != new:
                yield Mutant(file, source.count("\n", 0, start) + 1, start, end, new)


def _of_tokens(file: str, source: str, swaps: list[tuple[str, str]]) -> Iterator[Mutant]:
    position = 0
    for number, line in enumerate(source.splitlines(keepends=True), 1):
        if not line.lstrip().startswith(("#", "//", "/*", "*", "static const")):
            for pattern, new in swaps:
                for found in re.finditer(pattern, line.rstrip("\n")):
                    yield Mutant(file, number, position + found.start(), position + found.end(), new)
        position += len(line)


def all_mutants(tree: Path) -> list[Mutant]:
    """All that can be planted, file by file."""
    python = [*sorted(tree.glob("src/mpicampaign/**/*.py")), *sorted(tree.glob("src/snakemake_*/*.py"))]
    native = {
        "templates/**/*.sh": SHELL,
        "kernels/*.c": C,
        "kernels/common/*.c": C,
        "kernels/evidence/*.c": C,
    }
    mutants = [one for file in python for one in _of_python(str(file.relative_to(tree)), file.read_text())]
    for pattern, swaps in native.items():
        for file in sorted(tree.glob(pattern)):
            mutants += _of_tokens(str(file.relative_to(tree)), file.read_text(), swaps)
    return mutants


def drawn(tree: Path, seed: int, number: int) -> list[Mutant]:
    """By rooms in turn, so that each has its share and an interrupted run has judged all of them alike."""
    by_room = defaultdict(list)
    for mutant in all_mutants(tree):
        by_room[mutant.room].append(mutant)
    chance = random.Random(seed)
    size = sum(map(len, by_room.values()))
    order = []
    for mutants in by_room.values():
        share = max(12, round(number * len(mutants) / size))
        chosen = chance.sample(mutants, min(share, len(mutants)))
        order += [((place + chance.random()) / len(chosen), one) for place, one in enumerate(chosen)]
    return [mutant for _, mutant in sorted(order, key=lambda pair: pair[0])]
