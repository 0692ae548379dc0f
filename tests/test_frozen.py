"""Six campaigns as they were: a change of their plans, scripts, claims, records, tables or reports shows.

tests/frozen/NAME holds a campaign file, results that were really made once, and `expected`: what the command
line makes of both. results.tar.gz is the folder of the results, less what is made from it; its checksums of
programs are those of the stand-ins below, so that any machine takes the runs for finished. STFC's and
Alaska's outputs are read beside the project; no raw number of theirs is kept.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from conftest import PROJECT, ProjectCopy, copy_project, executable
from lxml import etree, html

from mpicampaign import __version__

FROZEN = PROJECT / "tests/frozen"
DATA = PROJECT.parent / "shared/data"
MADE = ("default", "libraries", "blocks", "machine")  # with results here
IMPORTED = {
    "stfc": ("stfc-2017", [f"stfc-2017/scarf-{name}" for name in ("imb", "imb-cpus", "hpl")]),
    "alaska": ("alaska", ["stackhpc/alaska"]),
}
SHOWN, WIDTH = 40, 300  # lines and characters of the difference of a file
HOW = """
Look at all of it: MPICAMPAIGN_UPDATE_GOLDEN=1 pytest tests/test_frozen.py; git diff tests/frozen
If each line of it is meant, commit that, and say in CHANGELOG.md what changed for users. Else mend the code,
and call git checkout tests/frozen. No identity in runs.txt may change: finished runs would be due again."""

of_the_wheel = pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="mpi: wheel is another library on this processor"
)

# Programs that only planning looks for: their checksums are those that the results have for the real ones.
STAND_INS = {
    "env/bin": ("mpirun", "mpicc", "IMB-MPI1"),
    "build/mpi/openmpi/bin": ("mpirun", "mpicc"),
    "build/mpi/mpich/bin": ("mpiexec.hydra", "mpiexec", "mpirun", "mpicc"),
    "bin": ("hpcc", "mpirun.openmpi", "mpicc.openmpi"),
}
VERSIONS = {
    "build/mpi/openmpi/bin": "mpirun (Open MPI) 5.0.8",
    "build/mpi/mpich/bin": "HYDRA build details: Version: 5.0.1",
}


def stand_in(folder: str, name: str) -> str:
    return f"#!/bin/sh\n# {name} of tests/test_frozen.py\necho '{VERSIONS.get(folder, '')}'\n"


@dataclass(frozen=True)
class Frozen(ProjectCopy):
    """A copy of the project where each machine plans alike: without bash no machine says what it lacks."""

    @property
    def environment(self) -> dict[str, str]:
        home = str(self.folder)
        return {"PATH": f"{home}/bin", "HOME": home, "LANG": "C.UTF-8", "MPICAMPAIGN_STATES": "off"}

    def told(self, *arguments: str) -> str:
        """What a command prints, on both ways out."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "prefix", str(self.folder / "env"))
            done = self.ask(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return self.masked(done.stdout + done.stderr)

    def masked(self, text: str) -> str:
        """Without what differs between machines, folders and releases."""
        text = text.replace(str(self.folder), "/home/user/mpicampaign")
        for pattern, mask in MASKS.items():
            text = re.sub(pattern, mask, text, flags=re.MULTILINE)
        return text


MASKS = {
    re.escape(__version__): "VERSION",
    r"\brun-[0-9a-f]{16}\.sh": "run-LIBRARY.sh",
    r"'[0-9a-f]{64}  -'": "'LIBRARY  -'",
    r"(/build/[\w.-]+/)[0-9a-f]{12}\b": r"\1BUILD",
    r"(-[0-9a-f]{12}-)[0-9a-f]{6}\b": r"\1FOLDER",  # in the names of jobs
    r"^(claim scripts=).*": r"\1SCRIPT",
    r"^(Python\n)3\..*": r"\1VERSION",
}


@pytest.fixture(scope="module")
def frozen() -> Iterator[Frozen]:
    """In a folder whose name is always as long: texts are wrapped."""
    with tempfile.TemporaryDirectory(prefix="frozen-", dir="/tmp") as folder:
        project = Frozen(copy_project(Path(folder) / "project").folder)
        shutil.copytree(PROJECT / "campaigns", project.folder / "campaigns")
        for bin_folder, names in STAND_INS.items():
            (project.folder / bin_folder).mkdir(parents=True)
            for name in names:
                executable(project.folder / bin_folder / name, stand_in(bin_folder, name))
        (project.folder / "bin/env").symlink_to("/usr/bin/env")
        yield project


def text_of(page: str, *without: str) -> str:
    """The text of a page without scripts, drawings and tags of these names: a line for each piece."""
    root = html.fromstring(page)
    etree.strip_elements(root, etree.Comment, "script", "style", "svg", *without, with_tail=False)
    return "".join(f"{' '.join(piece.split())}\n" for piece in root.itertext() if piece.strip())


MANY_DIGITS = r"-?\d+\.\d{7,}(e-?\d+)?"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def scripts(project: Frozen, results: Path) -> dict[str, str]:
    """A line for each run, with its identity; script and claim of the first of each system and placement."""
    texts: dict[str, str] = {}
    lines = []
    for folder in sorted(results.glob("runs/*/*/*/*")):
        script, claim = (project.masked((folder / name).read_text()) for name in ("job.sh", "claim"))
        lines.append(f"{folder.relative_to(results / 'runs')} script {sha(script)} claim {sha(claim)}")
        names = re.findall("^claim (?:system|placement)=(.*)", claim, re.MULTILINE)
        texts.setdefault(f"scripts/{'.'.join(names)}.sh", script)
        texts.setdefault(f"scripts/{'.'.join(names)}.claim", claim)
    return texts | {"runs.txt": "\n".join(lines) + "\n"}


def records(project: Frozen, results: Path) -> str:
    """The first of each placement, but a checksum of its series, which tables show; how the others ended."""
    lines, placements = [], set[str]()
    for line in project.masked((results / "records.jsonl").read_text()).splitlines():
        record = json.loads(line)
        if "case" not in record:
            lines.append(line)
        elif record["case"]["placement"] not in placements:
            placements.add(record["case"]["placement"])
            lines.append(
                json.dumps(
                    record | {"series": sha(json.dumps(record["series"]))}, indent=1, ensure_ascii=False
                )
            )
        else:
            ends = (
                record.get(key)
                for key in ("repeat", "status", "reason", "verdict", "condition", "condition_reason")
            )
            digest = sha(json.dumps(record, ensure_ascii=False))
            lines.append(" | ".join(map(str, (*record["case"].values(), *ends, digest))))
    return "\n".join(lines) + "\n"


def fewer(number: re.Match[str]) -> str:
    """The last digits are those of another numpy."""
    return f"{float(number[0]):.6g}"


def shown(project: Frozen, results: Path, *, tables_on_page: bool = True) -> dict[str, str]:
    """Records, tables and the report's text."""
    texts = {"records.txt": records(project, results)}
    for table in sorted([*results.glob("tables/*.md"), *results.glob("tables/*.csv")]):
        if table.name != "comparison.csv":  # the same as comparison.md, in more digits
            texts[f"tables/{table.name}"] = re.sub(MANY_DIGITS, fewer, project.masked(table.read_text()))
    page = text_of((results / "report.html").read_text(), *[] if tables_on_page else ["table"])
    return texts | {"report.txt": project.masked(page)}


@cache
def made(project: Frozen, name: str) -> dict[str, str]:
    """What the command line makes of a campaign file, then of its results."""
    file, results = project.folder / f"{name}.yaml", project.folder / f"results/frozen-{name}"
    shutil.copy(FROZEN / name / "campaign.yaml", file)
    texts = {"plan.txt": project.told("plan", str(file))}
    project.told("render", str(file))
    texts |= scripts(project, results)
    shutil.rmtree(results)
    with tarfile.open(FROZEN / name / "results.tar.gz") as archive:
        archive.extractall(results, filter="data")
    texts["finished.txt"] = project.told("plan", str(file))
    texts["summary.txt"] = project.told("report", str(file))
    return texts | shown(project, results)


def imported(project: Frozen, name: str) -> dict[str, str]:
    """What the command line makes of outputs of others; tables are kept once, as they are long."""
    folder, outputs = IMPORTED[name]
    map_ = f"campaigns/{folder}/import.yaml"
    for each in outputs:
        shutil.copytree(DATA / each, project.folder / each, copy_function=shutil.copyfile)
    texts = {"import.txt": project.told("import", *outputs, "--map", map_)}
    texts["summary.txt"] = project.told("report", "--map", map_)
    return texts | shown(project, project.folder / "results" / folder, tables_on_page=False)


def stfc(project: Frozen) -> dict[str, str]:
    """The plan and the scripts, too."""
    file, results = "campaigns/stfc-2017/campaign.yaml", project.folder / "results/stfc-2017"
    texts = {"plan.txt": project.told("plan", file)}
    project.told("render", file)
    texts |= scripts(project, results)
    shutil.rmtree(results)
    return texts | imported(project, "stfc")


def differences(kept: dict[str, str], now: dict[str, str]) -> str:
    """Of each file the first lines that differ."""
    shown = []
    for name in sorted(kept.keys() | now.keys(), key=lambda name: (name == "runs.txt", name)):
        before, after = (texts.get(name, "").splitlines() for texts in (kept, now))
        lines = list(difflib.unified_diff(before, after, f"kept/{name}", f"now/{name}", n=1, lineterm=""))
        shown += [line[:WIDTH] for line in lines[:SHOWN]]
        shown += [f"… {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "\n".join(shown)


def check(name: str, now: dict[str, str]) -> None:
    """Compare with what is kept, or keep it."""
    folder = FROZEN / name / "expected"
    if os.environ.get("MPICAMPAIGN_UPDATE_GOLDEN"):
        shutil.rmtree(folder, ignore_errors=True)
        for file, text in now.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
    kept = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    found = differences(kept, now)
    assert not found, f"tests/frozen/{name}/expected is not what the command line makes now:\n{found}\n{HOW}"


@of_the_wheel
@pytest.mark.parametrize("name", MADE)
def test_a_campaign_is_as_it_was(frozen: Frozen, name: str) -> None:
    check(name, made(frozen, name))


@of_the_wheel
@pytest.mark.parametrize("name", MADE)
def test_finished_results_stay_finished(frozen: Frozen, name: str) -> None:
    texts = made(frozen, name)
    planned = {line.split()[0] for line in texts["runs.txt"].splitlines()}
    with tarfile.open(FROZEN / name / "results.tar.gz") as archive:
        runs = {"/".join(path.split("/")[1:5]) for path in archive.getnames() if path.startswith("runs/")}
    assert planned <= runs, "runs have another identity"
    assert " 0 still to be done" in texts["finished.txt"]


@pytest.mark.full
@pytest.mark.parametrize("name", IMPORTED)
def test_outputs_of_others_are_as_they_were(frozen: Frozen, name: str) -> None:
    if not all((DATA / folder).is_dir() for folder in IMPORTED[name][1]):
        pytest.skip(f"{DATA} lacks {', '.join(IMPORTED[name][1])}")
    check(name, stfc(frozen) if name == "stfc" else imported(frozen, name))


def test_a_difference_is_shown_with_what_to_do() -> None:
    assert differences({"a": "same\n", "b": "old\n"}, {"a": "same\n", "b": "new\n"}) == "\n".join(
        ["--- kept/b", "+++ now/b", "@@ -1 +1 @@", "-old", "+new"]
    )
    assert "kept/gone" in differences({"gone": "x\n"}, {}) and "now/new" in differences({}, {"new": "x\n"})
