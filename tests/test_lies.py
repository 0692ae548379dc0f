"""Lies that a test plants, and known limits; docs/evidence.md shows those that are not always found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

TESTS = Path(__file__).parent
CONTRADICTED, UNVERIFIED, UNSEEN = "contradicted", "unverified", "cannot be seen"


class Lie(NamedTuple):
    """A lie, its verdict, and the test that plants it; none for limits that no test can show."""

    lie: str
    verdict: str
    test: str = ""


LIES = [
    # transport
    Lie(
        "SHM that went over TCP or loopback, any message size",
        CONTRADICTED,
        "test_transport.test_shared_memory_that_was_tcp_is_contradicted",
    ),
    Lie(
        "TCP that used shared memory or InfiniBand",
        CONTRADICTED,
        "test_transport.test_tcp_that_did_not_use_sockets_is_contradicted",
    ),
    Lie(
        "TCP over another interface or a second one, any message size",
        CONTRADICTED,
        "test_transport.test_tcp_over_another_interface_is_contradicted_by_name",
    ),
    Lie(
        "InfiniBand that was TCP",
        CONTRADICTED,
        "test_transport.test_infiniband_that_was_tcp_is_contradicted",
    ),
    Lie(
        "RDMA over another device, 4 MB of payload or more",
        CONTRADICTED,
        "test_verdict.test_verdicts_of_whole_runs[InfiniBand, other device]",
    ),
    Lie(
        "RDMA over another device, less than 4 MB of payload",
        UNVERIFIED,
        "test_transport.test_infiniband",
    ),
    Lie(
        "RDMA over a second device beside the claimed one",
        UNVERIFIED,
        "test_transport.test_infiniband",
    ),
    Lie(
        "TCP or RDMA that was not; no report of the library, no sizes in the output (a barrier)",
        UNVERIFIED,
        "test_transport.test_a_benchmark_of_unknown_traffic_needs_the_librarys_report",
    ),
    Lie(
        "TCP over another interface; no account of the ranks, less than 4 MB of payload",
        f"{UNVERIFIED}; verified in evidence of earlier versions",
        "test_transport.test_without_a_whole_account_of_each_rank_a_small_payload_proves_no_interface",
    ),
    Lie(
        "SHM over InfiniBand within the node; its ports do not count that, no report of the library",
        UNSEEN,
        "test_transport.test_shared_memory_on_a_node_with_infiniband",
    ),
    Lie(
        "SHM over UDP, or over a network without sockets or ports in /sys/class/infiniband",
        f"{CONTRADICTED}; {UNSEEN} if the library reports nothing",
        "test_verdict.test_verdicts_of_whole_runs[fell back to libfabric]",
    ),
    Lie(
        "connections that both ranks closed other than by close(2)",
        f"{UNSEEN}: SHM looks silent, and honest TCP would be contradicted; no library was seen to do so",
    ),
    Lie("less than 10 % of the messages over another transport or interface", UNSEEN),
    Lie(
        "packets routed over another interface than that of their address",
        UNSEEN,
    ),
    Lie(
        "traffic of other programs on the node (no lie of the run)",
        "does not count",
        "test_transport.test_traffic_of_others_does_not_concern_ranks_with_an_account",
    ),
    # software
    Lie(
        "another program, by a script of the claimed name (IMB-MPI1 that starts IMB-P2P)",
        CONTRADICTED,
        "test_software.test_the_program_that_a_rank_became",
    ),
    Lie(
        "another build of the program on a node",
        CONTRADICTED,
        "test_software.test_every_rank_must_be_the_program",
    ),
    Lie(
        "another program, started by a script of a suite that does not name its programs",
        UNVERIFIED,
        "test_software.test_a_suite_whose_programs_are_not_known",
    ),
    Lie(
        "another MPI library under the claimed name (MPICH by LD_LIBRARY_PATH)",
        CONTRADICTED,
        "test_software.test_the_library_that_the_ranks_mapped",
    ),
    Lie(
        "an MPI library that gives no known name, or none",
        UNVERIFIED,
        "test_software.test_the_library_that_the_ranks_mapped",
    ),
    Lie("another library, where only the campaign file describes the claimed one", UNSEEN),
    Lie(
        "another libmpi.so than those below the `prefix`",
        CONTRADICTED,
        "test_software.test_the_library_below_the_prefix",
    ),
    Lie(
        "another build of the same version, loaded by modules",
        f"{UNSEEN} in one run",
        "test_observed.test_an_upgrade_between_two_repeats_parts_them",
    ),
    Lie(
        "different libraries in one run",
        CONTRADICTED,
        "test_software.test_all_ranks_have_one_library",
    ),
    Lie(
        "a library of another version than its launcher",
        f"{CONTRADICTED}; {UNVERIFIED} if the launcher does not answer within 5 s",
        "test_software.test_the_library_that_the_ranks_mapped",
    ),
    Lie(
        "the same, with srun, MVAPICH2, Platform MPI, or a launcher of another name",
        UNSEEN,
        "test_software.test_only_the_librarys_own_launcher_is_asked_for_its_version",
    ),
    # binding
    Lie(
        "a bound rank that may use other CPUs, or two ranks on one core",
        CONTRADICTED,
        "test_verdict.test_verdicts_of_whole_runs[two ranks on one core]",
    ),
    Lie(
        "a bound rank that was moved and not moved back",
        CONTRADICTED,
        "test_verdict.test_verdicts_of_whole_runs[a bound rank ended on another CPU]",
    ),
    Lie(
        "a bound rank that was moved in mid-run and back",
        f"{CONTRADICTED}; {UNSEEN} where the kernel has no such count",
        "test_verdict.test_a_bound_rank_that_was_moved_and_came_back",
    ),
    Lie(
        "another thread of a bound rank that was moved and back",
        UNSEEN,
    ),
    Lie("an unbound rank that others moved", "no lie"),
    # behind the launcher
    Lie(
        "other arguments behind the launcher",
        f"{CONTRADICTED}; {UNVERIFIED} where a script started the program",
        "test_launcher_lies.test_what_a_launcher_changes_is_seen",
    ),
    Lie(
        "a setting of the claim that the ranks lack, or have with another value",
        CONTRADICTED,
        "test_launcher_lies.test_what_a_launcher_changes_is_seen",
    ),
    Lie(
        "a variable that steers MPI or a layer below it, set behind the launcher",
        f"{CONTRADICTED}; {UNVERIFIED} where the campaign adds options of the launcher",
        "test_launcher_lies.test_what_a_launcher_changes_is_seen",
    ),
    Lie(
        "the same beside a file of settings that an option names (`--tune`, `--am` of Open MPI)",
        f"{UNSEEN}, unless the label claims that variable",
        "test_derived_variables.test_a_file_of_settings_changes_no_setting_of_the_label",
    ),
    Lie(
        "the same in the environment of the job",
        f"{CONTRADICTED}; {UNSEEN} where modules, sourced files or Spack set up the software",
        "test_launched.test_one_altered_value_contradicts",
    ),
    Lie(
        "the same with MVAPICH2, Platform MPI, or a library of the campaign file's",
        UNSEEN,
        "test_launched.test_libraries_of_known_launchers_are_judged",
    ),
    Lie(
        "a preloaded library that neither the program nor the campaign asks for",
        f"{UNVERIFIED}; named where modules or the campaign set LD_PRELOAD",
        "test_launcher_lies.test_what_a_launcher_changes_is_seen",
    ),
    Lie(
        "a preloaded library that defines functions of MPI or a clock",
        CONTRADICTED,
        "test_launched.test_one_altered_value_contradicts",
    ),
    Lie(
        "a clock at another speed (a preloaded MPI_Wtime()/2, faketime)",
        f"{CONTRADICTED} from 1 % and 5 ms on",
        "test_launcher_lies.test_what_a_launcher_changes_is_seen",
    ),
    Lie(
        "a program that prints what another one measured (IMB, HPL, HPCC, sweeps of bundled kernels)",
        f"{CONTRADICTED} if less time passed between MPI_Init and MPI_Finalize",
        "test_launcher_lies.test_a_program_that_prints_what_another_one_measured",
    ),
    Lie(
        "an output of another time (IMB, HPCC)",
        f"{CONTRADICTED} if it is more than 5 s outside the run",
        "test_launched.test_the_date_of_imb_lies_within_the_run",
    ),
    Lie(
        "an output of another run, under a date of its own",
        f"the later run is {CONTRADICTED}; {UNSEEN} if the numbers have few digits (barriers)",
        "test_launcher_lies.test_repeats_that_are_copies_or_start_unlike",
    ),
    Lie(
        "another nice value, GLIBC_TUNABLES or MALLOC_ variables in some repeats",
        "noted as unlike repeats; no lie in one run",
        "test_launcher_lies.test_repeats_that_are_copies_or_start_unlike",
    ),
    Lie(
        "a rank that was stopped and continued",
        f"disturbed, with the time; {UNSEEN} if the program handles SIGCONT",
        "test_launcher_lies.test_a_stopped_rank_is_disturbed",
    ),
    Lie("a rank that a debugger or a cgroup froze, which sends no SIGCONT", UNSEEN),
]


def test_the_documented_limits_are_these() -> None:
    text = (TESTS.parent / "docs/evidence.md").read_text()
    section = text.partition("### Which lies are found")[2].partition("\n### ")[0]
    rows = [" ".join(item.split()) for item in re.findall(r"^- (.+(?:\n  .+)*)", section, re.MULTILINE)]
    limits = [each for each in LIES if each.verdict != CONTRADICTED]
    assert rows == [f"{each.lie}: **{each.verdict}**" for each in limits]


@pytest.mark.parametrize("lie", [each for each in LIES if each.test], ids=lambda each: each.lie)
def test_each_lie_has_its_test(lie: Lie) -> None:
    module, _, name = lie.test.removesuffix("]").partition(".")
    name, _, row = name.partition("[")
    text = (TESTS / f"{module}.py").read_text()
    assert re.search(rf"^def {name}\(", text, re.MULTILINE) and (not row or f'    "{row}": (' in text)
