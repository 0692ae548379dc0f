"""Every sentence of the first screen, checked against the repeats by a plain recomputation."""

from __future__ import annotations

import gzip
import os
import random
import re
import tarfile
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import build_records as make
import plain_busy
import plain_pairs
import plain_screen
import plain_sides
import pytest
import random_campaigns
import stfc_runs

from mpicampaign.base.records import DISTURBED, QUIET, Case, Record, read_records, records_from
from mpicampaign.collect.campaign import collect_all
from mpicampaign.collect.imports import collect_imports
from mpicampaign.compare.compare import compare
from mpicampaign.history.changes import NAMES
from mpicampaign.history.rows import OBSERVED
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.map_file import load_map
from mpicampaign.questions.ranking import say as rankings
from mpicampaign.questions.two_sides.find import Side, two_sides
from mpicampaign.questions.two_sides.say import two_sides_document
from mpicampaign.report.make import to_markdown
from mpicampaign.report.summary import summary, summary_text
from mpicampaign.report.write import write_report
from mpicampaign.show.writers.html import to_page
from mpicampaign.show.writers.terminal import terminal_text

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
FROZEN = ROOT / "tests/frozen"
DEFAULT = ROOT / "results" / "this-machine" / "records.jsonl"


def held(records: list[Record]) -> Counter[str]:
    """How many sentences of each kind hold, on the page and on the terminal."""
    comparison = compare(records)
    screen = summary(comparison)
    kinds = plain_screen.hold(comparison, screen)
    busy = [answer for answer in screen.answers if answer.real == rankings.BUSY]
    kinds["busy"] = plain_busy.hold(busy, screen.lead if "busy machine" in screen.lead else "")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        write_report(page, comparison, records)
        plain_screen.on_page(page.read_text(encoding="utf-8"), screen)
    plain_screen.on_terminal(summary_text(comparison), screen)
    return kinds


def steady(
    case: Case | str, latency: float, scatter: float, repeats: int, modes: float = 1.0, **fields: Any
) -> Iterator[Record]:
    case = make.case(case) if isinstance(case, str) else case
    noise = random.Random(str(case))
    for repeat in range(1, repeats + 1):
        time = latency * noise.uniform(1 - scatter, 1 + scatter) * (modes if repeat % 2 else 1)
        yield make.run(case, repeat, make.pingpong(time, 1e9 / time * 1e-6), **fields)


def invented() -> list[Record]:
    """Host groups with ties below 1 %, modes, few repeats, also ahead, and placements that some lack."""
    records: list[Record] = []
    for number in range(9):
        group, speed = f"g{number}", 1 + number // 2 / 3 + number % 2 / 400
        times = {"SHM": 1e-6, "SHM-1": 1.004e-6, "SHM-2": 1.6e-6, "TCP": 9e-6}
        times |= {"IBV": 2e-6} if number < 4 else {}
        times = {"SHM": 1e-6, "SHM-1": 1.004e-6} if number == 7 else times
        times = {"SHM": 1e-6, "SHM-1": 1.3e-6, "TCP": 9e-6} if number > 7 else times
        for placement, latency in times.items():
            repeats = 2 if (number, placement) in ((0, "SHM"), (6, "TCP"), (8, "SHM")) else 6
            modes = 1.7 if number % 3 == 1 and placement == "SHM-2" else 1.0
            case = make.case(placement, group=group)
            records += steady(case, latency * speed, 0.001 if placement != "TCP" else 0.03, repeats, modes)
    return records


def test_the_sentences_of_an_invented_campaign_hold() -> None:
    kinds = held(invented())
    assert set(kinds) >= {"order", "by size", "lead of host groups"}
    for group in ("g1", "g8"):
        kinds = held([run for run in invented() if run.case.host_group == group])
        assert set(kinds) >= {"leaders", "by size"}
    groups = [
        run
        for group, times in (("a", 1e-6), ("b", 2e-6))
        for run in steady(make.case(group=group), times, 0.01, 12)
    ]
    assert held(groups)["other candidates"]


@pytest.mark.parametrize("seed", [*range(24), 80, 125, 129, 183, 275, 360])
def test_the_sentences_of_campaigns_drawn_at_random_hold(seed: int) -> None:
    """Among them sets without rows enough, runs without a time, ties, and curves that cross."""
    assert held(random_campaigns.drawn(seed))["notice"]


@pytest.mark.parametrize("seed", range(24))
def test_the_sentences_on_scaling_drawn_at_random_hold(seed: int) -> None:
    """Strong, weak or neither; with few repeats, of one placement or two, of messages."""
    records = random_campaigns.scaled(seed)
    kinds = held(records)
    of_placements = {"leaders", "none judged"} & kinds.keys()
    assert kinds["lead of scaling"] or (records[0].suite == "imb" and of_placements)


@pytest.mark.parametrize("seed", range(24))
def test_the_sentences_on_two_sides_drawn_at_random_hold(seed: int) -> None:
    before, after = random_campaigns.two_sides(seed)
    document = two_sides_document(two_sides(Side("A", before), Side("B", after), (), OBSERVED, NAMES), {})
    plain_sides.hold(document, before, after)
    assert terminal_text(document, width=40)
    page = re.sub(r"<(table|style).*?</\1>", "", to_page(document), flags=re.DOTALL).partition("<main")[2]
    assert 0 < len(plain_screen.words_of(re.sub(r"<[^>]*>", " ", page))) <= plain_screen.WORDS


WIDE, STEADY = (3600, 4300, 5140, 5146, 5900, 6400), (5136, 5139, 5140, 5142, 5144, 5147)


def of_rates(**of: tuple[float, ...]) -> list[Record]:
    """Repeats in MB/s at the largest size; latencies are alike."""
    return [
        make.run(name, repeat, make.pingpong(1e-9, 1e6 * rate))
        for name, rates in of.items()
        for repeat, rate in enumerate(rates, 1)
    ]


def test_nobody_may_be_the_best_whom_anybody_leads() -> None:
    """SHM is the best by its median alone: its repeats spread over those of TCP, and SHM-1's do not."""
    records = of_rates(SHM=WIDE, SHM1=STEADY, TCP=(4131, 4133, 4134, 4136, 4138, 4140))
    held(records)
    [said] = [answer.said for answer in summary(compare(records)).answers if "bandwidth" in answer.title]
    tie = "SHM (5143 MB/s) and SHM1 (5141 MB/s) tie as fastest; SHM1 reaches 24 % more than TCP."
    assert said == (tie, "All 6 repeats agree.", "6 repeats find 30 % here in 8 of 10 cases.")


def test_those_behind_different_leaders_are_told_apart() -> None:
    """Of the last the best is shown to be better, too."""
    near, far = (4131, 4133, 4134, 4136, 4138, 4140), (431, 433, 434, 436, 438, 440)
    records = of_rates(SHM=WIDE, SHM1=STEADY, TCP=near, SLOW=far)
    held(records)
    [said] = [answer.said for answer in summary(compare(records)).answers if "bandwidth" in answer.title]
    assert said[0].endswith("; SHM1 reaches 24 % more than TCP, SHM reaches 11.8 times as much as SLOW.")


def test_no_tie_is_of_values_far_apart() -> None:
    """The interval of the one holds the other: nothing is shown, and nothing is equal."""
    records = of_rates(A=(315, 2, 9880, 6000, 5, 8000), B=(9880, 9000, 1, 3, 9500, 5))
    held(records)
    [said] = [answer.said for answer in summary(compare(records)).answers if "bandwidth" in answer.title]
    seen = "6 repeats find a factor of more than 10 here in 8 of 10 cases."
    assert said == ("No clear difference between B (4502 MB/s) and A (3157 MB/s).", seen)


@pytest.mark.parametrize("counts", [(2, 3, 1), (1, 1, 2), (3, 3, 3)])
@pytest.mark.parametrize("quiet", [0, 1])
def test_the_sentences_of_a_busy_machine_hold(counts: tuple[int, ...], quiet: int) -> None:
    """Where one placement alone was quiet, it is not called the best for that."""
    records: list[Record] = []
    for number, placement in enumerate(("SHM", "SHM-1", "TCP")):
        state = {"condition": QUIET if number < quiet else DISTURBED, "condition_reason": "busy"}
        records += steady(placement, 3e-6 - number * 1e-7, 0.04, counts[number], **state)
    assert held(records)["busy"] == 2


@pytest.mark.parametrize("disturbed", [1, 2])
def test_the_sentences_of_quiet_and_disturbed_placements_hold(disturbed: int) -> None:
    """Those that were quiet are compared; the others have medians and ranges."""
    records: list[Record] = []
    for number, placement in enumerate(("SHM", "SHM-1", "TCP", "IBV")):
        state = {"condition": QUIET if number < 4 - disturbed else DISTURBED, "condition_reason": "busy"}
        records += steady(placement, 1e-6 * (1 + number), 0.04, 6, **state)
    kinds = held(records)
    assert kinds["leaders"] == 2


def test_the_sentences_hold_where_the_machine_became_busy_meanwhile() -> None:
    """One run of each was quiet, and of one placement four."""
    records: list[Record] = []
    for number, (placement, quiet) in enumerate({"SHM": 1, "SHM-1": 4, "TCP": 1}.items()):
        records += steady(
            placement,
            3e-6 - number * 1e-7,
            0.04,
            8,
            condition=lambda repeat, quiet=quiet: QUIET if repeat <= quiet else DISTURBED,
            further=lambda repeat: repeat > 6,
        )
    assert held(records)["busy"] == 2


@stfc_runs.needed
def test_the_sentences_of_the_stfc_report_hold() -> None:
    kinds = held(stfc_runs.scarf_records())
    assert set(kinds) >= {"order", "by size", "lead of placements"}


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
    assert set(kinds) >= {"order", "lead of placements"}


def test_the_sentences_of_alaska_hold(tmp_path: Path) -> None:
    """Where repeats are few: every pair, its exceptions, and in how many settings it leads."""
    records = imported([ALASKA[0]], ALASKA[1], tmp_path)
    assert held(records)["notice"] == 4
    comparison = compare(records)
    screen = summary(comparison)
    assert len(screen.of_few) == 7 and all("Exceptions: " in line for line in screen.of_few)
    for line in screen.of_few:
        plain_pairs.hold(line, records)
    assert plain_pairs.SENTENCE.match(screen.of_few[-1])["found"] == "25"  # type: ignore[index]
    assert screen.lead == "openmpi-4 was better than intelmpi-2019 in 25 of 26 settings; 6 more pairs"
    line = r"- (?:(\d+) of (\d+) rankings of )?.*: too few repeats to say"
    untested = re.findall(line, to_markdown(comparison))
    assert all(count == of for count, of in untested) and len(untested) < 30
    assert sum(int(count or 1) for count, _ in untested) == len(list(comparison.rankings)) == 440


@pytest.mark.parametrize("name", ["default", "libraries"])
def test_the_sentences_of_campaigns_that_were_really_made_hold(name: str, tmp_path: Path) -> None:
    """A busy machine, and three MPI libraries."""
    with tarfile.open(FROZEN / name / "results.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    kinds = held(collect_all(tmp_path))
    assert kinds["lead of MPI libraries" if name == "libraries" else "lead of placements"]


def test_sweeps_are_of_settings_and_a_machine_has_a_headline_of_one_line(tmp_path: Path) -> None:
    eager = {f"SHM eager={size}K": 1e-6 + size * 1e-8 for size in (4, 16, 64, 256)}
    records = [run for name, time in eager.items() for run in steady(name, time, 0.01, 6)]
    assert held(records)["leaders"] == 2
    assert summary(compare(records)).lead == "SHM eager=4K is the fastest setting in both comparisons"
    with tarfile.open(FROZEN / "machine/results.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    screen = summary(comparison := compare(records := collect_all(tmp_path)))
    assert screen.lead == "1 of 8 nodes is slow: n3. 1 of 28 links is slow: n2+n5"
    write_report(tmp_path / "report.html", comparison, records)
    plain_screen.on_page((tmp_path / "report.html").read_text(encoding="utf-8"), screen)
    plain_screen.on_terminal(summary_text(comparison), screen)


def test_the_sentences_of_the_quiet_default_campaign_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of README's picture, on a machine of three states."""
    monkeypatch.delenv("MPICAMPAIGN_STATES")
    packed = ROOT / "tests/fixtures/default-campaign.jsonl.gz"
    kinds = held(records_from(gzip.decompress(packed.read_bytes()), packed.name)[1])
    assert kinds["leaders"] == 6 and kinds["by size"]


@pytest.mark.skipif(not DEFAULT.is_file(), reason="the default campaign has not been run here")
def test_the_sentences_of_the_default_campaign_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MPICAMPAIGN_STATES")
    assert held(read_records(DEFAULT)[1])
