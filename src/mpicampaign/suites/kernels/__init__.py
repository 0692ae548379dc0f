"""The bundled kernels: each is its C source in kernels/ and one file here, which ends in one ``KERNEL``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

from mpicampaign.base.records import Series
from mpicampaign.base.registry import Registry
from mpicampaign.suites.kernels.frame import Kernel, KernelFrame
from mpicampaign.suites.reading import ParsedOutput
from mpicampaign.suites.suite import Banner, Suite

KERNELS = Registry("mpicampaign.suites.kernels", "KERNEL", Kernel)


def _parse(text: str) -> ParsedOutput:
    frame = KernelFrame(text, {kernel.name: kernel.layout() for kernel in KERNELS.values()})
    version, series = frame.header.get("version", ""), frame.layout.series(frame)
    return ParsedOutput(version, frame.header, series, frame.lacks)


class _Kernels(Suite):
    gathers: ClassVar = {"tree_gather": "tree_gather"}
    versions: ClassVar = {kernel.name: kernel.version for kernel in KERNELS.values()}

    def quick(self, program: str) -> str:
        return "--budget 5"

    def least_time(self, tables: Iterable[Series]) -> float:
        """At least half of the samples took no less than the median, which is the time of a table."""
        from mpicampaign.suites.reading import measured_time

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
