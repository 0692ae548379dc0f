"""Which imported outputs are runs of their own, in which order, and how those are named that are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_outputs import hpl, imb
from printed_outputs import osu_table

from mpicampaign.collect.imports import collect_imports
from mpicampaign.imports.account import Account
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.job_number import job_in_name, job_in_text
from mpicampaign.imports.ledger import Runs
from mpicampaign.imports.map_file import load_map

MAP = """\
import: foreign
campaign: c
rules:
  - when: {path: 'night-(?P<number>\\d)'}
    label: {job: '{number}'}
  - label: {system: s, host_group: g, placement: p, benchmark: '{benchmark}'}
"""
BARRIER = "\n# OSU MPI Barrier Latency Test v5.8\n# Avg Latency(us)\n             2.41\n"


def take(tmp_path: Path, files: dict[str, str], rules: str = MAP) -> Account:
    (tmp_path / "map.yaml").write_text(rules)
    for name, text in files.items():
        (tmp_path / "raw" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "raw" / name).write_text(text)
    return import_folders([tmp_path / "raw"], load_map(tmp_path / "map.yaml"), tmp_path / "results")


def repeats(tmp_path: Path) -> list[str]:
    """The names of the files, in the order of their repeats."""
    records = sorted(collect_imports(tmp_path / "results"), key=lambda record: record.repeat)
    return [Path(record.files["output"]).name for record in records]


def reasons(account: Account) -> dict[str, str]:
    return {Path(entry.path).name: entry.reason for entry in account.of_role("refused")}


def test_a_copy_without_a_number_in_another_import_is_the_same_run() -> None:
    runs = Runs()
    runs.add("sum", "", "first")
    assert runs.same("sum", "7") == "first" and not runs.same("other", "7")


@pytest.mark.parametrize(
    ("name", "job"),
    [
        *(("k4-slurm-1001.out", "1001"), ("slurm-12_7.out", "12_7"), ("osu.o1234", "1234")),
        *(
            ("osu.e12-3", "12_3"),
            ("job_77.log", "77"),
            ("482588.out", "482588"),
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


@pytest.mark.parametrize(
    ("text", "job"),
    [
        *(
            ("SLURM_JOB_ID=1001", "1001"),
            ("export PBS_JOBID='12[7].pbs1'", "12_7"),
            ("Job <12[3]> is", "12_3"),
        ),
        *(("Job ID:\t\t12.pbs1", "12"), ("srun: job 5 queued", "5"), ("TACC:  Starting up job 7", "7")),
        *(
            ("Job <12> was submitted from host <n1>", ""),
            ("LSB_JOBID=8\nJOB_ID=9", ""),
            ("SLURM_JOB_ID=$ID", ""),
        ),
    ],
)
def test_jobs_in_texts(text: str, job: str) -> None:
    assert job_in_text(f"begin\n{text}\n") == job


def at(stamp: str, text: str) -> str:
    return text.replace("Wed Mar 22 05:28:00 2017", stamp)


def test_position_decides_in_the_repeated_hour_without_jobs(tmp_path: Path) -> None:
    times = ["02:50:00", "02:10:00", "02:30:00"]
    texts = [at(f"Sun Oct 29 {time} 2017", imb(1 + k / 10)) for k, time in enumerate(times)]
    take(tmp_path, {"run9.out": texts[0] + texts[1], "run10.out": texts[2]})
    latencies = [
        (record.repeat, record.series[0].columns["time"][0])
        for record in sorted(collect_imports(tmp_path / "results"), key=lambda record: record.repeat)
    ]
    assert latencies == [(1, 1e-6), (2, pytest.approx(1.1e-6)), (3, pytest.approx(1.2e-6))]


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
    account = take(
        tmp_path, DOCUMENTS | {"notes-1.txt": BARRIER, "a.out": killed, "b.out": f"...\n{EXCERPT}"}
    )
    found = reasons(account)
    assert set(found) == set(DOCUMENTS) and len(set(found.values())) == 1
    assert found["README"].startswith("a document: an output that it shows is an example")
    assert [record.status for record in collect_imports(tmp_path / "results")].count("failed") == 2


def test_a_program_that_measures_nothing_is_named_as_that(tmp_path: Path) -> None:
    hello = "# OSU MPI Hello World Test v5.6.2\nThis is a test with 4 processes\n"
    start = "# OSU MPI Init Test v5.6.2\nnprocs: 4, min: 300, max: 310, avg: 305\n"
    account = take(tmp_path, {"hello.out": hello, "init.out": start, "both.out": hello + start})
    assert set(reasons(account).values()) == {"osu_hello measures nothing; osu_init measures the start"}
    assert len(repeats(tmp_path)) == 2
