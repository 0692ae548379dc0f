"""The merge of tree_merge in all versions, compared with memcpy of as many bytes as the output has."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from common import PROJECT, line, output_of, title

OUTPUT = 64 << 20  # bytes
ROUNDS = 21
OF_MEMCPY = 80.0  # per cent, with AVX-512
OF_BRANCHY = 4.0  # times, without

Times = dict[str, list[float]]


def main() -> None:
    title(f"Merge: {OUTPUT >> 20} MiB of output from two inputs of random keys, one core, in turn")
    for key, times in measured().items():
        for what, seconds in times.items():
            speeds = [OUTPUT / 1e9 / second for second in seconds]
            line(f"{key}, {what}", speeds, unit="GB/s")
        for version in ("portable", "avx512"):
            if version in times:
                compare(key, version, times)
            else:
                print(f"  {key}, {version}: this processor does not support it")


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


def measured() -> dict[str, Times]:
    """CPU seconds by key type and operation; the program measures all in turn."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "test_merge"
        output_of("make", "-s", "-C", PROJECT / "kernels", f"BUILD={folder}", program)
        output = output_of(program, "speed", OUTPUT, ROUNDS)
    times: defaultdict[str, Times] = defaultdict(lambda: defaultdict(list))
    for key, what, seconds in map(str.split, output.splitlines()):
        times[key][what].append(float(seconds))
    return times


if __name__ == "__main__":
    main()
