"""What launchers, schedulers, MPI libraries and systems print when a program does not end by itself.

Only what ends a program is here: Slurm's other errors (affinity, energy, TMPDIR, x11, spank, a pty, limits,
cgroups) do not. A line proves nothing alone, since a log has those of other commands, too: an output that
proves its end (`Suite.proves_end`) is whole whatever stands around it.
"""

from __future__ import annotations

import re

_SIGNAL = (
    "(?:Aborted|Bus error|CPU time limit exceeded|Floating point exception|Illegal instruction|Killed"
    "|Segmentation fault|Terminated)"
)
_MPIRUN = r"\S*(?:mpiexec|mpirun|orterun|prte|prterun|prun)[\w.]*"

# Who prints it (releases: files, or a document), and how its lines begin, behind the label of a rank.
TEXTS = {
    "Slurm 2 to 26.05: src/srun/launch.c, src/srun/allocate.c, src/api/step_launch.c": (
        r"srun: error: [^\s:]+: tasks? [0-9][^\s:]*: ",
        r"srun: (?:\S+: )*(?:Force Terminated|Terminating |forcing job|Job step aborted|.+ aborted before)",
        "srun: error: (?:Aborting, |Node failure on|[Tt]imed? ?out waiting for|Unable to create step)",
        r"srun: error: (?:Application launch|[Tt]ask launch for .+|task [0-9]+ launch) failed",
    ),
    "Slurm 2 to 26.05: src/slurmd/slurmstepd, src/plugins/task/cgroup, src/plugins/mpi/pmix": (
        r"slurm(?:step)?d(?:\[[^]]+\])?: (?:error: )?\*\*\* (?:JOB|STEP|REASON|[0-9])",
        r"slurmstepd: error: (?:Detected [0-9]+ oom.kill event|execve\(| ?mpi/pmix.+ Error handler invoked)",
        "slurmstepd: error: (?:.+ )?[Ee]xceeded (?:job |step |virtual )?memory limit(?! at some point)",
    ),
    "Open MPI 1.4 to 4.1: help-orterun.txt, help-errmgr-base.txt; PRRTE 1 to 4: help-prun.txt": (
        rf"{_MPIRUN}(?:: killing job| noticed that process| detected that one or more| has exited due to)",
        rf"{_MPIRUN} was unable to |Primary job +terminated normally, but |A process exceeded memory",
        r"A critical communication path was lost|A daemon \(pid [0-9]+\) died",
        "The user-provided time limit for job execution has been reached",
        "(?:An )?(?:ORTE|PRR?TE) (?:has lost communication|was unable to reliably|daemon has unexpectedly)",
    ),
    "Open MPI 1.4 to 5.0: help-mpi-api.txt, help-mpi-errors.txt, opal/util/stacktrace.c": (
        r"MPI_ABORT was invoked|\[[^]]+\] \*\*\* (?:Process received signal|An error occurred|MPI_ERRORS_)",
    ),
    "MPICH 1.4 to 5.0, Intel MPI: src/pm/hydra/mpiexec, src/pm/hydra/lib/hydra.h": (
        "(?:=   )?(?:BAD TERMINATION OF ONE|KILLED BY SIGNAL)|(?:YOUR )?APPLICATION TERMINATED WITH THE EXIT",
        r"\[(?:mpiexec|proxy)[^]@]*@[^]]+\] (?:\w+ \([^()\s]+:[0-9]+\): |APPLICATION TIMED OUT)",
    ),
    "MPICH 1.4 to 5.0, Intel MPI, MVAPICH: ch4_globals.c, errutil.c, mpir_assert.c; Rank: Cray MPICH 7": (
        r"(?:Rank [0-9]+ (?:\[[^]]*\] )+)?(?:Abort\(|Fatal error in |Assertion failed in |internal ABORT)",
        r"(?:Rank [0-9]+ (?:\[[^]]*\] )+)?application called MPI_Abort\(|\[cli_[0-9]+\]: aborting job",
        "rank [0-9]+ in job [0-9]+ .+ caused collective abort of all ranks",
    ),
    "Cray MPICH 8 and 9": (r"MPICH (?:ERROR\b|Notice \[.+\] - Abort\()",),
    "MVAPICH2 1.9 to 2.3: error_sighandler.c, src/pm/mpirun": (
        r"\[[^]]+\]\[error_sighandler\] Caught error",
        r"\[[^]]+:mpi(?:spawn_[0-9]+|run_rsh)\]\[\w+\] .*(?:aborted|died|exited with status [1-9]|signal)",
    ),
    "Platform MPI 9: mpirun": ("MPI Application rank [0-9]+ (?:exited|killed) before",),
    "SGI and HPE MPT 1 to 2": ("MP[TI](?: ERROR: |: Received signal |: MPI_COMM_WORLD rank .+ terminated)",),
    "Cray ALPS 4 to 6: aprun(1)": (
        r"_pmiu_daemon\(SIGCHLD\): |\[NID [0-9]+\] .+ Apid [0-9]+: (?:initiated application termination|OOM)",
        "Application [0-9]+ exit (?:codes|signals): |aprun: Apid [0-9]+: Caught signal",
    ),
    "HPE PALS 1": (r"(?:\S+: )?(?:rank [0-9]+|shepherd) (?:died from signal [0-9]|exited with code [1-9])",),
    "IBM Spectrum LSF JSM 10: jsrun": (r"(?:ERROR: +)?One or more process(?:es)? \(first noticed rank ",),
    "flux-core 0.20 to 0.85: src/shell/log.c, src/cmd/job/attach.c, src/common/libjob/job.c": (
        r"(?:[0-9.]+s: )?(?:flux-shell\[[0-9]+\]: +(?:FATAL|ERROR: oom: )|job\.exception .+ ?severity=0)",
        r"flux-job: task\(s\) ",
    ),
    "Fujitsu Technical Computing Suite 4: mpiexec": (r"\[ERR\.\] PLE [0-9]{4} ",),
    "TACC ibrun": ("TACC: +MPI job exited with code: [1-9]",),
    "LSF 10.1: bjobs(1), job reports": (r"TERM_[A-Z_]+: |Exited with (?:exit code|signal termination)",),
    "OpenPBS 23, Torque 6: src/resmom/mom_main.c": ("=>> PBS: job killed",),
    "UCX 1.8 to 1.20: src/ucs/debug/log.c, debug.c, assert.c": (
        r"(?:\[[^]]*\] +){0,2}(?:\S+:[0-9]+ +)?UCX +(?:ERROR|FATAL) ",
        r"\[[^]\s]+:[0-9]+ *:[0-9]+:[0-9]+\] +(?:Caught signal [0-9]|\S+\.[ch]{1,2}:[0-9]+ +\S)",
    ),
    "a shell, in the words of glibc's strsignal; bash with the line of its script": (
        rf"(?:{_SIGNAL}(?: *\(core dumped\))?\s*$|zsh: (?i:{_SIGNAL}) )",
        rf"[^:]+: line [0-9]+: +[0-9]+ {_SIGNAL}\s",
    ),
    "Linux 3 to 6: mm/oom_kill.c": (r"(?:\[ *[0-9.]+\] )?(?:.*[Oo]ut of memory: Kill|oom-kill:constraint)",),
    "Intel Fortran: libifcore": (r"forrtl: (?:severe|error) \([0-9]+\)",),
    "GCC 4 to 15: libgfortran/runtime, libstdc++": (
        "Program (?:received signal|terminated with signal) SIG|Fortran runtime error: |terminate called ",
    ),
    "glibc 2: malloc/malloc.c, debug/fortify_fail.c, assert/assert.c": (
        r"\*\*\* (?:Error in `|stack smashing detected|buffer overflow detected)|double free or corruption",
        r"(?:free|malloc|realloc|munmap_chunk)\(\): |[^:]+: \S+:[0-9]+: [^`]+: Assertion `.+' failed",
    ),
    "nccl-tests 2: src/common.h": (
        r"(?:\.\. )?[^\s:]+(?: pid [0-9]+)?: Test (?:[A-Z]+ )?(?:failure|timeout)\b",
    ),
}
_LABEL = r"\s*+(?:[0-9]{1,7}: |\[[0-9]{1,7}\] |\[[^\]\s]{1,60},[0-9]{1,7}\]<stderr>: ?)?"
_BEGINS = "|".join(begin for begins in TEXTS.values() for begin in begins)
_ABORTED = re.compile(f"{_LABEL}(?:{_BEGINS})")
_LONGEST = 1000  # characters of a line that are looked at


def is_aborted(line: str) -> bool:
    """Whether a line reports the end of a program from outside or by an error."""
    return _ABORTED.match(line[:_LONGEST]) is not None


def aborted(line: str, number: int) -> str:
    """The reason that a line gives which `is_aborted`."""
    return f"line {number}: the program was aborted: {line.strip()[:120]}"


def abort_in(text: str) -> str:
    """What a text reports of an aborted program, with its line; empty where it reports none."""
    lines = enumerate(text.split("\n"), start=1)
    return next((aborted(line, number) for number, line in lines if is_aborted(line)), "")
