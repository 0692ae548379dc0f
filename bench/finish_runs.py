"""Gives every run of a campaign a finished result, in its own process and a copy of the project."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import outputs

from mpicampaign.jobs.prepare import prepare, write_scripts
from mpicampaign.jobs.run import Run


def main() -> None:
    """Write the scripts of the campaign and, beside each, the files of a finished run."""
    prepared = prepare(Path(sys.argv[1]))
    write_scripts(prepared)
    noise = random.Random(1)
    for script in prepared.runs:
        _finish(script, noise)
    print(prepared.folder)


def _finish(script: Run, noise: random.Random) -> None:
    lines = script.claim.read_text(encoding="utf-8").splitlines()[1:]
    claims = {key: value for key, _, value in (line.removeprefix("claim ").partition("=") for line in lines)}
    place = script.folder.relative_to(script.campaign_folder / "runs")
    result = script.output.parent
    result.mkdir()
    raw = {script.output.name: outputs.pingpong(noise), "stderr.txt": outputs.report(claims["transport"])}
    for name, text in {**raw, "evidence.txt": outputs.evidence(str(place), claims, raw)}.items():
        (result / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
