"""Own values beside those of public systems: like with like, recomputed apart; and values no fabric has."""

from __future__ import annotations

import csv
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import build_records as make
import pytest

from mpicampaign.base.records import (
    CLAIMED_TRANSPORT,
    DISTURBED,
    UNVERIFIED,
    VERIFIED,
    Header,
    Record,
    write_records,
)
from mpicampaign.base.reference import PUBLIC_SYSTEMS, REFERENCE
from mpicampaign.cli import main
from mpicampaign.compare.compare import compare
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.fabrics import FABRIC, NODES, PACKED, SAME_NODE, SCOPE, fabric_of, scope_of
from mpicampaign.evidence.plausible import with_doubts
from mpicampaign.questions.public_systems.find import beside_public, values_of
from mpicampaign.questions.public_systems.say import alike, not_compared, public_document, sentence, shares
from mpicampaign.report.write import write_report
from mpicampaign.show.view import View
from mpicampaign.show.writer import TextWriter, writer

HDR = {"rate.mlx5_0/1": "200 Gb/sec (4X HDR)", "link.mlx5_0/1": "InfiniBand", "state.mlx5_0/1": "4: ACTIVE"}
XDR = {**HDR, "rate.mlx5_0/1": "800 Gb/sec (4X XDR)"}
BETWEEN = {SCOPE: NODES, CLAIMED_TRANSPORT: "ibv mlx5_0"}


def runs(latency: float = 1.31e-6, rate: float = 2.25e10, system: str = "s", **fields: Any) -> list[Record]:
    """Three repeats of PingPong between two nodes with one HDR adapter; ``fields`` replace these."""
    known = {"hosts": ("n1", "n2"), "nodes": {"n1": HDR, "n2": HDR}, "metadata": BETWEEN} | fields
    made = make.runs(make.case("IBV", system=system), [latency] * 3, rate, **known)
    return [replace(record, metadata=known["metadata"]) for record in made]


def said(records: list[Record]) -> list[str]:
    return [sentence(group, View()) for group in alike(beside_public(compare(records)))]


def public(**wanted: str) -> dict[str, list[float]]:
    """The values of the table with these cells, by system, read here by other means."""
    found: dict[str, list[float]] = {}
    with (REFERENCE / f"{PUBLIC_SYSTEMS}.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            ping_pong = line["benchmark"] in ("IMB PingPong", "osu_latency", "osu_multi_lat")
            if ping_pong and not line["unlike"] and wanted.items() <= line.items():
                found.setdefault(line["system"], []).append(float(line["value"]))
    return found


@pytest.mark.parametrize(
    ("rate", "name", "title"),
    [
        ("200 Gb/sec (4X HDR)", "infiniband-hdr", "HDR"),
        ("100 Gb/sec (2X HDR)", "infiniband-hdr100", "HDR100"),
    ],
)
def test_a_sentence_is_that_of_the_table(rate: str, name: str, title: str) -> None:
    systems = public(scope="nodes", fabric=name, metric="latency", size_bytes="8", ranks="2")
    values = [value for of_system in systems.values() for value in of_system]
    middle = statistics.median(statistics.median(of_system) for of_system in systems.values())
    facts = {**HDR, "rate.mlx5_0/1": rate}
    start = f"PingPong, 8 B between nodes over InfiniBand {title}: 1.31 µs; {len(systems)} public systems "
    found = said(runs(nodes={"n1": facts, "n2": facts}))[0]
    assert len(systems) > 1 and found == f"{start}{min(values):.2f} to {max(values):.2f}, median {middle:.2f}"


def osu(title: str, bandwidth: float, **fields: Any) -> Record:
    """One run of a bandwidth between two nodes with one HDR adapter."""
    table = make.series(title, 2, size=[1048576], bandwidth=[bandwidth])
    record = make.run("IBV", 1, table, suite="osu", hosts=("n1", "n2"), nodes={"n1": HDR, "n2": HDR})
    return replace(record, metadata=BETWEEN | fields)


def test_nodes_with_more_adapters_and_device_buffers_are_not_alike() -> None:
    title = "MPI Multiple Bandwidth / Message Rate"
    one, four = osu(title, 2e10), osu(title, 2e10, **{CLAIMED_TRANSPORT: "ibv"})
    ports = {f"{kind}.mlx5_{n}/1": HDR[f"{kind}.mlx5_0/1"] for kind in ("rate", "link") for n in range(4)}
    four = replace(four, nodes={"n1": ports, "n2": ports})
    assert not alike(beside_public(compare([one])))
    (group, *_) = alike(beside_public(compare([four])))
    assert {other.rails for other in group.first.others} == {4}
    comparison = compare([osu(title, 2e10, buffers="D D")])
    assert [*not_compared(comparison, beside_public(comparison))] == [
        "g IBV: values of device buffers are compared with none"
    ]


def test_the_share_of_the_line_rate_needs_rate_and_adapters() -> None:
    comparison = compare(runs())
    found = beside_public(comparison)
    assert [*shares(comparison, found)] == ["g IBV, PingPong: 22.3 GB/s is 89 % of 200 Gb/s"]
    named = {SCOPE: NODES, FABRIC: "infiniband-hdr"}  # says nothing of how many adapters
    comparison = compare(runs(nodes={}, metadata=named))
    assert [*shares(comparison, beside_public(comparison))] == [] and said(list(comparison.records))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"metadata": {**BETWEEN, SCOPE: SAME_NODE}}, "these runs are not known to"),
        ({"metadata": {SCOPE: SAME_NODE, CLAIMED_TRANSPORT: "tcp lo"}}, "these runs sent over TCP"),
        ({"metadata": {CLAIMED_TRANSPORT: "ibv mlx5_0"}}, "where these ranks ran was not recorded"),
        ({"metadata": {**BETWEEN, SCOPE: PACKED}}, "ranks 0 and 1 may share one"),
        ({"condition": DISTURBED}, "g IBV: disturbed"),
        ({"nodes": {}}, "the fabric of these runs is not known"),
        (
            {"nodes": {"n1": HDR, "n2": {**HDR, "rate.mlx5_0/1": "100 Gb/sec (2X HDR)"}}},
            "fabric of these runs",
        ),
        ({"nodes": dict.fromkeys(("n1", "n2"), XDR)}, "InfiniBand XDR"),
    ],
)
def test_what_is_not_alike_is_said_with_the_reason(fields: dict[str, Any], reason: str) -> None:
    comparison = compare(runs(**fields))
    assert said(list(comparison.records)) == []
    assert any(reason in line for line in not_compared(comparison, beside_public(comparison)))


@pytest.mark.parametrize(
    ("facts", "claimed", "name"),
    [
        (HDR, "ibv mlx5_0", "infiniband-hdr"),
        ({**HDR, "rate.mlx5_0/1": "100 Gb/sec (2X HDR)"}, "ibv mlx5_0", "infiniband-hdr100"),
        ({"rate.mlx5_0/1": "25 Gb/sec (1X EDR)", "driver.mlx5_0": "mana x"}, "ibv mlx5_0", "mana-25"),
        (
            {"speed.eth0": "25000", "driver.eth0": "mlx5_core 1", "speed.eth1": "1000"},
            "tcp eth0",
            "ethernet-25",
        ),
        ({"speed.eth0": "10000"}, "tcp eth0", None),
        ({"speed.eth0": "10000", "driver.eth0": "virtio_net"}, "tcp eth0", None),
        ({**HDR, "rate.mlx5_1/1": "100 Gb/sec (4X EDR)"}, "ibv", None),
        ({**HDR, "rate.mlx5_1/1": "100 Gb/sec (4X EDR)"}, "ibv mlx5_0", "infiniband-hdr"),
        ({"speed.ib0": "100000", "driver.ib0": "mlx5_core"}, "tcp ib0", None),
        ({"speed.eth0": "-1", "driver.eth0": "igb"}, "tcp eth0", None),
    ],
)
def test_a_fabric_is_read_from_what_nodes_recorded(
    facts: dict[str, str], claimed: str, name: str | None
) -> None:
    found = fabric_of(runs(nodes={"n1": facts}, metadata={CLAIMED_TRANSPORT: claimed})[0])
    assert (found.name if found else None) == name


def test_a_fabric_is_named_by_attributes_as_maps_have_them() -> None:
    attributes = {"infiniband": "FDR", "ethernet": "10 GbE", "adapters": "2"}
    fabrics = [
        fabric_of(runs(nodes={}, metadata={CLAIMED_TRANSPORT: claimed}, attributes=attributes)[0])
        for claimed in ("ibv mlx5_0", "tcp eth0")
    ]
    assert [fabric and (fabric.name, fabric.gbps, fabric.rails) for fabric in fabrics] == [
        ("infiniband-fdr", 56, 2),
        ("ethernet-10", 10, 2),
    ]


@pytest.mark.parametrize(
    ("ranks", "scope"),
    [
        ([("a", "0", "core"), ("a", "0", "core")], "same socket"),
        ([("a", "0", "core"), ("a", "1", "core")], "sockets"),
        ([("a", "0", "none"), ("a", "0", "none")], "same node"),
        ([("a", "0", "core"), ("b", "0", "core")], "nodes"),
        ([("a", "0", "core"), ("a", "0", "core"), ("b", "0", "core")], "nodes with several ranks"),
        ([], ""),
    ],
)
def test_scopes_are_those_that_the_ranks_recorded(ranks: list[tuple[str, str, str]], scope: str) -> None:
    evidence = Evidence()
    for rank, (host, socket, binding) in enumerate(ranks):
        evidence.claim["binding"] = binding
        evidence.ranks[rank] = {"start.host": host, "start.socket": socket, "end.socket": socket}
    assert scope_of(evidence) == scope


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (runs(0.3e-6)[0], "latency: 0.30 µs is below 0.6 µs"),
        (runs(0.3e-6, metadata={**BETWEEN, SCOPE: PACKED})[0], "latency: 0.30 µs is below 0.6 µs"),
        (runs(rate=3e10)[0], "GB/s is more than 200 Gb/s carries"),
        (runs()[0], ""),
        (runs(0.3e-6, metadata={SCOPE: SAME_NODE})[0], ""),
    ],
)
def test_values_that_no_fabric_has_are_doubted(record: Record, reason: str) -> None:
    doubted = with_doubts(record)
    assert doubted.verdict == (UNVERIFIED if reason else VERIFIED)
    assert not reason or reason in doubted.verdict_reasons[0]


def test_bundles_join_and_hostile_names_are_text(tmp_path: Path) -> None:
    records = runs(system=make.HOSTILE)
    comparison = compare(records)
    more = values_of(compare(runs(2e-6, system="site-b")), "site-b.tar.gz")
    for name in ("terminal", "markdown"):
        chosen = writer(name)
        assert isinstance(chosen, TextWriter)
        text = chosen.write(public_document(comparison, more, View()))
        assert "public systems and 1 of bundles" in " ".join(text.split()) and "\x1b" not in text
    write_report(tmp_path / "report.html", comparison, records)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Beside public systems" in page and '<b>"name"' not in page


def test_the_command_refuses_what_is_no_bundle_and_writes_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    write_records(folder / "records.jsonl", Header("c"), runs())
    assert main(["compare", str(folder / "records.jsonl"), "--with", "publik"]) != 0
    assert "give public, or the files of bundles" in capsys.readouterr().err
    assert main(["compare", str(folder / "records.jsonl"), "--with", "public", "--format", "csv"]) == 0
    own, other = list(csv.DictReader(capsys.readouterr().out.splitlines()))[:2]
    assert (own["of"], float(own["median [unit]"]), own["source"]) == (
        "own",
        pytest.approx(1.31e-6, rel=1e-3),
        "",
    )
    assert other["of"] == "public" and other["source"] and other["licence"]
