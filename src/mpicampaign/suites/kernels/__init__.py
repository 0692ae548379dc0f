"""The bundled kernels: each is its C source in kernels/ and one file here, which ends in one ``KERNEL``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.registry import Registry
from mpicampaign.suites.kernels.kernel import Kernel
from mpicampaign.suites.suite import Banner, Suite

if TYPE_CHECKING:
    from mpicampaign.suites.reading import ParsedOutput

KERNELS = Registry("mpicampaign.suites.kernels", "KERNEL", Kernel)


def _parse(text: str) -> ParsedOutput:
    from mpicampaign.suites.kernels.parser import parse_kernel

    return parse_kernel(text, {kernel.name: kernel.layout() for kernel in KERNELS.values()})


SUITE = Suite(
    name="kernel",
    title="bundled kernels",
    banner=Banner("#mpicampaign-kernel ", re.compile(r"#mpicampaign-kernel \S")),
    parse=_parse,
    whole=("^#@end .*status=ok",),
    benchmarks={
        kernel.name: {"program": kernel.name, "provider": "bundled", "ranks_minimum": 2}
        for kernel in KERNELS.values()
    },
    sends={series: sends for kernel in KERNELS.values() for series, sends in kernel.sends.items()},
    metrics={column: metric for kernel in KERNELS.values() for column, metric in kernel.metrics.items()},
    published={kernel.name: kernel.published for kernel in KERNELS.values() if kernel.published},
    versions={kernel.name: kernel.version for kernel in KERNELS.values()},
)
