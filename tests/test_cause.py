"""The lines that name why a run failed, from what real launchers and programs printed."""

from __future__ import annotations

import pytest

from mpicampaign.collect.cause import LENGTH, cause_of

RULE = "-" * 74
ROOT = f"""\
{RULE}
mpirun.openmpi has detected an attempt to run as root.

We strongly suggest that you run mpirun.openmpi as a non-root user.
{RULE}
"""
LOADER = "/apps/IMB-MPI1: error while loading shared libraries: libmpi.so.12: cannot open shared object file"
OPEN_MPI_4 = f"""\
{LOADER}
{RULE}
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
"""
MPI_ABORT = f"""\
{RULE}
MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD
with errorcode 3.
{RULE}
"""
OPEN_MPI_5 = f"""\
{RULE}
prterun was unable to launch the specified application as it could not
access an executable:

   Executable: /none
"""
MPICH_4 = """\
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   EXIT CODE: 6
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Aborted (signal 6)
This typically refers to a problem with your application.
"""
MPICH_5 = (
    "[proxy:0@vm] HYDU_create_process (launch.c:73): execvp error on file /none (No such file or directory)"
)
UCX = "[1795516013.662617] [vm:10857:0]  rdmacm_cm.c:928  UCX  DIAG  rdma_create_event_channel failed\n"
INTEL = """\
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   RANK 1 PID 11500 RUNNING AT vm
=   KILLED BY SIGNAL: 11 (Segmentation fault)
===================================================================================
"""


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        (ROOT, "mpirun.openmpi has detected an attempt to run as root."),
        (OPEN_MPI_4, LOADER),
        (f"{LOADER}\n{LOADER}\n", LOADER),  # Intel MPI, each rank
        (MPI_ABORT, "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD / with errorcode 3."),
        (OPEN_MPI_5, "prterun was unable to launch the specified application as it could not"),
        (MPICH_4, "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Aborted (signal 6)"),
        (MPICH_5, MPICH_5),
        (f"cannot read 'x.in'\n{UCX}", "cannot read 'x.in'"),
        (INTEL, "KILLED BY SIGNAL: 11 (Segmentation fault)"),
        ("all went well\nthe last line\n", "the last line"),
        (f"{RULE}\n\n", ""),
        ("", ""),
    ],
)
def test_the_cause_is_named(stderr: str, said: str) -> None:
    assert cause_of(stderr) == said


def test_the_output_is_searched_where_standard_error_says_less() -> None:
    assert cause_of("exiting\n", f"#---\n{LOADER}\n") == LOADER


def test_what_is_shown_is_short_and_printable() -> None:
    hostile = "error \x1b[2J\u202e" + "x" * 10_000 + "\n"
    found = cause_of("".join(f"{number} {hostile}" for number in range(50)))
    assert found.isprintable()
    assert len(found) <= 3 * (LENGTH + 3)
