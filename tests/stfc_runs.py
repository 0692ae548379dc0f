"""The IMB runs of the STFC report of 2017 on SCARF as records, if they are beside the project."""

from __future__ import annotations

import re
from pathlib import Path

import build_records as make
import pytest

from mpicampaign.base.records import Case, Record
from mpicampaign.suites import parse

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "stfc-2017"
needed = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the STFC outputs of 2017 are not beside this project"
)


def scarf_records() -> list[Record]:
    """By host group and placement, as the README beside the data maps them; job numbers as repeats' order."""
    found: dict[Case, list[Record]] = {}
    for path in sorted(FOLDER.glob("scarf-imb*/*.out")):
        text = path.read_text(errors="replace")
        group = re.search(r'#BSUB -m "(\w+)"', text)
        transport = re.search(r"Inter-node communication is: (\w+)", text)
        bound = "SHM-1" if "--cpunodebind=0" in text else "SHM-2"
        unbound = transport[1] if transport else "SHM"
        placement = bound if path.parent.name == "scarf-imb-cpus" else unbound
        case = Case("scarf", group[1] if group else "", placement, "PingPong")
        runs = found.setdefault(case, [])
        runs.append(make.run(case, len(runs) + 1, *parse("imb", text).series))
    return [record for runs in found.values() for record in runs]
