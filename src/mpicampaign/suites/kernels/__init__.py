"""The bundled kernels: each is its C source in kernels/ and one file here, which ends in one ``KERNEL``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

from mpicampaign.base.places import shipped
from mpicampaign.base.records import Series
from mpicampaign.base.registry import Registry
from mpicampaign.suites.kernels.frame import Kernel, KernelFrame
from mpicampaign.suites.reading import ParsedOutput, measured_time
from mpicampaign.suites.suite import Banner, Suite

KERNELS = Registry("mpicampaign.suites.kernels", "KERNEL", Kernel)


def _parse(text: str) -> ParsedOutput:
    frame = KernelFrame(text, {kernel.name: kernel.layout() for kernel in KERNELS.values()})
    version, series = frame.header.get("version", ""), frame.layout.series(frame)
    return ParsedOutput(version, frame.header, series, frame.lacks)


def options_of(kernel: str) -> list[str]:
    """The options in a kernel's source, and in what it includes; those of sizes only if it sweeps them."""
    folder = shipped("kernels")
    own = (folder / f"{kernel}.c").read_text(encoding="utf-8")
    names = [*re.findall(r'#include "(tree/.+)"', own), "options.c"]
    whole = own + "".join((folder / "common" / name).read_text(encoding="utf-8") for name in names)
    found = re.findall(r'\{"(--[a-z-]+)"', whole)
    return [option for option in found if ".measure" not in own or "size" not in option]


class _Kernels(Suite):
    gathers: ClassVar = {"tree_gather": "tree_gather"}
    versions: ClassVar = {kernel.name: kernel.version for kernel in KERNELS.values()}

    def quick(self, program: str) -> str:
        return "--budget 5"

    def least_time(self, tables: Iterable[Series]) -> float:
        """At least half of the samples took no less than the median, which is the time of a table."""
        return measured_time(tables, "samples") / 2


SUITE = _Kernels(
    name="kernel",
    title="bundled kernels",
    banner=Banner("#mpicampaign-kernel ", re.compile(r"#mpicampaign-kernel \S")),
    parse=_parse,
    whole=("^#@end rows=[1-9][0-9]* status=ok",),
    end="#@end ",
    benchmarks={
        kernel.name: {"program": kernel.name, "provider": "bundled", "ranks_minimum": kernel.ranks_minimum}
        for kernel in KERNELS.built_in()
    },
    sends={series: sends for kernel in KERNELS.values() for series, sends in kernel.sends.items()},
    metrics={column: metric for kernel in KERNELS.values() for column, metric in kernel.metrics.items()},
    published={kernel.name: kernel.published for kernel in KERNELS.values() if kernel.published},
)
