"""The merge of tree_merge in all versions, beside memcpy of as many bytes as the output has."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from common import PROJECT, line, title

OUTPUT = 64 << 20  # bytes
ROUNDS = 21
OF_MEMCPY = 80.0  # per cent, with AVX-512
OF_BRANCHY = 4.0  # times, without

Times = dict[str, list[float]]


def main() -> None:
    title(f"Merge: {OUTPUT >> 20} MiB of output from two inputs of random keys, one core, all in turn")
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
    """Rows for one version: its speed as a part of memcpy's, and as a multiple of the branchy one's."""
    of_memcpy = [100 * ratio for ratio in ratios(times["memcpy"], times[version])]
    of_branchy = ratios(times["branchy"], times[version])
    fast, portable = version == "avx512", version == "portable"
    line(f"{key}, {version}, of memcpy", of_memcpy, unit="%", least=OF_MEMCPY if fast else None)
    line(f"{key}, {version}, times branchy", of_branchy, unit="×", least=OF_BRANCHY if portable else None)


def ratios(reference: Sequence[float], seconds: Sequence[float]) -> list[float]:
    """How many times as fast as the reference, round by round."""
    return [other / own for other, own in zip(reference, seconds, strict=True)]


def measured() -> dict[str, Times]:
    """Seconds of CPU by key type and by what was done; the program takes all in turn."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "test_merge"
        called("make", "-s", "-C", PROJECT / "kernels", f"BUILD={folder}", program)
        output = called(program, "speed", OUTPUT, ROUNDS)
    times: defaultdict[str, Times] = defaultdict(lambda: defaultdict(list))
    for key, what, seconds in map(str.split, output.splitlines()):
        times[key][what].append(float(seconds))
    return times


def called(*command: object) -> str:
    """The output of a command; ends everything where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
