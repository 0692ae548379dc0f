"""Import: every file is accounted for, raw files are written once, and a killed import continues."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from printed_outputs import imb, osu_table

from mpicampaign.base import places
from mpicampaign.base.errors import UserError
from mpicampaign.base.records import OK, read_records
from mpicampaign.cli import main
from mpicampaign.collect.imports import collect_imports
from mpicampaign.compare.compare import compare
from mpicampaign.imports import importing
from mpicampaign.imports.account import Account, account_text
from mpicampaign.imports.draft import draft_map
from mpicampaign.imports.files import MAX_BYTES
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.ledger import read_ledger
from mpicampaign.imports.map_file import ImportMap, load_map
from mpicampaign.show.sentences import note_text as said_of

BEFORE = Path(__file__).parent / "fixtures" / "imported_before_0_3"
MAP = """\
import: foreign
campaign: c
rules:
  - label: {system: s, host_group: g, benchmark: '{benchmark}'}
  - when: {path: '/(?P<name>[A-Z]+)[^/]*/[^/]*$'}
    label: {placement: '{name}'}
"""


def chosen(tmp_path: Path, text: str = MAP) -> ImportMap:
    path = tmp_path / "map.yaml"
    path.write_text(text)
    return load_map(path)


def write(tmp_path: Path, **files: str) -> Path:
    for number, (name, text) in enumerate(files.items()):
        path = tmp_path / "raw" / "TCP" / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text or imb(second=number))
    return tmp_path / "raw"


def take(tmp_path: Path, *folders: Path, text: str = MAP) -> Account:
    return import_folders(folders, chosen(tmp_path, text), tmp_path / "results")


def reasons(account: Account) -> dict[str, str]:
    return {Path(entry.path).name: entry.reason for entry in account.of_role("refused")}


@pytest.mark.parametrize(
    ("names", "rules", "placements"),
    [
        ("tcp/osu_latency.out shm/osu_latency.out tcp/latency.out", 1, {"tcp": 2, "shm": 1}),
        ("osu_latency_tcp_1.log osu_latency_tcp_2.log", 1, {"raw": 2}),
        ("run1/shm.out run2/shm.out run2/tcp.out", 1, {"shm": 2, "tcp": 1}),
        ("np2.out np4.out job-77001.out job-77003.out", 2, {"np2": 1, "np4": 1, "raw": 2}),
        ("{a}&b.out a-b.out {c}.1.2/c.out", 3, {"a-b": 1, "a-b-2": 1, "c-.1.2-c": 1}),
    ],
)
def test_a_draft_has_a_rule_for_a_layout(
    tmp_path: Path, names: str, rules: int, placements: dict[str, int]
) -> None:
    for number, name in enumerate(names.split()):
        path = tmp_path / "raw" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(osu_table("MPI Latency", "Latency (us)", [(8, 1.5 + number), (16, 2.5)]))
    text = draft_map([tmp_path / "raw"], "raw")
    account = take(tmp_path, tmp_path / "raw", text=text)
    assert Counter(label.placement for label in account.labels) == placements
    assert {label.benchmark for label in account.labels} == {"osu_latency"}
    assert text.count("- when:") == rules


def test_a_draft_tells_outputs_of_a_file_apart_by_the_line_above(tmp_path: Path) -> None:
    """The line stands above two outputs, and times of commands between them tell nothing."""
    outputs = [
        f"experiments for nodes n{first}.site n{second}.site\n"
        + osu_table("MPI Latency", "Latency (us)", [(8, first + second + 0.5)])
        + "real 2.10\nuser 1.20\nsys 0.10\n"
        + osu_table("MPI Bandwidth", "Bandwidth (MB/s)", [(8, 100.5 * second + first)])
        for first, second in ((1, 2), (1, 3), (2, 3), (1, 2))
    ]
    text = draft_map([write(tmp_path, pairs__log="".join(outputs))], "raw")
    account = take(tmp_path, tmp_path / "raw", text=text)
    cases = Counter((label.placement, label.benchmark) for label in account.labels)
    programs = ("osu_bw", "osu_latency")
    pairs = {"n1-n2": 2, "n1-n3": 1, "n2-n3": 1}
    assert cases == {(pair, program): runs for pair, runs in pairs.items() for program in programs}
    assert text.count("- when:") == 1
    looped = "".join(
        f"Transport: {name}\n{osu_table('MPI Latency', 'Latency (us)', [(8, 1.5)])}barrier\n{BARRIER}"
        for name in ("tcp", "shm", "tcp")
    )
    text = draft_map([write(tmp_path, pairs__log=looped)], "raw")
    account = import_folders([tmp_path / "raw"], chosen(tmp_path, text), tmp_path / "looped")
    assert Counter(label.placement for label in account.labels) == {"tcp": 4, "shm": 2}


def test_an_import_without_a_map_is_beside_its_draft_in_a_clone_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without any output no map is written."""
    write(tmp_path, a__out="")
    (tmp_path / "none").mkdir()
    (tmp_path / "clone").mkdir()
    for name in ("templates", "reference", "workflow", "kernels"):
        (tmp_path / "clone" / name).symlink_to(places.shipped(name))
    monkeypatch.setattr(places, "_CLONE", tmp_path / "clone")
    monkeypatch.setattr(places, "_beside", [])
    monkeypatch.chdir(tmp_path)
    assert main(["import", "none"]) == 2
    assert "none: no output of a benchmark is there; no map is written" in capsys.readouterr().err
    assert main(["import", "raw"]) == 0
    assert [path.name for path in tmp_path.glob("*.yaml")] == ["raw-map.yaml"]
    assert (tmp_path / "results/raw/records.jsonl").exists() and not (tmp_path / "clone/results").exists()
    assert main(["import", "raw"]) == 2
    assert "'mpicampaign import raw --map raw-map.yaml' imports with it" in capsys.readouterr().err
    write(tmp_path / "other", a__out=imb(9.0))
    first = Path("raw-map.yaml").read_bytes()
    assert main(["import", "other/raw"]) == 0
    assert "the name raw is taken: this import is called other-raw" in capsys.readouterr().out
    assert Path("raw-map.yaml").read_bytes() == first
    assert sorted(path.name for path in Path("results").iterdir()) == ["other-raw", "raw"]


BARRIER = "# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n             2.41\n"
LATENCY = osu_table("MPI Latency", "Latency (us)", [(2**size, 1.5 + size) for size in range(23)])


@pytest.mark.parametrize(
    ("names", "runs"),
    [
        ("run1.out run2.out run3.out", 3),
        ("barrier.1234.out barrier.77.out monday.txt", 3),
        ("r1/out.txt r2/out.txt", 2),  # numbered folders
        ("job12-run1.out job12-run2.out", 2),  # of one job
        ("TCP/out.txt SHM/out.txt", 2),  # of two placements
        ("out.txt TCP/out.txt", 1),
        ("out.txt out.txt~ out_old.txt", 1),
        ("slurm-12.out result_job12.txt", 1),
        ("dated1.out dated2.out", 1),  # IMB's and HPL's start to the second
        ("table.out table.log", 1),  # of tee
        ("480258.out a/480258.out", 1),  # with other line ends, below another report
        ("table_run1.out table_run2.out", 2),
    ],
)
def test_equal_values_are_copies_where_name_or_job_is_the_same(tmp_path: Path, names: str, runs: int) -> None:
    """The same value three times is no rarity; a long table in numbered folders is a copy."""
    for name in names.split():
        path = tmp_path / "raw" / "TCP" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = imb() if "dated" in name else LATENCY if "table" in name or "480258" in name else BARRIER
        path.write_bytes((f"Sender: a\n\n{text}\n".replace("\n", "\r\n") if "a/" in name else text).encode())
    rules = MAP.replace("[A-Z]+)[^/]*/[^/]*$", "TCP|SHM)/(?!.*(TCP|SHM)/)")
    account = take(tmp_path, tmp_path / "raw", text=rules)
    assert len(account.labels) == len(collect_imports(tmp_path / "results")) == runs
    assert all("if another run made it, give its label job:" in why for why in reasons(account).values())


def test_hostile_folders(tmp_path: Path) -> None:
    raw = write(tmp_path, a__out="")
    folder = raw / "TCP"
    (folder / "new\nline \x1b[31m.out").write_text(imb(second=9))
    (folder / ".. .out").write_text(imb(second=10))
    (folder / "binary.out").write_bytes(b"\0" + imb().encode())
    (folder / "notes.txt").write_text("nothing that a benchmark printed\n")
    (folder / "empty.out").write_text("")
    (folder / "copy.out").write_text((folder / "a.out").read_text())
    with (folder / "huge.out").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    (tmp_path / "secret.out").write_text(imb(second=11))
    (folder / "link.out").symlink_to(tmp_path / "secret.out")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.out")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "s"))
    Path(os.fsdecode(os.fsencode(folder) + b"/latin\xe9.out")).write_text(imb())
    account = take(tmp_path, raw)
    found = reasons(account)
    assert {name: reason[:20] for name, reason in found.items()} == {
        "binary.out": "a binary file",
        "copy.out": f"same content as {tmp_path.name}"[:20],
        "empty.out": "no output of a known",
        "huge.out": "larger than 64 MiB",
        "link.out": "a symbolic link: imp",
        "linked": "a symbolic link: imp",
        "notes.txt": "no output of a known",
        "pipe.out": "not a regular file",
        "s": "not a regular file",
        "latin\udce9.out": "its name is not UTF-",
    }
    assert len(account.of_role("output")) == 3
    assert len(account.entries) == 13
    text = account_text(account)
    assert "\x1b" not in text
    text.encode()
    assert len(collect_imports(tmp_path / "results")) == 3


def test_unreadable_files_are_accounted_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = write(tmp_path, a__out="", b__out="")
    opened = Path.open

    def refuses(self: Path, *arguments: Any, **options: Any) -> Any:
        if self.name == "b.out":  # root may read everything
            raise PermissionError(13, "Permission denied", str(self))
        return opened(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuses)
    assert reasons(take(tmp_path, raw)) == {"b.out": "it cannot be read: Permission denied"}


def test_repeats_that_a_rule_gives_stay_and_collide_loudly(tmp_path: Path) -> None:
    rule = "  - when: {path: '/r(?P<n>\\d+)[^/]*$'}\n    label: {repeat: '{n}'}\n"
    account = take(
        tmp_path, write(tmp_path, r2__out="", r2b__out="", r0__out="", other__out=""), text=MAP + rule
    )
    repeats = {Path(each.path).name: each.label.repeat for each in account.entries if each.label}
    assert repeats == {"r2.out": 2, "other.out": 1}
    assert "repeat 2 of its case is" in reasons(account)["r2b.out"]
    assert "is not a positive integer" in reasons(account)["r0.out"]


def test_a_killed_import_is_reported_and_can_be_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = write(tmp_path, a__out="", b__out="", c__out="")
    write_one = importing._Import._write

    def dies(self: importing._Import, target: Path, content: bytes) -> None:
        if target.name == "b.out":
            (self.parts / "half").write_bytes(content[:10])
            raise KeyboardInterrupt
        write_one(self, target, content)

    monkeypatch.setattr(importing._Import, "_write", dies)
    with pytest.raises(KeyboardInterrupt):
        take(tmp_path, raw)
    with pytest.raises(UserError, match="was not finished"):
        collect_imports(tmp_path / "results")
    monkeypatch.undo()
    account = take(tmp_path, raw)
    assert account.new == 3
    assert len(collect_imports(tmp_path / "results")) == 3
    assert not (account.folder / "parts").exists()


def test_errors_are_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        take(tmp_path, tmp_path / "nowhere")
    with pytest.raises(UserError, match="there is no earlier import"):
        take(tmp_path)
    take(tmp_path, write(tmp_path, a__out=""))
    own = tmp_path / "results" / "imports" / "foreign"
    (own / "plan.json").write_text("{}")  # of another program
    with pytest.raises(UserError, match="/foreign: own results are no outputs to import"):
        take(tmp_path, own / "files" / tmp_path.name)
    assert reasons(take(tmp_path, tmp_path))["plan.json"].startswith("mpicampaign's own result: ")


HEAD = '{"format": "mpicampaign-import", "version": 4, "entries": 2}'


@pytest.mark.parametrize(
    "damage", ["", "[]", HEAD, HEAD.replace("4", "5"), '{"files": 1', f"{HEAD}\n[]\n1\n"]
)
def test_a_damaged_ledger_is_refused(tmp_path: Path, damage: str) -> None:
    account = take(tmp_path, write(tmp_path, a__out=""))
    (account.folder / "ledger.jsonl").write_text(damage)
    with pytest.raises(UserError, match=r"ledger\.jsonl is (damaged|not an import ledger of version 1 to 4)"):
        collect_imports(tmp_path / "results")
    with pytest.raises(UserError, match=r"ledger\.jsonl"):
        take(tmp_path)


def test_a_ledger_with_other_types_is_read_as_texts_or_refused(tmp_path: Path) -> None:
    account = take(tmp_path, write(tmp_path, a__out=""))
    other = account.folder.with_name("other") / "ledger.jsonl"
    shutil.copytree(account.folder, other.parent)
    for name, value in (("content", [1]), ("job", [1]), ("facts", 7), ("label", 7), ("system", {})):
        head, line = map(json.loads, (account.folder / "ledger.jsonl").read_text().splitlines())
        (line["label"] if name in line["label"] else line)[name] = value
        other.write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n")
        try:
            assert len(collect_imports(tmp_path / "results")) in (1, 2)
        except UserError as error:
            assert "ledger.jsonl is damaged" in str(error) and value == 7


def test_a_ledger_that_leads_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    account = take(tmp_path, write(tmp_path, a__out=""))
    ledger = account.folder / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace(f'"path": "{tmp_path.name}/', '"path": "../', 1))
    with pytest.raises(UserError, match="not inside its folder"):
        collect_imports(tmp_path / "results")


def test_an_import_of_an_earlier_release_gives_the_same_records(tmp_path: Path) -> None:
    """Outputs with a script, a job that was cancelled, two in a file, a copy, one without a label."""
    results = tmp_path / "results"
    shutil.copytree(BEFORE, results)
    _, expected = read_records(results / "records.jsonl")
    assert [replace(each, files={}) for each in collect_imports(results)] == [
        replace(each, files={}) for each in expected
    ]
    folder = results / "imports" / "old"
    account = import_folders([], load_map(folder / "map.yaml"), results)
    assert [len(account.of_role(role)) for role in ("output", "refused")] == [4, 3]
    assert account.new == 0 and "both.out:27-52: counted once; " in reasons(account)["copy.out"]
    assert not (folder / "import.json").exists()
    assert read_ledger(folder) == [replace(each, label=each.label and ANY) for each in account.entries]
    assert len(collect_imports(results)) == 4


def test_a_copy_that_was_changed_is_named_as_that(tmp_path: Path) -> None:
    raw = write(tmp_path, a__out="")
    copy = next((take(tmp_path, raw).folder / "files").rglob("a.out"))
    copy.write_text(imb(second=5))
    assert "its imported copy was changed" in reasons(take(tmp_path, raw))["a.out (as it is now)"]
    copy.unlink()
    assert reasons(take(tmp_path, raw)) == {}
    (raw / "TCP" / "a.out").write_text(imb(second=7))
    assert "the imported copy is kept" in reasons(take(tmp_path, raw))["a.out (as it is now)"]


@pytest.mark.parametrize(
    "scripts",
    [
        {"helper__sh": "module load python\n./to_csv.py\n"},
        {"run__sh": "#SBATCH -N 2\nsrun xhpl\n"},
        {"b__sh": "#SBATCH -N 2\nsrun IMB-MPI1\n", "c__sh": "#SBATCH -N 4\nsrun IMB-MPI1\n"},
    ],
)
def test_a_script_that_may_be_of_something_else_is_refused(tmp_path: Path, scripts: dict[str, str]) -> None:
    account = take(tmp_path, write(tmp_path, a__out="", **scripts))
    assert sorted(reasons(account)) == sorted(name.replace("__", ".") for name in scripts)
    (record,) = collect_imports(tmp_path / "results")
    assert "script" not in record.files
    assert "modules" not in record.metadata


OSU = "# OSU MPI Bandwidth Test v5.6.2\n# Size      Bandwidth (MB/s)\n"
ASKS = "#SBATCH -N 2\nsrun -m cyclic osu_bw"


def osu_bw(largest: int = 4 * 2**20) -> str:
    sizes = [2**power for power in range(largest.bit_length())]
    return OSU + "".join(f"{size:<10}{1000 * size / (size + 8192):>18.2f}\n" for size in sizes)


@pytest.mark.parametrize(
    ("largest", "script", "said"),
    [
        (2**22, f"{ASKS}\n", ""),
        (2**22, "", ""),
        (4096, f"{ASKS} -m 4096\n", ""),
        (4096, f"{ASKS} -m $LARGEST\n", ""),
        (4096, f"{ASKS}\n", "the table ends at 4 KiB; osu_bw usually ends at 4 MiB: it may be cut"),
        (4096, f"{ASKS} -m 1:65536 > out\n", "ends at 4 KiB; -m asked for 64 KiB: it may be cut"),
        (4096, "", "ends at 4 MiB: without its job script it is unknown whether -m asked for that"),
        (4096, "#SBATCH -N 2\nsrun osu_latency -m 4096\n", "without its job script"),
    ],
)
def test_an_osu_output_that_ends_early_may_be_cut(
    tmp_path: Path, largest: int, script: str, said: str
) -> None:
    files = {"a__out": osu_bw(largest)} | ({"a__sh": script} if script else {})
    take(tmp_path, write(tmp_path, **files))
    records = collect_imports(tmp_path / "results")
    (row,) = compare(records).tables[0].rows
    assert records[0].status == OK
    assert [said in said_of(note) for note in row.notes] == [True]
    assert any("OSU prints no closing line" in said_of(note) for note in row.notes) == bool(said)


def test_labels_of_lines_are_taken_off_and_the_copy_keeps_them(tmp_path: Path) -> None:
    labelled = "".join(f"[1,0]<stdout>:{line}\n" for line in imb().splitlines())
    mixed = labelled.replace("[1,0]<stdout>:       131072", "[1,1]<stdout>:       131072")
    account = take(tmp_path, write(tmp_path, a__out=labelled, b__out=mixed, c__out=imb(second=1)))
    one, other = collect_imports(tmp_path / "results")
    assert one.series == other.series and one.started[:16] == other.started[:16] != ""
    assert Path(one.files["output"]).read_text() == labelled
    assert reasons(account)["b.out"].startswith("line 44: '[1,1]<stdout>:       131072")


def test_a_call_without_any_run_leaves_the_import_as_it_was(tmp_path: Path) -> None:
    account = take(tmp_path, write(tmp_path, a__out=""))
    before = {path: path.read_bytes() for path in account.folder.rglob("*") if path.is_file()}
    (tmp_path / "wrong" / "deep").mkdir(parents=True)
    for number in range(3):
        (tmp_path / "wrong" / "deep" / f"{number}.out").write_text(imb(second=number + 5))
    for text in (MAP, MAP.replace("[A-Z]+", "[A-Z]{9}")):  # the other map labels nothing
        again = take(tmp_path, tmp_path / "wrong", text=text)
        assert again.found_no_run and again.new == 0
        assert "the import is unchanged" in account_text(again)
    assert {path: path.read_bytes() for path in account.folder.rglob("*") if path.is_file()} == before
    assert [path.name for path in (account.folder / "files").glob("*")] == [tmp_path.name]
    assert len(take(tmp_path).entries) == 1


NEEDS_FOUR = """\
HPL ERROR from process # 0, on line 419 of function HPL_pdinfo:
>>> Need at least 4 processes for these tests <<<

HPL ERROR from process # 0, on line 621 of function HPL_pdinfo:
>>> Illegal input in file HPL.dat. Exiting ... <<<
"""


def test_why_a_text_is_not_an_output_is_reported(tmp_path: Path) -> None:
    whole = (Path(__file__).parent / "fixtures" / "hpcc" / "two_ranks.out").read_text()
    summary = whole[whole.index("Begin of Summary") : whole.index("End of Summary")]
    pairs = summary.partition("\n")[2]
    files = {"hpl__out": NEEDS_FOUR, "quiet__out": "\n", "quiet__err": NEEDS_FOUR}
    files |= {"summary__out": summary, "pairs__out": pairs, "a__pbs": "#!/bin/bash\nmpirun IMB-MPI1\n"}
    raw = write(tmp_path, **files)
    (raw / "TCP" / "b.out").write_bytes(imb(second=2).encode("utf-16"))
    (raw / "TCP" / "mac.out").write_bytes(imb().replace("\n", "\r").encode())
    found = reasons(take(tmp_path, raw))
    hpl = "HPL did not start: it reports 'Need at least 4 processes for these tests'; correct HPL.dat"
    assert found["hpl.out"].startswith(hpl) and found["quiet.out"].startswith(hpl)
    assert found["summary.out"] == found["pairs.out"]
    assert found["pairs.out"].endswith("passed its checks: take the whole hpccoutf.txt")
    assert found["a.pbs"] == "a script, not an output"
    assert found["b.out"] == "text in UTF-16: convert it to UTF-8"
    assert found["mac.out"] == r"its lines end in CR alone: convert it (tr '\r' '\n')"
