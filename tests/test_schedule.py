"""Schedules: when a tick is due, what it makes, and the lines that cron needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from build_campaigns import campaign, plan, write_trivial
from conftest import ProjectCopy, completed, executable

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import locked
from mpicampaign.campaign.model import Schedule
from mpicampaign.history.series import read_series
from mpicampaign.history.ticks import BEGAN, BUSY, ENDED, TickLog
from mpicampaign.jobs.prepare import prepare, write_scripts
from mpicampaign.run.new_runs import FILE as NEW_RUNS
from mpicampaign.schedule import crontab
from mpicampaign.schedule.crontab import limit_of_tick, scrontab_lines
from mpicampaign.schedule.notice import notify
from mpicampaign.schedule.script import MAX_LOG, script_path, script_text
from mpicampaign.schedule.tick import LOCK, Work, tick
from mpicampaign.schedule.times import is_due

MINUTE, HOUR = 60, 3600


def schedule(every: int, **more: Any) -> Schedule:
    return replace(Schedule(every, "new"), **more)


def test_a_notice_is_a_file_whose_name_the_command_gets(tmp_path: Path) -> None:
    lines = notify(tmp_path, "- found\n", ["cp", "-t", str(tmp_path)])
    notice = tmp_path / "history/notices" / next(tmp_path.glob("*.md")).name
    assert lines == [f"notice: {notice}"] and notice.read_text() == "- found\n"
    [_, failure] = notify(tmp_path, "- found\n", ["false"])
    assert failure.startswith("the notify command failed: ")


class Ticks:
    """Ticks of a campaign in this process: the runs are made by their scripts, without Snakemake."""

    def __init__(self, project: ProjectCopy) -> None:
        self.file = write_trivial(project, repeats=1, schedule={"every": "1 day", "series": "new"})
        self.results = project.folder / "results"
        self.folder, self.said = self.results / "trivial", list[str]()

    def run(self, one_repeat: bool) -> int:
        prepared = prepare(self.file, results=self.results)
        write_scripts(prepared)
        for script in prepared.pending:
            subprocess.run(["bash", script.path], check=True, capture_output=True)
        return 0

    def make(self, only_if_due: bool = False) -> int:
        self.said.clear()
        work = Work(self.run, lambda prepared, lines: None, self.said.append)
        return tick(prepare(self.file, results=self.results), work, only_if_due)

    def began(self, ago: timedelta) -> None:
        """The last tick seems to have begun so long ago, and to have ended."""
        past = (datetime.now(UTC) - ago).isoformat(timespec="seconds")
        series = read_series(self.folder).name
        events = ({"event": event, "time": past, "series": series} for event in (BEGAN, ENDED))
        TickLog(self.folder).path.write_text("".join(json.dumps(event) + "\n" for event in events))


def outputs_in(pack: Path) -> list[bytes]:
    with tarfile.open(pack) as kept:
        names = [name for name in kept.getnames() if name.endswith("/result.txt")]
        return sorted(kept.extractfile(name).read() for name in names)  # type: ignore[union-attr]


def test_a_tick_packs_the_finished_series_and_says_what_was_missed(project: ProjectCopy) -> None:
    ticks = Ticks(project)
    assert ticks.make() == 0 and ticks.said == []
    first = read_series(ticks.folder).name
    (ticks.folder / "runs/link").symlink_to("nowhere")
    (ticks.folder / NEW_RUNS).touch()
    ticks.file.write_text(ticks.file.read_text().replace("time_limit: 1 min", "time_limit: 2 min"))
    ticks.began(timedelta(days=3))
    assert ticks.make() == 0
    changed, link, missed = ticks.said
    assert changed == "the campaign file has changed: time_limit: 1 min → 2 min"
    assert "runs/link: a link; only regular files are bundled" in link
    assert missed == "2 ticks were missed before this one"
    second = read_series(ticks.folder)
    assert second.name > first and second.changed == ("time_limit: 1 min → 2 min",)
    assert not (ticks.folder / NEW_RUNS).exists(), "a request is of a series"
    assert len(outputs_in(ticks.folder / f"history/series/{first}.tar.gz")) == 2
    assert (ticks.folder / f"history/unpacked/{first}/link").is_symlink()
    ticks.began(timedelta(days=-1))
    assert ticks.make() == 0
    assert "this machine's clock went back by" in ticks.said[-1]


def test_a_tick_that_asks_whether_it_is_due_makes_nothing_too_early(project: ProjectCopy) -> None:
    ticks = Ticks(project)
    assert ticks.make(only_if_due=True) == 0
    [*made] = (ticks.folder / "runs").rglob("result.txt")
    assert made
    ticks.make(only_if_due=True)
    assert [*(ticks.folder / "runs").rglob("result.txt")] == made
    assert not (ticks.folder / "history/series").exists()


def test_a_tick_beside_another_does_nothing_and_is_in_the_log(project: ProjectCopy) -> None:
    ticks = Ticks(project)
    (ticks.folder / LOCK).parent.mkdir(parents=True)
    with locked(ticks.folder / LOCK, Problem("held by this test")):
        assert ticks.make() == 0
    assert ticks.said == ["another tick is running: this tick does nothing"]
    assert [tick.event for tick in TickLog(ticks.folder).ticks] == [BUSY]
    assert not (ticks.folder / "runs").exists()


# ---- crontab

CRONTAB = """\
#!/bin/sh
# As cron's own: -l prints the file, or complains with status 1; a file name replaces it.
[ -z "$CRON_FAILS" ] || { echo "crontab: no permission" >&2; exit 1; }
case $1 in
    -l) [ -f "$CRON_FILE" ] && cat "$CRON_FILE" || { echo "no crontab for user" >&2; exit 1; } ;;
    -*) exit 64 ;;
    *) cp "$1" "$CRON_FILE" ;;
esac
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a strict stand-in for crontab."""
    program = tmp_path / "bin/crontab"
    program.parent.mkdir()
    executable(program, CRONTAB)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("CRON_FILE", str(tmp_path / "table"))
    return tmp_path / "table"


SCRIPT = Path("/results/c/schedule/tick.sh")


def test_the_lines_are_installed_once_changed_and_removed(table: Path) -> None:
    table.write_text("MAILTO=me\n0 1 * * * backup\n")
    assert crontab.install(schedule(20 * MINUTE), SCRIPT)
    first = table.read_text()
    assert not crontab.install(schedule(20 * MINUTE), SCRIPT)
    assert crontab.install(schedule(HOUR), SCRIPT)
    assert table.read_text() == first.replace("*/20 * * * *", "0 * * * *")
    assert crontab.install(schedule(HOUR), SCRIPT.with_name("other.sh"))
    assert crontab.remove(SCRIPT) and not crontab.remove(SCRIPT)
    assert crontab.remove(SCRIPT.with_name("other.sh"))
    assert table.read_text() == "MAILTO=me\n0 1 * * * backup\n"


def test_edited_marks_are_refused(table: Path) -> None:
    text = crontab.block(schedule(HOUR), SCRIPT).replace("# end", "# END") + "0 1 * * * backup\n"
    table.write_text(text)
    for change in (lambda: crontab.install(schedule(HOUR), SCRIPT), lambda: crontab.remove(SCRIPT)):
        with pytest.raises(UserError, match=r"lines that mark .* were edited\n    crontab -e"):
            change()
    assert table.read_text() == text


def test_a_crontab_that_cannot_be_read_or_written_is_an_error(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.mkdir()
    with pytest.raises(UserError, match="the crontab cannot be written: it is unchanged"):
        crontab.install(schedule(HOUR), SCRIPT)
    monkeypatch.setenv("CRON_FAILS", "1")
    with pytest.raises(UserError, match=r"cannot be read: crontab .*no permission\n    without cron"):
        crontab.install(schedule(HOUR), SCRIPT)


def test_hostile_paths_are_quoted_for_each_kind() -> None:
    script = Path("/a b/%y $(id) 'q\"/tick.sh")
    line = crontab.block(schedule(HOUR), script).splitlines()[1]
    shell = line.removeprefix("0 * * * * ").replace(r"\%", "%")  # as cron passes it on
    printed = completed(["sh", "-c", shell.replace("/bin/sh", "printf %s", 1)], check=True)
    assert printed.stdout == str(script) and not line.replace(r"\%", "").count("%")


def test_scrontab_lines_ask_for_the_time_of_a_tick() -> None:
    lines = scrontab_lines(schedule(20 * MINUTE, limit=HOUR), "c", SCRIPT).splitlines()
    assert lines[2:] == ["#SCRON --time=65", f"*/20 * * * * /bin/sh {SCRIPT}"]


def test_a_tick_of_scrontab_asks_for_its_longest_job_or_the_sum_of_what_runs_here() -> None:
    """Three repeats of a minute for each case, and 5 min each for a job's set-up and the report."""
    daily = schedule(24 * HOUR)
    here, slurm = (plan(campaign(scheduler=scheduler)).runs for scheduler in ("none", "slurm"))
    cases = len({run.case for run in here})
    assert limit_of_tick(daily, slurm) == 11 * MINUTE
    assert limit_of_tick(daily, here) == (3 * cases + 5) * MINUTE
    assert limit_of_tick(schedule(HOUR, series="repeats"), here) == (cases + 5) * MINUTE
    assert limit_of_tick(schedule(10 * MINUTE), here) == 10 * MINUTE
    assert limit_of_tick(schedule(HOUR, limit=3 * MINUTE), slurm) == 3 * MINUTE


# ---- the script


def made_script(folder: Path, **more: Any) -> Path:
    """The script of a campaign in a folder, its tick replaced by a program of the test's."""
    results = folder / "results/c"
    path = script_path(results, "")
    path.parent.mkdir(parents=True)
    environment = {"PATH": os.environ["PATH"], "SECRET_TOKEN": "hunter2", "MODULEPATH": "/opt/my modules"}
    text = script_text(schedule(HOUR, **more), folder / "c.yaml", results, "", environment)
    assert "hunter2" not in text and "export MODULEPATH='/opt/my modules'\n" in text
    head, _, _ = text.rpartition(" -P -m ")
    command = head.rpartition(" ")[0] + f' {folder}/program >>"$log" 2>&1 </dev/null\n'
    path.write_text(command)
    return path


def test_the_log_is_rotated(tmp_path: Path) -> None:
    path = made_script(tmp_path)
    executable(tmp_path / "program", "#!/bin/sh\necho tick $MODULEPATH; pwd\n")
    log = path.with_suffix(".log")
    for number in range(6):
        assert subprocess.run(["sh", str(path)], capture_output=True, check=False).stderr == b""
        assert log.read_text() == f"tick /opt/my modules\n{tmp_path}\n"
        log.write_text(f"{number}" * (MAX_LOG + 1))
    kept = [log.with_name(f"tick.log.{number}").read_text()[0] for number in range(1, 5)]
    assert kept == ["4", "3", "2", "1"]
    assert not log.with_name("tick.log.5").exists()


# ---- ticks

EVERY = {"every": "20 min", "series": "repeats"}


def ticks(project: ProjectCopy, name: str) -> TickLog:
    return TickLog(project.folder / "results" / name)


@pytest.mark.slow
def test_ticks_make_one_repeat_each_then_nothing(project: ProjectCopy) -> None:
    write_trivial(project, repeats=2, schedule={**EVERY, "textfile": "node exporter/trivial.prom"})
    said = project.call("tick", "trivial.yaml", variables={"TRIVIAL_FAILS": "yes"}).stdout
    assert "schedule.textfile is not written: " in said
    textfile = project.folder / "node exporter/trivial.prom"
    textfile.parent.mkdir()
    for repeat in (1, 2):
        project.succeed("tick", "trivial.yaml")
        assert {path.parent.name[:3] for path in project.results("trivial")} == {
            f"r{number:02d}" for number in range(1, repeat + 1)
        }
        assert len(project.results("trivial")) == 2 * repeat
    assert 'mpicampaign_runs{campaign="trivial",end="ok"} 4.0\n' in textfile.read_text()
    before = ticks(project, "trivial").path.read_bytes()
    textfile.unlink()  # or the key is new
    done = project.call("tick", "trivial.yaml")
    assert textfile.exists() and (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (project.folder / ".snakemake").exists(), "a tick started Snakemake"
    assert ticks(project, "trivial").path.read_bytes() == before
    assert (project.folder / "results/trivial/history.html").is_file()


@pytest.mark.slow
@pytest.mark.full
def test_a_killed_tick_is_finished_by_the_next_one_which_says_what_was_missed(project: ProjectCopy) -> None:
    write_trivial(project, repeats=1, schedule={"every": "1 min", "series": "new", "notify": "./tell me"})
    executable(project.folder / "tell", f'#!/bin/sh\ncp "$2" "{project.folder}/told-$1"\n')
    project.succeed("tick", "trivial.yaml")
    folder = project.folder / "results/trivial"
    name = read_series(folder).name
    one = project.results("trivial")[0].parent
    shutil.rmtree(one)
    log = ticks(project, "trivial")
    past = (datetime.now(UTC) - timedelta(minutes=4)).isoformat(timespec="seconds")
    log.path.write_text(json.dumps({"event": BEGAN, "time": past, "series": name}) + "\n{torn")
    done = project.succeed("tick", "trivial.yaml")
    assert read_series(folder).name == name and one.is_dir(), "a series that was interrupted goes on"
    assert "3 ticks were missed before this one" in done.stdout
    events = [(tick.event, tick.data.get("missed", 0)) for tick in ticks(project, "trivial").ticks]
    assert events == [(BEGAN, 0), (BEGAN, 3), (ENDED, 0)]
    assert ticks(project, "trivial").damaged == [2]
    assert "3 ticks were missed" in (project.folder / "told-me").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["nothing", "runs", "series.json"])
def test_a_kill_between_packing_and_the_new_series_loses_nothing(project: ProjectCopy, lost: str) -> None:
    made = Ticks(project)
    folder = made.folder
    assert made.make() == 0
    outputs = sorted(each.read_bytes() for each in project.results("trivial"))
    old = shutil.copytree(folder, project.folder / "old")
    assert made.make() == 0
    [pack] = (folder / "history/series").iterdir()
    # as if it had been killed after the pack was written, or after the runs were removed
    shutil.copy(old / "series.json", folder)
    shutil.copy(old / "history/ticks.jsonl", folder / "history")
    if lost != "series.json":
        shutil.rmtree(folder / "runs")
    if lost == "nothing":
        shutil.copytree(old / "runs", folder / "runs")
    assert made.make() == 0
    assert outputs_in(pack) == outputs
    assert len(project.results("trivial")) == 2


def test_a_campaign_without_a_schedule_and_one_of_half_minutes_are_refused(project: ProjectCopy) -> None:
    write_trivial(project)
    for command in ("tick", "schedule"):
        done = project.call(command, "trivial.yaml")
        assert done.returncode == 2
        assert "this campaign has no schedule\n    add, for example, schedule:" in done.stderr
    write_trivial(project, schedule={"every": "90 s", "series": "new", "notify": "mail --password=x"})
    refused = project.call("tick", "trivial.yaml").stderr
    assert "schedule.every: must be whole minutes" in refused
    assert "schedule.notify: secrets do not belong in a campaign file" in refused


def test_a_tick_is_due_half_a_step_early_and_after_a_clock_went_back() -> None:
    made = schedule(50 * MINUTE)  # looked at every 10 minutes
    minutes = {n: is_due(made, timedelta(minutes=n)) for n in (0, 40, 44, 45, 50, 60, -5)}
    assert minutes == {0: False, 40: False, 44: False, 45: True, 50: True, 60: True, -5: True}
    assert is_due(made, None)
