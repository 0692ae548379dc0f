"""The four LSF scripts of the STFC report of 2017 (its Codes 4, 5, 7, 8), and campaigns rendered for them."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from builders import MACHINE, script_of

from mpicampaign.campaign.file import load_campaign
from mpicampaign.jobs.plan import make_plan
from mpicampaign.jobs.render import script_text

sys.path.insert(0, str(Path(__file__).parent / "lsf_standin"))
from bsub_grammar import parse

CAMPAIGNS = Path(__file__).parents[1] / "campaigns"
SCARF = [f"scarf{number}" for number in range(10, 17)]
LOTUS = ["ivybridge512G", "ivybridge2000G", "haswell256G", "ivybridge128G", "broadwell256G"]
IMB = ["-iter", "1000", "-time", "200", "-msglog", "0:24", "-iter_policy", "off", "PingPong"]
MKL = "intel/mkl/11.3.1.150"


@dataclass(frozen=True)
class Code:
    """The requests of one Code of the report, in its order of directives."""

    campaign: str
    groups: list[str]
    tasks: int
    limit: str
    queue: str
    tiles: dict[str, tuple[int, list[str]]]  # by placement: tasks on a host, the tokens of mpirun
    arguments: list[str]
    modules: tuple[str, ...] = ()


PLATFORM = ["mpirun", "-lsf", "-prot"]
LIBRARY = ["-e", "LD_LIBRARY_PATH=/apps/intel/mkl/lib/intel64"]
CODES = {
    4: Code(
        "lsf-scarf-imb",
        SCARF,
        2,
        "0:45",
        "",
        {"SHM": (2, PLATFORM), "TCP": (1, [*PLATFORM, "-TCP"]), "IBV": (1, [*PLATFORM, "-IBV"])},
        IMB,
    ),
    5: Code(
        "lsf-lotus-imb",
        LOTUS,
        2,
        "0:45",
        "par-multi",
        {"SHM": (2, ["mpirun.lotus", "-prot"]), "TCP": (1, ["mpirun.lotus", "-prot"])},
        IMB,
    ),
    7: Code(
        "lsf-scarf-hpl",
        SCARF,
        4,
        "1:00",
        "",
        {"SHM-4": (4, PLATFORM), "TCP-2+2": (2, [*PLATFORM, "-TCP"]), "IBV-2+2": (2, [*PLATFORM, "-IBV"])},
        [],
        ("intel/15.3", MKL),
    ),
    8: Code(
        "lsf-lotus-hpl",
        LOTUS,
        4,
        "1:00",
        "par-multi",
        {
            "SHM-4": (4, ["mpirun.lotus", "-prot", *LIBRARY]),
            "TCP-2+2": (2, ["mpirun.lotus", "-prot", *LIBRARY]),
        },
        [],
        ("intel/15.1", MKL),
    ),
}


def launch(text: str) -> tuple[list[str], list[str]]:
    """The tokens of mpirun, and of the benchmark behind the per-rank wrapper: the script's last line."""
    command = re.search(r'^measure (.*) "\$rank" "\$program"(.*)\n\Z', text, re.MULTILINE)
    assert command
    return command[1].split(), command[2].split()


@pytest.mark.parametrize("number", CODES)
def test_directives_and_mpirun_options_are_those_of_the_report(number: int) -> None:
    code = CODES[number]
    campaign = load_campaign(CAMPAIGNS / f"{code.campaign}.yaml")
    [system] = campaign.systems
    runs = make_plan(campaign, [system], MACHINE).runs
    cases = {(run.case.host_group, run.case.placement, run.repeat) for run in runs}
    assert cases == {(g, p, r) for g in code.groups for p in code.tiles for r in range(1, 6)}
    for run in runs:
        text = script_text(script_of(run))
        tile, words = code.tiles[run.case.placement]
        wanted = {
            "-x": "",
            "-n": str(code.tasks),
            "-W": code.limit,
            "-m": run.case.host_group,
            **({"-q": code.queue} if code.queue else {}),
        }
        found = parse([], text)
        # the name and the log are the run's own; the report has one name for all, and one folder
        own = {option: found.options.pop(option) for option in ("-J", "-o")}
        assert found.options == wanted
        assert found.requirements == [f"span[ptile={tile}]"]
        assert own["-J"].startswith(f"{run.case.benchmark}-")
        assert own["-o"] == f"/results/c/logs/{own['-J']}-%J.log"  # of both outputs: there is no -e
        mpirun, benchmark = launch(text)
        assert mpirun == words
        assert benchmark == code.arguments
        assert tuple(re.findall(r"^need module load (\S+)", text, re.MULTILINE)) == code.modules


APPENDIX_C = """
44640 180 0 2 2 16.0 1 4 2 2 1 1 2 180 0 0 1 8
"""


@pytest.mark.parametrize("name", ["lsf-scarf-hpl", "lsf-lotus-hpl", "cloud-hpl"])
def test_the_linear_system_is_that_of_appendix_c(name: str) -> None:
    campaign = load_campaign(CAMPAIGNS / f"{name}.yaml")
    files = {run.inputs for run in make_plan(campaign, list(campaign.systems), MACHINE).runs}
    [[file]] = files
    lines = [line.split()[0] for line in file.text.splitlines()]
    assert (file.name, len(lines)) == ("HPL.dat", 31)
    values = [*lines[5:9:2], *lines[8:9], *lines[10:31]]
    counts = [lines[number] for number in (4, 6, 9, 13, 15, 17, 19, 21, 23)]
    assert counts == ["1"] * 9
    given = [lines[number] for number in (5, 7, 8, 10, 11, 12, 14, 16, 18, 20, 22, 24, *range(25, 31))]
    assert given == APPENDIX_C.split(), values


def test_code_9_maps_by_node_over_named_hosts() -> None:
    campaign = load_campaign(CAMPAIGNS / "cloud-hpl.yaml")
    runs = make_plan(campaign, ["two"], MACHINE).runs
    assert len(runs) == 30
    mpirun, arguments = launch(script_text(script_of(runs[0])))
    assert arguments == []
    hosts = "vm275.nubes.stfc.ac.uk,vm15.nubes.stfc.ac.uk"
    code_9 = ["mpirun", "-np", "4", "--prefix", "/usr/lib64/openmpi-1.10", "--host", hosts]
    assert mpirun == [*code_9, "--bind-to", "none", "--map-by", "node", "--rank-by", "node"]


def test_mapping_to_processors_as_in_section_3_1_1() -> None:
    """Which the campaign of the whole report has, not the scripts of its appendix."""
    campaign = load_campaign(CAMPAIGNS / "stfc-2017/campaign.yaml")
    found = {run.case.placement: run for run in make_plan(campaign, ["scarf"], MACHINE).runs}
    scripts = {name: launch(script_text(script_of(run)))[0] for name, run in found.items()}
    assert scripts["SHM-1"] == [*PLATFORM, "numactl", "--cpunodebind=0", "--"]
    assert scripts["SHM-2"] == [*PLATFORM, "-cpu_bind=MAP_CPU:0,15"]


def test_a_reservation_instead_of_hosts(tmp_path: Path) -> None:
    """As in the report for jobs that waited for weeks: -U instead of -m."""
    text = (CAMPAIGNS / "lsf-lotus-imb.yaml").read_text()
    reserved = text.replace("hosts: ivybridge2000G}", "hosts: [], reservation: bench#0}")
    assert reserved != text
    (tmp_path / "reserved.yaml").write_text(reserved)
    runs = make_plan(load_campaign(tmp_path / "reserved.yaml"), ["lotus"], MACHINE).runs
    run = next(run for run in runs if run.case.host_group == "ivybridge2000G")
    options = parse([], script_text(script_of(run))).options
    assert (options.get("-m"), options["-U"]) == (None, "bench#0")
