"""What is known of a bundled kernel beside its C source, and the frame of its output; see docs/kernels.md.

Header lines ``#@key=value``, a line ``#@columns.KIND=...`` for each kind of row, the rows, each beginning
with its kind, and ``#@end rows=N status=ok``. Other lines, such as those of the MPI library, are ignored: the
closing line's row count proves that no row is missing. Without it, what the rows themselves prove is kept.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from mpicampaign.base.errors import did_you_mean
from mpicampaign.base.records import Series
from mpicampaign.base.text import counted
from mpicampaign.suites.reading import (
    OutputError,
    check_column_count,
    integer,
    numbered_lines,
    row_tokens,
    scientific,
    shown,
)
from mpicampaign.suites.suite import ColumnMetric, Sends

Row = dict[str, str | int | float]
Columns = dict[str, list[float | None]]
K = TypeVar("K")

_FIRST = "#mpicampaign-kernel "
_FORMAT_VERSION = "1"
_KEY = re.compile(r"#@([a-z_]{1,40}(?:\.[a-z_]{1,40})?)=(.{0,4000})$")
_END = re.compile(r"#@end rows=([0-9]{1,9}) status=([a-z_]{1,40})\s*$")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}|-", re.ASCII)


@dataclass(frozen=True, slots=True)
class Layout:
    """The rows of one kernel, and how they become series.

    ``needed``: the columns that each kind of row must have. Columns in ``names`` hold names, those in
    ``seconds`` times (s), all others whole numbers. In ``optional`` ones, ``-`` (not measured) becomes a NaN.
    ``in_part``: whether some rows mean something without the others.
    """

    needed: Mapping[str, frozenset[str]]
    names: frozenset[str]
    seconds: frozenset[str]
    series: Callable[[KernelFrame], tuple[Series, ...]]
    optional: frozenset[str] = frozenset()
    in_part: bool = False


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A bundled kernel.

    ``layout``: its rows, and how they become series. ``version``: raised by hand when it measures in another
    way, with a line of history in docs/formats.md. ``sends``: who sends to whom, by the names of its series.
    ``metrics``: its own, by column. ``published``: the published benchmark of the same definition.
    ``quick``: arguments of a short run, for tests. ``ranks_minimum``: with fewer ranks it does not run.
    """

    name: str
    layout: Callable[[], Layout]
    version: int = 1
    sends: Mapping[str, Sends] = field(default_factory=dict)
    metrics: Mapping[str, ColumnMetric] = field(default_factory=dict)
    published: str = ""
    quick: tuple[str, ...] = ("--budget", "0.5")
    ranks_minimum: int = 2


def grouped(rows: Iterable[Row], key: Callable[[Row], K]) -> dict[K, list[Row]]:
    """Rows by what they have in common, in their order."""
    groups: dict[K, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return dict(groups)


class KernelFrame:
    """One output: its header, its rows by kind, and the layout of the kernel that wrote it.

    ``lacks``: why its last rows are missing; empty where it is whole.

    Raises
    ------
    OutputError
        when rows are missing that the others need, are damaged, or verification failed.
    """

    def __init__(self, text: str, layouts: Mapping[str, Layout]) -> None:
        self.header: dict[str, str] = {}
        self._layouts = layouts
        self._columns: dict[str, list[str]] = {}
        self._rows: dict[str, list[Row]] = {}
        self._count: int | None = None
        self._started = False
        self.lacks = ""
        self._cut = 0 if text.endswith("\n") else text.count("\n") + 1  # the line that is not whole
        for number, line in numbered_lines(text):
            self._line(number, line)
        self._check()

    def rows(self, kind: str) -> list[Row]:
        """The rows of one kind, in their order."""
        return self._rows.get(kind, [])

    @property
    def ranks(self) -> int:
        """How many ranks the kernel ran with."""
        ranks = self.header.get("ranks", "")
        if not ranks.isdecimal() or len(ranks) > 9:
            raise OutputError(f"the header's number of ranks is {shown(ranks)}")
        return int(ranks)

    @cached_property  # asked for at each row
    def layout(self) -> Layout:
        """The layout of the kernel that the header names."""
        name = self.header.get("kernel", "")
        if name not in self._layouts:
            raise OutputError(f"unknown kernel {shown(name)}; {did_you_mean(name, self._layouts)}")
        return self._layouts[name]

    def _line(self, number: int, line: str) -> None:
        if line.startswith(_FIRST):
            self._begin(number, line.removeprefix(_FIRST).strip())
        elif not self._started:
            return
        elif end := _END.match(line):
            self._end(number, end[1], end[2])
        elif self.lacks and line.startswith(("#@", *self.layout.needed)):
            raise OutputError(self.lacks)
        elif line.startswith("#@"):
            self._header_line(number, line)
        elif "kernel" in self.header and (kind := line.split(" ", 1)[0]) in self.layout.needed:
            self._take_row(number, line, kind)

    def _begin(self, number: int, version: str) -> None:
        if self._started:
            raise OutputError(f"line {number}: a second first line: two outputs in one file")
        self._started = True
        if version != _FORMAT_VERSION:
            reads = f"this program reads {_FORMAT_VERSION}"
            raise OutputError(f"line {number}: format version {shown(version)}; {reads}")

    def _take_row(self, number: int, line: str, kind: str) -> None:
        """Take a row; a damaged one may be the last."""
        if self._count is not None:
            raise OutputError(f"line {number}: row after the closing line: two outputs in one file")
        try:
            row = self._row(number, line, kind)
        except OutputError as error:
            self.lacks = str(error)
            return
        if number == self._cut:
            self.lacks = f"ends inside line {number}: cut"
        else:
            self._rows.setdefault(kind, []).append(row)

    def _end(self, number: int, rows: str, status: str) -> None:
        if self.lacks:
            raise OutputError(self.lacks)
        if self._count is not None:
            raise OutputError(f"line {number}: a second closing line: two outputs in one file")
        if status != "ok":
            reported = f"the kernel reports status {shown(status)}"
            raise OutputError(f"line {number}: {reported}: its data are not verified")
        if int(rows) == 0:
            raise OutputError(f"line {number}: the closing line counts no rows: nothing was measured")
        self._count = int(rows)

    def _header_line(self, number: int, line: str) -> None:
        match = _KEY.match(line)
        if not match:
            raise OutputError(f"line {number}: {shown(line)} is not a valid header line")
        key, value = match[1], match[2].strip()
        if key in self.header or key.removeprefix("columns.") in self._columns:
            raise OutputError(f"line {number}: {key} a second time: two outputs in one file")
        if key.startswith("columns."):
            self._columns_line(number, key.removeprefix("columns."), value.split())
        else:
            self.header[key] = value

    def _columns_line(self, number: int, kind: str, names: list[str]) -> None:
        if kind not in self.layout.needed:
            raise OutputError(f"line {number}: unknown kind of row {shown(kind)}")
        missing = self.layout.needed[kind] - set(names)
        if missing:
            raise OutputError(f"line {number}: rows of {kind} lack the columns {', '.join(sorted(missing))}")
        self._columns[kind] = names

    def _row(self, number: int, line: str, kind: str) -> Row:
        names = self._columns.get(kind)
        if names is None:
            raise OutputError(f"line {number}: row of {kind} before the line that names its columns")
        tokens = row_tokens(line, number)[1:]
        check_column_count(tokens, names, number)
        return {name: self._value(name, token, number) for name, token in zip(names, tokens, strict=True)}

    def _value(self, name: str, token: str, number: int) -> str | int | float:
        if token == "-" and name in self.layout.optional:
            return math.nan
        if name in self.layout.names:
            if not _NAME.fullmatch(token):
                raise OutputError(f"line {number}: {shown(token)} is not a valid {name}")
            return token
        if name in self.layout.seconds:
            return scientific(token, number, name)
        return integer(token, number, name)

    def _check(self) -> None:
        if not self._started:
            raise OutputError(
                "the first line of a kernel's output is missing: empty, cut or another program's"
            )
        count = sum(map(len, self._rows.values()))
        if self._count is None:
            end = f"ends after {counted(count, 'row')}; the closing line is missing"
            self.lacks = f"{self.lacks}; {end}" if self.lacks else end
            if not ("kernel" in self.header and self.layout.in_part):
                raise OutputError(self.lacks)
        elif self._count != count:
            raise OutputError(f"{count} rows, but the closing line counts {self._count}")
