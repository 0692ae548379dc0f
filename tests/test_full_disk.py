"""A full disk: each command names the file that it could not write, and leaves no part of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from build_campaigns import write_trivial
from conftest import ProjectCopy, completed

from mpicampaign.base.files import write_output
from mpicampaign.collect.runs import evidence_in

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


def on_small_disk(project: ProjectCopy, script: str) -> subprocess.CompletedProcess[str]:
    """The script in a mount namespace of its own; skips where it ends with 77."""
    alone = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = completed(
        [*alone, "bash", "-c", script.replace("{python}", sys.executable)],
        cwd=project.folder,
        env=project.environment,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a file system cannot be mounted here")
    return done


@pytest.mark.full
@pytest.mark.slow
def test_each_command_names_the_file_that_it_cannot_write(project: ProjectCopy) -> None:
    write_trivial(project)
    done = on_small_disk(project, SCRIPT)
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
    assert statuses == ["2", "2", "2", "2", "2", "1"]
    assert parts[-1].splitlines()[1:] == [], "what is left"
    assert "None" not in done.stdout and "Traceback" not in done.stdout


# The disk fills after the first run, while the second one is held and the call is stopped; room is made when
# the call waits.
HOLD = "[ ! -e {mark}.ran ] || until [ -e {mark}.full ]; do sleep 0.05; done; touch {mark}.ran"
WAIT = """
mkdir disk && mount -t tmpfs -o size=6m small disk && mkdir disk/results && ln -s disk/results . || exit 77
log=$PWD/log
set -m
{python} -m mpicampaign.cli run --campaign trivial.yaml >"$log" 2>&1 &
until [ -e "$(echo results/trivial/runs/*/*/*/*/result.txt | cut -d ' ' -f 1)" ]; do sleep 0.05; done
kill -STOP -- -$!
dd if=/dev/zero of=disk/fill bs=1k 2>/dev/null
touch ../mark.full
kill -CONT -- -$!
until grep -q "can't be written" "$log"; do sleep 0.05; kill -0 $! || break; done
rm disk/fill
wait $!
status=$?
cat "$log"
exit $status
"""


@pytest.mark.slow
def test_runs_on_a_full_disk_wait_and_none_fails(project: ProjectCopy) -> None:
    write_trivial(project, body=HOLD.format(mark=project.folder.parent / "mark"))
    done = on_small_disk(project, WAIT)
    assert done.returncode == 0, done.stdout
    folder = project.folder / "results/trivial"
    assert f"results can't be written: {folder}: No space left on device, 0." in done.stdout
    assert "results can be written again" in done.stdout
    assert "FAILED" not in done.stdout and "Traceback" not in done.stdout


SMALL = """
mkdir tmp && mount -t tmpfs -o size=100k small tmp || exit 77
# each job has a folder of its own there
echo 'export TMPDIR=/tmp/$$; mkdir -p "$TMPDIR"' | sed "s:/tmp:$PWD/tmp:" >prolog
BASH_ENV=$PWD/prolog {python} -m mpicampaign.cli run --campaign trivial.yaml 2>&1
"""


@pytest.mark.slow
def test_a_run_that_fills_the_nodes_disk_is_made_in_its_own_folder(project: ProjectCopy) -> None:
    write_trivial(project, body="yes '# padding' | head -n 20000")
    done = on_small_disk(project, SMALL)
    assert done.returncode == 0, done.stdout
    said = rf"could not write to {project.folder}/tmp/[0-9]+ on {os.uname().nodename}, trying again"
    assert len(re.findall(said, done.stdout)) == done.stdout.count("could not write") > 0
    folders = [evidence_in(path).job["folder"] for path in project.folder.glob("results/**/result.txt")]
    assert all(folder.startswith(f"{project.folder}/results/trivial/runs/") for folder in folders)


READ_ONLY = """
mpi="{python} -m mpicampaign.cli"
$mpi run --campaign trivial.yaml >/dev/null 2>&1 || exit 1
touch -d 2026-01-02T03:04 results/trivial/report.html
mount --bind results results && mount -o remount,bind,ro results || exit 77
$mpi report --campaign trivial.yaml | tail -n 1; echo ${PIPESTATUS[0]}
$mpi report --recheck --campaign trivial.yaml | tail -n 1; echo ${PIPESTATUS[0]}
$mpi report --placement one --campaign trivial.yaml; echo $?
"""


@pytest.mark.full
@pytest.mark.slow
def test_a_report_of_a_read_only_folder_shows_the_existing_one(project: ProjectCopy) -> None:
    write_trivial(project)
    done = on_small_disk(project, READ_ONLY)
    folder = project.folder / "results/trivial"
    first, status, again, second, third = done.stdout.splitlines()
    assert (status, second, third) == ("0", "0", "2"), done.stderr
    assert first.startswith(f"{folder}/") and again.startswith(f"{folder}/")
    end = f"Read-only file system: no report is written; the one of 2026-01-02 03:04 remains: {folder}"
    assert first.endswith(f"{end}/report.html") and again.endswith(f"{end}/report.html")
    assert f"{folder}/" in done.stderr and "Read-only file system" in done.stderr


def test_a_link_or_a_device_is_written_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_output(tmp_path / "link", b"1")
    write_output(Path(os.devnull), b"1")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"1"
    assert Path(os.devnull).is_char_device()
