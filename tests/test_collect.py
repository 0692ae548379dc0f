"""From folders of runs to records: all states of a run's folder, what is set aside, and the caches."""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import build_records as make
import pytest
from build_campaigns import campaign, plan, script_of, with_draft
from evidence_texts import CLAIM, IDENTITY, INTEL_SHM, RUN, evidence_text, rank_lines, split
from test_own_reading import Site

from mpicampaign.base.errors import UserError
from mpicampaign.base.plan_file import PlanFile, plan_from, plan_json, read_plan
from mpicampaign.base.records import (
    FAILED,
    NOT_AVAILABLE,
    OK,
    RECORDS,
    VERIFIED,
    Case,
    Header,
    Record,
    read_records,
    records_from,
    write_records,
)
from mpicampaign.campaign.file import load_campaign
from mpicampaign.cli import main
from mpicampaign.cli.judge import judge_folder
from mpicampaign.collect import caches, runs
from mpicampaign.collect.caches import RECORDS_FILE, RecordsRead
from mpicampaign.collect.runs import RunFolder, collect, exit_status, read_run, unusable
from mpicampaign.jobs.claim import claim_text
from mpicampaign.jobs.prepare import host_names
from mpicampaign.jobs.run import Run
from mpicampaign.run import set_aside
from mpicampaign.run.set_aside import faulty, set_aside_faulty

CASE = Case("here", "blue", "SHM-1", "tree_gather")
OUTPUT = INTEL_SHM + (Path(__file__).parent / "fixtures/imb/pingpong.out").read_text()
SUMS = "".join(
    f"job sha256.{name}.txt={hashlib.sha256(text.encode()).hexdigest()}\n"
    for name, text in (("output", OUTPUT), ("stderr", ""))
)
EVIDENCE = evidence_text(CLAIM, RUN, SUMS, rank_lines(0, "blue1", 0), rank_lines(1, "blue1", 1))


def run_folder(tmp_path: Path, kind: str, **files: str) -> Path:
    folder = tmp_path / f"r01-{IDENTITY}"
    target = folder / kind
    target.mkdir(parents=True)
    (folder / "job.sh").write_text("# script\n")
    for name, text in files.items():
        (target / f"{name}.txt").write_text(split(text)[0] if name == "evidence" else text)
        if name == "evidence":
            (folder / "claim").write_text(split(text)[1])
    return folder


def read(folder: Path) -> Any:
    return read_run(CASE, "imb", RunFolder(folder, 1, 7))


def test_failed_attempt_names_its_reason_and_their_number(tmp_path: Path) -> None:
    failed = EVIDENCE.replace(
        "job exit_status=0", "job reason=stopped at the time limit\njob exit_status=124"
    )
    folder = run_folder(tmp_path, "attempts/20260101T000000Z-1", evidence="", output="")
    later = folder / "attempts/20260102T000000Z-2"
    later.mkdir()
    (later / "evidence.txt").write_text(split(failed)[0])
    record = read(folder)
    assert (record.status, record.exit_status) == (FAILED, 124)
    assert record.reason == f"stopped at the time limit (2 attempts); files in {later}"
    ended = failed.replace(
        "stopped at the time limit", "the benchmark ended with exit status 1; see stderr.txt"
    )
    (later / "evidence.txt").write_text(split(ended)[0])
    (later / "stderr.txt").write_text("-----\nmpirun has detected an attempt to run as root.\n\x1b[2J\n")
    assert read(folder).reason == (
        "the benchmark ended with exit status 1 (2 attempts): "
        f"mpirun has detected an attempt to run as root.; files in {later}"
    )
    assert record.files["script"] == str(folder / "job.sh")


def plan_of(*cases: dict[str, Any]) -> PlanFile:
    common = {
        "system": "here",
        "host_group": "blue",
        "placement": "SHM-1",
        "benchmark": "tree_gather",
        "suite": "imb",
        "not_available": "",
        "declared": {},
    }
    return plan_from({"campaign": "c", "cases": [{**common, "runs": [planned(1)], **case} for case in cases]})


def planned(repeat: int, identity: str = IDENTITY) -> dict[str, Any]:
    return {"repeat": repeat, "order": repeat, "identity": identity}


def test_case_that_cannot_run_has_a_record_for_each_repeat(tmp_path: Path) -> None:
    runs = [planned(repeat) for repeat in (1, 2, 3)]
    records = collect(plan_of({"not_available": "no OSU", "runs": runs}), tmp_path)
    assert [(r.repeat, r.status, r.reason) for r in records] == [
        (n, NOT_AVAILABLE, "no OSU") for n in (1, 2, 3)
    ]


@pytest.mark.parametrize(("kind", "again"), [("cores", False), ("network", True), ("program", True)])
def test_what_may_be_there_by_now_is_tried_again(tmp_path: Path, kind: str, again: bool) -> None:
    lines = f"job not_available_kind={kind}\njob not_available=why\njob exit"
    folder = run_folder(tmp_path, "result", output="", evidence=EVIDENCE.replace("job exit", lines))
    assert unusable("imb", folder / "result") == ("was not available: why" if again else "")
    (folder / "attempts").mkdir()
    (folder / "result").rename(folder / "attempts/20260101T000000Z-1")
    assert (read(folder).status, read(folder).reason) == (NOT_AVAILABLE, "why")


def test_osu_output_that_ends_before_its_largest_size_is_cut(tmp_path: Path) -> None:
    text = (Path(__file__).parent / "fixtures/osu/latency.out").read_text()
    last = text.splitlines()[-1].split()[0]
    for largest, status in ((last, OK), (str(2 * int(last)), FAILED)):
        claim = EVIDENCE.replace("claim members", f"claim largest_size={largest}\nclaim members")
        folder = run_folder(tmp_path / largest, "result", output=text, evidence=claim)
        assert read_run(CASE, "osu", RunFolder(folder, 1)).status == status


@pytest.mark.parametrize(
    "damage", ["", "{}", "[]", "not json", '{"format": "mpicampaign-records", "version": 9}']
)
def test_damaged_records_are_refused_by_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(damage + "\n")
    with pytest.raises(UserError, match=r"records\.jsonl:1"):
        read_records(path)


@pytest.mark.parametrize(
    "damage",
    [
        *("", "[]", json.dumps({"format": "mpicampaign-plan", "version": 3})),
        *('{"format": "mpicampaign-plan", "version": 2}', plan_json(PlanFile("c")).replace("[]", "[7]")),
    ],
)
def test_damaged_plan_is_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(damage)
    with pytest.raises(UserError, match=r"plan\.json"):
        read_plan(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("repeat", "x"),
        ("case", {"system": 1, "host_group": "g", "placement": "p", "benchmark": "b"}),
        ("series", [{"benchmark": "b", "ranks": 2, "columns": {"time": ["fast"]}}]),
        ("series", [{"benchmark": "b", "ranks": 2, "columns": {"time": 3}}]),
        ("series", [{"benchmark": "b", "ranks": "2", "columns": {}}]),
        ("metadata", []),
        ("reason", None),
        ("line_rate", "fast"),
    ],
)
def test_a_record_with_a_value_of_another_kind_is_refused_by_line(
    tmp_path: Path, key: str, value: object
) -> None:
    run = make.case_runs("p", repeats=1)
    write_records(tmp_path / "records.jsonl", Header("c"), run * 2)
    lines = (tmp_path / "records.jsonl").read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | {key: value})
    (tmp_path / "records.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=rf"records\.jsonl:3: damaged record: Expected .* at `\$\.{key}"):
        read_records(tmp_path / "records.jsonl")


PINGPONG = (Path(__file__).parent / "fixtures/imb/pingpong.out").read_text()
HERE = host_names()[0]
PROGRAM = "5" * 64


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def result(
    folder: Path,
    output: str = PINGPONG,
    host: str = HERE,
    members: tuple[str, ...] = (),
    program: str = PROGRAM,
    library: str = "as it is",
    claimed_library: str = "",
) -> Run:
    """A run with a result of this host, program and text of its MPI library."""
    file = folder / "libmpi.so.12"
    file.write_text("as it is")
    run = with_draft(plan(campaign(group={"members": members})).runs[0], libraries=claimed_library)
    script = script_of(run, folder)
    lines = [f"job host={host}", f"job program_sha256={program}", f"rank 0 start.library={file}"]
    sums = f"job sha256.libmpi.so.12={checksum(library)}"
    make.write_result(script.result, *lines, sums, output=output)
    script.claim.write_text(
        claim_text(with_draft(run, program=run.draft.program._replace(sha256=program)), ["x"])
    )
    return script


def test_what_cannot_be_read_becomes_an_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, read = result(tmp_path), list[object]()
    monkeypatch.setattr(set_aside, "evidence_in", lambda path: read.append(path) or runs.evidence_in(path))
    assert faulty([script]) == faulty([script]) == [] and len(read) == 1
    result(tmp_path, output="nothing\n")
    assert faulty([script]) == faulty([script]) != []
    [line] = set_aside_faulty([script])
    assert "output.txt: " in line
    assert len(list(script.folder.glob("attempt-*-set-aside-*.txt"))) == 1
    assert not script.has_result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return run_folder(tmp_path, "result", output=OUTPUT, evidence=EVIDENCE, stderr="")


def test_a_file_reads_as_the_folder_of_an_earlier_release_unless_it_was_cut(folder: Path) -> None:
    """Whatever lines the program printed. What was cut is no result, and has not ended."""
    printed = "end of evidence\n\n==> output.txt, 3 bytes <==\nrank 0 end.x=1\n"
    (folder / "result/stderr.txt").write_text(printed)
    evidence = folder / "result/evidence.txt"
    evidence.write_text(evidence.read_text().replace(checksum(""), checksum(printed)))
    before, lines = read(folder), evidence.read_text().splitlines()[1:-1]
    assert (before.status, before.verdict) == (OK, VERIFIED)
    file, attempt = folder / "result.txt", folder / "attempt-20260101T000000Z-1.txt"
    make.write_result(file, *lines, output=OUTPUT, errors=printed)
    assert replace(read(folder), files={}) == replace(before, files={})
    shutil.rmtree(folder / "result")
    text = file.read_bytes()
    for length in (*range(0, len(text), 97), len(text) - 1):
        file.write_bytes(text[:length])
        assert read(folder).verdict != VERIFIED
        file.rename(attempt)
        assert exit_status(folder, "1") is None
        attempt.rename(file)


def look(folder: Path, monkeypatch: pytest.MonkeyPatch, repeat: int = 1) -> tuple[Record, bool]:
    """The record by way of the cache, and whether the run was read for it."""
    before, real = RecordsRead(folder.parent), runs._read_result
    read: list[object] = []

    def counted(*given: Any) -> Record:
        read.append(given)
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(runs, "_read_result", counted)
        record = read_run(CASE, "imb", RunFolder(folder, repeat, 7), None, None, before)
    before.keep()
    assert record == read_run(CASE, "imb", RunFolder(folder, repeat, 7))
    return record, bool(read)


@pytest.mark.parametrize("file", ["result/output.txt", "result/evidence.txt", "result/stderr.txt", "claim"])
def test_a_changed_file_is_read(folder: Path, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    look(folder, monkeypatch)
    content = (folder / file).read_bytes()
    (folder / file).write_bytes(content[:-1] + b" ")  # as long, but for an empty one
    assert look(folder, monkeypatch)[1]


def test_another_program_or_plan_reads_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look(folder, monkeypatch)
    assert look(folder, monkeypatch, repeat=2)[1]
    look(folder, monkeypatch)
    monkeypatch.setattr(caches, "program_state", lambda: "another")
    assert look(folder, monkeypatch)[1]


@pytest.mark.parametrize("damage", [lambda text: text[:-200], lambda text: text.replace(" {", " [", 1)])
def test_a_damaged_cache_is_no_obstacle(
    folder: Path, damage: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(folder, monkeypatch)
    cache = folder.parent / RECORDS_FILE
    cache.write_text(damage(cache.read_text()))  # type: ignore[operator]
    assert look(folder, monkeypatch)[1]
    assert json.loads(cache.read_text().splitlines()[1].split(" ", 2)[2])["status"] == OK


def forged(folder: Path) -> None:
    """Numbers of the cache, with digests that fit."""
    state, *lines = (folder / RECORDS_FILE).read_bytes().splitlines()
    changed = [line.split(b" ", 1)[1].replace(b"5112.4", b"9999.0") for line in lines]
    assert all(b"9999.0" in rest for rest in changed)
    signed = [b"%b %b" % (hashlib.sha256(rest).hexdigest().encode(), rest) for rest in changed]
    (folder / RECORDS_FILE).write_bytes(b"\n".join([state, *signed, b""]))


def test_what_goes_out_is_read_from_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who edits a line with its digest sees it at home, and no other site does."""
    site = Site(tmp_path)
    site.end_all()
    limit = "\nexpect: [{benchmark: ours, metric: steps, at_least: 1}]\n"
    site.file.write_text(site.file.read_text() + limit)
    site.records()
    forged(site.folder)
    records = site.records()
    assert rates(records) == {9999.0}
    write_records(site.folder / RECORDS, Header("own", "A title", (8,)), records)
    [judged] = judge_folder(site.folder, load_campaign(site.file))
    assert (judged.median, judged.n) == (5112.4, 2)
    monkeypatch.chdir(tmp_path)
    assert main(["bundle", "--results", str(site.folder), "-o", "own.tar.gz"]) == 0
    with tarfile.open("own.tar.gz") as bundle:
        carried = bundle.extractfile(RECORDS)
        assert carried
        header, records = records_from(carried.read(), RECORDS)
    assert (header, rates(records)) == (Header("own", "A title", (8,)), {5112.4})


def rates(records: list[Record]) -> set[float | None]:
    return {value for run in records for series in run.series for value in series.columns.get("steps", ())}


def test_a_library_that_changed_is_seen_though_the_result_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = result(tmp_path)
    assert faulty([script]) == []
    monkeypatch.setattr(set_aside, "present_library", lambda *_: checksum("another"))
    assert [fault.earlier for _, fault in faulty([script])] == [True]


def test_what_another_package_may_read_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for another in (False, True):
        monkeypatch.setattr(set_aside, "plugged_in", lambda another=another: another)
        assert faulty([result(tmp_path)]) == []
        kept = list(tmp_path.rglob(set_aside.FILE))
        assert bool(kept) != another
        for file in kept:
            file.unlink()


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"host": "n1"}, "it was made on n1, not on "),
        ({"program": "6" * 64}, "the program has changed: 666666666666 then, 555555555555 now"),
        ({"library": "before"}, f"the MPI library has changed: {checksum('before')[:12]} then"),
    ],
)
def test_a_result_of_another_state_is_kept_whole_beside_its_run(
    tmp_path: Path, made: dict[str, str], reason: str
) -> None:
    script = result(tmp_path, **made)  # type: ignore[arg-type]
    [line] = set_aside_faulty([script])
    assert reason in line
    kept = script.folder.parent / "earlier" / f"{script.folder.name}-1"
    assert {path.name for path in kept.iterdir()} == {"claim", "result.txt"}
    assert not script.folder.exists()
