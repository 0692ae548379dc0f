"""Repeats that did not run alike: on shared cores, with other software or settings; named, counted or not."""

from __future__ import annotations

from dataclasses import replace

import build_records as make
import pytest
from evidence_texts import CLAIM, RUN, evidence_text, rank_lines, read

from mpicampaign.base.records import IN_PART, Case, Record
from mpicampaign.collect.common_settings import of_import, of_own_run
from mpicampaign.collect.observed_software import LIBRARY, PROGRAM, mark_earlier, observed
from mpicampaign.collect.runs import oversubscription
from mpicampaign.compare.compare import compare
from mpicampaign.compare.findings import BY_FILES, UNLIKE, UNREAD_SETTING
from mpicampaign.compare.metrics import at_sizes
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.report.summary import summary
from mpicampaign.show.sentences import note_text, reason

CASE = make.case("TCP")


def runs(*metadata: dict[str, str], suite: str = "imb") -> list[Record]:
    return make.case_runs(CASE, repeats=len(metadata), suite=suite, metadata=lambda n: metadata[n - 1])


def notes(records: list[Record]) -> list[str]:
    (table,) = compare(records).tables
    (row,) = table.rows
    return [note_text(note) for note in row.notes if note.kind == UNLIKE]


@pytest.mark.parametrize(
    ("key", "one", "other", "said"),
    [
        ("mpi_library", "Intel MPI 2019 Update 7", "Intel MPI 2021.18.1", "MPI library"),
        ("mpi_library_file", "libmpi.so.40 (4.1.4)", "libmpi.so.40 (5.0)", "MPI library"),
        ("mpi_version", "3.0", "3.1", "MPI library"),
        ("modules", "gcc/9 openmpi/4.0.3", "gcc/9 openmpi/4.1.0", "modules"),
        ("command", "srun osu_bw -i 100 -x 10", "srun osu_bw -i 100", "options"),
        ("command", "srun osu_bw", "srun --cpu-bind=cores osu_bw", "launch"),
        ("arguments", "-i 100", "-i 10", "options"),
        ("slots", "2", "4", "launch"),
        ("settings", "none", "I_MPI_FABRICS=shm", "launch"),
        ("settings_files", "none", "ucx.conf:UCX_TLS=tcp", "settings files"),
        ("nodes", "1", "2", "nodes"),
    ],
)
def test_each_fact_that_must_be_alike(key: str, one: str, other: str, said: str) -> None:
    records = [replace(run, hosts=()) for run in runs({key: one}, {key: other})]
    (found,) = notes(records)
    assert found.startswith(f"different setups: {said}: repeat 1 ") and "; repeat 2 " in found


def test_sizes_that_a_cut_output_lacks_are_no_other_setup() -> None:
    whole, other = runs({}, {})
    shorter = replace(other, series=(at_sizes(other.series[0], {1024}),))
    assert notes([whole, shorter]) and not notes([whole, replace(shorter, metadata={IN_PART: "cut"})])


def of_rows(**metadata: dict[str, str]) -> dict[str, list[str]]:
    """The notes on rows of one library, by placement."""
    records = [
        run
        for name, facts in metadata.items()
        for run in make.case_runs(make.case(name), metadata=lambda _, facts=facts: facts)
    ]
    (table,) = compare(records).tables
    kinds = (UNREAD_SETTING, BY_FILES)
    return {row.case.placement: [note_text(n) for n in row.notes if n.kind in kinds] for row in table.rows}


def test_settings_that_nothing_reads_tell_no_rows_apart() -> None:
    unset = {"settings": "FI_PROVIDER=tcp"}
    plain = {"settings": "FI_PROVIDER=tcp UCX_TLS=sm", "settings_unread": "UCX_TLS"}
    tcp = {"settings": "FI_PROVIDER=tcp UCX_TLS=tcp", "settings_unread": "UCX_TLS"}
    said = "not read by this library: UCX_TLS={}; nothing else differs from {}"
    assert of_rows(A=plain, B=tcp) == {"A": [said.format("sm", "B")], "B": [said.format("tcp", "A")]}
    assert of_rows(A=unset, B=tcp) == {"A": [], "B": [said.format("tcp", "A")]}
    for other in (
        {"settings_unread": "FI_IFACE"},
        {"binding": "core"},
        {"settings": "FI_PROVIDER=shm UCX_TLS=tcp"},
    ):
        assert of_rows(A=plain, B=tcp | other) == {"A": [], "B": []}


def test_settings_of_names_that_nothing_reads_are_told_in_front() -> None:
    names, unread = "I_MPI_FABRIX={} UCX_TLS=tcp", {"settings_unread": "I_MPI_FABRIX UCX_TLS"}
    swept = [make.case(f"SHM {names.format(fabric)}") for fabric in ("shm", "ofi")]
    of_sweep = [make.case_runs(case, metadata=lambda _: unread) for case in swept]
    assert "I_MPI_FABRIX and UCX_TLS not read" in summary(compare([*of_sweep[0], *of_sweep[1]])).line
    reads = make.case_runs(swept[1], metadata=lambda _: {"settings_unread": "UCX_TLS"})
    assert "· UCX_TLS not read" in summary(compare([*of_sweep[0], *reads])).line
    assert (
        "not read" not in summary(compare(make.case_runs(make.case("SHM"), metadata=lambda _: unread))).line
    )


def test_rows_that_files_of_settings_steer_otherwise() -> None:
    site, cut = {"settings_files": "b.conf:x=1"}, {"settings_files": "a.conf:y=2 b.conf:x=1 c.conf:z=3"}
    assert of_rows(A=site, B=cut, C=site) == {
        "A": ["settings by files: b.conf:x=1"],
        "B": ["settings by files: a.conf:y=2, c.conf:z=3, b.conf:x=1"],
        "C": ["settings by files: b.conf:x=1"],
    }
    tuned = [{"settings_files": f"{name}.dat:12ab"} for name in ("shm", "ofi")]
    assert of_rows(A={"settings_files": "none"}, B=tuned[0], C=tuned[1]) == {"A": [], "B": [], "C": []}
    other = {"settings_files": "shm.dat:34cd"}
    assert of_rows(A=tuned[0], B=other)["B"] == ["settings by files: shm.dat:34cd"]


def test_what_an_own_run_tells() -> None:
    evidence = read(
        "#mpicampaign-evidence 2\nclaim mpi=openmpi\nclaim binding=core\nclaim setting.OMPI_MCA_pml=ob1\n"
        "claim setting.FI_TOKEN=x\nclaim arguments=-i 100 -x 10\n"
        "rank 0 start.library=/opt/openmpi-4.1.4/lib/libmpi.so.40\n"
    )
    assert of_own_run(evidence, "[0] MPI startup(): Intel(R) MPI Library, Version 2021.18.1\n") == {
        "mpi_library": "Intel MPI 2021.18.1",
        "mpi_library_file": "libmpi.so.40 (4.1.4)",
        "binding": "core",
        "settings": "OMPI_MCA_pml=ob1",
        "arguments": "-i 100 -x 10",
    }


def test_what_an_imported_run_tells() -> None:
    facts = {
        "command": "mpirun osu_bw",
        "directive.n": "4",
        "directive.R": "span[ptile=2]",
        "environment.UCX_TLS": "rc shm",
        "environment.HOME": "/home/one",
        "environment.MPI_ROOT": "/opt/mpi",
        "mpi_hosts": "2",
    }
    assert of_import(facts) == {
        "nodes": "2",
        "slots": "4",
        "slots_per_node": "2",
        "command": "mpirun osu_bw",
        "modules": "none",
        "settings": "UCX_TLS=rc_shm",
    }
    assert of_import({"mpi": "platform"}) == {"mpi": "platform"}


def evidence(allowed: list[str], cores: str = "", seen: list[str] | None = None) -> Evidence:
    """Ranks of one host with their CPUs, and the cores on which they started."""
    ranks = {
        number: {"start.host": "n1", "start.allowed": cpus, "start.socket": "0", "start.core": core}
        for number, (cpus, core) in enumerate(zip(allowed, seen or allowed, strict=True))
    }
    return Evidence(nodes={"n1": {"cores": cores}}, ranks=ranks)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (evidence(["0-1"] * 4), "4 ranks on 2 CPUs of n1"),
        (evidence(["0", "0"]), "2 ranks on 1 CPU of n1"),
        (evidence(["0-3"] * 4, "2", ["0", "1", "0", "1"]), "4 ranks on 2 cores of n1"),  # hyper-threads
        (evidence(["0", "1"], "2"), ""),
        (evidence(["0", "1", "2", "3"], "1"), ""),  # the node's facts come from a step with one core
        (evidence(["0-1", ""]), ""),
        (evidence(["0-1"] * 2, "9" * 5000, ["0", "0"]), ""),
        (Evidence(), ""),
    ],
)
def test_evidence_of_ranks_that_share(found: Evidence, expected: str) -> None:
    assert oversubscription(found, {}) == expected


SHM_CASE = Case("here", "blue", "SHM-1", "PingPong")


def in_turn(*states: dict[str, str]) -> list[Record]:
    """A repeat for each state, one after the other."""
    return make.case_runs(
        SHM_CASE,
        repeats=len(states),
        metadata=lambda repeat: states[repeat - 1],
        started=lambda repeat: f"2026-01-0{repeat}T00:00:00Z",
    )


def test_an_upgrade_between_two_repeats_parts_them() -> None:
    old, new = {PROGRAM: "aaaa", LIBRARY: "1111"}, {PROGRAM: "bbbb", LIBRARY: "1111"}
    marked = mark_earlier(in_turn(old, old, new))
    assert [run.earlier for run in marked] == ["program checksum aaaa, now bbbb"] * 2 + [""]
    [row] = compare(marked).tables[0].rows
    assert row.counted == 1
    [note] = [note for note in row.notes if note.kind == "earlier"]
    assert (note.repeats, reason(note)) == ((1, 2), "program checksum aaaa, now bbbb")


def test_a_bundled_kernel_is_known_by_its_version_and_not_by_its_checksum() -> None:
    ranks = rank_lines(0, "blue1", 0) + "rank 0 start.library=/opt/libmpi.so\njob sha256.libmpi.so=fedcba\n"
    assert observed(read(evidence_text(CLAIM, RUN, ranks)))[LIBRARY] == "fedcba"
    ranks += "rank 0 start.library_build_id=0123456789abcdef\n"
    text = evidence_text(CLAIM, RUN, ranks)
    assert observed(read(text)) == {PROGRAM: "5555", LIBRARY: "0123456789ab"}
    bundled = text.replace('"benchmark"', '"provider":"bundled","benchmark"')
    assert observed(read(bundled)) == {LIBRARY: "0123456789ab"}
