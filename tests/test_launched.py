"""What happened behind the launcher, by recorded evidence: arguments, variables, preloads, clocks, output."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import build_records as make
import pytest
from evidence_texts import CLAIM, DECLARED, INTEL_SHM, RUN, claim_of, evidence_text, rank_lines, read, run_of

from mpicampaign.base.records import CONTRADICTED, DISTURBED, UNVERIFIED, VERIFIED, Case, Record, Series
from mpicampaign.collect.campaign import Reported, mark_copies
from mpicampaign.evidence.condition import condition, may_be_disturbed
from mpicampaign.evidence.judge import judge
from mpicampaign.mpis import MPIS, of_launcher, steers_library
from mpicampaign.suites import SUITES

SECOND = 1_000_000_000
PRELOADED = "rank 1 start.preload.0=/usr/lib/libtool.so\nrank 1 start.preloads=1\n"
DEFINES = "rank 1 start.preload_defines.0=MPI_Wtime\n"
LD_PRELOAD = "job env.LD_PRELOAD=/opt/libtool.so\n"
NO_PRELOADS = "rank 1 start.preloads=0\n"


def launch_lines(rank: int) -> str:
    """What a rank recorded that started as its script says, 2 s before its end."""
    lines = ["start.arguments=--budget 3", "start.nice=0", "start.variables=0", "start.preloads=0"]
    lines += [
        "start.time=2026-11-25T04:00:00.250Z",
        "end.time=2026-11-25T04:00:02.250Z",
        "start.utc_offset=3600",
    ]
    for key in ("raw_ns", "libc_ns", "wtime_ns", "clock_ns"):
        lines += [f"start.{key}={SECOND}", f"end.{key}={3 * SECOND}"]
    lines += ["end.program_sha256=5555", f"end.program_file={rank}"]
    return "".join(f"rank {rank} {line}\n" for line in lines)


RANKS = "".join(rank_lines(rank, "blue1", rank) + launch_lines(rank) for rank in (0, 1))
HONEST = evidence_text(CLAIM.replace("claim mpi=", "claim suite=imb\nclaim mpi="), RUN, RANKS)


def table(time: float, repetitions: float = 1000.0) -> Series:
    return make.series("PingPong", size=1048576.0, repetitions=repetitions, time=time)


def verdict_of(text: str, output: str = "", *series: Series) -> tuple[str, tuple[str, ...]]:
    return judge(read(text), INTEL_SHM + output, series or (table(1e-4),))


def declared(text: str, **keys: object) -> str:
    """The evidence of a run whose campaign declares more."""
    new = {**DECLARED, **{key.replace("__", "."): value for key, value in keys.items()}}
    for old, made in ((claim_of(DECLARED), claim_of(new)), (run_of(DECLARED), run_of(new))):
        for one, other in zip(old.splitlines(), made.splitlines(), strict=True):
            text = text.replace(one, other)
    return text


def changed(old: str, new: str, text: str = HONEST) -> str:
    assert old in text
    return text.replace(old, new, 1)


def variable(line: str, count: int = 1, text: str = HONEST) -> str:
    return changed(
        "rank 1 start.variables=0\n", f"rank 1 start.variables={count}\nrank 1 start.{line}\n", text
    )


def read_file(*lines: str, path: str = "user=~/ucx.conf", total: int | None = None) -> str:
    """The library of a rank read a file of settings with these lines."""
    recorded = [path, "reader=libucs.so.0", "content_sha256=ab12", f"count={total or len(lines)}"]
    recorded += [f"line.{at}={line}" for at, line in enumerate(lines, 3)]
    text = "".join(f"rank 0 end.settings.0.{line}\n" for line in recorded)
    return changed(NO_PRELOADS, f"{NO_PRELOADS}rank 0 end.settings_files=1\n{text}")


OVERRIDES = "site=/opt/mpi/etc/openmpi-mca-params-override.conf"
OWN_GPU = declared(variable("env.CUDA_VISIBLE_DEVICES=3"), environment__CUDA_VISIBLE_DEVICES="2,3")
GIVEN_GPU = OWN_GPU.replace("rank 1 start.env", "rank 1 launch.gpus=CUDA_VISIBLE_DEVICES=3\nrank 1 start.env")
LIES = [
    ("settings files", read_file("UCX_TLS = tcp")),
    ("settings files", read_file("NONE=1", "I_MPI_ADJUST_BCAST=2", path="user=mpich.conf")),
    ("variables", OWN_GPU),
    ("variables", GIVEN_GPU.replace("start.env.CUDA_VISIBLE_DEVICES=3", "start.env.CUDA_VISIBLE_DEVICES=2")),
    ("arguments", changed("rank 1 start.arguments=--budget 3", "rank 1 start.arguments=--budget 1")),
    ("variables", variable("env.I_MPI_FABRICS=ofi")),
    ("variables", variable("env.I_MPI_SHM_CELL_FWD_SIZE=256")),
    ("variables", variable("env.UCX_TLS=tcp")),
    ("variables", variable("env.OMP_NUM_THREADS=1")),
    ("variables", variable("unset.I_MPI_FABRICS=", 0)),
    ("variables", declared(variable("env.MALLOC_ARENA_MAX=1"), environment__MALLOC_ARENA_MAX="4")),
    ("variables", changed("job env.", "job env.UCX_TLS=tcp\njob env.")),
    ("preloaded libraries", changed(NO_PRELOADS, DEFINES + PRELOADED)),
    ("clocks", changed(f"rank 1 end.wtime_ns={3 * SECOND}", f"rank 1 end.wtime_ns={2 * SECOND}")),
    ("clocks", changed(f"rank 0 end.libc_ns={3 * SECOND}", f"rank 0 end.libc_ns={2 * SECOND}")),
    ("clocks", changed(f"rank 0 end.wtime_ns={3 * SECOND}", f"rank 0 end.wtime_ns={int(3.03 * SECOND)}")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), LIES)
def test_one_altered_value_contradicts(kind: str, text: str) -> None:
    verdict, reasons = verdict_of(text)
    assert verdict == CONTRADICTED, reasons
    assert {reason.partition(": ")[0] for reason in reasons} == {kind}


def test_a_file_of_overrides_wins_over_the_claim() -> None:
    """Open MPI's alone: its lines are variables of the environment."""
    text = read_file("btl = tcp", path=OVERRIDES).replace("=intelmpi", "=openmpi4", 1)
    claimed = text.replace("setting.I_MPI_FABRICS=shm", "setting.OMPI_MCA_btl=sm")
    said = "settings files: rank 0: libucs.so.0 read /opt/mpi/etc/openmpi-mca-params-override.conf, line 3: "
    assert f"{said}OMPI_MCA_btl is tcp, claimed: sm" in verdict_of(claimed)[1]


UNPROVED = [
    ("settings files", read_file("-genv I_MPI_ADJUST_BCAST 2", path="user=~/.mpiexec.conf")),
    ("settings files", read_file("NONE=1", total=90)),
    ("arguments", changed("rank 1 start.arguments=--budget 3\n", "")),
    ("variables", changed("rank 1 start.variables=0\n", "")),
    ("variables", changed("rank 1 start.variables=0\n", "rank 1 start.variables=2\n")),
    ("preloaded libraries", changed(NO_PRELOADS, PRELOADED)),
    ("clocks", changed(f"rank 1 end.raw_ns={3 * SECOND}\n", "")),
]


@pytest.mark.parametrize(("kind", "text"), UNPROVED)
def test_one_missing_value_leaves_it_unverified(kind: str, text: str) -> None:
    verdict, reasons = verdict_of(text)
    assert verdict == UNVERIFIED, reasons
    assert {reason.partition(": ")[0] for reason in reasons} == {kind}


HONEST_VARIETY = [
    read_file(),
    read_file("UCX_TLS=tcp", path="site=/etc/ucx/ucx.conf"),
    read_file("I_MPI_FABRICS=ofi"),  # the claim's own variable has precedence
    read_file("rmaps_base_mapping_policy = core", path="user=~/.openmpi/mca-params.conf"),
    declared(read_file("UCX_TLS=tcp"), environment__UCX_CONFIG_DIR="/home/ada/ucx.conf"),
    variable("env.HYDRA_LAUNCH_TYPE=2"),
    variable("env.I_MPI_PIN_INFO=0,1"),
    variable("env.LD_LIBRARY_PATH=/opt/mpi/lib"),
    variable("env.GLIBC_TUNABLES=x"),  # noted where repeats differ
    variable("unset.I_MPI_ROOT=", 0),
    variable("env.I_MPI_OFFLOAD=1", text=HONEST.replace("=mpirun -n 2", "=mpirun -genv I_MPI_OFFLOAD=1")),
    changed("job env.", "job env.I_MPI_ROOT=/opt/mpi\njob env.MPICC=cc\njob env."),
    declared(changed("job env.", "job env.UCX_TLS=tcp\njob env."), modules=["impi"]),
    declared(changed("job env.", "job env.UCX_TLS=tcp\njob env."), environment__UCX_TLS="tcp"),
    changed(f"rank 0 end.wtime_ns={3 * SECOND}", f"rank 0 end.wtime_ns={int(3.01 * SECOND)}"),
    variable("env.UCX_X=1", text=HONEST.replace("claim mpi=intelmpi", "claim mpi=own")),
    GIVEN_GPU,
    declared(
        changed(NO_PRELOADS, DEFINES + PRELOADED).replace("job env.", f"{LD_PRELOAD}job env.", 1),
        modules=["darshan"],
    ),
]  # fmt: skip


@pytest.mark.parametrize("text", HONEST_VARIETY)
def test_what_launchers_and_the_campaign_set_is_no_lie(text: str) -> None:
    verdict, reasons = verdict_of(text)
    assert verdict == VERIFIED or {r.partition(": ")[0] for r in reasons} == {"MPI library's report"}, reasons


def test_a_program_behind_a_script_may_have_other_arguments() -> None:
    started = "rank 1 end.program_sha256=5555"
    other = changed(started, "rank 1 end.program_sha256=77")
    assert (
        verdict_of(changed("rank 1 start.arguments=", "rank 1 start.arguments=IMB.py ", other))[0] == VERIFIED
    )
    alone = other.replace("arguments=--budget 3", "arguments=")
    alone = alone.replace("rank 1 start.arguments=", "rank 1 start.arguments=run.py")
    assert not any(reason.startswith("arguments") for reason in verdict_of(alone)[1] if "run.py" in reason)
    lost = changed("rank 1 start.arguments=--budget 3", "rank 1 start.arguments=--budget 1", other)
    assert verdict_of(lost)[0] == UNVERIFIED


def test_libraries_of_known_launchers_are_judged() -> None:
    known = {library.name for library in MPIS.built_in() if library.launcher_sets}
    assert known == {"intelmpi", "openmpi4", "openmpi5", "mpich-ofi", "mpich-ucx"}
    for name in known:
        assert steers_library(name, "UCX_TLS")
        assert not steers_library(name, "PMIX_RANK")
        assert of_launcher(name, "I_MPI_HYDRA_BOOTSTRAP")  # in a job of LSF the script sets it
    assert steers_library("openmpi5", "OMPI_MCA_btl")
    assert not steers_library("intelmpi", "OMPI_MCA_btl")
    assert of_launcher("openmpi5", "OMPI_MCA_ess_base_vpid")
    assert of_launcher("intelmpi", "I_MPI_SUBSTITUTE_INSTALLDIR")
    assert not steers_library("mvapich2", "MV2_USE_SHARED_MEM")


DATE = "# Date                  : Wed Nov 25 {} 2026\n"


@pytest.mark.parametrize(
    ("time", "verdict"),
    [("05:00:00", VERIFIED), ("05:00:02", VERIFIED), ("05:00:30", CONTRADICTED), ("04:00:01", CONTRADICTED)],
)
def test_the_date_of_imb_lies_within_the_run(time: str, verdict: str) -> None:
    """In the rank's own local time, one hour ahead of UTC."""
    assert verdict_of(HONEST, DATE.format(time))[0] == verdict


@pytest.mark.parametrize(("seconds", "verdict"), [(1790000000, CONTRADICTED), (1795579201, VERIFIED)])
def test_the_date_of_hpcc_lies_within_the_run(seconds: int, verdict: str) -> None:
    text = HONEST.replace("suite=imb", "suite=hpcc")
    assert verdict_of(text, f"Current time ({seconds}) is Wed Nov 25 04:00:01 2026\n")[0] == verdict


def test_each_suite_accounts_for_its_time() -> None:
    def least(suite: str, *tables: Series) -> float:
        return SUITES[suite].least_time(tables)

    groups = [replace(table(1e-3), qualifiers={"group": str(group)}) for group in range(8)]
    assert least("imb", *groups) == pytest.approx(1)
    sampled = make.series("tree_gather", size=8.0, samples=100.0, time=0.01)
    assert least("kernel", sampled) == pytest.approx(0.5)
    assert least("hpl", make.series("HPL", time=3.0)) == 3
    hpcc = make.series("HPCC", hpl_time=3.0, ptrans_time=None, random_access_time=1.5)
    assert least("hpcc", hpcc) == 4.5
    assert least("osu", table(1.0)) == 0


CASE = Case("here", "blue", "SHM-1", "PingPong")


def repeat(number: int, times: list[float], process: str = "nice=0") -> Record:
    table = make.series("PingPong", size=[2.0**i for i in range(len(times))], time=times)
    metadata = {"process": process} if process else {}
    return make.run(CASE, number, table, started=f"2026-11-25T04:0{number}:00Z", metadata=metadata)


MANY = [1.23456e-6 * (1 + i / 7) for i in range(5)]


@pytest.mark.parametrize(
    ("first", "second", "process", "verdict"),
    [
        (MANY, MANY, "nice=0", CONTRADICTED),
        (MANY, [*MANY[:-1], 3.11111e-6], "nice=0", VERIFIED),
        ([2.41e-6] * 3, [2.41e-6] * 3, "nice=0", VERIFIED),  # barriers
        (MANY, MANY, "", VERIFIED),  # of an earlier release
    ],
)
def test_two_runs_with_the_same_numbers_are_no_two_runs(
    first: list[float], second: list[float], process: str, verdict: str
) -> None:
    later, earlier = mark_copies([repeat(2, second, process), repeat(1, first, process)])
    assert earlier.verdict == VERIFIED
    assert later.verdict == verdict
    assert verdict == VERIFIED or "repeat 1" in later.verdict_reasons[-1]


def test_a_run_that_ends_is_judged_as_the_report_will(tmp_path: Path) -> None:
    reported = Reported(tmp_path)
    verdicts = [
        reported.judged(repeat(n, times)).verdict for n, times in ((1, MANY), (2, MANY[:-1]), (3, MANY))
    ]
    assert verdicts == [VERIFIED, VERIFIED, CONTRADICTED]


def stopped(continued: int, cpu: float) -> str:
    used = "".join(f"rank 0 {key}=0\n" for key in ("start.cpu_ns", "start.wait_ns", "end.wait_ns"))
    used += f"rank 0 end.cpu_ns={int(cpu * SECOND)}\nrank 0 end.continued={continued}\n"
    return changed("rank 0 start.nice", f"{used}rank 0 start.nice")


def test_a_stopped_rank_is_disturbed_and_named() -> None:
    assert condition(read(stopped(1, cpu=0.5))) == (DISTURBED, "rank 0 was stopped for 1.5 s")
    assert condition(read(stopped(0, cpu=0.5)))[0] != DISTURBED
    assert condition(read(stopped(1, cpu=2.5))) == (DISTURBED, "rank 0 was stopped")
    assert may_be_disturbed(stopped(1, cpu=0.5))
    assert not may_be_disturbed(stopped(0, cpu=0.5))
