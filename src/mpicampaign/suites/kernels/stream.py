"""The kernel stream: bandwidth of memory, all ranks at once; one value of each operation per run.

As in HPC Challenge: bytes of one process / seconds of the best repetition but the first; see
docs/measurement.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from mpicampaign.base.records import Series
from mpicampaign.base.units import format_size
from mpicampaign.suites.hpcc import STREAM
from mpicampaign.suites.kernels.frame import Columns, Kernel, KernelFrame, Layout
from mpicampaign.suites.reading import OutputError

_OPERATIONS = ("copy", "scale", "add", "triad")
_TIMES_CACHES = 4  # below it, an array is named: caches may hold part of it


def _layout() -> Layout:
    return Layout(
        needed={"repetitions": frozenset({"operation", "repetition", "bytes", "seconds"})},
        names=frozenset({"operation"}),
        seconds=frozenset({"seconds"}),
        series=_series,
    )


def _series(frame: KernelFrame) -> tuple[Series, ...]:
    rates: dict[str, list[float]] = defaultdict(list)
    for row in frame.rows("repetitions"):
        if row["repetition"] != len(rates[str(row["operation"])]):
            raise OutputError(f"{row['operation']}: repetition {row['repetition']} is not in its order")
        if not row["seconds"]:
            raise OutputError(f"{row['operation']}: a repetition took no time at all")
        rates[str(row["operation"])].append(float(row["bytes"]) / float(row["seconds"]))
    if set(rates) != set(_OPERATIONS) or len({len(values) for values in rates.values()}) != 1:
        raise OutputError(f"the operations are {', '.join(rates) or 'none'}, or some lack repetitions")
    columns: Columns = {f"stream_{name}_star": [max(rates[name][1:], default=None)] for name in _OPERATIONS}
    return (Series("stream", frame.ranks, columns, _small_array(frame.header)),)


def _small_array(header: Mapping[str, str]) -> dict[str, str]:
    """Names an array that is smaller than four times the caches, or beside unknown ones."""
    array, caches = (header.get(key, "") for key in ("array_bytes", "cache_bytes"))
    if not (array.isdecimal() and caches.isdecimal()):
        raise OutputError(f"the header's array is {array!r} B, its caches are {caches!r} B")
    size, held = int(array), int(caches)
    if held and size >= _TIMES_CACHES * held:
        return {}
    ratio = f"{size / held:.2g} x caches" if held else "caches unknown"
    return {"array": f"{format_size(size)}, {ratio}"}


KERNEL = Kernel(
    name="stream",
    layout=_layout,
    metrics=STREAM,
    quick=("--array", "4MiB"),
    ranks_minimum=1,
)
