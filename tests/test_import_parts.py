"""Import of files with several outputs: each is a run with its place, facts, label and values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from foreign_outputs import hpl, imb
from printed_outputs import HplRow, hpl_output, osu_table

from mpicampaign.base.records import FAILED, IMPORTED_FROM, IN_PART, MISSING, OK, Record
from mpicampaign.collect.imports import collect_imports
from mpicampaign.compare.compare import compare
from mpicampaign.imports.account import Account, account_text, failed_lines
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.map_file import load_map

MAP = """\
import: foreign
campaign: c
placements: {TCP: {nodes: 2, transport: tcp}, IBV: {nodes: 2, transport: ibv}}
host_groups: {g: {system: s, hosts: [n1, n2]}}
rules:
  - when: {command: '-(?P<p>TCP|IBV)'}
    label: {placement: '{p}'}
  - when: {above: 'over (?P<p>TCP|IBV)'}
    label: {placement: '{p}'}
  - label: {system: s, host_group: g, placement: SHM, benchmark: '{benchmark}'}
"""
DAMAGED = "the row's columns are not where"


def osu_bw(rate: float = 1000.0, largest: int = 2**22) -> str:
    rows = [(2**k, rate * 2**k / (2**k + 8192)) for k in range(largest.bit_length())]
    return osu_table("MPI Bandwidth", "Bandwidth (MB/s)", rows)


def osu_latency(base: float = 1.5) -> str:
    rows = [(size, base + size / 5000) for size in (0, *(2**k for k in range(23)))]
    return osu_table("MPI Latency", "Latency (us)", rows)


def osu_barrier(time: float) -> str:
    return f"# OSU MPI Barrier Latency Test v5.6.2\n# Avg Latency(us)\n{time:>17.2f}\n"


def take(
    tmp_path: Path, files: dict[str, str] | None = None, text: str = MAP, folder: str = "raw"
) -> Account:
    (tmp_path / "map.yaml").write_text(text)
    for name, content in (files or {}).items():
        (tmp_path / folder).mkdir(exist_ok=True, parents=True)
        (tmp_path / folder / name).write_text(content)
    folders = [tmp_path / folder] if files is not None else []
    return import_folders(folders, load_map(tmp_path / "map.yaml"), tmp_path / "results")


def records(tmp_path: Path) -> list[Record]:
    """In the order of files and lines."""
    return sorted(collect_imports(tmp_path / "results"), key=_file_and_line)


def _file_and_line(record: Record) -> tuple[str, int]:
    found = re.fullmatch(r"(.*?)(?::(\d+)-\d+)?", place(record))
    assert found
    return found[1], int(found[2] or 0)


def place(record: Record) -> str:
    return Path(record.metadata[IMPORTED_FROM]).name


def reasons(account: Account) -> dict[str, str]:
    return {Path(entry.place).name: entry.reason for entry in account.of_role("refused")}


def test_the_account_names_each_output_with_its_place_and_label(tmp_path: Path) -> None:
    broken = osu_latency().replace("4096      ", "4096   ")
    unknown = osu_bw().replace("Bandwidth Test", "Brandnew Test")
    unknown = unknown.replace("# OSU", "+ srun ./ours\n# OSU")
    account = take(tmp_path, {"a.out": osu_bw() + broken + unknown + osu_bw(900.0)})
    text = account_text(account, verbose=True)
    assert "1 files: 3 runs, 0 job scripts and standard error files, 1 refused; 1 new" in text
    assert "raw/a.out:1-25: g SHM osu_bw, repeat 1" in text
    assert "raw/a.out:26-52: g SHM osu_latency, repeat 1" in text
    assert "raw/a.out:78-102: g SHM osu_bw, repeat 2" in text
    assert "raw/a.out:53-77: refused: no rule gives its benchmark (its facts: " in text
    assert "above: '+ srun ./ours'" in text
    found = records(tmp_path)
    assert [record.status for record in found] == [OK, OK, OK]
    (in_part,) = failed_lines(found)
    assert f"in part: {tmp_path.name}/raw/a.out:26-52: line 41: {DAMAGED}" in in_part
    assert (tmp_path / "raw" / "a.out").read_text() == Path(found[0].files["output"]).read_text()


def test_an_aborted_output_above_others_counts_as_far_as_it_proves_itself(tmp_path: Path) -> None:
    rows = [HplRow(order, 192, 2, 2, order / 500) for order in (20000, 30000)]
    whole = hpl_output(rows)
    cut, empty = whole[: whole.index("PASSED") + 7], whole[: whole.index("=" * 80 + "\nT/V")]
    aborted = "MPI_ABORT was invoked on rank 0\n"
    later = whole.replace("00:00:0", "00:01:0")
    cut = cut.replace("00:00:0", "00:02:0")
    take(tmp_path, {"a.out": f"{whole}{cut}{aborted}{empty}{aborted}{later}"})
    first, second, third, fourth = records(tmp_path)
    assert [len(record.series) for record in (first, second, third, fourth)] == [2, 1, 0, 2]
    line = 31 + whole.count("\n")
    said = f"1 of 2 settings is missing: line {line}: the program was aborted"
    assert second.metadata[IN_PART].startswith(said)
    assert third.status == FAILED and "the program was aborted: MPI_ABORT" in third.reason
    assert IN_PART not in first.metadata | fourth.metadata
    (table,) = (table for table in compare(records(tmp_path)).tables if "N 30000" in table.title)
    assert (len(table.rows[0].curves), len(table.rows[0].records)) == (2, 4)  # n of all


def test_outputs_are_repeats_in_the_order_of_the_file(tmp_path: Path) -> None:
    take(tmp_path, {"a.out": "".join(osu_bw(1000.0 + number) for number in range(12))})
    rates = {record.repeat: record.series[0].columns["bandwidth"][0] for record in records(tmp_path)}
    assert list(rates) == list(range(1, 13)) and sorted(rates.values()) == list(rates.values())


def test_the_script_names_no_program_of_another_suite_or_of_several(tmp_path: Path) -> None:
    unknown = osu_bw().replace("Bandwidth Test", "Brandnew Test")
    files = {"a.out": hpl() + unknown, "a.sh": "srun xhpl\nsrun osu_brandnew\n"}
    files |= {"b.out": hpl(second=1) + unknown + " ", "b.sh": "srun xhpl\nsrun osu_bw\nsrun osu_brandnew\n"}
    account = take(tmp_path, files)
    assert [record.case.benchmark for record in records(tmp_path)] == ["HPL", "osu_brandnew", "HPL"]
    assert "no rule gives its benchmark" in next(iter(reasons(account).values()))


ALONE = imb().replace("#processes = 2", "#processes = 1")


def test_ranks_of_one_program_did_not_start_alone(tmp_path: Path) -> None:
    """Short runs one after the other may begin in the same second."""
    take(tmp_path, {"a.out": imb() + imb(0.7)})
    assert len(records(tmp_path)) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (imb().replace("# All", osu_bw() + "# All"), "several outputs that cannot be separated: imb is clo"),
        (hpl() * 3, "the outputs of hpl at lines 1-41 and 42-81 began in the same second"),
        (ALONE + ALONE, "the outputs of imb at lines 1-56 and 57-110 began in the same second"),
    ],
)
def test_what_cannot_be_cut_safely_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    account = take(tmp_path, {"a.out": text, "b.out": osu_bw()})
    assert reasons(account)["a.out"].startswith(reason)
    assert [place(record) for record in records(tmp_path)] == ["b.out"]


def test_changed_and_lost_copies_are_reported_for_each_output(tmp_path: Path) -> None:
    account = take(tmp_path, {"a.out": osu_bw() + osu_latency()})
    copy = account.folder / "files" / account.entries[0].path
    copy.write_text(copy.read_text().replace("0.12", "0.13"))
    assert [record.verdict for record in records(tmp_path)] == ["contradicted", "contradicted"]
    copy.write_text(imb().replace("# All", osu_bw() + "# All"))
    assert {record.status for record in records(tmp_path)} == {FAILED}
    copy.unlink()
    found = records(tmp_path)
    assert [record.status for record in found] == [MISSING, MISSING]
    assert [record.case.benchmark for record in found] == ["osu_bw", "osu_latency"]
