"""Rejected results: unusable ones, and good ones from another machine or state."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import build_records as make
import pytest
from build_campaigns import campaign, plan, script_of

from mpicampaign.jobs.claim import claim_text
from mpicampaign.jobs.prepare import host_names
from mpicampaign.jobs.run import Run
from mpicampaign.run.set_aside import set_aside_faulty

OUTPUT = (Path(__file__).parent / "fixtures/imb/pingpong.out").read_text()
HERE = host_names()[0]
PROGRAM = "5" * 64


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def result(
    folder: Path,
    output: str = OUTPUT,
    host: str = HERE,
    members: tuple[str, ...] = (),
    program: str = PROGRAM,
    library: str = "as it is",
    claimed_library: str = "",
) -> Run:
    """A run with a result of this host, program and text of its MPI library."""
    file = folder / "libmpi.so.12"
    file.write_text("as it is")
    run = replace(plan(campaign(group={"members": members})).runs[0], libraries=claimed_library)
    script = script_of(run, folder)
    lines = [f"job host={host}", f"job program_sha256={program}", f"rank 0 start.library={file}"]
    sums = f"job sha256.libmpi.so.12={checksum(library)}"
    make.write_result(script.output.parent, *lines, sums, output=output)
    script.claim.write_text(claim_text(replace(run, program_sha256=program), ["x"]))
    return script


def test_what_cannot_be_read_becomes_an_attempt(tmp_path: Path) -> None:
    script = result(tmp_path, output="nothing\n")
    [line] = set_aside_faulty([script])
    assert "output.txt: " in line
    assert len(list(script.folder.glob("attempts/*/output.txt"))) == 1
    assert not script.output.exists()


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"host": "n1"}, "it was made on n1, not on "),
        ({"program": "6" * 64}, "the program has changed: 666666666666 then, 555555555555 now"),
        ({"library": "before"}, f"the MPI library has changed: {checksum('before')[:12]} then"),
    ],
)
def test_a_result_of_another_state_is_kept_whole_beside_its_run(
    tmp_path: Path, made: dict[str, str], reason: str
) -> None:
    script = result(tmp_path, **made)  # type: ignore[arg-type]
    [line] = set_aside_faulty([script])
    assert reason in line
    kept = script.folder.parent / "earlier" / f"{script.folder.name}-1"
    assert {path.name for path in kept.iterdir()} == {"claim", "result"}
    assert not script.folder.exists()
