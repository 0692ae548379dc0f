"""The JSON that nccl-tests write with ``-J``. Source: util.cu of nccl-tests 2.17 to 2.19."""

from __future__ import annotations

import json
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any

from mpicampaign.suites.nccl_tests.rows import ABOUT, PLACES, Half, Number, Output, Row
from mpicampaign.suites.reading import OutputError, integer

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEADINGS = {"time": "time", "cpu_time": "cputime", "alg_bw": "algbw", "bus_bw": "busbw"}
_OF_ITERATIONS = {"min_us": "i_min", "max_us": "i_max", "p99_us": "i_p99"}
_SETTINGS = {
    "warmup_iters": "warmup_iters",
    "iters": "iterations",
    "agg_iters": "aggregated_iterations",
    "graph": "graph",
}
_HALF_DIGIT = 5e-7
UNEXPECTED = (KeyError, TypeError, ValueError, AttributeError, OverflowError)


@lru_cache(maxsize=2)  # names, facts and rows of one text are asked for one after the other
def loaded(text: str) -> dict[str, Any]:
    """The object that a text holds.

    Raises
    ------
    OutputError
        when it is cut, or no object.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise OutputError(f"not whole JSON: {error}") from None
    if not isinstance(data, dict):
        raise OutputError("not the JSON of nccl-tests")
    return data


def read_results(text: str) -> Output:
    """Read the results of one program.

    Raises
    ------
    OutputError
        when it is cut, or lacks what every such file has.
    """
    data = loaded(text)
    try:
        return _output(data)
    except UNEXPECTED as error:
        raise OutputError(f"not the JSON of nccl-tests: {type(error).__name__} at {error}") from None


def _output(data: Mapping[str, Any]) -> Output:
    config = data["config"]
    output = Output(
        threads=int(config["nthreads"]),
        one_size=config["minimum_bytes"] == config["maximum_bytes"],
        metadata={name: str(config[key]) for name, key in _SETTINGS.items() if key in config},
        rows=[_row(result, number) for number, result in enumerate(data["results"], start=1)],
        faults=[str(each)[:160] for each in data.get("errors", []) if each],
        out_of_bounds=int(data.get("out_of_bounds", {}).get("count", 0)),
    )
    if "average_bus_bandwidth" in data:
        output.mean = _number(data["average_bus_bandwidth"]["bandwidth"], "the mean bus bandwidth")
    return output


def _row(result: Mapping[str, Any], number: int) -> Row:
    where, size = f"result {number}", integer(str(result["size"]), number, "size")
    about = {ABOUT[name]: str(result[name]).strip() for name in ("type", "redop", "root")}
    halves = []
    for place in PLACES:
        key = place.replace("-", "_")
        if values := result.get(key):
            halves.append(_half(place, values, result.get(f"{key}_per_iter") or {}, where))
    return Row(where, size, about, halves)


def _half(place: str, mean: Mapping[str, Any], iterations: Mapping[str, Any], where: str) -> Half:
    """``mean``: of all ``iterations``."""
    printed = {name: mean[key] for key, name in _HEADINGS.items() if key in mean or key.endswith("bw")}
    printed |= {name: iterations[key] for key, name in _OF_ITERATIONS.items() if key in iterations}
    values = {name: _number(value, f"{where}: {name}") for name, value in printed.items()}
    wrong = mean.get("nwrong")
    return Half(place, values, wrong is not None, f"{wrong:g} wrong values" if wrong else "")


def _number(value: Any, what: str) -> Number | None:
    if value is None or value == "nan":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
        raise OutputError(f"{what} is {str(value)[:40]!r}, not a number")
    return Number(float(value), _HALF_DIGIT)
