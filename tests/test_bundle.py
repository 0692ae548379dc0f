"""Bundles: their contents; anything damaged or hostile is refused with the exact reason."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import golden_messages
import pytest
from bundles import campaign_folder, declared, rewritten, with_manifest
from evidence_texts import folder_of

from mpicampaign.base.errors import UserError
from mpicampaign.bundle import archive as form
from mpicampaign.bundle import read
from mpicampaign.bundle.archive import BundleError
from mpicampaign.bundle.read import verify
from mpicampaign.bundle.write import Bundled, write_bundle
from mpicampaign.cli import main
from mpicampaign.collect.campaign import collect_own, plan_of

FILES = {"campaign.yaml": b"campaign: c\n"}


def bundled(folder: Path, path: Path) -> Bundled:
    return write_bundle(path, folder, "c", collect_own(plan_of(folder), folder), FILES)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return bundled(campaign_folder(tmp_path / "site"), tmp_path / "good.tar.gz").path


# --- writing


def test_links_and_pipes_are_left_out_and_named(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path)
    (tmp_path / "secret").write_text("secret")
    (folder / "runs" / "link.txt").symlink_to(tmp_path / "secret")
    (folder / "runs" / "folder").symlink_to(tmp_path)
    os.mkfifo(folder / "runs" / "pipe")
    made = bundled(folder, tmp_path / "c.tar.gz")
    link = "a link; only regular files are bundled"
    assert sorted(made.left_out) == [
        f"runs/folder: {link}",
        f"runs/link.txt: {link}",
        "runs/pipe: not a regular file",
    ]
    assert b"secret" not in gzip.decompress(made.path.read_bytes())


def test_long_and_foreign_names_come_through(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path)
    deep = folder / "runs" / "a b" / ("ö" * 100) / ("x" * 200)
    deep.mkdir(parents=True)
    (deep / "job é.out").write_text("1")
    manifest = bundled(folder, tmp_path / "c.tar.gz").manifest
    assert any(member.path.endswith("job é.out") for member in manifest.members)
    assert verify(tmp_path / "c.tar.gz") == manifest


def test_nothing_to_bundle(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    with pytest.raises(UserError, match="no results to bundle"):
        write_bundle(tmp_path / "x.tar.gz", tmp_path / "c", "c", [], {})


def test_a_file_that_changes_meanwhile_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = campaign_folder(tmp_path)

    def changes(text: str) -> Any:
        (folder / "plan.json").write_text("{}")
        return text

    monkeypatch.setattr(
        "mpicampaign.bundle.write.manifest_text", lambda manifest: form.manifest_text(changes(manifest))
    )
    with pytest.raises(UserError, match=r"plan\.json changed while it was bundled"):
        bundled(folder, tmp_path / "c.tar.gz")
    assert not (tmp_path / "c.tar.gz").exists()


# --- refusing


def refused(path: Path) -> str:
    with pytest.raises(BundleError) as error:
        verify(path)
    return str(error.value).replace(f"{path.parent}/", "")


def test_a_missing_end_and_a_missing_member_are_noticed(good: Path) -> None:
    whole = gzip.decompress(good.read_bytes())
    used = len(whole.rstrip(b"\0")) // 512 * 512 + 512
    for length, reason in ((used, "cut off at its end"), (used - 1024, "cut off in or before 'runs/")):
        good.write_bytes(gzip.compress(whole[:length]))
        assert reason in refused(good)


def test_every_changed_byte_is_noticed(good: Path) -> None:
    whole = good.read_bytes()
    for place in range(10, len(whole), 37):
        good.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        refused(good)


def test_another_length_is_named(good: Path, tmp_path: Path) -> None:
    said = refused(rewritten(good, tmp_path / "b.tar.gz", lambda m: m.__setitem__(-2, (m[-2][0], b"x"))))
    assert "output.txt: 1 bytes, " in said and "in the manifest" in said


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b"x" if kind == tarfile.REGTYPE else b""


def test_modes_that_no_file_of_a_bundle_has(good: Path, tmp_path: Path) -> None:
    """Set-user-id, writable by all, executable: of any member, the manifest among them."""
    for mode in (0o4644, 0o2644, 0o1644, 0o646, 0o664, 0o744, 0o645):
        for number in (0, -1):

            def alter(members: list[Any], number: int = number, mode: int = mode) -> None:
                members[number][0].mode = mode

            assert f"its mode is {mode:o}; " in refused(rewritten(good, tmp_path / "b.tar.gz", alter))
    readable = rewritten(good, tmp_path / "b.tar.gz", lambda members: setattr(members[1][0], "mode", 0o400))
    assert verify(readable)


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        (
            member("runs/l", tarfile.SYMTYPE, "/etc/passwd"),
            "'runs/l': a link; a bundle has only regular files",
        ),
        (member("runs/l", tarfile.LNKTYPE, "plan.json"), "a link"),
        (member("runs/d", tarfile.CHRTYPE), "a device"),
        (member("runs/p", tarfile.FIFOTYPE), "a pipe"),
        (member("runs/d", tarfile.DIRTYPE), "a folder"),
        (member("/etc/cron.d/x"), "'/etc/cron.d/x': this path leads out"),
        (member("runs/../../x"), "this path leads out"),
        (member("tables/x"), "a bundle has no such part"),
        (member("runs/x\x1b[2J"), "this path has control characters"),
        (member("runs/other"), "found 'runs/other' where the manifest lists 'campaign/campaign.yaml'"),
    ],
)
def test_members_that_no_bundle_holds(good: Path, tmp_path: Path, extra: Any, reason: str) -> None:
    bad = rewritten(good, tmp_path / "b.tar.gz", lambda members: members.insert(1, extra))
    assert reason in refused(bad)


def with_value(place: list[Any], value: Any) -> Callable[[Any], object]:
    """What sets the value at a place of data, or removes it where the value is null."""
    *around, last = place

    def change(data: Any) -> None:
        for key in around:
            data = data[key]
        if value is None:
            del data[last]
        else:
            data[last] = value

    return change


def test_manifests_that_lie(good: Path, tmp_path: Path) -> None:
    def said(*change: Any) -> str:
        altered = with_value(*change)
        return refused(
            rewritten(good, tmp_path / "b.tar.gz", lambda members: with_manifest(members, altered))
        )

    golden_messages.check("mistakes/manifests", said)


def test_plans_that_lead_elsewhere(good: Path, tmp_path: Path) -> None:
    def said(*change: Any) -> str:
        def both(members: Any) -> None:
            number = next(n for n, (info, _) in enumerate(members) if info.name == "plan.json")
            plan = json.loads(members[number][1])
            with_value(*change)(plan)
            text = json.dumps(plan).encode()
            members[number] = (members[number][0], text)
            facts = {"size": len(text), "sha256": hashlib.sha256(text).hexdigest()}
            with_manifest(members, lambda data: data["members"][number - 1].update(facts))

        return refused(rewritten(good, tmp_path / "b.tar.gz", both))

    golden_messages.check("mistakes/plans", said)


def test_a_bomb_is_refused_before_it_unfolds(good: Path, tmp_path: Path) -> None:
    """The manifest, headers and trailing data are limited in size."""
    zeros = io.BytesIO()
    with gzip.GzipFile(fileobj=zeros, mode="wb") as packed:
        packed.write(gzip.decompress(good.read_bytes()) + b"\0" * 50_000_000)
    (tmp_path / "tail.tar.gz").write_bytes(zeros.getvalue())
    assert "there is data after its end" in refused(tmp_path / "tail.tar.gz")
    for kind, reason in (
        (tarfile.REGTYPE, "MANIFEST.json is larger than"),
        (tarfile.XHDTYPE, "its header has"),
    ):
        info = tarfile.TarInfo("MANIFEST.json")
        info.size, info.type = 8 * 2**30 - 1, kind
        (tmp_path / "bomb.tar.gz").write_bytes(gzip.compress(info.tobuf() + b"\0" * 10_000_000))
        assert reason in refused(tmp_path / "bomb.tar.gz")


def test_a_bundle_that_holds_too_much(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form, "MAX_TOTAL", 1000)
    assert "more than" in refused(good)
    monkeypatch.setattr(form, "MAX_MEMBERS", 2)
    assert "names more than 2 files" in refused(good)


def test_what_is_not_a_bundle_at_all(tmp_path: Path) -> None:
    for content in (b"", b"hello", gzip.compress(b"hello" * 1000), gzip.compress(b"")):
        (tmp_path / "x").write_bytes(content)
        refused(tmp_path / "x")
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as archive:
        archive.addfile(*[member("runs/a")[0]], io.BytesIO())
    assert "not a bundle of mpicampaign: it begins with 'runs/a'" in refused(tmp_path / "x.tar.gz")
    assert read.MAX_MANIFEST == form.MAX_MANIFEST


# --- the command


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = campaign_folder(tmp_path)
    target = tmp_path / "c.tar.gz"
    assert main(["bundle", "--results", str(folder), "-o", str(target)]) == 0
    said = capsys.readouterr().out
    assert f"{target}: 11 files" in said
    assert "here: 2 runs; hosts blue1; CPU Invented CPU; MPI intelmpi" in said
    assert main(["bundle", "--results", str(tmp_path / "nothing"), "-o", str(target)]) == 2
    assert "--results: no such folder" in capsys.readouterr().err
    assert main(["bundle", "--results", str(folder), "-o", str(tmp_path / "no" / "x.tar.gz")]) == 2
    assert "the bundle cannot be written: No such file" in capsys.readouterr().err


def test_runs_that_cannot_be_carried_are_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = campaign_folder(tmp_path)
    output = folder / folder_of(declared("here", 1)) / "result/output.txt"
    output.rename(tmp_path / "elsewhere.txt")
    output.symlink_to(tmp_path / "elsewhere.txt")
    assert main(["bundle", "--results", str(folder), "-o", str(tmp_path / "c.tar.gz")]) == 1
    out, err = capsys.readouterr()
    assert "here: 1 runs; hosts" in out and "output.txt: a link" in out
    assert "1 run is not in the bundle" in err


def test_a_bundle_without_any_result_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = campaign_folder(tmp_path)
    for result in folder.glob("runs/*/*/*/*/result"):
        shutil.rmtree(result)
    assert main(["bundle", "--results", str(folder), "-o", str(tmp_path / "c.tar.gz")]) == 1
    assert "the bundle has no run with a result" in capsys.readouterr().err


def test_a_bundle_replaces_bundles_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, target = campaign_folder(tmp_path), tmp_path / "map.yaml"
    target.write_text("campaign: c\n")
    command = ["bundle", "--results", str(folder), "-o", str(target)]
    assert main(command) == 2
    assert "this file exists and is not a bundle" in capsys.readouterr().err
    assert target.read_text() == "campaign: c\n"
    target.write_bytes(bundled(folder, tmp_path / "c.tar.gz").path.read_bytes()[:-20])
    assert main(command) == 0
    assert verify(target)


def test_the_folder_of_all_results_is_not_a_campaign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "results" / "c" / "imports").mkdir(parents=True)
    assert main(["bundle", "--results", str(tmp_path / "results")]) == 2
    assert "give the folder of one campaign, results/CAMPAIGN" in capsys.readouterr().err
