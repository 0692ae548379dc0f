"""A full disk: each command names the file that it could not write, and leaves no part of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ProjectCopy
from trivial_campaign import write_trivial

from mpicampaign.files import naming, whole, write_output

FULL = "No space left on device"
# A small file system, filled when the campaign has run; then each command, its errors and its exit status.
SCRIPT = """
mkdir disk && mount -t tmpfs -o size=6m small disk && mkdir disk/results disk/build || exit 77
ln -s disk/results disk/build .
mpi="{python} -m mpicampaign.cli"
fill() { dd if=/dev/zero of=disk/fill bs=1k 2>/dev/null; }
try() { echo "== $*"; "$@" 2>&1 >/dev/null; echo "== $?"; }
$mpi run --campaign trivial.yaml >/dev/null 2>&1 || exit 1
fill
try $mpi report --recheck --campaign trivial.yaml
try $mpi tables --results results/trivial -o results/tables.csv
try $mpi bundle --campaign trivial.yaml --output results/all.tar.gz
try $mpi doctor --no-probe --scheduler none --output results/site.yaml
rm -r disk/fill disk/results/trivial/runs disk/results/trivial/lib && fill
try $mpi run --campaign trivial.yaml
rm -r disk/build/* disk/fill && mkdir -p disk/build/here/{01,02,03,04} && fill
try $mpi build --campaign trivial.yaml
find disk -name '*.part' -o -name 'building-*' -o -name tables.csv -o -name 'site.yaml'
"""


@pytest.mark.slow
def test_each_command_names_the_file_that_it_cannot_write(project: ProjectCopy) -> None:
    write_trivial(project)
    script = SCRIPT.replace("{python}", sys.executable)
    alone = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = subprocess.run(
        [*alone, "bash", "-c", script],
        cwd=project.folder,
        env=project.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a file system cannot be mounted here")
    parts = done.stdout.split("== ")[1:]
    said = {parts[i].split()[3]: parts[i].partition("\n")[2] for i in range(0, len(parts), 2)}
    statuses = [part.split()[0] for part in parts[1::2]]
    results = project.folder / "results"
    assert said["report"] == f"mpicampaign: {results}/trivial/tables/summary.txt: {FULL}\n"
    assert said["tables"] == f"mpicampaign: results/tables.csv: {FULL}\n"
    assert said["bundle"].startswith("mpicampaign: results/all.tar.gz: ") and FULL in said["bundle"]
    assert said["doctor"] == f"mpicampaign: results/site.yaml: {FULL}\n"
    assert f"{results}/trivial/lib/" in said["run"] and FULL in said["run"]
    assert f"{project.folder}/build/here/" in said["build"] and said["build"].count(FULL) == 1
    assert statuses == ["2", "2", "2", "2", "1", "1"]
    assert parts[-1].splitlines()[1:] == [], "what is left"
    assert "None" not in done.stdout and "Traceback" not in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_standard_output_is_named(project: ProjectCopy) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            project.command("plan"),
            cwd=project.folder,
            env=project.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, f"mpicampaign: standard output: {FULL}\n")


def test_an_error_without_a_file_gets_its_name_and_others_keep_theirs(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    with pytest.raises(OSError, match=FULL) as full, whole(path) as part:
        part.write_text("half")
        raise OSError(28, FULL)
    assert full.value.filename == str(path) and list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError) as absent, naming(path):
        (tmp_path / "other").read_text()
    assert absent.value.filename == str(tmp_path / "other")


def test_a_link_or_a_device_is_written_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_output(tmp_path / "link", b"1")
    write_output(Path(os.devnull), b"1")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"1"
    assert Path(os.devnull).is_char_device()
