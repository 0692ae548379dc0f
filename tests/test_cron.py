"""Ticks by a real cron daemon: kills, overlapping ticks, a full disk, power cuts: nothing lost or doubled."""

from __future__ import annotations

import os
import random
import shlex
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from build_campaigns import write_trivial
from conftest import ProjectCopy
from cron_daemon import SmallDisk, cron_daemon, needs_cron, processes_of

from mpicampaign.history.ticks import BEGAN, BUSY, TickLog

pytestmark = [needs_cron, pytest.mark.slow, pytest.mark.full]

EVERY_MINUTE = {"every": "1 min", "series": "repeats"}


def install(project: ProjectCopy, campaign: str) -> str:
    """The shell command that installs the schedule of a campaign."""
    folder = shlex.quote(str(project.folder))
    variables = f"PYTHONPATH={folder}/src PATH={Path(sys.executable).parent}:$PATH"
    # The copy is not installed: its script needs the path of its modules, too.
    script = f"{folder}/results/{campaign}/schedule/tick.sh"
    add = f"sed -i '2a export PYTHONPATH={folder}/src' {script}"
    return f"cd {folder} && {variables} python -m mpicampaign.cli schedule {campaign}.yaml --install && {add}"


def kill_one(project: ProjectCopy, generator: random.Random) -> None:
    """End one of the programs of the ticks, whichever is found."""
    found = processes_of(str(project.folder))
    if found:
        with suppress(ProcessLookupError):
            os.kill(generator.choice(found), signal.SIGKILL)


def survive(project: ProjectCopy, tmp_path: Path, repeats: int, seconds: float) -> None:
    """Run a campaign of two cases by cron alone; every few seconds something dies."""
    launches = tmp_path / "launches"
    body = f'echo "$PWD" >>"{launches}"; sleep 1'  # so long that some ticks meet another
    write_trivial(project, name="ticks", body=body, repeats=repeats, schedule=EVERY_MINUTE)
    disk = SmallDisk(project.folder / "results", "64m")
    generator = random.Random(14)
    faults: Counter[str] = Counter()
    end, boot = time.monotonic() + seconds, 0
    results: Callable[[], list[Path]] = lambda: list(disk.folder.glob("ticks/runs/*/*/*/*/result/output.txt"))  # noqa: E731
    try:
        while len(results()) < 2 * repeats:
            assert time.monotonic() < end, (tmp_path / "cron.log").read_text()
            boot += 1
            with cron_daemon(tmp_path, install(project, "ticks"), "+0 x25", enter=disk.enter, boot=boot):
                for _ in range(12):
                    time.sleep(generator.uniform(1, 4))
                    fault = generator.choice(["kill", "kill", "nothing", "nothing", "full disk"])
                    faults[fault] += 1
                    if fault == "kill":
                        kill_one(project, generator)
                    elif fault == "full disk":
                        with disk.full():
                            time.sleep(generator.uniform(1, 4))
            faults["power cut"] += 1
        log = TickLog(disk.folder / "ticks")
        found = results()
        evidence = [path.with_name("evidence.txt").read_text() for path in found]
        attempts = list(disk.folder.glob("ticks/runs/*/*/*/*/attempts/*"))
        launched = launches.read_text().splitlines()
        events = Counter(tick.event for tick in log.ticks)
        print(f"{dict(faults)}; {dict(events)}; {len(launched)} launches, {len(attempts)} without result")
        runs = Counter(path.parents[1].relative_to(disk.folder).as_posix() for path in found)
        assert len(runs) == 2 * repeats and set(runs.values()) == {1}
        starts = {line for text in evidence for line in text.splitlines() if line.startswith("job started=")}
        assert 2 * repeats <= len(launched)
        assert len(starts) >= repeats  # no result is a copy of one of another tick
        assert events[BEGAN] >= repeats, "a tick makes one repeat of each case"
        assert events[BUSY] and faults["kill"] and faults["full disk"], "else nothing was tried"
    finally:
        disk.end()


@pytest.mark.soak
def test_a_hundred_ticks_lose_and_double_nothing(project: ProjectCopy, tmp_path: Path) -> None:
    survive(project, tmp_path, repeats=100, seconds=3600)


def test_twelve_ticks_lose_and_double_nothing(project: ProjectCopy, tmp_path: Path) -> None:
    survive(project, tmp_path, repeats=12, seconds=600)


@pytest.mark.parametrize("night", [pytest.param("2026-03-27", marks=pytest.mark.soak), "2026-10-23"])
def test_days_of_23_and_25_hours_have_one_tick_each(project: ProjectCopy, tmp_path: Path, night: str) -> None:
    """Three nights around the change of the clock in Berlin, at a time that one of them does not have."""
    write_trivial(
        project, name="nights", repeats=1, schedule={"every": "1 day", "series": "new", "at": "2:30"}
    )
    clock = f"@{night} 20:00:00 x7200"
    with cron_daemon(tmp_path, install(project, "nights"), clock, zone="Europe/Berlin"):
        time.sleep(72 * 3600 / 7200 - 2)
    ticks = TickLog(project.folder / "results/nights").ticks
    assert [tick.event for tick in ticks].count(BEGAN) + [tick.event for tick in ticks].count(BUSY) == 3
