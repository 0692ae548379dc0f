"""nccl-tests and rccl-tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from mpicampaign.base.dimension import BANDWIDTH, TIME
from mpicampaign.base.text import counted
from mpicampaign.suites.suite import Banner, ColumnMetric, Refusal, Sources, Suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpicampaign.suites.reading import ParsedOutput
    from mpicampaign.suites.suite import Request

_COLLECTIVES = (
    *("all_gather", "all_reduce", "alltoall", "broadcast", "gather", "hypercube", "reduce"),
    *("reduce_scatter", "scatter", "sendrecv"),
)
BEGIN = re.compile(
    r"(?:# )?nThread +([0-9]{1,6}) +nGpus +([0-9]{1,6}) +minBytes +([0-9]{1,20}) +maxBytes +([0-9]{1,20}) "
)
JSON = re.compile(r'\s{0,20}\{"version": ?[0-9]{1,4}, ?"start_time":')
_ABOVE = re.compile(r"# (?:nccl-tests version|Collective test starting)")


def _parse(text: str) -> ParsedOutput:
    from mpicampaign.suites.nccl_tests.parser import parse_nccl_tests

    return parse_nccl_tests(text)


class _NcclTests(Suite):
    resolution: ClassVar = {"time": 1e-8, "bandwidth": 1e7, "algorithm_bandwidth": 1e7}  # two decimals
    options = ("datatype", "redop", "root", "warmup_iters", "iters", "agg_iters", "graph", "unalign")

    def names(self, text: str, program: str) -> tuple[str, str]:
        """By the output; else by the job script, or by the ratio of the bandwidths."""
        from mpicampaign.suites.nccl_tests.facts import printed_program
        from mpicampaign.suites.nccl_tests.parser import inferred_program

        named = printed_program(text) or program or inferred_program(text)
        return named.removesuffix("_mpi"), named

    def facts(self, text: str) -> Mapping[str, str]:
        from mpicampaign.suites.nccl_tests.facts import facts_of

        return {name: value for name, value in facts_of(text).items() if value and name != "ranks"}

    def lacks(self, request: Request) -> str:
        return "" if request.gpus else "the placement has no gpus_per_node"

    def refuses(self, request: Request) -> Iterator[Refusal]:
        """A process uses its threads × its GPUs, from the number of its local rank on."""
        each = _option(request, "-t|--nthreads") * _option(request, "-g|--ngpus")
        used = request.ranks_per_node * each
        if request.gpus and used != request.gpus:
            message = f"the ranks of a node use {counted(used, 'GPU')}, and the placement has {request.gpus}"
            yield Refusal(message, hint="-g is the number of GPUs of each rank, 1 by default")


def _option(request: Request, names: str) -> int:
    """The last value of an option; 1 where it is not given."""
    given = re.findall(rf"(?:^| )(?:{names})[ =]?([0-9]{{1,3}})(?= |$)", " ".join(request.arguments))
    return int(given[-1]) if given else 1


SUITE = _NcclTests(
    name="nccl_tests",
    title="nccl-tests",
    banner=Banner(("nThread ", '{"version":'), re.compile(f"{BEGIN.pattern}|{JSON.pattern}"), above=_ABOVE),
    parse=_parse,
    programs=rf"(?:{'|'.join(_COLLECTIVES)}|alltoallv)_perf(?:_mpi)?",
    sources=Sources(
        spack="nccl-tests or rccl-tests",
        modules="NCCL-tests",
        address="https://github.com/NVIDIA/nccl-tests",
    ),
    whole=(r"^# Out of bounds values *: 0 OK", "^# Avg bus bandwidth"),
    end="# Avg bus bandwidth",
    benchmarks={f"{name}_perf": {"program": f"{name}_perf", "provider": "path"} for name in _COLLECTIVES},
    metrics={
        "bandwidth": ColumnMetric("bus bandwidth", BANDWIDTH, headline=True),
        "algorithm_bandwidth": ColumnMetric("algorithm bandwidth", BANDWIDTH),
        "cpu_time": ColumnMetric("CPU time", TIME),
    },
)
