"""The store of finished series: whole after any kill, damaged files named and set aside, the rest read."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import build_records as make
import pytest
from conftest import completed
from history_data import metrics_of, name_of, open_again, row, store_of, write_runs

from mpicampaign.base.errors import UserError
from mpicampaign.base.plan_file import PlanFile
from mpicampaign.base.presentation import Presentation
from mpicampaign.base.records import Header
from mpicampaign.cli import main
from mpicampaign.history import metrics, rows
from mpicampaign.history import store as store_module
from mpicampaign.history.curves import curves_of
from mpicampaign.history.series import NO_SERIES
from mpicampaign.history.store import Store

TESTS = str(Path(__file__).parent)


def values(store: Store) -> Counter[tuple[str, float]]:
    found = store.read(lambda base: base.execute("SELECT series, value FROM metrics").fetchall())
    return Counter((name, round(value * 1e6, 3)) for name, value in found)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_damaged_pack_is_named_and_set_aside_and_the_rest_is_read(tmp_path: Path) -> None:
    store = store_of(tmp_path, 3)
    bad = store.pack(name_of(1))
    content = bytearray(bad.read_bytes())
    content[len(content) // 2] ^= 0xFF
    bad.write_bytes(content)
    with pytest.raises(UserError, match="this pack is damaged"):
        store.records(name_of(1))
    assert "is damaged" in store.problems[0] and not bad.exists()
    [aside] = (store.folder / "damaged").iterdir()
    assert aside.name.startswith(bad.name)
    assert len(values(open_again(store))) == 6, "its metrics are still there"
    assert len(store.records(name_of(2))) == 2


def test_lost_metrics_are_made_again_and_remains_of_a_pack_are_swept(tmp_path: Path) -> None:
    store = store_of(tmp_path, 2)
    before = values(store)
    store.database.unlink()
    assert values(open_again(store)) == before and store.database.exists()
    remains = store.folder / f"series/.{name_of(2)}.tar.gz.1a.part"
    remains.write_text("half")
    store.add(write_runs(tmp_path, 2), tmp_path, Presentation())
    assert not remains.exists() and len(store.names()) == 3
    assert files(store.folder) == ["metrics.sqlite", "series"]


def test_packs_of_another_store_are_taken_up(tmp_path: Path) -> None:
    here, there = store_of(tmp_path / "here", 2, first=2), store_of(tmp_path / "there", 2)
    for pack in (there.folder / "series").iterdir():
        shutil.copy(pack, here.folder / "series")
    here.pack(name_of(5)).write_bytes(there.pack(name_of(1)).read_bytes())
    again = open_again(here)
    assert [point.tick for point in again.read(curves_of)[0].points] == [name_of(n) for n in range(4)]
    assert again.problems[0].startswith(f"{name_of(5)}.tar.gz is damaged (it holds the series {name_of(1)})")


# ---- the database


def change(store: Store, *statements: str) -> None:
    with closing(sqlite3.connect(store.database)) as base, base:
        for statement in statements:
            base.execute(statement)


def overwrite(store: Store, start: int, content: bytes) -> None:
    with store.database.open("rb+") as file:
        file.seek(start)
        file.write(content)


DAMAGE: dict[str, str | Callable[[Store], object]] = {
    "no database": lambda store: store.database.write_text("no database" * 100),
    "cut": lambda store: os.truncate(store.database, 5000),
    "hole": lambda store: overwrite(store, 4096, bytes(30000)),
    "newer": "PRAGMA user_version = 5",
    "table gone": "DROP TABLE ticks",
    "another value": "UPDATE measured SET value = value * 1.001",
    "another tick": "UPDATE measured SET tick_id = 3 - tick_id, place = 9 + place",
    "text for a number": "UPDATE measured SET value = 'many'",
    "bytes for a text": "UPDATE ticks SET tick = x'ff'",
    "another kernel": "UPDATE observations SET kernel = 'Linux 6'",
    "another unit": "UPDATE curves SET unit = 'B'",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_database_is_named_and_answers_are_the_same(damage: str, tmp_path: Path) -> None:
    store = store_of(tmp_path, 2)
    before = store.read(curves_of)
    change(store, make) if isinstance(make := DAMAGE[damage], str) else make(store)
    content, again = store.database.read_bytes(), open_again(store)
    assert again.read(curves_of) == before
    [problem] = again.problems
    assert problem.startswith(f"{store.database} cannot be used: ") and "move it away" in problem
    assert store.database.read_bytes() == content
    store.add(write_runs(tmp_path, 2), tmp_path, Presentation())
    for number in range(2):
        again = open_again(store)
        assert [len(curve.points) for curve in again.read(curves_of)] == [3]
        assert bool(again.problems) is (number == 0)
        store.database.unlink()


@pytest.mark.full
def test_no_changed_bit_changes_an_answer(tmp_path: Path) -> None:
    def look(base: sqlite3.Connection) -> tuple[Any, ...]:
        return sorted(metrics.rows_in(base, "series")), curves_of(base)

    store, generator, noted = store_of(tmp_path, 2), random.Random(1), 0
    before, content = store.read(look), store.database.read_bytes()
    used = [place for place, byte in enumerate(content) if byte]
    for place in generator.sample(used, 300):
        overwrite(store, place, bytes([content[place] ^ 1 << generator.randrange(8)]))
        again = open_again(store)
        assert again.read(look) == before, place
        noted += bool(again.problems)
        store.database.write_bytes(content)
    assert noted > 150


# Locks as on a file system that has none
NO_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
int fcntl64(int file, int command, void *argument) {
    if (command == 5 || command == 6) { errno = ERROR; return -1; }
    return ((int (*)(int, int, void *))dlsym(RTLD_NEXT, "fcntl64"))(file, command, argument);
}
int fcntl(int file, int command, void *argument) __attribute__((alias("fcntl64")));
"""
READ = (
    "import sys; from test_history_store import *; metrics._PATIENCE = 0; store = Store(Path(sys.argv[1]));"
)
READ += "print(*values(store), *store.problems, sep='\\n')"


@pytest.mark.full
@pytest.mark.parametrize("error", ["ENOLCK", "ENOSYS", "a writer"])
def test_without_a_lock_the_packs_are_read_and_it_is_said(error: str, tmp_path: Path) -> None:
    """On NFS without its lock daemon, on Lustre without the option flock."""
    store, library = store_of(tmp_path, 2), tmp_path / "no_locks.so"
    (tmp_path / "no_locks.c").write_text(NO_LOCKS.replace("ERROR", error).replace("a writer", "0"))
    subprocess.run(
        ["cc", "-w", "-shared", "-fPIC", "-o", library, tmp_path / "no_locks.c", "-ldl"], check=True
    )
    locks = {} if error == "a writer" else {"LD_PRELOAD": str(library)}
    with closing(sqlite3.connect(store.database)) as other:
        other.execute("BEGIN EXCLUSIVE" if not locks else "SELECT 1")
        done = completed(
            [sys.executable, "-c", READ, store.folder],
            env={**os.environ, **locks, "PYTHONPATH": TESTS},
            check=True,
        )
    *found, problem = done.stdout.splitlines()
    assert found == list(map(str, values(store)))
    assert "cannot be used: another call holds it, or its file system has no locks; the packs" in problem


@pytest.mark.parametrize("name", ["'); DROP TABLE series; --", 'a"b', "\0", "\x1b[31m", "🎉", "?", "%s", ""])
def test_a_name_may_be_anything(name: str) -> None:
    texts = dict.fromkeys((*rows.CASE, "label", "metric", "unit", "host", "kernel"), name)
    base = metrics_of(*[row(name, 1.0, **texts)] * 2)
    [curve] = curves_of(base)
    assert {curve.key.placement, curve.key.metric, curve.points[0].tick} == {name}
    assert metrics.names(base) == {name} and curve.points[0].n == 2


HOSTILE_SERIES = {"a list": "[]", "deep": "[" * 100_000, "a number": '"name": 5', "changed": '"changed": [5]'}


@pytest.mark.parametrize("text", HOSTILE_SERIES.values(), ids=HOSTILE_SERIES)
def test_a_pack_may_say_anything_of_its_series(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(tmp_path, 1)
    key = text.partition(":")[0]
    damage = re.compile(rf"{key}: (\[\]|[^,]*)") if key.startswith('"') else re.compile(".*", re.DOTALL)
    made = store_module.series_text
    monkeypatch.setattr(store_module, "series_text", lambda series: damage.sub(text, made(series), count=1))
    store.add(write_runs(tmp_path, 1), tmp_path, Presentation())
    assert store.names() == [name_of(0)] and name_of(1) in store.problems[0]
    assert len(values(open_again(store))) == 2


def test_numbers_beyond_their_column_set_a_pack_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(tmp_path, 1)
    write = store_module.write_records

    def hostile(path: Path, *rest: Any) -> None:
        write(path, *rest)
        path.write_text(re.sub(r'"repeat": ?2', '"repeat": ' + "9" * 30, path.read_text()))

    monkeypatch.setattr(store_module, "write_records", hostile)
    store.add(write_runs(tmp_path, 1), tmp_path, Presentation())
    assert store.names() == [name_of(0)] and "too large" in store.problems[0]
    assert len(values(open_again(store))) == 2


def test_other_files_between_the_packs_stay_as_they_are(tmp_path: Path) -> None:
    store = store_of(tmp_path, 1)
    names = ("copy.tar.gz", f"{name_of(3)} (1).tar.gz", "20261332T040000Z-00000000.tar.gz", "\x1b[31m.tar.gz")
    for name in names:
        shutil.copy(store.pack(name_of(0)), store.folder / "series" / name)
    (store.folder / "series/.snapshot.part").mkdir()
    (store.folder / "series/.nfs0001").touch()
    again = open_again(store)
    assert again.names() == [name_of(0)] and len(values(again)) == 2
    assert len(again.problems) == len(names) and all(line.isprintable() for line in again.problems)
    again.add(write_runs(tmp_path, 1), tmp_path, Presentation())
    left = set(files(store.folder / "series"))
    assert left == {*names, ".snapshot.part", ".nfs0001", *(f"{name_of(number)}.tar.gz" for number in (0, 1))}


def test_a_name_that_leads_elsewhere_is_not_a_series(tmp_path: Path) -> None:
    store = store_of(tmp_path, 1)
    foreign = tmp_path / "foreign.tar.gz"
    foreign.write_text("not a pack")
    for look in (store.manifest, store.records):
        with pytest.raises(UserError, match="no finished series"):
            look("../../foreign")
    assert foreign.exists()


@pytest.mark.full
def test_a_full_disk_leaves_a_readable_store(tmp_path: Path) -> None:
    """As seen by a process whose files may not grow beyond a size; it fails until the pack has room."""
    store = store_of(tmp_path, 2)
    write_runs(tmp_path, 2)
    code = (
        "import resource, signal, sys; from pathlib import Path; from mpicampaign.base.presentation import *;"
        "from mpicampaign.history.store import Store; from mpicampaign.history.series import read_series;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); size = int(sys.argv[2]);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)); f = Path(sys.argv[1]);"
        "store = Store(f / 'history'); store.add(read_series(f), f, Presentation()); print(*store.problems)"
    )
    for size in (0, 100, 1000, 3000, 20_000, 1_000_000):
        command = [sys.executable, "-c", code, str(tmp_path), str(size)]
        done = completed(command)
        again = open_again(store)
        assert (done.returncode == 0) is (len(again.names()) == 3)
        assert ("metrics.sqlite cannot be used" in done.stdout) is (size == 3000), done.stdout
        assert len(values(again)) == 2 * len(again.names()) and not again.problems
    assert len(store.names()) == 3


# ---- kills, and several writers

# Adds series, of every second number, to a store that others write to
WRITER = """
import shutil, sys; sys.path.insert(0, sys.argv[1])
from history_data import *
store, folder, number, end = Store(Path(sys.argv[2])), Path(sys.argv[3]), *map(int, sys.argv[4:6])
for number in range(number, end, 2):
    shutil.rmtree(folder / "runs", ignore_errors=True)
    folder.mkdir(exist_ok=True)
    store.add(write_runs(folder, number), folder, Presentation())
    assert not store.problems, store.problems
    print(number, flush=True)
"""


def writer(folder: Path, first: int, end: int) -> subprocess.Popen[str]:
    place = folder / f"campaign{first % 2}"
    command = [sys.executable, "-c", WRITER, TESTS, folder / "history", place, str(first), str(end)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check_whole(store: Store) -> set[str]:
    """The series in the database: each whole, or absent; what SQLite has to take back it takes back."""
    with closing(sqlite3.connect(store.database)) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        tables = base.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,)
        counts = (
            dict(base.execute("SELECT series, count(value) FROM metrics GROUP BY series")) if tables else {}
        )
        assert set(counts.values()) <= {2} and set(counts) <= set(store.names())
        return set(counts)


@pytest.mark.full
def test_kills_at_random_moments_lose_and_double_nothing(tmp_path: Path) -> None:
    """Of two writers; a reader comes between, or does not."""
    generator = random.Random(3)
    store = Store(tmp_path / "history")
    ended: set[int] = set()
    next_of = [0, 1]
    for kill in range(30):
        writers = [writer(tmp_path, first, first + 8) for first in next_of]
        assert writers[0].stdout and writers[0].stdout.readline()  # both are at work
        time.sleep(generator.uniform(0, 0.2))
        for each in writers:
            each.kill()
        lines = [line for each in writers for line in each.communicate()[0].splitlines()]
        ended |= {next_of[0], *map(int, lines)}
        known = check_whole(store)
        assert {name_of(number) for number in ended} <= known | set(store.names())
        if kill % 2:
            found = values(open_again(store))
            assert set(found.values()) == {1} and len(found) == 2 * len(store.names())
        next_of = [max([parity - 2, *(n for n in ended if n % 2 == parity)]) + 2 for parity in (0, 1)]
    assert len(store.names()) >= 30 and len(values(store)) == 2 * len(store.names())


# Ends while pages of a transaction are in the database already: its journal is hot
HALF_WRITTEN = """
import os, sys; sys.path.insert(0, sys.argv[1])
from history_data import *
class Killing(dict):
    def __getitem__(self, name):
        return os.kill(os.getpid(), 9) if name == "reason" else super().__getitem__(name)
base = connect(Path(sys.argv[2])); base.execute("PRAGMA cache_size = 1")
half = [*(row("half", float(n)) for n in range(5000)), Killing(row("half", 0))]
add(base, SeriesRows("half", "c", False, half))
"""


def half_written(folder: Path) -> Store:
    """A store of three series, whose database a call was killed while it wrote a fourth one."""
    store = store_of(folder, 3)
    before = store.database.stat().st_size
    done = subprocess.run([sys.executable, "-c", HALF_WRITTEN, TESTS, store.database], check=False)
    assert done.returncode == -signal.SIGKILL
    assert store.database.stat().st_size > before and Path(f"{store.database}-journal").stat().st_size > 1000
    return store


def read_only(folder: Path, *arguments: object) -> str:
    """What `mpicampaign history` prints of a folder that nobody can write."""
    mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" || exit 77; shift 0; exec "$@"'
    alone = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    command = [sys.executable, "-m", "mpicampaign.cli", "history", "--results", folder, *arguments]
    done = completed([*alone, "bash", "-c", mount, folder, *command])
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a file system cannot be mounted here")
    assert done.returncode == 0, done.stderr
    return done.stdout


def history_of(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> str:
    assert main(["history", "--results", str(folder), "--format", "csv"]) == 0
    return capsysbinary.readouterr().out.decode()


@pytest.mark.full
@pytest.mark.parametrize("lacks", ["nothing", "a series", "all", "the end"])
def test_a_read_only_history_is_read_as_any_other(
    lacks: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    store = half_written(tmp_path) if lacks == "the end" else store_of(tmp_path, 3)
    if lacks == "a series":
        change(store, *(f"DELETE FROM {of} WHERE rowid > 2" for of in ("ticks", "series")))
        change(store, "DELETE FROM measured WHERE tick_id > 2")
    elif lacks == "all":
        store.database.unlink()
    shutil.copytree(tmp_path, writable := tmp_path.with_name(f"{tmp_path.name}-writable"))
    assert read_only(tmp_path, "--format", "csv") == history_of(writable, capsysbinary)
    printed = " ".join(read_only(tmp_path).split())  # in which a long path is cut
    assert ("cannot be used: " in printed) is (lacks != "nothing")


@pytest.mark.parametrize(
    ("suite", "benchmark", "maxima"),
    [("osu", "MPI Bandwidth", [9e9, 9e9]), ("own", "halo", [2e9, 2e9, 2e9])],
)
def test_maxima_are_those_over_the_sizes_of_all_runs(suite: str, benchmark: str, maxima: list[float]) -> None:
    """The last run ends at 8 B; outputs of OSU may be cut, so that it has no maximum."""
    rates = {1: 1e9, 8: 2e9, 1024: 9e9}
    runs = [
        make.run(make.case("TCP"), number, make.series(benchmark, 2, size=of, bandwidth=map(rates.get, of)))
        for number, of in enumerate(([1, 8, 1024], [1, 8, 1024], [1, 8]), 1)
    ]
    runs = [replace(run, suite=suite) for run in runs]
    values = rows.rows_of(runs, PlanFile("c"), NO_SERIES, Header("c")).rows
    assert [row["value"] for row in values if row["metric"] == "maximum bandwidth"] == maxima
