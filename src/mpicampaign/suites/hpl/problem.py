"""The linear system that HPL solves: its parameters, what is wrong with them, and the input file they make.

HPCC reads the same parameters from ``hpccinf.txt``. Sources: ``HPL_pdinfo.c`` of HPL 2.3, and HPL's advice to
use 80 % of the memory (A. Petitet et al., HPL, 2018).
"""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mpicampaign.base.units import format_duration
from mpicampaign.suites.hpl.rows import GIGA, operations
from mpicampaign.suites.suite import Refusal, Suite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mpicampaign.suites.suite import Request

_DOUBLE = 8  # B
_MEMORY = "80 %"
_RATE_PER_RANK = 10 * GIGA  # flop/s; a typical core of the last ten years, for the estimate of the time
_PERCENT = re.compile(r"([0-9]{1,2}|100)(?:\.[0-9]{1,3})? ?%")

_DEFAULTS = {"NB": 192, "pmap": 0, "pfact": 1, "nbmin": 4, "ndiv": 2, "rfact": 2, "bcast": 1, "depth": 1}
_DEFAULTS |= {"swap": 2, "swap_threshold": 64, "l1": 0, "u": 0, "equil": 1, "align": 8}
_WHOLE = ("N", "P", "Q", *_DEFAULTS)
# For other values HPL takes its own and says nothing, or HPCC a matrix of its own.
_LEAST = {"N": 1, "P": 1, "Q": 1, "NB": 1, "nbmin": 1, "ndiv": 2, "align": 1}
_MOST = {"pmap": 1, "pfact": 2, "rfact": 2, "bcast": 5, "swap": 2, "l1": 1, "u": 1, "equil": 1}


class LinearSystemSuite(Suite):
    """A suite whose program reads the linear system from a file; one of the campaign takes its place."""

    parameters = (*_WHOLE, "memory", "threshold")
    declares = ("scaling",)
    peak = ("hpl_flops_per_process", "hpl_peak")
    input_name: ClassVar[str]

    def input_text(self, request: Request) -> str:
        """The file's content, for a request that is not refused."""
        return input_file(request)

    def refuses(self, request: Request) -> Iterable[Refusal]:
        return refuses(request) if self._is_made(request) else ()

    def warns(self, request: Request) -> Iterable[str]:
        return warns(request) if self._is_made(request) else ()

    def inputs(self, request: Request) -> Mapping[str, str]:
        return {self.input_name: self.input_text(request)} if self._is_made(request) else {}

    def _is_made(self, request: Request) -> bool:
        return self.input_name not in request.files


def refuses(request: Request) -> Iterator[Refusal]:
    """Why HPL would not run, or not prove its result."""
    parameters = request.parameters
    faulty = list(_faulty_values(request))
    yield from faulty
    if faulty:
        return
    if "N" in parameters and "memory" in parameters:
        yield Refusal(
            "the order N of the matrix is given, too", "memory", parameters["memory"], "give one of them"
        )
    if "N" not in parameters and request.memory is None:
        hint = "give N, or node_memory of the host group"
        yield Refusal(
            "the order of the matrix follows from the memory of a node, which is unknown", "N", "", hint
        )
        return
    yield from _misfits(request)


def _faulty_values(request: Request) -> Iterator[Refusal]:
    for name in (each for each in _WHOLE if each in request.parameters):
        value, least, most = request.parameters[name], _LEAST.get(name, 0), _MOST.get(name)
        if not re.fullmatch("[0-9]{1,9}", value) or not least <= int(value) <= (most or 10**9):
            limits = f"from {least} to {most}" if most else f"of at least {least}"
            yield Refusal(f"must be a whole number {limits}", name, value)
    threshold, share = request.parameters.get("threshold", "16.0"), request.parameters.get("memory", _MEMORY)
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", threshold) or float(threshold) == 0:
        message = "must be above 0: without a threshold HPL does not check its solution"
        yield Refusal(message, "threshold", threshold)
    if not _PERCENT.fullmatch(share) or _share(share) == 0:
        yield Refusal(f"must be a share such as {_MEMORY}", "memory", share)


def _misfits(request: Request) -> Iterator[Refusal]:
    """A grid that is not that of the ranks, and a matrix that does not fit their nodes."""
    rows, columns = grid_of(request)
    if rows * columns != request.ranks:
        message = (
            f"P × Q = {rows} × {columns} needs {rows * columns} ranks; the placement has {request.ranks}"
        )
        name = "P" if "P" in request.parameters else "Q"
        hint = "without P and Q the grid follows from the ranks"
        yield Refusal(message, name, request.parameters[name], hint)
    order, memory = order_of(request), request.memory
    if order < 1:
        yield Refusal(
            "the memory of the nodes holds no block of the matrix", "NB", request.parameters.get("NB", "")
        )
    if memory is not None and _bytes(order) > memory * request.nodes:
        nodes = "1 node has" if request.nodes == 1 else f"{request.nodes} nodes have"
        largest = _largest_order(memory * request.nodes, _whole(request, "NB"))
        message = (
            f"a matrix of order {order} takes {_gib(_bytes(order))}; {nodes} {_gib(memory * request.nodes)}"
        )
        yield Refusal(message, "N", str(order), f"{largest} takes 80 %")


def warns(request: Request) -> Iterator[str]:
    """A time that is not likely to suffice."""
    order = order_of(request)
    seconds = operations(order) / (_RATE_PER_RANK * request.ranks)
    if request.time_limit and seconds > request.time_limit:
        rate = f"{_RATE_PER_RANK / GIGA:.0f} Gflop/s for each rank"
        yield (
            f"HPL of order {order} takes about {format_duration(seconds)} at {rate} (an estimate); "
            f"time_limit is {format_duration(request.time_limit)}"
        )


def grid_of(request: Request) -> tuple[int, int]:
    """P and Q: as given, or as square as the ranks allow, with P ≤ Q."""
    rows, columns = (int(request.parameters.get(name, "0")) for name in "PQ")
    if rows and columns:
        return rows, columns
    if rows or columns:
        other = max(1, request.ranks // (rows or columns))
        return (rows, other) if rows else (other, columns)
    rows = next(each for each in range(math.isqrt(request.ranks), 0, -1) if request.ranks % each == 0)
    return rows, request.ranks // rows


def order_of(request: Request) -> int:
    """N: as given, or the largest multiple of NB whose matrix takes the share of the nodes' memory."""
    if "N" in request.parameters:
        return int(request.parameters["N"])
    share = _share(request.parameters.get("memory", _MEMORY))
    return _largest_order((request.memory or 0) * request.nodes, _whole(request, "NB"), share)


def input_file(request: Request) -> str:
    """``HPL.dat`` of a request that is not refused."""
    rows, columns = grid_of(request)
    values: dict[str, object] = {name: _whole(request, name) for name in _DEFAULTS}
    values |= {"N": order_of(request), "P": rows, "Q": columns}
    return _template().format(**values, threshold=request.parameters.get("threshold", "16.0"))


def _whole(request: Request, name: str) -> int:
    return int(request.parameters.get(name, _DEFAULTS[name]))


def _share(text: str) -> float:
    return float(text.removesuffix("%")) / 100


def _largest_order(memory: int, block: int, share: float = 0.8) -> int:
    order = math.isqrt(int(share * memory) // _DOUBLE)
    return order - order % block


def _bytes(order: int) -> int:
    return _DOUBLE * order * order


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


@cache
def _template() -> str:
    return Path(__file__).with_name("HPL.dat.template").read_text(encoding="utf-8")
