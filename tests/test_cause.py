"""The lines that name why a run failed, from what real launchers and programs printed."""

from __future__ import annotations

from mpicampaign.collect.failure_cause import LENGTH, cause_of

OSU = """\
Option Missing Required Argument [-m]
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
"""
OSU_USAGE = """\
Usage: osu_bw [options]
Options:
  -m, --message-size        [MIN:]MAX - set the minimum and/or the maximum message size
  -z<1-99,1-99,1-99..>      Comma seperated percentile range
"""
HPL = """\
HPL ERROR from process # 0, on line 367 of function HPL_pdinfo:
>>> Value of NB less than 1 <<<

HPL ERROR from process # 0, on line 621 of function HPL_pdinfo:
>>> Illegal input in file HPL.dat. Exiting ... <<<
"""


def test_what_a_program_says_of_its_arguments_is_the_cause() -> None:
    assert cause_of(OSU, OSU_USAGE) == "Option Missing Required Argument [-m]"
    assert cause_of(OSU.replace(OSU.split("\n")[0], ""), OSU_USAGE) == "Usage: osu_bw [options]"
    assert cause_of("", "Usage: IMB-MPI1 [-help]\n                [-list]\n") == "Usage: IMB-MPI1 [-help]"
    assert cause_of("stream: --array: 'x' is no size\n", "[0] MPI startup(): I_MPI_DEBUG=5\n") == (
        "stream: --array: 'x' is no size"
    )
    assert cause_of(HPL).startswith(">>> Value of NB less than 1 <<< / >>> Illegal input")


def test_what_is_shown_is_short_and_printable() -> None:
    hostile = "error \x1b[2J\u202e" + "x" * 10_000 + "\n"
    found = cause_of("".join(f"{number} {hostile}" for number in range(50)))
    assert found.isprintable()
    assert len(found) <= 3 * (LENGTH + 3)


def test_nothing_but_words_is_a_cause() -> None:
    """Open MPI 4 ends its output with NULs where a daemon is lost."""
    assert cause_of("\0\0\n\x1b[31mORTE has lost communication with a remote daemon.\x1b[0m\n\0\n") == (
        "ORTE has lost communication with a remote daemon."
    )
    assert cause_of("\x07\n\0\0\0\n____\n") == ""
