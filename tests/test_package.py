"""The wheel and the source archive: their contents, and users of one read-only installation."""

from __future__ import annotations

import email
import json
import os
import shutil
import sys
import sysconfig
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING

import pytest
from build_campaigns import write_trivial
from conftest import PIP, PROJECT, ProjectCopy, completed, made, new_environment, pip_of, succeeded
from packaging.requirements import Requirement

from mpicampaign import __version__
from mpicampaign.base.records import OK, VERIFIED, read_records
from mpicampaign.campaign.model import campaign_schema
from mpicampaign.imports.map_file import map_schema
from mpicampaign.jobs.prepare import prepare
from mpicampaign.report.columns import results_schema

if TYPE_CHECKING:
    from collections.abc import Iterable

SHIPPED = ("Snakefile", "campaign.yaml", "campaigns", "cluster", "docs", "kernels", "profiles", "reference")
SHIPPED += ("templates", "workflow")
BESIDE = ("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md")  # in the source archive
SCHEMAS = [f"workflow/schemas/{name}.schema.json" for name in ("campaign", "import", "results")]
MADE = {*SCHEMAS, "docs/keys.md"}
SOURCES = (*SHIPPED, *BESIDE, "src", "tests", "pyproject.toml", "setup.py", "MANIFEST.in")
OFFLINE = ["--quiet", "--no-index", "--no-deps"]
CAMPAIGN = f"""\
campaign: small
busy_machine: rank # tests share this machine
repeats: 2
time_limit: 1 min
systems:
  here: {{scheduler: none, mpi: intelmpi, prefix: {sys.prefix}}}
host_groups:
  local: {{system: here}}
benchmarks:
  tree_gather: {{arguments: --min-size 1KiB --max-size 4KiB --budget 0.2}}
matrix:
  - {{host_groups: local, placements: [SHM], benchmarks: tree_gather}}
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of a wheel, and files left beside them by set-up, build and run."""
    folder = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        path = PROJECT / name
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, folder / name, ignore=shutil.ignore_patterns("*.egg-info"))
        else:
            shutil.copy(path, folder / name, follow_symlinks=False)
    for left in ("build/lib/mpicampaign/former.py", "results/c/plan.json", "workflow/.snakemake/log"):
        (folder / left).parent.mkdir(parents=True)
        (folder / left).write_text("")
    return folder


@pytest.fixture(scope="module")
def wheel(sources: Path) -> Path:
    made([*PIP, "wheel", *OFFLINE, "--no-build-isolation", "--wheel-dir", "dist", "."], sources)
    (path,) = (sources / "dist").glob("*.whl")
    return path


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def files(folder: Path, unwanted: tuple[str, ...] = ("__pycache__",)) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in found if not set(unwanted) & set(path.parts)}


@pytest.mark.full
def test_the_wheel_holds_the_package_and_what_it_needs_and_no_more(wheel: Path) -> None:
    package = {name for name in files(PROJECT / "src") if ".egg-info" not in name}
    data = {name for name in SHIPPED if (PROJECT / name).is_file()}
    for part in (name for name in SHIPPED if (PROJECT / name).is_dir()):
        found = files((PROJECT / part).resolve(), ("__pycache__", "tests", ".clang-format"))
        data |= {f"{part}/{name}" for name in found}
    data |= MADE
    assert {"kernels/Makefile", "cluster/config.yaml", "templates/job/library/run.sh"} <= data
    assert names(wheel) == package | {f"mpicampaign/data/{name}" for name in data}
    with zipfile.ZipFile(wheel) as archive:
        for name, schema in zip(SCHEMAS, (campaign_schema(), map_schema(), results_schema()), strict=True):
            assert json.loads(archive.read(f"mpicampaign/data/{name}")) == schema


def test_a_build_leaves_nothing_but_the_wheel(sources: Path, wheel: Path) -> None:
    assert wheel.name.startswith(f"mpicampaign-{__version__}-py3-none-any")
    assert files(sources / "build") == {"lib/mpicampaign/former.py"}
    assert not (sources / "src/mpicampaign/data").exists()


@pytest.fixture(scope="module")
def source_archive(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source-archive")
    call = "import setuptools.build_meta as s, sys; s.build_sdist(sys.argv[1])"
    made([sys.executable, "-c", call, str(folder)], sources)
    (path,) = folder.glob("*.tar.gz")
    return path


@pytest.mark.full
def test_the_source_archive_makes_the_same_wheel(source_archive: Path, wheel: Path, tmp_path: Path) -> None:
    made([*PIP, "wheel", *OFFLINE, "--no-build-isolation", str(source_archive)], tmp_path)
    (again,) = tmp_path.glob("*.whl")
    assert names(again) == names(wheel)


@pytest.mark.full
def test_both_archives_can_be_published(source_archive: Path, wheel: Path) -> None:
    """What a package index checks and shows, without asking one."""
    top = f"mpicampaign-{__version__}"
    with tarfile.open(source_archive) as archive:
        members = archive.getmembers()
        shown = archive.extractfile(f"{top}/PKG-INFO")
        assert shown is not None
        described = [email.message_from_bytes(shown.read())]
    assert all(member.isfile() or member.isdir() for member in members)
    paths = {member.name.removeprefix(f"{top}/") for member in members if member.isfile()}
    assert {*BESIDE, *MADE, "docs/method.md", "setup.py"} <= paths
    assert not [path for path in paths if path.startswith(("tests/", "build/", "results/", "."))]
    with zipfile.ZipFile(wheel) as archive:
        described.append(email.message_from_bytes(archive.read(f"{top}.dist-info/METADATA")))
        assert b"mpicampaign = mpicampaign.cli:main" in archive.read(f"{top}.dist-info/entry_points.txt")
        assert {name.split("/")[0] for name in names(wheel)} == {
            "mpicampaign",
            "snakemake_executor_plugin_campaign",
        }
    for each in described:
        assert (each["Name"], each["Version"]) == ("mpicampaign", __version__)
        assert each["License-Expression"] == "BSD-3-Clause AND Bitstream-Vera"
        assert each.get_all("License-File") == ["LICENSE", "src/mpicampaign/show/figures/font/LICENSE"]
        assert each["Description-Content-Type"] == "text/markdown"
        text = each.get_payload(decode=True)
        assert isinstance(text, bytes)
        assert text.decode().strip() == (PROJECT / "README.md").read_text(encoding="utf-8").strip()


@dataclass(frozen=True)
class Installation:
    """An environment with the wheel, which its users can read only."""

    folder: Path

    def state(self) -> dict[str, tuple[int, int]]:
        found = {str(path): path.lstat() for path in self.folder.rglob("*")}
        return {path: (facts.st_mtime_ns, facts.st_size) for path, facts in found.items()}


@dataclass(frozen=True)
class User:
    """A user with their own folder, subject to permissions even if the tests run as root.

    Root without its privileges: it reads what lies in root's home, and writes only where that is permitted.
    """

    installation: Installation
    folder: Path
    number: int

    def call(self, *arguments: str, folder: Path | None = None) -> CompletedProcess[str]:
        programs = f"{self.installation.folder / 'bin'}:{os.environ['PATH']}"
        return completed(
            [*self._becoming(), *arguments],
            cwd=folder or self.folder,
            env={
                "PATH": programs,
                "HOME": str(self.folder),
                "USER": f"user{self.number}",
                "MPICAMPAIGN_LOCK": os.environ["MPICAMPAIGN_LOCK"],
            },
            timeout=300,
        )

    def campaign(self, *arguments: str) -> str:
        """The output of a successful call of mpicampaign."""
        done = self.call("mpicampaign", *arguments)
        assert succeeded(done)
        return done.stdout

    def snakemake(self, *arguments: str) -> CompletedProcess[str]:
        """As its program does it: without the current folder among Python's."""
        return self.call("python", "-P", "-m", "snakemake", *arguments)

    def _becoming(self) -> list[str]:
        if os.geteuid() != 0:
            return []
        return ["unshare", "--user", f"--map-user={self.number}", f"--map-group={self.number}"]


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The wheel in an environment of its own; what it depends on comes from the environment of the tests."""
    folder = tmp_path_factory.mktemp("installation") / "environment"
    made([*pip_of(new_environment(folder)), "install", *OFFLINE, str(wheel)], folder.parent)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "environment-of-the-tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    made(["chmod", "-R", "a-w", str(folder)], folder.parent)
    return Installation(folder)


def needed(requirements: Iterable[str]) -> set[str]:
    """The packages that these need without an extra, and those that they need themselves."""
    wanted = [Requirement(text) for text in requirements]
    names = {each.name for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})}
    return names.union(*(needed(metadata.requires(name) or ()) for name in names))


@pytest.fixture
def bare(wheel: Path, tmp_path: Path) -> Installation:
    """The wheel without an extra; what it depends on are links into the environment of the tests."""
    folder = tmp_path / "environment"
    pip = pip_of(new_environment(folder))
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"mpicampaign-{__version__}.dist-info/METADATA")
    for name in needed(email.message_from_bytes(text).get_all("Requires-Dist", [])):
        files = metadata.files(name) or ()
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (packages / top).symlink_to(Path(sysconfig.get_path("purelib"), top))
    made([*pip, "install", *OFFLINE, str(wheel)], tmp_path)
    return Installation(folder)


def user(installation: Installation, folder: Path, number: int = 64001) -> User:
    folder.mkdir()
    found = User(installation, folder, number)
    if (done := found.call("true")).returncode != 0:
        pytest.skip(f"no call without the privileges of root is possible here: {done.stderr.strip()}")
    return found


@pytest.mark.full
def test_a_user_of_a_read_only_installation_begins_in_an_empty_folder(
    installation: Installation, tmp_path: Path
) -> None:
    before = installation.state()
    someone = user(installation, tmp_path / "mine")
    data = next(installation.folder.glob("lib/python*/site-packages/mpicampaign/data"))
    assert someone.call("cp", "/dev/null", str(data / "Snakefile")).returncode != 0
    assert someone.campaign("--version") == f"mpicampaign {__version__}\n"
    missing = someone.call("mpicampaign", "check")
    assert missing.returncode == 2
    assert "campaign.yaml: this file cannot be read" in missing.stderr
    assert "mpicampaign init writes campaign.yaml" in missing.stderr

    (someone.folder / "campaign.yaml").write_text(CAMPAIGN)
    said = someone.campaign("init")
    assert "campaign.yaml: exists already, kept" in said
    assert "Snakefile: written" in said
    assert f"results: {someone.folder / 'results'}" in said
    assert (someone.folder / "campaign.yaml").read_text() == CAMPAIGN
    made_there = {"campaign.yaml", "Snakefile", "cluster/config.yaml", "profiles/default/config.yaml"}
    assert files(someone.folder) == made_there

    assert "no errors found" in someone.campaign("check")
    assert "2 still to be done" in someone.campaign("plan")
    file = str(someone.folder / "campaign.yaml")  # its folder counts, not the current one
    done = someone.call("mpicampaign", "render", file, folder=Path("/"))
    rendered = [Path(line) for line in done.stdout.splitlines()]
    assert all(path.is_relative_to(someone.folder / "results/small/runs") for path in rendered)
    planned = prepare(someone.folder / "campaign.yaml", results=someone.folder / "results")
    assert rendered == [script.path for script in planned.runs]  # as in a clone
    assert installation.state() == before


def test_init_writes_the_default_campaign(installation: Installation, tmp_path: Path) -> None:
    someone = user(installation, tmp_path / "mine")
    someone.campaign("init")
    first, _, rest = (someone.folder / "campaign.yaml").read_text().partition("\n")
    assert rest == (PROJECT / "campaign.yaml").read_text()
    schema = first.removeprefix("# yaml-language-server: $schema=file://")
    assert json.loads(Path(schema).read_text()) == campaign_schema()
    assert (someone.folder / "cluster/config.yaml").read_text() == (
        PROJECT / "profiles/cluster/config.yaml"
    ).read_text()
    someone.campaign("check")


def check_results(someone: User) -> None:
    folder = someone.folder / "results/small"
    records = read_records(folder / "records.jsonl")[1]
    assert [(record.status, record.verdict) for record in records] == [(OK, VERIFIED)] * 2
    assert (folder / "report.html").stat().st_size > 500
    assert list((someone.folder / "build/here").glob("*/tree_gather"))


@pytest.mark.full
def test_without_extras_it_is_small_and_a_command_that_lacks_one_names_it(
    bare: Installation, tmp_path: Path
) -> None:
    made([*pip_of(bare.folder / "bin/python"), "check"], tmp_path)
    (packages,) = bare.folder.glob("lib/python*/site-packages")
    files = (Path(root, name) for root, _, names in os.walk(packages, followlinks=True) for name in names)
    assert sum(path.stat().st_size for path in files) < 95e6

    someone = user(bare, tmp_path / "mine")
    shutil.copy(PROJECT / "tests/fixtures/imb/pingpong.out", someone.folder)
    assert "pip install 'mpicampaign[mpi]'" in someone.campaign("plan", str(PROJECT / "campaign.yaml"))
    write_trivial(ProjectCopy(someone.folder), "campaign")
    for command in ("init", "--help", "check", "plan", "render", "status", "doctor --scheduler none", "run"):
        someone.campaign(*command.split())
    someone.campaign("import", "pingpong.out")
    someone.campaign("report", "--map", "pingpong-map.yaml")
    assert "PingPong" in someone.campaign("tables", "--results", "results/pingpong", "--format", "csv")
    lacking = {
        "figures": ("report", "--map", "pingpong-map.yaml", "--figures", "pdf"),
        "parquet": ("tables", "--results", "results/pingpong", "--format", "parquet", "-o", "t.parquet"),
    }
    for extra, command in lacking.items():
        done = someone.call("mpicampaign", *command)
        assert done.returncode == 2
        assert done.stderr.endswith(f"install the extra {extra}: pip install 'mpicampaign[{extra}]'\n")


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.usefixtures("imb")
def test_two_users_run_their_campaigns_at_once(installation: Installation, tmp_path: Path) -> None:
    before = installation.state()
    one, two = (user(installation, tmp_path / str(n), n) for n in (64001, 64002))
    for each in (one, two):
        (each.folder / "campaign.yaml").write_text(CAMPAIGN)
        each.campaign("init")
        (each.folder / "statistics.py").write_text("raise ImportError('a file of a user')\n")
    with ThreadPoolExecutor(2) as both:
        calls = [
            both.submit(one.call, "mpicampaign", "run", str(one.folder / "campaign.yaml"), folder=Path("/")),
            both.submit(two.snakemake, "--profile", "cluster"),
        ]
        assert all(succeeded(call.result()) for call in calls)
    check_results(one)
    check_results(two)
    assert "nothing to do" in two.call("mpicampaign", "run").stdout
    assert "2 ok" in one.campaign("report")
    assert installation.state() == before


@pytest.mark.full
def test_what_else_a_user_calls(installation: Installation, tmp_path: Path) -> None:
    """A script run by hand from anywhere; tables, bundles, an import, the doctor."""
    before = installation.state()
    one, two = (user(installation, tmp_path / str(n), n) for n in (64001, 64002))
    write_trivial(ProjectCopy(one.folder), "campaign")
    one.campaign("build")
    for script in one.campaign("render").splitlines():
        assert succeeded(one.call("bash", script, folder=Path("/")))
    assert one.campaign("status").startswith("4 finished")
    assert "4 ok" in one.campaign("report")
    assert "trivial" in one.campaign("tables")
    one.campaign("bundle")
    assert "4 runs" in two.campaign("merge", str(one.folder / "campaign.tar.gz"))
    assert (two.folder / "results/campaign/merged").is_dir()

    raw = two.folder / "raw"
    raw.mkdir()
    shutil.copy(PROJECT / "tests/fixtures/imb/pingpong.out", raw)
    (two.folder / "map.yaml").write_text(
        "import: old\ncampaign: old\nrules:\n"
        "  - {label: {system: s, host_group: g, placement: SHM, benchmark: '{benchmark}'}}\n"
    )
    two.campaign("import", "raw", "--map", "map.yaml")
    two.campaign("report", "--map", "map.yaml")
    assert (two.folder / "results/old/report.html").is_file()
    two.campaign("doctor", "--scheduler", "none")
    assert (two.folder / "site.yaml").is_file()
    assert installation.state() == before
