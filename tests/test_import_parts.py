"""Import of files with several outputs: each is a run with its place, facts, label and values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from foreign_outputs import hpl, imb
from printed_outputs import osu_table

from mpicampaign.base.records import FAILED, IMPORTED_FROM, MISSING, OK, Record
from mpicampaign.collect.imports import collect_imports
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


def test_the_script_names_no_program_of_another_suite_or_of_several(tmp_path: Path) -> None:
    unknown = osu_bw().replace("Bandwidth Test", "Brandnew Test")
    files = {"a.out": hpl() + unknown, "a.sh": "srun xhpl\nsrun osu_brandnew\n"}
    files |= {"b.out": hpl(second=1) + unknown + " ", "b.sh": "srun xhpl\nsrun osu_bw\nsrun osu_brandnew\n"}
    account = take(tmp_path, files)
    assert [record.case.benchmark for record in records(tmp_path)] == ["HPL", "osu_brandnew", "HPL"]
    assert "no rule gives its benchmark" in next(iter(reasons(account).values()))


ALONE = imb().replace("#processes = 2", "#processes = 1")


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
