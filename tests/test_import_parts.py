"""Imports of files with several outputs: where texts are cut, and which outputs are runs of their own."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from printed_outputs import hpl, imb, osu_table

from mpicampaign.base.records import FAILED, IMPORTED_FROM, MISSING, OK, UNVERIFIED, Record
from mpicampaign.collect.imports import collect_imports
from mpicampaign.compare.compare import compare
from mpicampaign.imports.account import Account, account_text, failed_lines
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.job_number import job_in_name
from mpicampaign.imports.map_file import load_map
from mpicampaign.show.sentences import note_text
from mpicampaign.suites import OutputError, parts

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


def osu_bw(rate: float = 1000.0) -> str:
    rows = [(2**k, rate * 2**k / (2**k + 8192)) for k in range(23)]
    return osu_table("MPI Bandwidth", "Bandwidth (MB/s)", rows)


def osu_latency(base: float = 1.5) -> str:
    rows = [(size, base + size / 5000) for size in (0, *(2**k for k in range(23)))]
    return osu_table("MPI Latency", "Latency (us)", rows)


def take(
    tmp_path: Path, files: dict[str, str] | None = None, text: str = MAP, folder: str = "raw"
) -> Account:
    (tmp_path / "map.yaml").write_text(text)
    for name, content in (files or {}).items():
        (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
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
    assert "1 file: 3 runs, 0 job scripts and standard error files, 1 refused; 1 new" in text
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


ALONE = imb().replace("#processes = 2", "#processes = 1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (osu_bw().replace("MPI", "MPI Java"), "OSU program that is not known: MPI Java Bandwidth"),
        (
            textwrap.indent(osu_bw(), " ") + textwrap.indent(osu_bw(), "  "),
            "line 26: '  ' is not indented as",
        ),
        (imb().replace("# All", osu_bw() + "# All"), "several outputs that cannot be separated: imb is clo"),
        (hpl() * 3, "the outputs of hpl at lines 1-41 and 42-81 began in the same second"),
        (ALONE + ALONE, "the outputs of imb at lines 1-56 and 57-110 began in the same second"),
    ],
)
def test_what_cannot_be_cut_safely_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    account = take(tmp_path, {"a.out": text, "b.out": osu_bw()})
    assert reasons(account)["a.out"].startswith(reason)
    assert [place(record) for record in records(tmp_path)] == ["b.out"]


def test_the_standard_error_of_a_job_is_beside_its_output(tmp_path: Path) -> None:
    """As PBS and Grid Engine name them; alone it holds both."""
    files = {
        "a.o12": osu_bw(),
        "a.e12": "error\n",
        "b.o13.2": osu_bw(900.0),
        "b.e13.2": "",
        "a.o14": osu_bw(800),
    }
    account = take(tmp_path, files | {"c.e15": osu_latency()})
    beside = {place(record): "stderr" in record.files for record in records(tmp_path)}
    assert beside == {"a.o12": True, "b.o13.2": True, "a.o14": False, "c.e15": False}
    assert not reasons(account) and len(account.of_role("standard error")) == 2


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


FIXTURES = Path(__file__).parent / "fixtures"
HPCC = (FIXTURES / "hpcc" / "two_ranks.out").read_text()
LATENCY = osu_table("MPI Latency", "Latency (us)", [(2**k, 1.5 + k) for k in range(8)])
BANDWIDTH = osu_table("MPI Bandwidth", "Bandwidth (MB/s)", [(2**k, 100.0 + k) for k in range(8)])


def why(text: str) -> str:
    with pytest.raises(OutputError) as refused:
        parts(text)
    return str(refused.value).removeprefix("several outputs that cannot be separated: ")


def split(text: str) -> tuple[str, str]:
    """In the middle, between two lines."""
    middle = text.index("\n", len(text) // 2) + 1
    return text[:middle], text[middle:]


def test_an_output_that_began_at_another_time_than_the_one_above_is_no_other_rank_of_it() -> None:
    started, ends = HPCC.index("Begin of"), "Current time (1000) is"
    above = re.sub(r"Current time \(\d+\) is", ends, HPCC[:started], count=1)
    for began, said in ((1003, "each rank printed it"), (1004, ""), (500, "")):
        text = above + above.replace("1000", str(began)) + HPCC[started:]
        if said:
            assert said in why(text)
        else:
            first, second = parts(text)
            assert first.output.endswith("16.0\n\n" + "#" * 72 + "\n") and not second.above


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (imb().join(split(imb())), "imb is closed below the title of the output of imb"),
        (LATENCY.join(split(hpl())), "hpl is closed below the title of the output of osu"),
        (hpl()[:300] + hpl(), r"line \d: the title of line 2 again, without values in between"),
        (LATENCY[:60] + "\n" + LATENCY, "line 3: the title of line 1 again, without values in between"),
        (f"{LATENCY.splitlines()[0]}\n" * 4 + LATENCY, "line 2: the title of line 1 again"),
        (imb() + "64          1.23\n" + LATENCY, r"line \d+: a row below the output of imb .*title is lost"),
        (
            LATENCY + "[1,0]<stdout>:" + BANDWIDTH + LATENCY,
            r"some lines have a label, such as '\[1,0\]<stdout>:'",
        ),
    ],
)
def test_a_text_that_cannot_be_cut_safely_is_refused(text: str, reason: str) -> None:
    assert re.search(reason, why(text))


NIGHTS = """\
import: foreign
campaign: c
rules:
  - when: {path: 'night-(?P<number>\\d)'}
    label: {job: '{number}'}
  - label: {system: s, host_group: g, placement: p, benchmark: '{benchmark}'}
"""
BARRIER = "\n# OSU MPI Barrier Latency Test v5.8\n# Avg Latency(us)\n             2.41\n"


def repeats(tmp_path: Path) -> list[str]:
    """The names of the files, in the order of their repeats."""
    records = sorted(collect_imports(tmp_path / "results"), key=lambda record: record.repeat)
    return [Path(record.files["output"]).name for record in records]


def refusals(account: Account) -> dict[str, str]:
    return {Path(entry.path).name: entry.reason for entry in account.of_role("refused")}


@pytest.mark.parametrize(
    ("name", "job"),
    [
        *(("k4-slurm-1001.out", "1001"), ("slurm-12_7.out", "12_7"), ("osu.o1234", "1234")),
        *(
            ("osu.e12-3", "12_3"),
            ("job_77.log", "77"),
            ("482588.out", "482588"),
            ("job02.sh.7194646", "7194646"),
            ("job2.sh.7194646", "7194646"),
            ("job02.out", ""),
            ("job.7194646", "7194646"),
            ("osu-1234_5.out", "1234_5"),
            ("100101_osu.out", "100101"),
            ("stdout.100101", "100101"),
            ("hpl.100101.40000.n1.out", "100101"),
        ),
        *(("hpl-40000.out", ""), ("run-20170321.out", ""), ("20170327_005001.out", ""), ("osu_2_4.out", "")),
    ],
)
def test_jobs_in_names(name: str, job: str) -> None:
    assert job_in_name(name, "N      :   40000") == job


EXCERPT = hpl()[: hpl().index("T/V")]
DOCUMENTS = {
    "README.md": f"# How to\n\n{EXCERPT}\n...\n",
    "README": f"Usage\n\n{hpl()}",
    "index.html": f"<html><pre>{EXCERPT}</pre></html>",
    "guide.rst": f"Results::\n\n{BARRIER}",
    "hpl_readme_2.txt": BARRIER,
    "hpl_notes.txt": f"A result looks like this:\n{EXCERPT}",
    "wiki.txt": f"```\n{EXCERPT}```\n",
    "mail.txt": osu_table("MPI Latency", "Latency (us)", [(1, 1.5), (2, 1.6)]) + "...\n8     1.70\n",
}


def test_a_document_with_an_excerpt_is_no_failed_run(tmp_path: Path) -> None:
    killed = f"{BARRIER[:40]}\n...\nslurmstepd: error: *** JOB 7 ON n1 CANCELLED ***\n"
    files = DOCUMENTS | {"notes-1.txt": BARRIER, "a.out": killed, "b.out": f"...\n{EXCERPT}"}
    account = take(tmp_path, files, NIGHTS)
    found = refusals(account)
    assert set(found) == set(DOCUMENTS) and len(set(found.values())) == 1
    assert found["README"].startswith("a document: outputs in it are examples")
    assert [record.status for record in collect_imports(tmp_path / "results")].count("failed") == 2


QUOTES = {
    "a.md": f"```text\n{BARRIER}```\n\n{textwrap.indent(f'~~~{BARRIER}~~~', '> ', bool)}\n\n    {BARRIER}",
    "b.rst": f"Text::\n\n{textwrap.indent(BARRIER, '    ')}\n.. code-block:: console\n   :linenos:\n\n"
    f"   $ srun osu_barrier\n{textwrap.indent(BARRIER, '   ')}\nThe end.\n",
    "c.md": "```\nno output\n```\n",
    "d.md": f"```\n{osu_latency()}```\n\n```\n{osu_latency()}```\n",
    "e.md": f"```\n{osu_latency(2)}```\n",
    "f.md": f"```\n{DOCUMENTS['mail.txt']}```\n",
}


def test_quoted_outputs_are_taken_on_request_and_marked(tmp_path: Path) -> None:
    account = take(tmp_path, QUOTES | {"raw.out": osu_latency(2)}, NIGHTS)
    assert set(refusals(account)) == set(QUOTES) and len(account.labels) == 1
    account = import_folders([tmp_path / "raw"], load_map(tmp_path / "map.yaml"), tmp_path / "results", True)
    assert [entry.reason[:29] for entry in account.of_role("refused")] == [
        "a document without an output ",
        f"same content as {tmp_path.name}"[:29],
        f"same content as {tmp_path.name}"[:29],
        "the document quotes only a pa",
    ]
    quoted = [record for record in collect_imports(tmp_path / "results") if "quoted" in record.metadata]
    assert sorted(record.metadata["quoted"] for record in quoted) == [
        "a.md",
        "a.md",
        "b.rst",
        "b.rst",
        "d.md",
    ]
    assert {record.verdict for record in quoted} == {UNVERIFIED}
    notes = [note_text(note) for note in compare(quoted).tables[0].rows[0].notes]
    assert sum(note.startswith("quoted in a document: ") for note in notes) == 2


def test_a_program_that_measures_nothing_is_named_as_that(tmp_path: Path) -> None:
    hello = "# OSU MPI Hello World Test v5.6.2\nThis is a test with 4 processes\n"
    start = "# OSU MPI Init Test v5.6.2\nnprocs: 4, min: 300, max: 310, avg: 305\n"
    account = take(tmp_path, {"hello.out": hello, "init.out": start, "both.out": hello + start}, NIGHTS)
    assert set(refusals(account).values()) == {"osu_hello measures nothing; osu_init measures the start"}
    assert len(repeats(tmp_path)) == 2
