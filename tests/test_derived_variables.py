"""Variables that launchers derive for the ranks from settings are no lie; what differs otherwise is one."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml
from test_launched import HONEST, changed, declared, variable, verdict_of

from mpicampaign.base.commands import call
from mpicampaign.mpis import is_launcher_of

DERIVED = yaml.safe_load((Path(__file__).parent / "fixtures/derived_variables.yaml").read_text())
LIBRARIES = dict.fromkeys(("mpich-ofi", "mpich-ucx"), "mpich")
LIBRARIES |= {name: name for name in ("intelmpi", "openmpi4", "openmpi5")}
CASES = [
    pytest.param(name, setting, dict(pair.split("=", 1) for pair in derived.split()), id=f"{name} {setting}")
    for name, of in LIBRARIES.items()
    for setting, derived in DERIVED[of].items()
    if derived
]


def as_option(name: str, setting: str) -> str:
    """The option of the launcher that gives the ranks a variable."""
    key, _, value = setting.partition("=")
    if not name.startswith("openmpi"):
        return f"-genv {key} {value}"
    return f"--mca {key[9:]} {value}" if key.startswith("OMPI_MCA_") else f"-x {setting}"


def reasons(
    name: str, setting: str, ranks: Mapping[str, str], way: str = "environment", more: str = ""
) -> set[str]:
    """What the verdict says against the variables of a run with this setting, given in this way.

    ``ranks``: the variables in which a rank differs from the job script. ``more``: a setting of the label.
    """
    lines = "\nrank 1 start.".join(f"env.{key}={value}" for key, value in ranks.items())
    text = variable(lines, len(ranks)) if ranks else HONEST
    text = changed("claim mpi=intelmpi", f"claim mpi={name}", text)
    if more:
        text = text.replace("settings=1\nclaim setting.", f"settings=2\nclaim setting.{more}\nclaim setting.")
        text = text.replace("job env.", f"job env.{more}\njob env.")
    if setting.startswith("-"):
        text = text.replace("launch=mpirun -n 2", f"launch=mpirun -n 2 {setting}")
        return of_variables(declared(text, launcher_options=setting.split()))
    key, _, value = setting.partition("=")
    text = text.replace("job env.", f"job env.{setting}\njob env.", 1)
    declares = {"source": "site.sh"} if way == "source" else {f"environment.{key}": value}
    return of_variables(declared(text, **declares))


def of_variables(text: str) -> set[str]:
    against = {reason for reason in verdict_of(text)[1] if reason.startswith("variables: ")}
    return against - {"variables: as in the job script"}


@pytest.mark.parametrize(("name", "setting", "derived"), CASES)
def test_what_a_launcher_derives_is_no_lie(name: str, setting: str, derived: dict[str, str]) -> None:
    assert not reasons(name, setting, derived)
    if not setting.startswith("-"):
        assert not reasons(name, setting, derived, way="source")
        assert not reasons(name, as_option(name, setting), derived)


@pytest.mark.parametrize(("name", "setting", "derived"), CASES)
def test_the_same_without_the_setting_is_a_lie(name: str, setting: str, derived: dict[str, str]) -> None:
    """Apart from what no user sets: where the ranks are, how they are started."""
    by_itself = ("HYDRA_", "PMIX_MCA_", "OMPI_MCA_hwloc", "OMPI_MCA_rmaps", "OMPI_MCA_orte")
    for key in derived:
        assert key.startswith(by_itself) or reasons(name, "FI_LOG_LEVEL=warn", {key: derived[key]}), key


LIES = [
    ("intelmpi", "I_MPI_PIN_DOMAIN=core", "I_MPI_PIN_DOMAIN=socket"),
    ("intelmpi", "I_MPI_PIN_DOMAIN=core", "I_MPI_PIN_PROCESSOR_LIST=0,1"),
    ("intelmpi", "I_MPI_PIN_DOMAIN=core", "I_MPI_PIN_ORDER=scatter"),
    ("intelmpi", "I_MPI_PIN_DOMAIN=2:compact", "I_MPI_PIN_ORDER=scatter"),
    ("intelmpi", "I_MPI_PIN_DOMAIN=core", "I_MPI_PIN_CELL=core"),
    ("intelmpi", "I_MPI_PIN_DOMAIN=core", "I_MPI_FABRICS=ofi"),
    ("intelmpi", "I_MPI_PIN_DOMAIN=core", "UCX_TLS=tcp"),
    ("intelmpi", "-cpu-bind core", "I_MPI_PIN_DOMAIN=socket"),
    ("intelmpi", "-cpu-bind core", "I_MPI_SHM_CELL_FWD_SIZE=256"),
    ("intelmpi", "-tune a.dat", "I_MPI_TUNING_BIN=b.dat"),
    ("intelmpi", "I_MPI_FABRICS_LIST=-prot", "I_MPI_PRINT_PROT=1"),
    ("mpich-ofi", "HYDRA_IFACE=eth0", "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE=eth1"),
    ("mpich-ofi", "-iface eth0", "FI_PROVIDER=tcp"),
    ("openmpi4", "OMPI_MCA_mca_base_env_list=UCX_TLS=tcp;FI_PROVIDER=tcp", "UCX_TLS=rc"),
    ("openmpi4", "OMPI_MCA_mca_base_env_list=UCX_TLS=tcp", "OMPI_MCA_btl=self,tcp"),
    ("openmpi5", "--with-ft ulfm", "OMPI_MCA_btl=self,tcp"),
    ("openmpi5", "OMPI_MCA_pml=ob1", "OMPI_MCA_btl=self,tcp"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "setting", "lie"), LIES)
def test_what_nothing_derives_is_a_lie(name: str, setting: str, lie: str) -> None:
    assert reasons(name, setting, dict([lie.split("=", 1)]))


# ---- real launchers


@pytest.mark.parametrize("option", ["--tune", "--am"])
def test_a_file_of_settings_changes_no_setting_of_the_label(option: str) -> None:
    setting, file = "OMPI_MCA_btl=self,sm", f"{option} site.conf"
    assert not reasons("openmpi5", file, {"OMPI_MCA_coll": "^hcoll"}, more=setting)
    assert "claimed: self,sm" in str(reasons("openmpi5", file, {"OMPI_MCA_btl": "self,tcp"}, more=setting))
    assert reasons("intelmpi", file, {"I_MPI_ADJUST_BCAST": "1"})


def launcher(name: str, test_mpi: Callable[[str], str]) -> str:
    """The launch command of a library: of the environment, of its wheel, or of the system."""
    if name == "intelmpi":
        command = Path(sys.prefix) / "bin/mpirun"
    elif name in ("openmpi5", "mpich-ofi"):
        command = Path(test_mpi(name.removesuffix("5").removesuffix("-ofi"))) / "bin/mpiexec"
    else:
        command = Path("/usr/bin") / f"mpiexec.{LIBRARIES[name].removesuffix('4')}"
    if not command.is_file() or not is_launcher_of(name, call([str(command), "--version"]).out):
        pytest.skip(f"{command} is no launcher of {name}")
    return str(command)


def launched(command: str, options: str, setting: str, folder: Path) -> dict[str, str]:
    """The variables in which two ranks differ from their launcher's; each writes its own to a file."""
    ranks = folder / "ranks"
    shutil.rmtree(ranks, ignore_errors=True)
    ranks.mkdir()
    shell = {"PATH": f"{Path(command).parent}:/usr/bin:/bin", "HOME": str(folder)}
    shell |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    shell |= dict([setting.split("=", 1)] if setting else [])
    clean = ["env", "-i", *(f"{key}={value}" for key, value in shell.items())]
    done = call([*clean, command, *options.split(), "-n", "2", "sh", "-c", f"env -0 >{ranks}/$$"])
    variables = [path.read_text().split("\0") for path in ranks.iterdir()]
    assert done.status == 0 and len(variables) == 2, (options, setting, done)
    seen = dict(line.split("=", 1) for rank in variables for line in rank if line)
    return {key: " ".join(value.split()) for key, value in seen.items() if shell.get(key) != value}


@pytest.mark.mpi
@pytest.mark.full
@pytest.mark.parametrize("name", LIBRARIES)
def test_what_the_launcher_of_this_machine_derives_is_no_lie(
    name: str, test_mpi: Callable[[str], str], tmp_path: Path
) -> None:
    command, file = launcher(name, test_mpi), tmp_path / "file.conf"
    file.write_text("--mca btl self,tcp\n-x UCX_TLS=tcp\n")
    for case, derived in DERIVED[LIBRARIES[name]].items():
        setting = case.replace("FILE", str(file))
        if setting.startswith("-"):
            assert not reasons(name, setting, launched(command, setting, "", tmp_path)), setting
            continue
        assert not reasons(name, setting, launched(command, "", setting, tmp_path)), setting
        if derived:
            option = as_option(name, setting)
            assert not reasons(name, option, launched(command, option, "", tmp_path)), option
