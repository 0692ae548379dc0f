"""The merge of tree_merge in all versions, compared with memcpy of as many bytes as the output has.

For the large output the fastest version is compared with the best copy: memcpy, or one that reads two inputs
and writes one output past the caches.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from common import PROJECT, line, output_of, title, usually

OUTPUT, LARGE_OUTPUT = usually((64 << 20, 1 << 30), smallest=(1 << 20, 4 << 20))  # bytes
ROUNDS, LARGE_ROUNDS = usually((21, 7), smallest=(1, 1))
COPIES = ("memcpy", "copy_of_two_inputs")
OF_MEMCPY = 80.0  # per cent, with AVX-512
OF_COPY = 90.0  # per cent, of the fastest version
OF_BRANCHY = 4.0  # times, without

Times = dict[str, list[float]]


def main() -> None:
    title(f"Merge: {OUTPUT >> 20} MiB of output from two inputs of random keys, one core, in turn")
    for key, times in measured(OUTPUT, ROUNDS).items():
        show(key, times, OUTPUT)
        for version in ("portable", "avx512"):
            if version in times:
                compare(key, version, times)
            else:
                print(f"  {key}, {version}: this processor does not support it")
    title(f"Merge: {LARGE_OUTPUT >> 20} MiB of output, larger than any cache")
    for key, times in measured(LARGE_OUTPUT, LARGE_ROUNDS).items():
        show(key, times, LARGE_OUTPUT)
        best = min((times[copy] for copy in COPIES), key=median)
        fastest = times.get("avx512", times["portable"])
        line(
            f"{key}, fastest, of the best copy",
            [100 * r for r in ratios(best, fastest)],
            unit="%",
            least=OF_COPY,
        )


def show(key: str, times: Times, output: int) -> None:
    """A row for each operation, in bytes of output per second."""
    for what, seconds in times.items():
        line(f"{key}, {what}", [output / 1e9 / second for second in seconds], unit="GB/s")


def compare(key: str, version: str, times: Times) -> None:
    """Rows for one version: its speed in per cent of memcpy's, and in multiples of the branchy version's."""
    of_memcpy = [100 * ratio for ratio in ratios(times["memcpy"], times[version])]
    of_branchy = ratios(times["branchy"], times[version])
    fast, portable = version == "avx512", version == "portable"
    line(f"{key}, {version}, of memcpy", of_memcpy, unit="%", least=OF_MEMCPY if fast else None)
    line(f"{key}, {version}, times branchy", of_branchy, unit="×", least=OF_BRANCHY if portable else None)


def ratios(reference: Sequence[float], seconds: Sequence[float]) -> list[float]:
    """Speed relative to the reference, round by round."""
    return [other / own for other, own in zip(reference, seconds, strict=True)]


def measured(output: int, rounds: int) -> dict[str, Times]:
    """CPU seconds by key type and operation; the program measures all in turn."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "test_merge"
        output_of("make", "-s", "-C", PROJECT / "kernels", f"BUILD={folder}", program)
        rows = output_of(program, "speed", output, rounds)
    times: defaultdict[str, Times] = defaultdict(lambda: defaultdict(list))
    for key, what, seconds in (row.split() for row in rows.splitlines()):
        times[key][what].append(float(seconds))
    return times


if __name__ == "__main__":
    main()
