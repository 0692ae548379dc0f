"""1,000 job scripts from the campaign file, compared with a new Jinja2 environment for each script."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from common import alternate, line, ratio, title, usually
from workloads import write_many

from mpicampaign.jobs import render
from mpicampaign.jobs.prepare import Prepared, prepare, write_scripts
from mpicampaign.jobs.render import script_text
from mpicampaign.jobs.run import Run

RUNS = usually(1000, smallest=40)
RUNS_BESIDE = usually(100, smallest=10)
ROUNDS = usually(5, smallest=1)
LIMIT = 2.0


def main() -> None:
    title(f"Rendering: {RUNS} job scripts from a campaign file")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        file = write_many(folder, RUNS)
        in_memory, written = alternate(ROUNDS, lambda: rendered(file), lambda: on_disk(file, folder))
        line("campaign loaded, planned, rendered in memory", in_memory, LIMIT)
        line("the same, written to disk with the claims", written, LIMIT)
        beside(fresh(file, folder))


def rendered(file: Path, results: Path = Path("results")) -> Prepared:
    """The campaign with its scripts; templates are compiled again, as in a fresh process."""
    prepared = fresh(file, results)
    texts(prepared.runs)
    return prepared


def fresh(file: Path, results: Path) -> Prepared:
    """The campaign, planned but not rendered."""
    render._environment.cache_clear()
    prepared = prepare(file, results=results)
    if len(prepared.runs) != RUNS:
        raise SystemExit(f"{len(prepared.runs)} scripts were planned, not {RUNS}")
    return prepared


def on_disk(file: Path, folder: Path) -> None:
    """Writes the scripts to a new folder."""
    write_scripts(fresh(file, Path(tempfile.mkdtemp(dir=folder))))


def beside(prepared: Prepared) -> None:
    """Rendering only, with fewer runs since the alternative is slow."""
    scripts = prepared.runs[:RUNS_BESIDE]
    ours, naive = alternate(ROUNDS, lambda: texts(scripts), lambda: texts_naively(scripts))
    line("rendering alone, one environment, each script", per_script(ours), unit="ms")
    line(f"a new Jinja2 environment for each script ({RUNS_BESIDE} scripts)", per_script(naive), unit="ms")
    ratio("  times ours", ours, naive)


def texts(scripts: Sequence[Run]) -> list[str]:
    render._environment.cache_clear()
    return [script_text(script) for script in scripts]


def texts_naively(scripts: Sequence[Run]) -> list[str]:
    with patch.object(render, "_environment", render._environment.__wrapped__):
        return [script_text(script) for script in scripts]


def per_script(times: Sequence[float]) -> list[float]:
    """Milliseconds of one script."""
    return [1000 * time / RUNS_BESIDE for time in times]


if __name__ == "__main__":
    main()
