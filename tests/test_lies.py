"""Lies that a test plants, and known limits; docs/evidence.md shows those that cannot always be seen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

TESTS = Path(__file__).parent


class Lie(NamedTuple):
    lie: str
    verdict: str
    test: str


# A lie and its verdict; behind = the test that plants it, but for limits that no test can show.
TEXT = """\
SHM that went over TCP or loopback, any message size: **contradicted**
  = test_transport.test_shared_memory_that_was_tcp_is_contradicted
TCP that used shared memory or InfiniBand: **contradicted**
  = test_transport.test_tcp_that_did_not_use_sockets_is_contradicted
TCP over another interface or a second one, any message size: **contradicted**
  = test_transport.test_tcp_over_another_interface_is_contradicted_by_name
InfiniBand that was TCP: **contradicted**
  = test_transport.test_infiniband_that_was_tcp_is_contradicted
RDMA over another device, 4 MB of payload or more: **contradicted**
  = test_verdict.test_verdicts_of_whole_runs[InfiniBand, other device]
RDMA over another device, less than 4 MB of payload: **unverified**
  = test_transport.test_infiniband
RDMA over a second device beside the claimed one: **unverified**
  = test_transport.test_infiniband
TCP or RDMA that was not; no report of the library, no sizes in the output (a barrier): **unverified**
  = test_transport.test_a_benchmark_of_unknown_traffic_needs_the_librarys_report
TCP over another interface; no account of the ranks, less than 4 MB of payload: **unverified; verified in
  evidence of earlier versions**
  = test_transport.test_without_a_whole_account_of_each_rank_a_small_payload_proves_no_interface
SHM over InfiniBand within the node; its ports do not count that, no report of the library: **cannot be
  seen**
  = test_transport.test_shared_memory_on_a_node_with_infiniband
SHM over UDP, or over a network without sockets or ports in /sys/class/infiniband: **contradicted; cannot be
  seen if the library reports nothing**
  = test_verdict.test_verdicts_of_whole_runs[fell back to libfabric]
connections that both ranks closed other than by close(2): **cannot be seen: SHM looks silent, and honest
  TCP would be contradicted; no library was seen to do so**
less than 10 % of the messages over another transport or interface: **cannot be seen**
packets routed over another interface than that of their address: **cannot be seen**
traffic of other programs on the node (no lie of the run): **does not count**
  = test_transport.test_traffic_of_others_does_not_concern_ranks_with_an_account
another program, by a script of the claimed name (IMB-MPI1 that starts IMB-P2P): **contradicted**
  = test_software.test_the_program_that_a_rank_became
another build of the program on a node: **contradicted**
  = test_software.test_every_rank_must_be_the_program
another program, started by a script of a suite that does not name its programs: **unverified**
  = test_software.test_a_suite_whose_programs_are_not_known
another MPI library under the claimed name (MPICH by LD_LIBRARY_PATH): **contradicted**
  = test_software.test_the_library_that_the_ranks_mapped
an MPI library that gives no known name, or none: **unverified**
  = test_software.test_the_library_that_the_ranks_mapped
another library, where only the campaign file describes the claimed one: **cannot be seen**
another libmpi.so than those below the `prefix`: **contradicted**
  = test_software.test_the_library_below_the_prefix
an MPI library of other content with the same build-id: **contradicted below a `prefix`, and where ranks or
  repeats differ**
  = test_software.test_a_library_of_other_content_with_the_same_build_id
another build of the same version, loaded by modules: **cannot be seen in one run**
  = test_inconsistent_repeats.test_an_upgrade_between_two_repeats_parts_them
different libraries in one run: **contradicted**
  = test_software.test_all_ranks_have_one_library
a library of another version than its launcher: **contradicted; unverified if the launcher does not answer
  within 5 s**
  = test_software.test_the_library_that_the_ranks_mapped
a library of another version than its launcher, with srun, MVAPICH2, Platform MPI, or a launcher of another
  name: **cannot be seen**
  = test_software.test_only_the_librarys_own_launcher_is_asked_for_its_version
a host with a false name: **unverified; contradicted if several hosts have it**
  = test_verdict.test_verdicts_of_whole_runs[a machine with two names]
a bound rank that may use other CPUs, or two ranks on one core: **contradicted**
  = test_verdict.test_verdicts_of_whole_runs[two ranks on one core]
a bound rank that was moved and not moved back: **contradicted**
  = test_verdict.test_verdicts_of_whole_runs[a bound rank ended on another CPU]
a bound rank that was moved in mid-run and back: **contradicted; cannot be seen where the kernel has no such
  count**
  = test_verdict.test_a_bound_rank_that_was_moved_and_came_back
another thread of a bound rank that was moved and back: **cannot be seen**
an unbound rank that others moved: **no lie**
other arguments behind the launcher: **contradicted; unverified where a script started the program**
  = test_launcher_lies.test_what_a_launcher_changes_is_seen
a setting of the claim that the ranks lack, or have with another value: **contradicted**
  = test_launcher_lies.test_what_a_launcher_changes_is_seen
a variable that steers MPI or a layer below it, set behind the launcher: **contradicted; unverified where
  the campaign adds options of the launcher**
  = test_launcher_lies.test_what_a_launcher_changes_is_seen
a variable that steers MPI, set behind the launcher, beside a file of settings that an option names (`--tune`,
  `--am` of Open MPI): **cannot be seen, unless the label claims that variable**
  = test_derived_variables.test_a_file_of_settings_changes_no_setting_of_the_label
such a variable in the environment of the job: **contradicted; cannot be seen where modules, sourced files
  or Spack set up the software**
  = test_launched.test_one_altered_value_contradicts
such a variable, with MVAPICH2, Platform MPI, or a library of the campaign file's: **cannot be seen**
  = test_launched.test_libraries_of_known_launchers_are_judged
a settings file in the user's home that steers MPI: **contradicted; options of a launcher: unverified**
  = test_two_libraries.test_a_file_in_the_home_that_steers_open_mpi
a settings file beside the library or in /etc: **verified, and named; contradicted if it overrides the claim**
  = test_launched.test_a_file_of_overrides_wins_over_the_claim
a settings file that a library opens otherwise than by open() and fopen(): **cannot be seen**
another value of a variable that nothing reads, in a sweep: **named**
  = test_inconsistent_repeats.test_settings_that_nothing_reads_tell_no_rows_apart
a preloaded library that neither the program nor the campaign asks for: **unverified; named where modules or
  the campaign set LD_PRELOAD**
  = test_launcher_lies.test_what_a_launcher_changes_is_seen
a preloaded library that defines functions of MPI or a clock: **contradicted**
  = test_launched.test_one_altered_value_contradicts
a clock at another speed (a preloaded MPI_Wtime()/2, faketime): **contradicted from 1 % and 5 ms on**
  = test_launcher_lies.test_what_a_launcher_changes_is_seen
a program that prints what another one measured (IMB, HPL, HPCC, sweeps of bundled kernels): **contradicted
  if less time passed between MPI_Init and MPI_Finalize**
  = test_launcher_lies.test_a_program_that_prints_what_another_one_measured
an output of another time (IMB, HPCC): **contradicted if it is more than 5 s outside the run**
  = test_launched.test_the_date_of_imb_lies_within_the_run
an output of another run, under a date of its own: **the later run is contradicted; cannot be seen if the
  numbers have few digits (barriers)**
  = test_launcher_lies.test_repeats_that_are_copies_or_start_unlike
an output of another run with some noise: **contradicted if something else wrote the file; unverified if all
  came at once; cannot be seen if rows come at their pace**
  = test_launcher_lies.test_a_program_that_prints_what_another_one_measured
times and rates edited alike: **contradicted if rows account for 0.5 s (several nodes: 2 s) more than
  passed; else cannot be seen**
  = test_passed_output.test_the_pace_of_rows
another nice value, GLIBC_TUNABLES or MALLOC_ variables in some repeats: **noted as unlike repeats; no lie
  in one run**
  = test_launcher_lies.test_repeats_that_are_copies_or_start_unlike
a CPU quota that throttled the ranks: **disturbed, with the periods**
  = test_condition.test_the_condition_of_a_run
another scheduling class, no huge pages, a seccomp filter or a tracer in some repeats: **noted as unlike
  repeats**
  = test_evidence_launch.test_how_a_process_is_scheduled_and_who_traces_it_is_recorded
a rank that was stopped and continued: **disturbed, with the time; cannot be seen if the program handles
  SIGCONT**
  = test_launcher_lies.test_a_stopped_rank_is_disturbed
a rank that a debugger or a cgroup froze, which sends no SIGCONT: **cannot be seen**
"""
LIES = [
    Lie(*map(" ".join, (lie.split(), verdict.split(), (test or "").split())))
    for lie, verdict, test in re.findall(r"(?ms)^(\S.*?): \*\*([^*]*)\*\*\n(?:  = (.*?)\n(?=\S|\Z))?", TEXT)
]


def test_the_documented_limits_are_these() -> None:
    text = (TESTS.parent / "docs/evidence.md").read_text()
    section = text.partition("### Which lies are found")[2].partition("\n### ")[0]
    rows = [" ".join(item.split()) for item in re.findall(r"^- (.+(?:\n  .+)*)", section, re.MULTILINE)]
    limits = [each for each in LIES if "cannot be seen" in each.verdict]
    assert rows == [f"{each.lie}: **{each.verdict}**" for each in limits]


@pytest.mark.parametrize("lie", [each for each in LIES if each.test], ids=lambda each: each.lie)
def test_each_lie_has_its_test(lie: Lie) -> None:
    module, _, name = lie.test.removesuffix("]").partition(".")
    name, _, row = name.partition("[")
    text = (TESTS / f"{module}.py").read_text()
    assert re.search(rf"^def {name}\(", text, re.MULTILINE) and (not row or f'    "{row}": (' in text)
