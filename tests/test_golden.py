"""Job scripts as an administrator sees them, for schedulers × launchers × placements; a dozen are kept.

After a change on purpose: MPICAMPAIGN_UPDATE_GOLDEN=1 pytest tests/test_golden.py, then read the diff.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from build_campaigns import AnyMachine, script_of, with_draft
from conftest import completed, succeeded

from mpicampaign.base.identity import identity
from mpicampaign.base.this_machine import measuring_lock
from mpicampaign.campaign.file import load_campaign
from mpicampaign.jobs.claim import claim_text
from mpicampaign.jobs.plan import make_plan
from mpicampaign.jobs.render import batch_text, library_name, library_text, script_text
from mpicampaign.jobs.run import Run
from mpicampaign.jobs.software import Program
from mpicampaign.jobs.texts import TextOfRepeats

GOLDEN = Path(__file__).parent / "golden"
ROOT = Path("/home/user/mpicampaign/results/golden")
FOUND = AnyMachine(
    find_program=lambda system, benchmark: Program(benchmark.provider.location, "0123456789abcdef" * 4),
    evidence_library=lambda system: f"/home/user/mpicampaign/build/{system.name}/0123456789ab/evidence.so",
)
KEPT = (
    *("slurm-intelmpi.SHM-1.sh", "slurm-openmpi.IBV.sh", "slurm-srun.TCP-full.sh", "slurm-mpich.TCP.sh"),
    *("slurm-openmpi.IBV-full.sh", "slurm-openmpi.OFI.sh", "lsf-openmpi.default-full.sh"),
    *("lsf-openmpi.SHM-2.sh", "lsf-mpich.SHM.sh", "lsf-mvapich.TCP.sh", "scarf.TCP.sh"),
    *("lotus.TCP.sh", "shell-intelmpi.TCP.sh", "cloud.TCP.sh"),
    *("scarf.SHM-4.sh", "scarf.IBV-2+2.sh", "lotus.TCP-2+2.sh", "cloud-mapped.TCP-2+2.sh"),  # HPL
    *("lsf-openmpi.blocks.sh", "slurm-srun.GPU-4.sh", "lsf-openmpi.GPU-4.sh"),
)
USUAL_LINES, MOST_LINES = 60, 80


def planned() -> tuple[Run, ...]:
    campaign = load_campaign(GOLDEN / "golden.yaml")
    return make_plan(campaign, list(campaign.systems), FOUND).runs


def blocks() -> str:
    """The script of two blocks on LSF, such as those of a race."""
    own = (run for run in planned() if run.case.system == "lsf-openmpi" and "SHM-" in run.case.placement)
    block = [replace(with_draft(script_of(run, ROOT), token="0" * 16), block="SHM") for run in own]
    return batch_text([block, block], ROOT / "batches/batch-0.runs")


def rendered(inline: bool = False) -> dict[str, str]:
    """The text of every script by its file's name."""
    texts = {run.case: script_text(script_of(run, ROOT), inline) for run in planned()}
    return {f"{case.system}.{case.placement}.sh": _without_checksum(text) for case, text in texts.items()}


def _without_checksum(text: str) -> str:
    """A changed comment of the library changes no golden script. Nor does the tests' lock."""
    checksum = hashlib.sha256(library_text().encode()).hexdigest()
    text = text.replace(str(measuring_lock()), "/tmp/mpicampaign-measuring")
    return text.replace(checksum, "0" * 64).replace(library_name(), "run-0000000000000000.sh")


SCRIPTS = rendered()


@pytest.mark.parametrize("name", KEPT)
def test_script_is_the_golden_one(name: str) -> None:
    golden, text = GOLDEN / name, SCRIPTS[name] if name in SCRIPTS else blocks()
    if os.environ.get("MPICAMPAIGN_UPDATE_GOLDEN"):
        golden.write_text(text)
    assert golden.read_text() == text


@pytest.mark.parametrize(
    "text_of", [script_text, lambda run: claim_text(run, ["0"])], ids=["script", "claim"]
)
def test_the_text_of_a_repeat_is_the_one_made_for_it_alone(text_of: Callable[[Run], str]) -> None:
    """Also where the next run of the same names has another limit."""
    text = TextOfRepeats(text_of)
    for first in (script_of(run, ROOT) for run in planned()):
        other = replace(first, repeat=12, identity=identity({**first.declared, "repeat": 12}), order=7)
        longer = with_draft(other, entry=replace(other.draft.entry, time_limit=999))
        for run in (first, other, longer):
            assert text(run) == text_of(run)


def test_there_is_no_golden_file_without_a_script() -> None:
    if os.environ.get("MPICAMPAIGN_UPDATE_GOLDEN"):
        for path in GOLDEN.glob("*.sh"):
            if path.name not in KEPT:
                path.unlink()
    assert {path.name for path in GOLDEN.glob("*.sh")} == set(KEPT)


def test_scripts_are_short_and_show_the_whole_launch() -> None:
    for name, text in SCRIPTS.items():
        usual = "-full" not in name and not name.startswith(("cloud", "lotus"))
        assert len(text.splitlines()) <= (USUAL_LINES if usual else MOST_LINES), name
        assert text.splitlines()[-1].startswith("measure "), name
        assert max(map(len, text.splitlines())) < 400, name


def test_bash_takes_them_all(tmp_path: Path) -> None:
    for name, text in rendered(inline=True).items():
        (tmp_path / name).write_text(text)
    loop = 'for script; do bash -n "$script" || exit; done'
    subprocess.run(["bash", "-c", loop, "bash", *tmp_path.iterdir()], check=True, timeout=240)


@pytest.mark.full
def test_shellcheck_takes_them_all(tmp_path: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    # Functions that only a trap calls are taken for unreachable. The library takes most of the time: only the
    # kept scripts have it, and the others may use variables that it sets, or set those that it uses.
    for inline, excluded in (True, "SC2317"), (False, "SC2317,SC2034,SC2154"):
        folder = tmp_path / str(inline)
        folder.mkdir()
        for name, text in rendered(inline=inline).items():
            if name in KEPT or not inline:
                (folder / name).write_text(text)
        command = ["shellcheck", f"--exclude={excluded}", *sorted(folder.iterdir())]
        assert succeeded(completed(command, timeout=1200))


def directives(name: str) -> list[str]:
    found = re.findall(r"^#BSUB (.*)$", SCRIPTS[name], re.MULTILINE)
    return [re.sub(r"/\S*/", "", line) for line in found]


def launch(name: str) -> list[str]:
    """The tokens of the launch command, up to the per-rank wrapper, then the benchmark's arguments."""
    text = SCRIPTS[name].rpartition("\nmeasure ")[2]
    return [word for word in text.split() if word not in ('"$rank"', '"$program"')]


IMB_ARGUMENTS = ["-iter", "1000", "-time", "200", "-msglog", "0:24", "-iter_policy", "off", "PingPong"]


@pytest.mark.parametrize(
    ("name", "tile", "flags"),
    [
        ("scarf.TCP.sh", 1, ["-TCP"]),  # the report's Code 4, between nodes
        ("scarf.IBV.sh", 1, ["-IBV"]),
        ("scarf.SHM.sh", 2, []),  # and on one node
    ],
)
def test_scarf_as_in_the_stfc_report(name: str, tile: int, flags: list[str]) -> None:
    job_name, *others, log = directives(name)
    assert re.fullmatch(r"-J PingPong-[0-9a-f]{12}-70ce17", job_name)
    assert others == ["-x", "-m scarf10", f'-n 2 -R "span[ptile={tile}]"', "-W 0:45"]
    assert log == f"-o {job_name.removeprefix('-J ')}-%J.log"
    assert launch(name) == ["mpirun", "-lsf", "-prot", *flags, *IMB_ARGUMENTS]


@pytest.mark.parametrize(
    ("name", "tile", "flags"),
    [
        ("scarf.SHM-4.sh", 4, []),
        ("scarf.TCP-2+2.sh", 2, ["-TCP"]),
        ("scarf.IBV-2+2.sh", 2, ["-IBV"]),
        ("lotus.SHM-4.sh", 4, []),
        ("lotus.TCP-2+2.sh", 2, []),
    ],
)
def test_four_ranks_as_in_the_stfc_report(name: str, tile: int, flags: list[str]) -> None:
    """Codes 7 and 8: HPL of four ranks on one node or on two."""
    found = directives(name)
    assert found[1] == "-x"
    assert f'-n 4 -R "span[ptile={tile}]"' in found
    if name.startswith("scarf"):
        assert launch(name) == ["mpirun", "-lsf", "-prot", *flags]
    else:
        assert launch(name) == ["mpirun.lotus", "-prot", "-e", "LD_LIBRARY_PATH=/apps/intel/lib"]


@pytest.mark.parametrize(
    ("system", "counts"),
    [
        ("slurm-intelmpi", ["-n", "{ranks}", "-ppn", "16"]),
        ("slurm-srun", ["--nodes={nodes}", "--ntasks={ranks}", "--ntasks-per-node=16"]),
        ("lsf-openmpi", ["-np", "{ranks}", "--map-by", "ppr:16:node"]),
        ("scarf", []),  # Platform MPI gets the hosts from LSF
    ],
)
@pytest.mark.parametrize(("placement", "nodes"), [("SHM-full", 1), ("TCP-full", 2), ("IBV-full", 2)])
def test_full_nodes_have_a_rank_on_each_core(
    system: str, counts: list[str], placement: str, nodes: int
) -> None:
    name = f"{system}.{placement}.sh"
    wanted = [word.format(nodes=nodes, ranks=16 * nodes) for word in counts]
    words = launch(name)
    assert [word for word in words if word in wanted] == wanted
    slurm = [f"#SBATCH --nodes={nodes} --ntasks={16 * nodes} --ntasks-per-node=16"]
    lsf = [f'#BSUB -n {16 * nodes} -R "span[ptile=16]"']
    asked = slurm if system.startswith("slurm") else lsf
    assert [line for line in SCRIPTS[name].splitlines() if line in asked] == asked


@pytest.mark.parametrize(
    ("system", "setting"),
    [
        ("slurm-intelmpi", "FI_TCP_IFACE=lo"),
        ("slurm-srun", "FI_TCP_IFACE=lo"),
        ("lsf-openmpi", "OMPI_MCA_btl_tcp_if_include=lo"),
    ],
)
def test_loopback_is_named_to_the_library(system: str, setting: str) -> None:
    text = SCRIPTS[f"{system}.TCP-loopback.sh"]
    assert re.search(rf"^export .*\b{setting}\b", text, re.MULTILINE), setting
    assert "eth0" not in text


@pytest.mark.parametrize(
    ("system", "tcp", "ibv"),
    [
        ("slurm-intelmpi", "=shm:ofi FI_PROVIDER=tcp", "=shm:ofi FI_PROVIDER=verbs"),
        ("slurm-openmpi", "OMPI_MCA_btl=self,sm,tcp", "UCX_TLS=rc,sm,self"),
        ("lsf-openmpi", "OMPI_MCA_btl=self,vader,tcp", "UCX_TLS=rc,sm,self"),
        ("slurm-mpich", "MPIR_CVAR_NOLOCAL=0", "MPIR_CVAR_NOLOCAL=0"),
        ("lsf-mpich", "UCX_TLS=tcp,sm,self", "UCX_TLS=rc,sm,self"),
        ("slurm-mvapich", "MV2_USE_SHARED_MEM=1 MPICH_NEMESIS", "MV2_USE_SHARED_MEM=1 MV2_IBA_HCA"),
        ("scarf", "-TCP -intra=shm", "-IBV -intra=shm"),
    ],
)
def test_full_nodes_use_shared_memory_within_each(system: str, tcp: str, ibv: str) -> None:
    for placement, setting in (("TCP-full", tcp), ("IBV-full", ibv)):
        text = SCRIPTS[f"{system}.{placement}.sh"]
        assert setting in text
        assert f"; shm within a node, {placement[:3].lower()}" in text


@pytest.mark.parametrize("placement", ["default", "default-node", "default-full"])
def test_the_library_chooses_where_the_placement_says_so(placement: str) -> None:
    """Nothing is set but what makes it report, and what leaves the binding to the job script."""
    text = SCRIPTS[f"slurm-intelmpi.{placement}.sh"]
    assert re.findall(r"^export .*$", text, re.MULTILINE) == [
        "export SLURM_EXPORT_ENV=ALL I_MPI_DEBUG=5 I_MPI_PIN=off"
    ]
    text = SCRIPTS[f"lsf-openmpi.{placement}.sh"]
    [exported] = re.findall(r"^export (.*)$", text, re.MULTILINE)
    assert {each.partition("=")[0] for each in exported.split()} == {
        "OMPI_MCA_btl_base_verbose",
        "OMPI_MCA_bml_base_verbose",
    }


@pytest.mark.parametrize("system", ["slurm-mvapich", "lsf-mvapich"])
def test_mvapich_as_in_its_user_guide(system: str) -> None:
    """Sections 4.13 and 5.2.10 for TCP, 11.22 for binding, 11.25 for the InfiniBand device."""
    tcp, ibv, shm = (f"{system}.{placement}.sh" for placement in ("TCP", "IBV", "SHM-1"))
    assert launch(tcp)[: -len(IMB_ARGUMENTS)] == ["mpiexec", "-n", "2", "-ppn", "1", "-iface", "eth0"]
    for name, setting in (
        (tcp, "MPICH_NEMESIS_NETMOD=tcp"),
        (ibv, "MV2_IBA_HCA=mlx5_0"),
        (ibv, "MV2_NUM_HCAS=1"),
        (shm, "MV2_USE_SHARED_MEM=1"),
        (shm, "MV2_ENABLE_AFFINITY=0"),
    ):
        assert re.search(rf"^export .*\b{setting}\b", SCRIPTS[name], re.MULTILINE)
    assert " device=mlx5_0\n" in SCRIPTS[ibv]


@pytest.mark.parametrize(
    ("script", "setting"),
    [
        ("slurm-intelmpi.OFI.sh", "I_MPI_FABRICS=ofi"),
        ("slurm-intelmpi.OFI-full.sh", "I_MPI_FABRICS=shm:ofi"),
        ("slurm-mpich.OFI.sh", "MPIR_CVAR_NOLOCAL=1"),
        ("slurm-mpich.OFI-full.sh", "MPIR_CVAR_NOLOCAL=0"),
        ("slurm-openmpi.OFI.sh", "OMPI_MCA_mtl_ofi_provider_include=efa"),
    ],
)
def test_libfabric_gets_its_provider_and_device(script: str, setting: str) -> None:
    assert {setting, "FI_PROVIDER=efa", "FI_EFA_IFACE=rdmap0s6"} <= set(SCRIPTS[script].split())
