"""Every sentence of the first screen, checked against the repeats by a plain recomputation."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import plain_busy
import plain_pairs
import pytest
import stfc_runs
import synthetic
from plain_answers import Plain, hold_leaders, parts_of_lead

from mpicampaign.collect.imports import collect_imports
from mpicampaign.compare import ranking
from mpicampaign.compare.compare import compare
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.map_file import load_map
from mpicampaign.records import DISTURBED, QUIET, Case, Record, read_records
from mpicampaign.show import rankings
from mpicampaign.show.pairs import paired_lines
from mpicampaign.show.summary import summary

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
DEFAULT = ROOT / "results" / "this-machine" / "records.jsonl"


def held(records: list[Record]) -> Counter[str]:
    """How many sentences of each kind hold."""
    comparison = compare(records)
    screen = summary(comparison)
    kinds: Counter[str] = Counter()
    turns: list[bool] = []
    screens: list[Plain] = []
    busy = [answer for answer in screen.answers if answer.real == rankings.BUSY]
    kinds["busy"] = plain_busy.hold(busy, screen.lead if "busy machine" in screen.lead else "")
    for answer in screen.answers:
        if answer.rankings and not any("busy machine" in text for text in answer.said):
            plain = Plain(comparison, answer)
            screens.append(plain)
            kinds.update(plain.hold())
            turns += plain.pairs()
    for counted, of in parts_of_lead(screen.lead):
        assert counted == of, screen.lead
        kinds["lead"] += 1
    kinds["leaders"] += hold_leaders(screen.lead, screens)
    counted_turns = re.search(r"(?:(\d+) of (\d+) pairs|The groups) were measured one after", screen.lead)
    assert bool(counted_turns) == any(turns), screen.lead
    if counted_turns and counted_turns[1]:
        assert (int(counted_turns[1]), int(counted_turns[2])) == (sum(turns), len(turns)), screen.lead
    return kinds


def steady(case: Case, latency: float, scatter: float, repeats: int, modes: float = 1.0) -> Iterator[Record]:
    noise = random.Random(str(case))
    for repeat in range(1, repeats + 1):
        time = latency * noise.uniform(1 - scatter, 1 + scatter) * (modes if repeat % 2 else 1)
        yield synthetic.run(case, repeat, synthetic.pingpong(time, 1e9 / time * 1e-6))


def invented() -> list[Record]:
    """Host groups with ties below 1 %, modes, few repeats, also ahead, and placements that some lack."""
    records: list[Record] = []
    for number in range(11):
        group, speed = f"g{number}", 1 + number // 2 / 3 + number % 2 / 400
        times = {"SHM": 1e-6, "SHM-1": 1.004e-6, "SHM-2": 1.6e-6, "TCP": 9e-6}
        times |= {"IBV": 2e-6} if number < 4 else {}
        times = {"SHM": 1e-6, "SHM-1": 1.004e-6} if number == 7 else times
        times = {"SHM": 1e-6, "SHM-1": 1.3e-6, "TCP": 9e-6} if number > 8 else times
        for placement, latency in times.items():
            repeats = 2 if (number, placement) in ((0, "SHM"), (8, "TCP"), (10, "SHM")) else 6
            modes = 1.7 if number % 3 == 1 and placement == "SHM-2" else 1.0
            case = Case("s", group, placement, "PingPong")
            records += steady(case, latency * speed, 0.001 if placement != "TCP" else 0.03, repeats, modes)
    return records


def test_the_sentences_of_an_invented_campaign_hold() -> None:
    kinds = held(invented())
    assert set(kinds) >= {"orders", "counts", "leads", "few", "host groups", "lead"} and kinds["leaders"]
    for group in ("g1", "g10"):
        assert set(held([run for run in invented() if run.case.host_group == group])) >= {"one group"}


@pytest.mark.parametrize("counts", [(2, 3, 1), (1, 1, 2), (3, 3, 3)])
@pytest.mark.parametrize("quiet", [0, 1])
def test_the_sentences_of_a_busy_machine_hold(counts: tuple[int, ...], quiet: int) -> None:
    """Where one placement alone was quiet, it is not called the best for that."""
    records: list[Record] = []
    for number, placement in enumerate(("SHM", "SHM-1", "TCP")):
        case = Case("s", "g", placement, "PingPong")
        state = QUIET if number < quiet else DISTURBED
        made = steady(case, 3e-6 - number * 1e-7, 0.04, counts[number])
        records += [replace(run, condition=state, condition_reason="busy") for run in made]
    assert held(records)["busy"] == 2


@stfc_runs.needed
def test_the_sentences_of_the_stfc_report_hold() -> None:
    kinds = held(stfc_runs.scarf_records())
    assert set(kinds) >= {"exceptions", "orders", "counts", "leads", "host groups", "lead"}


STFC = (ROOT.parent / "shared/data/stfc-2017", "campaigns/stfc-2017/import.yaml")
ALASKA = (ROOT.parent / "shared/data/stackhpc/alaska", "campaigns/alaska/import.yaml")


def imported(folders: list[Path], map_: str, made: Path) -> list[Record]:
    if not all(folder.is_dir() for folder in folders):
        pytest.skip(f"{folders[0]} is not there")
    import_folders(folders, load_map(ROOT / map_), made)
    return collect_imports(made)


@pytest.mark.full
@pytest.mark.parametrize("all_groups", [False, True])
def test_the_sentences_of_all_stfc_outputs_hold(tmp_path: Path, all_groups: bool) -> None:
    """HPL, too. The report's repository has LOTUS, with a host group of few repeats, and the Cloud."""
    folders = [STFC[0] / name for name in ("scarf-imb", "scarf-imb-cpus", "scarf-hpl")]
    folders = [Path(os.environ.get("MPICAMPAIGN_STFC_RAW", "/not set"))] if all_groups else folders
    kinds = held(imported(folders, STFC[1], tmp_path))
    assert set(kinds) >= {"exceptions", "orders", "counts", "leads", "host groups", "lead"}
    assert not all_groups or "few" in kinds


@pytest.mark.full
@pytest.mark.parametrize("fault", ["tested", "overlapping", "unsaid"])
def test_faults_in_what_is_said_of_groups_in_turn_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """They are tested, lead although their repeats overlap, or are not said to be untested."""
    records = imported([STFC[0] / "scarf-imb", STFC[0] / "scarf-imb-cpus"], STFC[1], tmp_path)
    if fault == "tested":
        monkeypatch.setattr(ranking, "in_turn", lambda one, other: False)
    elif fault == "overlapping":
        monkeypatch.setattr(ranking.Pair, "apart", True)
    else:
        monkeypatch.setattr(rankings, "BY_RANGES", "supported")
    with pytest.raises(AssertionError):
        held(records)


def test_the_sentences_of_alaska_hold(tmp_path: Path) -> None:
    """Where repeats are few: every pair, its exceptions, and in how many settings it leads."""
    records = imported([ALASKA[0]], ALASKA[1], tmp_path)
    lines = paired_lines(compare(records))
    assert len(lines) == 7 and all("Exceptions: " in line for line in lines)
    for line in lines:
        plain_pairs.hold(line, records)


@pytest.mark.skipif(not DEFAULT.is_file(), reason="the default campaign has not been run here")
def test_the_sentences_of_the_default_campaign_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MPICAMPAIGN_STATES")
    assert held(read_records(DEFAULT)[1])
