"""The files that a run leaves in its folder: that of its result, and one of each attempt without a result.

Such a file has the evidence, then standard error and output (docs/formats.md). Earlier releases made a folder
of each, with a file for each part: whoever reads a run reads both kinds here.
"""

from __future__ import annotations

import re
from os import F_OK, access, listdir, stat
from pathlib import Path

RESULT, _EARLIER_RESULT = "result.txt", "result/output.txt"  # in the folder of a run
_FOLDERS = ("result", "attempts")  # of earlier releases
_PARTS = ("output", "evidence", "stderr")
_END = b"\nend of evidence\n"
_HEADER = re.compile(rb"\n==> ([a-z]+)\.txt, ([0-9]{1,15}) bytes <==\n")


def result_in(folder: Path | str) -> str:
    """The file in a run's folder that exists if and only if the run succeeded; empty where there is none."""
    for name in (RESULT, _EARLIER_RESULT):
        if access(path := f"{folder}/{name}", F_OK):  # of thousands of runs: a Path takes longer
            return path
    return ""


def written(folder: Path | str) -> int | None:
    """When the result in a run's folder was written (ns); None where there is none."""
    try:
        return stat(result_in(folder)).st_mtime_ns  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return None


def attempts_of(folder: Path | str) -> list[Path]:
    """The attempts of a run without a result, by time."""
    try:
        # the cache of a network file system may deny that a file exists, but its folder's listing has it
        inside = listdir(folder)  # noqa: PTH208 - of thousands of runs
        attempts = [Path(folder, name) for name in inside if name.startswith("attempt-")]
        earlier = Path(folder, "attempts").iterdir() if "attempts" in inside else ()
        return sorted([*attempts, *filter(Path.is_dir, earlier)], key=attempt_name)
    except (FileNotFoundError, NotADirectoryError):
        return []


def attempt_name(attempt: Path) -> str:
    """``TIME-JOBID`` of an attempt."""
    return attempt.name.removeprefix("attempt-").removesuffix(".txt")


def claim_of(place: Path | str) -> str:
    """The claim of the run that a result or an attempt is of."""
    folder = str(place).rpartition("/")[0]  # of thousands of runs: a Path takes longer
    above, _, name = folder.rpartition("/")
    return f"{above if name in _FOLDERS else folder}/claim"


def paths_of(place: Path | str) -> dict[str, str]:
    """The files of a result or an attempt by their parts; one that has all of them goes by its output."""
    folder = str(place).removesuffix("/output.txt")
    is_file = folder == str(place) and folder.endswith(".txt")
    return {"output": folder} if is_file else {name: f"{folder}/{name}.txt" for name in _PARTS}


def raw_files(place: Path | str) -> dict[str, bytes]:
    """The parts of a result or an attempt that are there."""
    paths = paths_of(place)
    files = {name: content for name, path in paths.items() if (content := content_of(path)) is not None}
    return _parts_of(files["output"]) if files and len(paths) == 1 else files


def part_of(place: Path | str, name: str) -> bytes:
    """A part of a result or an attempt; empty where it is missing."""
    return raw_files(place).get(name, b"") if str(place) else b""


def _parts_of(content: bytes) -> dict[str, bytes]:
    """The parts of a file; the evidence of one that was cut has no end, as that of a run that was killed."""
    evidence, end, rest = content.partition(_END)
    parts, missing = dict.fromkeys(_PARTS, b""), 1
    while header := _HEADER.match(rest):
        name, size, rest = header[1].decode(), int(header[2]), rest[header.end() :]
        parts[name] = rest[:size]
        missing = size - len(rest) if name == "output" else 1  # it is the last one
        rest = rest[size:]
    return {**parts, "evidence": evidence if missing > 0 else evidence + end}


def content_of(path: str) -> bytes | None:
    """The content of a file; None where there is no such file."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - status reads hundreds: a Path is slow
            return file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def text_of(content: bytes) -> str:
    """The text; invalid UTF-8 is kept visible."""
    return content.decode("utf-8", errors="replace")
