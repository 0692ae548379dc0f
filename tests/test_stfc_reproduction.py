"""Tables 1 to 6 of the STFC report of 2017 from its raw outputs, cell by cell; skipped without the outputs.

SCARF's outputs are looked for beside the project. Where ``MPICAMPAIGN_STFC_RAW`` names a folder with all raw
outputs of the report (its repository's ``Results``), so are the rows of LOTUS and the Cloud.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpicampaign.base.records import OK, REQUESTED_GROUP, UNVERIFIED, VERIFIED
from mpicampaign.collect.imports import collect_imports
from mpicampaign.compare.compare import compare
from mpicampaign.compare.findings import UNLIKE
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.map_file import load_map
from mpicampaign.suites import detect_suite, parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.base.records import Record
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.tables import Comparison

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "stfc-2017"
PUBLISHED = DATA / "published"
FOLDERS = ("scarf-imb", "scarf-imb-cpus", "scarf-hpl")
MAP = ROOT / "campaigns" / "stfc-2017" / "import.yaml"
MIB = 2**20

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not there")


def _of_size(column: str, size: int | None) -> Callable[[Metric], bool]:
    return lambda metric: (metric.column, metric.size, metric.bound) == (column, size, False)


# CSV, benchmark, which metric, what one printed unit is in SI units
TABLES = {
    "table1_latency_us": ("PingPong", _of_size("time", 0), 1e-6),
    "table2_bandwidth_1024B": ("PingPong", _of_size("bandwidth", 1024), MIB),
    "table3_bandwidth_8192B": ("PingPong", _of_size("bandwidth", 8192), MIB),
    "table4_bandwidth_32768B": ("PingPong", _of_size("bandwidth", 32768), MIB),
    "table5_bandwidth_max": ("PingPong", _of_size("bandwidth", None), MIB),
    "table6_hpl_gflops": ("HPL", _of_size("flops", None), 1e9),
}


def imported(raw: Path, campaign: Path) -> list[Record]:
    import_folders([raw / name for name in FOLDERS], load_map(MAP), campaign)
    return collect_imports(campaign)


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The raw outputs alone: the published tables are not beside them."""
    folder = tmp_path_factory.mktemp("raw")
    for name in FOLDERS:
        shutil.copytree(DATA / name, folder / name, copy_function=shutil.copyfile)
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def records(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    return imported(raw, tmp_path_factory.mktemp("campaign"))


@pytest.fixture(scope="module")
def comparison(records: list[Record]) -> Comparison:
    return compare(records, load_map(MAP).presentation.table_sizes)


def printed(comparison: Comparison, name: str) -> dict[tuple[str, str], str]:
    """The means of a table as the report prints them, by host group and placement."""
    benchmark, wanted, unit = TABLES[name]
    (table,) = [table for table in comparison.tables if table.benchmark == benchmark]
    (metric,) = [metric for metric in table.metrics if wanted(metric)]
    cells = {(row.case.host_group, row.case.placement): row.cell(metric) for row in table.rows}
    return {key: f"{cell.summary.mean / unit:.2f}" for key, cell in cells.items() if cell.summary}


def published(name: str) -> dict[tuple[str, str], str]:
    """The cells of a published table. For the Cloud it prints unbound runs in the column of SHM-1."""
    with (PUBLISHED / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    cells = {(row["host_group"], place): value for row in rows for place, value in row.items()}
    moved = {("Cloud", "SHM") if key == ("Cloud", "SHM-1") else key: value for key, value in cells.items()}
    return {key: value for key, value in moved.items() if value and key[1] != "host_group"}


def differences(found: dict[tuple[str, str], str], expected: dict[tuple[str, str], str]) -> list[str]:
    return [
        f"{group} {placement}: {found.get((group, placement), 'nothing')}, published: {value}"
        for (group, placement), value in expected.items()
        if found.get((group, placement)) != value
    ]


@pytest.mark.parametrize("name", TABLES)
def test_every_cell_is_as_published(comparison: Comparison, name: str) -> None:
    expected = {key: value for key, value in published(name).items() if key[0].startswith("scarf")}
    assert len(expected) in (21, 28)
    differing = differences(printed(comparison, name), expected)
    assert not differing, "\n".join([f"{name} differs:", *differing])


@pytest.mark.skipif("MPICAMPAIGN_STFC_RAW" not in os.environ, reason="MPICAMPAIGN_STFC_RAW is not set")
def test_every_cell_of_all_13_host_groups_is_as_published(tmp_path: Path) -> None:
    chosen = load_map(MAP)
    import_folders([Path(os.environ["MPICAMPAIGN_STFC_RAW"])], chosen, tmp_path)
    found = compare(collect_imports(tmp_path), chosen.presentation.table_sizes)
    differing = [line for name in TABLES for line in differences(printed(found, name), published(name))]
    assert sum(len(published(name)) for name in TABLES) == 258
    assert not differing, "\n".join(differing)
    # the one job that asked for another host group than that of the hosts it was executed on
    (elsewhere,) = [record for record in found.records if REQUESTED_GROUP in record.metadata]
    assert elsewhere.metadata[REQUESTED_GROUP] == "ivybridge512G"
    assert elsewhere.case.host_group == "ivybridge2000G"


def test_all_280_outputs_are_runs_of_five_repeats(records: list[Record]) -> None:
    assert len(records) == 280
    assert all(len([r for r in records if r.case == case]) == 5 for case in {r.case for r in records})
    assert {record.repeat for record in records} == {1, 2, 3, 4, 5}


def test_verdicts_say_what_the_files_prove(records: list[Record]) -> None:
    pingpong = [record for record in records if record.case.benchmark == "PingPong"]
    for record in pingpong:
        bound = record.case.placement in ("SHM-1", "SHM-2")
        assert record.verdict == (UNVERIFIED if bound else VERIFIED)
        assert ("were not recorded" in record.verdict_reasons[0]) is bound


def test_all_repeats_were_run_alike(comparison: Comparison) -> None:
    """One of five ran on a host with an older kernel: another host, not another way to run."""
    notes = [note for table in comparison.tables for row in table.rows for note in row.notes]
    assert notes and UNLIKE not in {note.kind for note in notes}


def test_repeats_are_in_the_order_of_their_starts(records: list[Record]) -> None:
    of_case = [r for r in records if (r.case.host_group, r.case.placement) == ("scarf14", "TCP")]
    starts = [r.started for r in of_case if r.suite == "imb"]
    assert starts == sorted(starts)
    assert all(starts)


def test_a_changed_raw_value_changes_its_cell_and_no_other(
    raw: Path, comparison: Comparison, tmp_path: Path
) -> None:
    changed = tmp_path / "raw"
    shutil.copytree(raw, changed)
    file = next(file for file in sorted((changed / "scarf-imb").iterdir()) if " -IBV " in file.read_text())
    text = file.read_text()
    group = re.findall(r'#BSUB -m "(\w+)"', text)[0]
    file.write_text(re.sub(r"^ +1024 +1000 +(\S+).*$", _twice_as_slow, text, flags=re.MULTILINE))
    found = compare(imported(changed, tmp_path / "campaign"), load_map(MAP).presentation.table_sizes)
    before, after = (printed(each, "table2_bandwidth_1024B") for each in (comparison, found))
    assert {record.status for record in found.records} == {OK}
    assert {key for key in before if before[key] != after[key]} == {(group, "IBV")}
    assert printed(comparison, "table3_bandwidth_8192B") == printed(found, "table3_bandwidth_8192B")


def _twice_as_slow(row: re.Match[str]) -> str:
    """The row of 1024 B with twice its time, the bandwidth that belongs to it, and IMB's columns."""
    time = 2 * float(row[1])
    return f"{1024:>13}{1000:>13}{time:>13.2f}{1024 / time * 1e6 / MIB:>13.2f}"


@pytest.mark.slow
def test_every_output_is_read_or_refused_for_a_reason() -> None:
    """Suite by banner, then the values: 4 of 466 files are not outputs, and are reported as such."""
    suites: Counter[tuple[str, str | None]] = Counter()
    for path in sorted(DATA.parent.rglob("*.out")):
        output = path.read_text(encoding="utf-8", errors="replace")
        suite = detect_suite(output)
        suites[path.relative_to(DATA.parent).parts[0], suite] += 1
        assert parse(suite, output).series if suite else path.name == "Sysinfo.out", path
    assert suites == {
        ("stfc-2017", "imb"): 175,
        ("stfc-2017", "hpl"): 105,
        ("stackhpc", "imb"): 100,
        ("stackhpc", "osu"): 76,
        ("stackhpc", None): 4,
        ("osu-7.4", "osu"): 10,
    }
