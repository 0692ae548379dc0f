"""The stand-in for LSF holds submissions to the documentation; the golden scripts pass it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

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
