"""The store of finished series: whole after any kill, damaged files named and set aside, the rest read."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from history_data import NEW, OLD, name_of, open_again, series_of, store_of, write_runs

from mpicampaign.errors import UserError
from mpicampaign.history import store as store_module
from mpicampaign.history.curves import curves_of
from mpicampaign.history.store import Store
from mpicampaign.presentation import Presentation

COLUMNS = ("series", "metric", "value", "kernel", "microcode", "repeat", "status", "declared", "identity")


def values(store: Store) -> Counter[tuple[str, float]]:
    rows = store.table(["series", "value"]).to_pylist()
    return Counter((row["series"], round(row["value"] * 1e6, 3)) for row in rows)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_curves_have_a_point_for_each_series(tmp_path: Path) -> None:
    [curve] = curves_of(store_of(tmp_path, 3).table())
    assert [point.value * 1e6 for point in curve.points] == pytest.approx([1.515, 1.615, 1.715])
    assert [point.observed["kernel"] for point in curve.points] == [OLD["kernel"], *[NEW["kernel"]] * 2]
    assert [point.n for point in curve.points] == [2, 2, 2]
    assert (curve.key.metric, curve.key.unit, curve.key.lower_is_better) == ("latency at 1 B", "s", True)


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


def test_lost_metrics_are_rebuilt_and_hidden_remains_are_swept(tmp_path: Path) -> None:
    store = store_of(tmp_path, 2)
    before = values(store)
    shutil.rmtree(store.folder / "metrics")
    assert values(open_again(store)) == before
    remains = store.folder / "series/.remains.part"
    remains.write_text("half")
    store.add(write_runs(tmp_path, 2), tmp_path, Presentation())
    assert not remains.exists() and len(store.names()) == 3


def test_two_stores_merge_and_a_clash_is_refused(tmp_path: Path) -> None:
    here, there = store_of(tmp_path / "here", 2), store_of(tmp_path / "there", 2, first=2)
    assert here.merge(there) == [f"{name_of(2)}: merged", f"{name_of(3)}: merged"]
    assert here.names() == [name_of(number) for number in range(4)] and len(values(here)) == 8
    assert here.merge(there) == [f"{name_of(2)}: here already", f"{name_of(3)}: here already"]
    write_runs(tmp_path / "clash", 0, latency=9)
    clash = Store(tmp_path / "clash/history")
    clash.add(series_of(0), tmp_path / "clash", Presentation())
    before = here.pack(name_of(0)).read_bytes()
    assert here.merge(clash) == [f"{name_of(0)}: refused: the series here has another content"]
    assert here.pack(name_of(0)).read_bytes() == before
    there.pack(name_of(3)).write_bytes(b"no pack")
    assert "refused: " in Store(tmp_path / "third/history").merge(there)[1]


def test_an_unknown_series_is_an_error(tmp_path: Path) -> None:
    store = store_of(tmp_path, 1)
    with pytest.raises(UserError, match=f"no finished series 'x'\n    the last ones: {name_of(0)}"):
        store.manifest("x")


def test_large_files_of_metrics_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MAX_FILES", 1)
    monkeypatch.setattr(store_module, "LARGE", 4)
    store = store_of(tmp_path, 5)
    assert len(files(store.folder / "metrics")) == 3, "two of two series, and the last one"
    assert len(values(store)) == 10


def with_metadata(table: Any, **values: bytes) -> Any:
    about = {name.encode(): value for name, value in values.items()}
    return table.replace_schema_metadata({**table.schema.metadata, **about})


OTHER_METRICS: dict[str, Callable[[Any], Any]] = {
    "column gone": lambda table: table.drop_columns(["reason"]),
    "other type": lambda table: table.set_column(
        table.column_names.index("value"), "value", table["value"].cast("string")
    ),
    "holds a number": lambda table: with_metadata(table, holds=b"5"),
    "holds lists": lambda table: with_metadata(table, holds=b"[[1]]"),
    "holds a path": lambda table: with_metadata(table, holds=b'["../x"]'),
    "holds much": lambda table: with_metadata(table, holds=b"[" * 100_000),
    "newer": lambda table: with_metadata(table, version=b"4"),
}


@pytest.mark.parametrize("other", OTHER_METRICS)
def test_metrics_of_another_kind_are_set_aside(other: str, tmp_path: Path) -> None:
    from pyarrow import parquet

    store = store_of(tmp_path, 1)
    [file] = (store.folder / "metrics").iterdir()
    parquet.write_table(OTHER_METRICS[other](parquet.read_table(file)), file)
    again = open_again(store)
    assert len(again.table()) == 2 and len(again.problems) == 1
    assert again.problems[0].startswith(f"{file.name} is damaged (")
    assert len(files(store.folder / "damaged")) == 1


def test_metrics_of_an_earlier_version_are_made_again(tmp_path: Path) -> None:
    from pyarrow import parquet

    store = store_of(tmp_path, 2)
    metrics = store.folder / "metrics"
    [first, second] = sorted(metrics.iterdir())
    earlier = with_metadata(parquet.read_table(first), version=b"1")
    parquet.write_table(earlier, first)
    parquet.write_table(earlier, metrics / f"to-{second.name}")
    again = open_again(store)
    assert len(again.table()) == 4 and not again.problems
    assert sorted(metrics.iterdir()) == [first, second] and not (store.folder / "damaged").exists()


@pytest.mark.parametrize("packed", [False, True])
def test_what_cannot_be_set_aside_is_named_once_and_the_rest_is_read(packed: bool, tmp_path: Path) -> None:
    store = store_of(tmp_path, 2)
    (store.folder / "damaged").touch()  # in the way of the folder
    if not packed:
        store.pack(name_of(0)).unlink()
    [file] = (store.folder / "metrics").glob(f"{name_of(0)}*")
    content = bytearray(file.read_bytes())
    content[8] ^= 0xFF  # found only when its rows are read
    file.write_bytes(content)
    again = open_again(store)
    expected = {name_of(0), name_of(1)} if packed else {name_of(1)}
    assert {name for name, _ in values(again)} == expected
    assert len(again.problems) == 1
    assert "cannot be moved" in again.problems[0] and r"\n" not in again.problems[0]
    assert packed or file.read_bytes() == content


@pytest.mark.parametrize(("error", "problems"), [(FileNotFoundError(2, ""), 0), (PermissionError(13, ""), 1)])
def test_a_file_that_cannot_be_read_is_not_damaged(
    error: OSError, problems: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another call merged it meanwhile, or the system refuses to read it."""
    from pyarrow import parquet

    store = store_of(tmp_path, 2)
    before, read = values(store), parquet.read_metadata
    failed: list[Path] = []

    def first_fails(path: Path) -> Any:
        if name_of(0) in path.name and not failed:
            failed.append(path)
            raise error
        return read(path)

    monkeypatch.setattr(parquet, "read_metadata", first_fails)
    again = open_again(store)
    assert values(again) == before
    assert failed and len(again.problems) == problems and not (store.folder / "damaged").exists()


HOSTILE_SERIES = {
    "a list": "[]",
    "deep": "[" * 100_000,
    "a number": '"name": 5',
    "changed": '"changed": [5]',
}


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
        path.write_text(re.sub(r'"repeat": ?2', '"repeat": 99999999999', path.read_text()))

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
    """As seen by a process whose files may not grow beyond a size; it fails until there is room."""
    store = store_of(tmp_path, 2)
    write_runs(tmp_path, 2)
    code = (
        "import resource, signal, sys; from pathlib import Path; from mpicampaign.presentation import *;"
        "from mpicampaign.history.store import Store; from mpicampaign.history.series import read_series;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); size = int(sys.argv[2]);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size));"
        "f = Path(sys.argv[1]); Store(f / 'history').add(read_series(f), f, Presentation())"
    )
    sizes = (0, 100, 1000, 3000, 1_000_000)
    for size in sizes:
        command = [sys.executable, "-c", code, str(tmp_path), str(size)]
        done = subprocess.run(command, capture_output=True, check=False)
        assert (done.returncode == 0) is (size == sizes[-1])
        again = open_again(store)
        assert len(values(again)) == 2 * len(store.names()) and not again.problems
    assert len(store.names()) == 3


@pytest.mark.full
def test_kills_at_random_moments_leave_a_readable_store(tmp_path: Path) -> None:
    """While series are added and files merged: nothing is lost and nothing doubled."""
    code = (
        "import shutil, sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from history_data import *; f = Path(sys.argv[2])\n"
        "from mpicampaign.history import store as s; s.MAX_FILES = 4\n"
        "n = len(Store(f / 'history').names())\n"
        "for number in range(n, n + 4):\n"
        "    shutil.rmtree(f / 'runs', ignore_errors=True); runs = write_runs(f, number)\n"
        "    print(number, flush=True); Store(f / 'history').add(runs, f, Presentation())\n"
    )
    generator = random.Random(3)
    seen: set[str] = set()
    for adds in (1, 2, 3) * 8:
        command = [sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout
            for _ in range(adds):  # the kill comes within the next one or two
                start = time.monotonic()
                assert process.stdout.readline()
            time.sleep(generator.uniform(0, time.monotonic() - start))
            process.kill()
        store = Store(tmp_path / "history")
        found = values(store)
        assert not store.problems and set(found.values()) <= {1}
        assert {name for name, _ in found} == set(store.names()) >= seen
        assert len(found) == 2 * len(store.names())
        seen = set(store.names())
    assert len(seen) >= 24
