"""Merging bundles: the same tables afterwards, no system mixed with another, nothing half visible."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bundles import campaign_folder, case

from mpicampaign.base.errors import UserError
from mpicampaign.base.records import MISSING, OK, Record
from mpicampaign.bundle import merge as merging
from mpicampaign.bundle.merge import Outcome, merge
from mpicampaign.bundle.write import write_bundle
from mpicampaign.cli import main
from mpicampaign.cli.output import beside
from mpicampaign.collect.campaign import collect_all, collect_own, plan_of
from mpicampaign.interface.results import load


def bundle(tmp_path: Path, name: str, **facts: Any) -> Path:
    """A bundle of a site that has its own results folder."""
    folder = campaign_folder(tmp_path / name, **facts)
    path = tmp_path / f"{name}.tar.gz"
    write_bundle(path, folder, "c", collect_own(plan_of(folder), folder), {})
    return path


def records(results: Path) -> list[Record]:
    return collect_all(results / "c")


def merged(results: Path, *bundles: Path, **names: str) -> Outcome:
    return merge(bundles, results, names)


def said(outcome: Outcome) -> str:
    return "\n".join(map(str, outcome.refused))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_runs_of_another_campaign_file_are_not_mixed_in(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path / "here", "elsewhere", "green1")
    plan = json.loads((folder / "plan.json").read_text())
    plan["cases"] = [case("here", 2, budget=5)]
    (folder / "plan.json").write_text(json.dumps(plan))
    outcome = merged(tmp_path / "here", bundle(tmp_path, "site"))
    assert outcome.lines[1:] == [
        "  left out, since the campaign here differs: "
        "arguments: --budget 3 → --budget 5 (blue SHM-1 tree_gather)"
    ]
    assert outcome.empty == ["site.tar.gz"]
    assert {(record.status, record.reason) for record in records(tmp_path / "here")} <= {
        (MISSING, "only results of another campaign file were merged"),
        (MISSING, "not run yet"),
    }


def test_twice_the_same_bundle_and_ones_own_results(tmp_path: Path) -> None:
    path = bundle(tmp_path, "site")
    merged(tmp_path / "here", path)
    before = files(tmp_path / "here")
    again = merged(tmp_path / "here", path)
    assert "already merged" in again.lines[0] and again.refused == []
    assert files(tmp_path / "here") == before
    merged(tmp_path / "site", path)
    assert len([record for record in records(tmp_path / "site") if record.status == OK]) == 2


def test_other_runs_of_the_same_number_get_the_next_free_one(tmp_path: Path) -> None:
    first = bundle(tmp_path, "one")
    folder = campaign_folder(tmp_path / "two")
    for path in folder.rglob("evidence.txt"):
        path.write_text(path.read_text().replace("ended=2026-01-02", "ended=2026-01-03"))
    second = tmp_path / "two.tar.gz"
    write_bundle(second, folder, "c", collect_own(plan_of(folder), folder), {})
    merged(tmp_path / "here", first, second)
    found = [record for record in records(tmp_path / "here") if record.status == OK]
    assert [record.repeat for record in found] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("facts", "reason"),
    [({"host": "red1"}, "they have no host in common"), ({"cpu": "Another CPU"}, "the CPU models differ")],
)
def test_two_systems_of_one_name_are_not_mixed(tmp_path: Path, facts: dict[str, str], reason: str) -> None:
    campaign_folder(tmp_path / "here")
    path = bundle(tmp_path, "site", **facts)
    outcome = merged(tmp_path / "here", path)
    assert outcome.lines == [] and not list((tmp_path / "here" / "c").glob("merged/*"))
    text = said(outcome)
    assert f"refused: its system 'here' may be another than system 'here' here: {reason}" in text
    assert (
        f"in the bundle: hosts {facts.get('host', 'blue1')}; CPU {facts.get('cpu', 'Invented CPU')}" in text
    )
    assert "here: hosts blue1; CPU Invented CPU; MPI intelmpi" in text
    assert "--rename here=NEW; if they are one system: --rename here=here" in text


def test_a_renamed_system_says_so(tmp_path: Path) -> None:
    campaign_folder(tmp_path / "here")
    path = bundle(tmp_path, "site", host="red1")
    outcome = merged(tmp_path / "here", path, here="there")
    assert outcome.lines == ["site.tar.gz: merged into campaign c: 2 runs, systems: there"]
    found = [record for record in records(tmp_path / "here") if record.status == OK]
    assert {record.case.system: record.hosts for record in found} == {"here": ("blue1",), "there": ("red1",)}
    (old,) = {r.metadata.get("system named in its bundle") for r in found if r.case.system == "there"}
    assert old == "here"
    assert all(record.verdict == found[0].verdict for record in found)
    other = merged(tmp_path / "here", path, here="yonder")
    assert "merged before with other system names (here=there)" in said(other)


def test_a_new_name_for_a_system_that_is_not_in_it(tmp_path: Path) -> None:
    outcome = merged(tmp_path / "here", bundle(tmp_path, "site"), hree="there")
    assert "--rename hree: not a system of the bundle, which has here" in said(outcome)
    assert outcome.lines == []


def test_a_new_name_is_for_one_bundle(tmp_path: Path) -> None:
    """The same name is a different system in each."""
    one, two = bundle(tmp_path, "one"), bundle(tmp_path, "two", host="red1")
    with pytest.raises(UserError, match="applies to the systems of one bundle, but 2 are given"):
        merged(tmp_path / "here", one, two, here="there")
    assert not list((tmp_path / "here").rglob("merge.json"))


def test_the_folder_of_one_campaign_is_not_that_of_results(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path / "here")
    with pytest.raises(UserError, match=r"this is the folder of one campaign\n +name its parent folder"):
        merged(folder, bundle(tmp_path, "site"))
    assert not (folder / "c").exists()


def test_damaged_bundles_are_named_and_good_ones_taken(tmp_path: Path) -> None:
    good, bad, cut = (bundle(tmp_path, name, system=name, host=name) for name in ("good", "bad", "cut"))
    content = bytearray(bad.read_bytes())
    content[len(content) // 2] ^= 1
    bad.write_bytes(content)
    cut.write_bytes(cut.read_bytes()[:-20])
    outcome = merged(tmp_path / "here", bad, tmp_path / "absent.tar.gz", good, cut)
    assert [line.split(":")[0] for line in outcome.lines] == ["good.tar.gz"]
    named = [problem.file for problem in outcome.refused]
    assert named == [str(bad), str(tmp_path / "absent.tar.gz"), str(cut)]
    assert "No such file" in said(outcome) and "refused: damaged or cut off" in said(outcome)
    assert len(list((tmp_path / "here" / "c" / "merged").iterdir())) == 1


def test_results_that_would_stop_every_report_are_refused(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path / "site")
    plan = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(plan | {"version": 9}))
    path = tmp_path / "site.tar.gz"
    write_bundle(path, folder, "c", [], {})
    reason = "its results cannot be read: …/plan.json is not a plan of version 2"
    assert reason in said(merged(tmp_path / "here", path))
    assert list((tmp_path / "here").glob("c/merged/*")) == []


def test_what_was_changed_after_a_merge_is_not_overwritten(tmp_path: Path) -> None:
    path = bundle(tmp_path, "site")
    merged(tmp_path / "here", path)
    (output, *_) = (tmp_path / "here").rglob("output.txt")
    output.write_text("mine")
    assert "output.txt was changed or removed since; it is not overwritten" in said(
        merged(tmp_path / "here", path)
    )
    assert output.read_text() == "mine"


def test_too_little_space_is_reported_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bundle(tmp_path, "site")
    usage = merging.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(merging.shutil, "disk_usage", lambda _: usage._replace(free=10))
    assert "has 0 MB free" in said(merged(tmp_path / "here", path))


KILLED = """
import sys, time
from pathlib import Path
from mpicampaign.bundle import merge
def slow(path, manifest, part, unpack=merge._unpack):
    unpack(path, manifest, part)
    print("unpacked", flush=True)
    time.sleep(60)
merge._unpack = slow
merge.merge([Path(sys.argv[1])], Path(sys.argv[2]), {})
"""


def test_a_merge_that_is_killed_leaves_nothing_visible(tmp_path: Path) -> None:
    path, results = bundle(tmp_path, "site"), tmp_path / "here"
    command = [sys.executable, "-c", KILLED, str(path), str(results)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "unpacked\n"
        with pytest.raises(UserError, match="another merge is running"):
            merged(results, path)
        process.send_signal(signal.SIGKILL)
    with pytest.raises(UserError, match="no results yet"):
        records(results)
    left = [entry.name for entry in (results / "c" / "merged").iterdir()]
    assert len(left) == 1 and left[0].startswith(".")
    assert merged(results, path).refused == []
    assert len(list((results / "c" / "merged").iterdir())) == 1
    assert len([record for record in records(results) if record.status == OK]) == 2


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, other = bundle(tmp_path, "good"), bundle(tmp_path, "other", host="red1")
    results = ["--results", str(tmp_path / "here")]
    assert main(["merge", str(good), str(other), *results]) == 2
    said = capsys.readouterr()
    assert "good.tar.gz: merged into campaign c" in said.out and f"{other}: refused: its system" in said.err
    assert main(["merge", str(other), "--rename", "here=red", *results]) == 0
    for text in ("here", "here=", "=x", "here=a/b", "here=.."):
        assert main(["merge", str(other), "--rename", text, *results]) == 2
        assert "invalid --rename" in capsys.readouterr().err


def test_equal_repeats_all_count_and_once_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("raw", "site", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "site")
    for n in range(1, 5):
        Path(f"../raw/run{n}.out").write_text("# OSU MPI Barrier Latency Test\n# Avg Latency(us)\n 2.41\n")
        assert main(["import", "../raw", *(["--map", "raw-map.yaml"] if n > 1 else [])]) == 0
        assert main(["bundle", "--results", "results/raw", "-o", f"../{n}.tar.gz"]) == 0
    monkeypatch.chdir(tmp_path / "here")
    assert [main(["merge", f"../{n}.tar.gz", "--rename", "raw=raw"]) for n in (3, 1, 4)] == [0, 0, 0]
    said = capsys.readouterr().out
    assert load("../3.tar.gz").campaign == "raw" and " 0.0 " not in said
    assert main(said.split("next: mpicampaign ")[1].splitlines()[0].split()) == 0
    assert [run.repeat for run in collect_all(Path("results/raw"))] == [1, 2, 3, 4]
    planned: Any = SimpleNamespace(plan=plan_of(Path("results/raw")), folder=Path("results/raw"))
    assert beside(planned)[-1].startswith("3 merged bundles: their runs are in the report")
