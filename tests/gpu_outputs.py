"""Outputs of nccl-tests in the layouts of its versions, with values that a test chooses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

# size (B), time out of place and in place (µs)
ROWS = ((8, 21.5, 20.25), (1024, 23.75, 22.5), (1 << 20, 104.5, 103.25), (1 << 30, 24750.0, 24500.0))
RANKS = 4
OLD, LARGEST_ERROR, ROOTS, NAMED = 2017, 2019, 2022, 2025
_FRONT = {
    OLD: "bytes N type op",
    LARGEST_ERROR: "size count type redop",
    ROOTS: "size count type redop root",
    NAMED: "size count type redop root",
}
_CHECK = {OLD: "res", LARGEST_ERROR: "error", ROOTS: "#wrong", NAMED: "#wrong"}


def rates(size: int, time: float) -> tuple[float, float]:
    """Algorithm and bus bandwidth (GB/s) of an all-reduce."""
    algorithm = size / time / 1000
    return algorithm, algorithm * 2 * (RANKS - 1) / RANKS


def nccl_output(
    version: int = NAMED,
    rows: Sequence[tuple[int, float, float]] = ROWS,
    about: Iterable[str] = ("float   sum    -1",),
    wrong: tuple[str, str] = ("0", "0"),
    cycles: int = 1,
) -> str:
    """all_reduce_perf on two hosts with two GPUs each."""
    printed = [_row(version, row, each, wrong) for each in about for _ in range(cycles) for row in rows]
    busbw = [float(f"{rates(size, time)[1]:.2f}") for size, *times in rows for time in times]
    mean = f"{sum(busbw) / len(busbw):g}"
    end = "" if version == OLD else "#"
    closing = [f"{end} Out of bounds values : 0 OK", f"{end} Avg bus bandwidth    : {mean} ", end]
    closing += ["# Collective test concluded: all_reduce_perf"] if version == NAMED else []
    return "\n".join([*_head(version, rows), *printed, *closing, ""])


def _head(version: int, rows: Sequence[tuple[int, float, float]]) -> list[str]:
    named = ["# nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22809"]
    named += ["# Collective test starting: all_reduce_perf"]
    sizes = f"minBytes {rows[0][0]} maxBytes {rows[-1][0]} step: 2(factor)"
    first = f"nThread 1 nGpus 1 {sizes} warmup iters: 5 iters: 20 "
    first = first if version == OLD else f"# {first}agg iters: 1 validation: 1 graph: 0"
    group = "" if version in (OLD, LARGEST_ERROR) else "Group  0 "
    where = [f"on gpu{rank // 2:04} device {rank % 2:2} [0x0{rank}]" for rank in range(RANKS)]
    devices = [f"#  Rank {rank:2} {group}Pid  40{rank}7 {where[rank]} Some GPU 80GB" for rank in range(RANKS)]
    half = f"time   algbw   busbw  {_CHECK[version]}"
    return [
        *(named if version == NAMED else []),
        first,
        "# Using devices",
        *devices,
        "#",
        "#                                              out-of-place                       in-place",
        f"#       {_FRONT[version]}     {half}     {half}",
        *([] if version == OLD else ["#        (B)    (elements)         (us)  (GB/s)  (GB/s)"]),
    ]


def _row(version: int, row: tuple[int, float, float], about: str, wrong: tuple[str, str]) -> str:
    size, *times = row
    about = about if version in (ROOTS, NAMED) else about.rsplit(maxsplit=1)[0]
    halves = []
    for time, check in zip(times, wrong, strict=True):
        shown = f"{time / 1000:7.3f}" if version == OLD else f"{time:7.2f}"
        algorithm, bus = rates(size, time)
        halves.append(f"  {shown}  {algorithm:6.2f}  {bus:6.2f}  {check:>6}")
    return f"{size:12}  {size // 4:12}     {about}{''.join(halves)}"


def nccl_json(wrong: float | None = 0.0) -> str:
    """The same as ``-J`` writes it."""
    results: list[dict[str, Any]] = []
    for size, *times in ROWS:
        keys = dict(zip(("out_of_place", "in_place"), times, strict=True))
        halves = {
            key: {
                "time": time,
                "alg_bw": rates(size, time)[0],
                "bus_bw": rates(size, time)[1],
                "nwrong": wrong,
            }
            for key, time in keys.items()
        }
        results.append(
            {"size": size, "count": size // 4, "type": "float", "redop": "sum", "root": "    -1", **halves}
        )
    bandwidths = [half["bus_bw"] for each in results for half in (each["out_of_place"], each["in_place"])]
    config: dict[str, Any] = {
        "nthreads": 1,
        "ngpus": 2,
        "minimum_bytes": 8,
        "maximum_bytes": 1 << 30,
        "iterations": 20,
    }
    config["devices"] = [
        {"rank": 2 * k, "group": 0, "hostname": f"gpu000{k}", "device": 0, "device_info": "Some GPU 80GB"}
        for k in range(2)
    ]
    return json.dumps(
        {
            "version": 3,
            "start_time": "2025-11-26 10:00:00",
            "args": ["/opt/nccl-tests/all_reduce_perf", "-g", "2"],
            "env": ["HOME=/", "SLURM_JOB_ID=77"],
            "nccl_version": 22809,
            "config": config,
            "results": results,
            "out_of_bounds": {"count": 0, "okay": "true"},
            "average_bus_bandwidth": {"bandwidth": sum(bandwidths) / len(bandwidths), "okay": "unchecked"},
            "errors": [],
        },
        separators=(",", ":"),
    )
