"""Invented campaigns for measurements, with any number of runs, none of which starts MPI."""

from __future__ import annotations

from pathlib import Path

CASES_OF_MANY = 40
CASES_OF_TRIVIAL = 10

# 5 host groups × 4 placements × 2 benchmarks, as large as a comparison of several clusters.
MANY = """\
campaign: many
repeats: {repeats}
time_limit: 1 min
systems:
  bench: {{scheduler: none, mpi: intelmpi}}
host_groups: {{red: &group {{system: bench}}, blue: *group, green: *group, white: *group, black: *group}}
benchmarks:
  first: &pingpong
    {{suite: imb, program: program, provider: {{kind: path, location: {program}}}, arguments: PingPong}}
  second: {{<<: *pingpong, arguments: -msglog 0:22 PingPong}}
matrix:
  - host_groups: [red, blue, green, white, black]
    placements: [SHM-1, SHM-2, SHM, TCP-loopback]
    benchmarks: [first, second]
"""

# 1 host group × 2 placements × 5 benchmarks; the launcher prints a finished output and starts no rank.
TRIVIAL = """\
campaign: trivial
repeats: {repeats}
time_limit: 1 min
mpis:
  none: {{launcher: hydra, command: {launcher}, transports: {{}}}}
systems:
  bench: {{scheduler: none, mpi: none}}
host_groups:
  here: {{system: bench}}
placements:
  left: &unbound {{nodes: 1, ranks_per_node: 2, transport: any, binding: none}}
  right: *unbound
benchmarks:
  one: &pingpong
    {{suite: imb, program: program, provider: {{kind: path, location: {program}}}, arguments: PingPong}}
  two: *pingpong
  three: *pingpong
  four: *pingpong
  five: *pingpong
matrix:
  - {{host_groups: here, placements: [left, right], benchmarks: [one, two, three, four, five]}}
"""

LAUNCHER = """\
#!/bin/sh
exec cat "${0%/*}/output.txt"
"""


def write_many(folder: Path, runs: int) -> Path:
    """A campaign file with this many runs under Intel MPI, beside a program that does nothing."""
    file = folder / "many.yaml"
    text = MANY.format(repeats=runs // CASES_OF_MANY, program=_executable(folder / "program", "#!/bin/sh\n"))
    file.write_text(text, encoding="utf-8")
    return file


def write_trivial(folder: Path, runs: int, output: str) -> Path:
    """A campaign file with this many runs, each of which yields ``output`` at once."""
    (folder / "output.txt").write_text(output, encoding="utf-8")
    file = folder / "trivial.yaml"
    text = TRIVIAL.format(
        repeats=runs // CASES_OF_TRIVIAL,
        launcher=_executable(folder / "launcher", LAUNCHER),
        program=_executable(folder / "program", "#!/bin/sh\n"),
    )
    file.write_text(text, encoding="utf-8")
    return file


def _executable(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path
