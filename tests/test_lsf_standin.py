"""The stand-in for LSF holds submissions to the documentation; the golden scripts pass it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import succeeded
from lsf_standin.site import StandIn

sys.path.insert(0, str(Path(__file__).parent / "lsf_standin"))
from bsub_grammar import RefusedError, embedded_words, parse

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.sh"))
LSF_GOLDEN = [path for path in GOLDEN if "#BSUB" in path.read_text()]


def script(*directives: str) -> str:
    return "#!/bin/bash\n" + "".join(f"#BSUB {line}\n" for line in directives) + "sleep 0\n"


@pytest.mark.parametrize("path", LSF_GOLDEN, ids=[path.stem for path in LSF_GOLDEN])
def test_golden_scripts_are_right_by_the_documentation(path: Path) -> None:
    submission = parse([], path.read_text())
    assert submission.tasks % submission.per_host == 0
    assert submission.run_limit == (135 if "blocks" in path.stem else 45)  # of the runs of a block
    assert {"-J", "-n", "-o", "-W", "-x", "-m"} <= submission.options.keys()


def test_all_directives_stand_at_the_head_of_a_script() -> None:
    """LSF reads #BSUB lines anywhere, so no value of the campaign may begin a line."""
    for path in LSF_GOLDEN:
        lines = path.read_text().splitlines()
        last = max(number for number, line in enumerate(lines) if line.startswith("#BSUB"))
        assert all(line.startswith("#BSUB") for line in lines[1 : last + 1])


REFUSED = {
    "Illegal option": ["-Y", "--queue normal", "normal"],
    "requires an argument": ["-n", "-n -x", "-W"],
    "-n: two": ["-n two"],
    "-n: 0": ["-n 0"],
    "-n: 4,2": ["-n 4,2"],
    "resource requirement syntax": [
        *(f'-R "{text}"' for text in ("span[ptile=]", "span[ptile=0]", "span[ptile=2", "spam[ptile=2]")),
        *(f'-R "span[{text}]"' for text in ("nodes=2", "ptile=2]select[mem>1", "ptile=2] select[mem>1")),
    ],
    "quotation mark": ['-R "span[ptile=2'],
    "GPU requirement": ["-gpu num=4/node"],
    "RUNLIMIT": ["-W 45min", "-W 0:45:00"],
    "Bad job name": ['-J "a b"', "-J " + 4095 * "a"],
    "Job group": ["-g group"],
    "No such queue": ["-q a,b"],
    "Bad host name": ['-m "a,b"'],
    "given twice": ["-n 2 -n 4"],
    "empty": [""],
}


@pytest.mark.parametrize(("line", "words"), [(line, words) for words in REFUSED for line in REFUSED[words]])
def test_what_the_documentation_does_not_allow_is_refused(line: str, words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        parse([], script(line))


def test_a_line_that_lsf_would_take_for_a_comment_is_refused() -> None:
    for line in ("# BSUB -n 2", "#bsub -n 2"):
        with pytest.raises(RefusedError, match="not a directive"):
            parse([], f"#!/bin/bash\n{line}\ntrue\n")


def test_two_spans_contradict_each_other() -> None:
    with pytest.raises(RefusedError, match="span"):
        parse([], script('-R "span[ptile=1]"', '-R "span[hosts=1]"'))


@pytest.mark.parametrize(
    "line",
    [
        "-n 2,4",
        '-R "select[type==any] order[ut] rusage[mem=100] span[hosts=1] same[model]"',
        '-R "type==any order[ut]"',
        "-R select[mem>1] -R span[ptile=2]",
        "-W 45",
        "-W 1:30/host1",
        '-m "hostA groupB+2 hostC!"',
        "-U user1#0",
        "-g /risk_group/portfolio1/current",
        '-q "short normal"',
        "-x -o out.%J # as the page has it",
    ],
)
def test_examples_of_the_documentation_are_taken(line: str) -> None:
    parse([], script(line))


def test_directives_after_commands_are_read_and_the_command_line_comes_first() -> None:
    text = "#!/bin/sh\n#BSUB -n 2\nmyjob1 arg1\n#BSUB -P myproj\n"
    assert embedded_words(text) == ["-n", "2", "-P", "myproj"]
    assert parse(["-n", "4"], text).options == {"-n": "4", "-P": "myproj"}


@pytest.fixture
def standin(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "lsf") as found:
        yield found


def submit(standin: StandIn, text: str, folder: Path) -> str:
    done = standin.call("bsub", given=text, cwd=folder)
    assert done.returncode == 0, done.stderr
    number = done.stdout.partition("<")[2].partition(">")[0]
    assert done.stdout == f"Job <{number}> is submitted to default queue <normal>.\n"
    return number


def test_a_job_sees_what_lsf_sets(standin: StandIn, tmp_path: Path) -> None:
    shown = 'env | grep "^LS" | sort; cat "$LSB_DJOB_HOSTFILE"; pwd; echo "script: $0"; echo oops >&2'
    text = script("-n 4", '-R "span[ptile=2]"', "-J name", "-o %J.out", "-e %J.err") + shown
    number = submit(standin, text, tmp_path)
    standin.wait(number, "DONE")
    out = (tmp_path / f"{number}.out").read_text()
    assert (tmp_path / f"{number}.err").read_text() == "oops\n"
    for line in (
        f"LSB_JOBID={number}",
        "LSB_JOBNAME=name",
        "LSB_HOSTS=host01 host01 host02 host02",
        "LSB_MCPU_HOSTS=host01 2 host02 2",
        "LSB_DJOB_NUMPROC=4",
        "LSB_QUEUE=normal",
        f"LS_SUBCWD={tmp_path}",
        "host01\nhost01\nhost02\nhost02",
        str(tmp_path),
    ):
        assert f"{line}\n" in out + "\n"
    assert f"script: {tmp_path}" in out and f".{number}\n" in out  # its own copy, with lines around
    assert "Successfully completed." in out


@pytest.mark.full
def test_the_run_limit_warns_then_kills(standin: StandIn, tmp_path: Path) -> None:
    """Page "-W": SIGUSR2, then the sequence of bkill: INT, TERM, KILL."""
    standin.configure(minute=0.5, grace=0.4, terminate_interval=1.5)  # a busy machine handles signals late
    body = 'for s in USR2 INT TERM; do trap "echo $s >>seen" $s; done\nwhile :; do sleep 0.05; done\n'
    number = submit(standin, script("-W 1") + body, tmp_path)
    assert standin.wait(number, "EXIT")[2].startswith("TERM_RUNLIMIT")
    assert (tmp_path / "seen").read_text().split() == ["USR2", "INT", "TERM"]


@pytest.mark.full
def test_states_queries_and_refusals(standin: StandIn, tmp_path: Path) -> None:
    none = standin.call("bjobs")
    assert (none.returncode, none.stdout, none.stderr) == (255, "", "No unfinished job found\n")
    standin.hold()
    number = submit(standin, script("-J a"), tmp_path)
    assert standin.listed(number)[1] == "PEND"
    standin.hold(False)
    standin.wait(number, "DONE")
    assert standin.call("bjobs", "-noheader", "-o", "jobid").returncode == 255
    assert standin.call("bjobs", "-o", "jobid colour").returncode == 255
    assert "already finished" in standin.call("bkill", number).stderr
    standin.purge(number)
    assert standin.call("bjobs", "-a").stderr == "No job found\n"
    assert standin.call("bkill", number).stderr == f"Job <{number}>: No matching job found\n"
    refused = standin.call("bsub", given=script("-q other"), cwd=tmp_path)
    assert (refused.returncode, refused.stderr) == (255, "other: No such queue. Job not submitted.\n")
    standin.configure(queues={"normal": False})
    refused = standin.call("bsub", given=script("-x"), cwd=tmp_path)
    assert "EXCLUSIVE jobs. Job not submitted." in refused.stderr


def test_it_refuses_what_volclava_refuses(standin: StandIn, tmp_path: Path) -> None:
    """As recorded, see fixtures/volclava."""
    standin.configure(volclava=True)
    submit(standin, script("-J a"), tmp_path)
    refused = standin.call("bjobs", "-a", "-noheader", "-o", "jobid")
    assert (refused.returncode, refused.stderr.splitlines()[0]) == (255, "bjobs: invalid option -- 'n'")
    for layout in ("jobid exit_reason", "jobid delimiter='|'", "id"):
        refused = standin.call("bjobs", "-a", "-o", layout)
        assert refused.returncode == 99 and "is not a valid field name" in refused.stderr
    plain = standin.call("bjobs", "-a", "-o", "jobid stat job_name")
    assert plain.stdout.splitlines()[0] == "JOBID STAT JOB_NAME"
    assert plain.stdout.splitlines()[1].split()[::2] == ["1001", "a"]


def test_a_kill_while_the_host_is_lost_makes_a_zombie(standin: StandIn, tmp_path: Path) -> None:
    number = submit(standin, script() + "sleep 60\n", tmp_path)
    standin.wait(number, "RUN")
    standin.show(number, "UNKWN")
    assert succeeded(standin.call("bkill", number))
    assert standin.listed(number)[1] == "ZOMBI"
    assert succeeded(standin.call("bkill", "-r", number))
    assert standin.wait(number, "EXIT")[2].startswith("TERM_FORCE_OWNER")
