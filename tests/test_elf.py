"""ELF files as binutils reads them; damaged ones are no error."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from mpicampaign.jobs.elf import build_id, dynamic

FILES = [
    Path(path).resolve() for path in (sys.executable, shutil.which("bash") or "", shutil.which("make") or "")
]
FILES += sorted(Path(numpy.__file__).parents[1].glob("numpy/*/*.so"))[:4]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_a_file_is_what_readelf_prints(file: Path) -> None:
    printed = subprocess.run(["readelf", "-ndW", file], capture_output=True, text=True, check=True).stdout

    def texts(tag: str) -> tuple[str, ...]:
        return tuple(re.findall(rf"\({tag}\) .*\[(.*)\]", printed))

    found = dynamic(file)
    assert found is not None and found.needed == texts("NEEDED")
    assert (found.soname,) == (texts("SONAME") or ("",))
    assert ":".join(found.runpath or found.rpath) == "".join(texts("RUNPATH") or texts("RPATH"))
    assert build_id(file) == "".join(re.findall("Build ID: (.*)", printed))


def test_a_damaged_file_is_no_error(tmp_path: Path) -> None:
    whole, chance = FILES[1].read_bytes(), random.Random(1)
    for _ in range(300):
        damaged = bytearray(whole[: chance.randrange(len(whole))])
        for _ in range(min(len(damaged), 3)):
            damaged[chance.randrange(min(len(damaged), 1200))] = chance.choice((0, 127, 255))
        damaged[32:40] = chance.choice((damaged[32:40], bytes([255] * 8)))
        (tmp_path / "damaged").write_bytes(damaged)
        assert re.fullmatch("[0-9a-f]*", build_id(tmp_path / "damaged"))
        dynamic(tmp_path / "damaged")
