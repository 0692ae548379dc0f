"""EFA, Slingshot, Omni-Path, RoCE, iWARP and MANA: told apart, proposed, set, and proved or not.

None of them is here: the lines are those that libraries and kernels print, by their sources and by public
reports. libfabric over TCP runs on the test cluster (test_cluster_campaign.py, test_cluster_lies.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from evidence_texts import INTEL_SHM, TCP_CLAIM
from printed_outputs import imb
from test_doctor_campaign import MILAN, loaded, matrix, site
from test_transport import (
    DEVICE_CLAIM,
    ENOUGH,
    INTEL_IBV,
    LARGE,
    SENT,
    SILENT_RANKS,
    between_nodes,
    connected,
    judged,
    ports,
    shm,
)

from mpicampaign.base.records import CONTRADICTED, UNVERIFIED, VERIFIED
from mpicampaign.imports.facts import read_facts
from mpicampaign.imports.ledger import Label
from mpicampaign.imports.map_file import Claim, ImportMap
from mpicampaign.imports.verdict import judge_import
from mpicampaign.mpis import reported_providers
from mpicampaign.site.campaign_file import campaign_text
from mpicampaign.site.facts import NodeGroup
from mpicampaign.site.probe import read_probe

INTEL = INTEL_SHM + "[0] MPI startup(): libfabric provider: {}\n"
OPENMPI = "[n1:{pid}] mtl_ofi_component.c:{line}: mtl:ofi:{said}\n"
REPORTS = [
    ("intelmpi", INTEL.format("tcp;ofi_rxm"), {"tcp"}),
    ("intelmpi", INTEL_SHM, None),
    ("mpich-ofi", "==== Capability set configuration ====\nlibfabric provider: cxi - cxi\n", {"cxi"}),
    ("openmpi4", OPENMPI.format(pid=7, line=269, said='provider_include = "efa"'), None),
    ("openmpi4", OPENMPI.format(pid=7, line=347, said="prov: efa"), {"efa"}),  # 4.0
    (  # 4.1 prints the domain as the provider
        "openmpi4",
        OPENMPI.format(pid=7, line=337, said="prov: psm2")
        + OPENMPI.format(pid=7, line=365, said="provider: hfi1_0"),
        {"psm2"},
    ),
    (
        "openmpi5",
        OPENMPI.format(pid=7, line=343, said="provider: efa")
        + OPENMPI.format(pid=7, line=368, said="provider:domain: rdmap0s6-rdm")
        + OPENMPI.format(pid=8, line=343, said="provider: tcp;ofi_rxm"),
        {"efa", "tcp"},
    ),
    ("openmpi4", OPENMPI.format(pid=7, line=347, said="prov: none"), None),
    ("openmpi4", OPENMPI.format(pid=7, line=365, said="provider: rdmap0s31-rdm"), None),  # the domain alone
    ("platform", INTEL.format("efa"), None),
]


@pytest.mark.parametrize(("mpi", "output", "expected"), REPORTS)
def test_the_provider_in_a_report(mpi: str, output: str, expected: set[str] | None) -> None:
    assert reported_providers(mpi, output) == expected


def of_provider(provider: str, device: str = "") -> str:
    claim = TCP_CLAIM.replace("transport=tcp\n", f"transport=ofi\nclaim provider={provider}\n")
    claim = claim.replace("device=\n", f"device={device}\n")
    return claim if provider == "tcp" else claim.replace("interface=eth0", "interface=")


def counted(device: str, count: int) -> str:
    """Bytes that a device of blue1 counted in each direction."""
    return "".join(
        f"node blue1 {moment}.rdma.{device}.{way}_bytes={count if moment == 'after' else 0}\n"
        for way in ("rx", "tx")
        for moment in ("before", "after")
    )


EFA, CXI = of_provider("efa", "rdmap0s6"), of_provider("cxi", "cxi0")
FLITS = ports(hfi1_0=(140_000_000, 140_000_000)) + "node blue1 driver.hfi1_0=hfi1\n"
OVER_ETHERNET = connected("eth0", SENT[65536])
VERDICTS = {
    "EFA": (EFA, INTEL.format("efa"), SILENT_RANKS + counted("rdmap0s6", ENOUGH[0]), VERIFIED, "ofi efa"),
    "EFA that was TCP": (EFA, INTEL.format("tcp"), OVER_ETHERNET, CONTRADICTED, "is tcp, claimed: efa"),
    "EFA that was TCP, unreported": (EFA, "", OVER_ETHERNET, CONTRADICTED, "over interface eth0, claimed: "),
    "EFA, unreported": (
        EFA,
        "",
        SILENT_RANKS + counted("rdmap0s6", ENOUGH[0]),
        UNVERIFIED,
        "transport ofi efa: no evidence",
    ),
    "EFA without counters": (EFA, INTEL.format("efa"), SILENT_RANKS, UNVERIFIED, "device rdmap0s6: no"),
    "another EFA device": (
        EFA,
        INTEL.format("efa"),
        SILENT_RANKS + counted("rdmap0s6", 0) + counted("rdmap1s6", ENOUGH[0]),
        CONTRADICTED,
        "device rdmap0s6 of blue1 counted 0 B",
    ),
    "Slingshot": (CXI, INTEL.format("cxi"), SILENT_RANKS + counted("cxi0", ENOUGH[0]), VERIFIED, "ofi cxi"),
    "Slingshot, whose telemetry may be old": (
        CXI,
        INTEL.format("cxi"),
        SILENT_RANKS + counted("cxi0", 0),
        UNVERIFIED,
        "cxi0 of blue1 counted 0 B",
    ),
    "Omni-Path, in flits": (
        of_provider("psm2", "hfi1_0"),
        INTEL.format("psm2"),
        SILENT_RANKS + FLITS,
        VERIFIED,
        "device hfi1_0 of blue1 counted 280.0 MB",
    ),
    "PSM3 over sockets": (of_provider("psm3"), INTEL.format("psm3"), OVER_ETHERNET, VERIFIED, "ofi psm3"),
    "TCP by libfabric": (of_provider("tcp"), INTEL.format("tcp"), OVER_ETHERNET, VERIFIED, "ofi tcp"),
    "TCP, by libfabric or not": (of_provider("tcp"), "", OVER_ETHERNET, UNVERIFIED, "ofi tcp: no evidence"),
    "TCP by libfabric that was not": (of_provider("tcp"), "", SILENT_RANKS, CONTRADICTED, "claimed: ofi tcp"),
    # finished runs of earlier releases
    "EFA as ibv": (EFA.replace("transport=ofi", "transport=ibv"), INTEL.format("efa"),
                   SILENT_RANKS + counted("rdmap0s6", ENOUGH[0]), VERIFIED, "efa"),
}  # fmt: skip


@pytest.mark.parametrize("what", VERDICTS)
def test_a_claimed_provider(what: str) -> None:
    claim, output, lines, expected, text = VERDICTS[what]
    verdict, reasons = judged(between_nodes(lines, claim=claim), output, LARGE)
    assert verdict == expected, reasons
    assert text in reasons


def test_silent_telemetry_of_slingshot_shows_no_shared_memory() -> None:
    text = shm(SILENT_RANKS, counted("cxi0", 0))
    assert judged(text, INTEL_SHM, LARGE)[0] == VERIFIED
    verdict, reasons = judged(text, "", LARGE)
    assert verdict == UNVERIFIED and "the telemetry of cxi0 of blue1 may be old" in reasons


@pytest.mark.parametrize(
    ("facts", "expected", "text"),
    [
        ("link.mlx5_0/1=Ethernet\nnode blue2 node_type.mlx5_0=1: CA", VERIFIED, "link: roce"),
        ("link.mlx5_0/1=InfiniBand", CONTRADICTED, "mlx5_0 of blue2 is infiniband, claimed: roce"),
        ("link.mlx5_0/1=Ethernet\nnode blue2 node_type.mlx5_0=4: RNIC", CONTRADICTED, "is iwarp"),
        ("link.mlx5_0/1=Ethernet", UNVERIFIED, "link: that of mlx5_0 was not recorded"),
    ],
)
def test_a_claimed_link(facts: str, expected: str, text: str) -> None:
    """Ports are the same for InfiniBand and RoCE; of most nodes of a job nothing is recorded."""
    lines = (SILENT_RANKS, ports(mlx5_0=ENOUGH), f"node blue2 {facts}\n")
    verdict, reasons = judged(
        between_nodes(*lines, claim=DEVICE_CLAIM + "claim link=roce\n"), INTEL_IBV, LARGE
    )
    assert verdict == expected, reasons
    assert text in reasons


PROBE = """\
#mpicampaign-probe 1
host\tn1
topology\t2\t48\t96
interface\tens5\tup\t50000\tyes\tyes
{}end of probe
"""
PORT = "port\t{}\t1\t4: ACTIVE\t{}\t100 Gb/sec (4X EDR)\n"
ROCE = PORT.format("mlx5_2", "Ethernet") + "device\tmlx5_2\tmlx5_core\t1: CA\n"
PROPOSED = [
    (PORT.format("rdmap0s6", "Unspecified"), {"efa": ("ofi", "efa", "", "rdmap0s6")}, ["TCP", "OFI"]),
    (PORT.format("hfi1_0", "InfiniBand"), {"omni-path": ("ofi", "psm2", "", "hfi1_0")}, ["TCP", "OFI"]),
    (PORT.format("hfi2_0", "InfiniBand"), {"omni-path": ("ofi", "opx", "", "hfi2_0")}, ["TCP", "OFI"]),
    ("port\tcxi0\t0\tup\t\tBS_200G\n", {"slingshot": ("ofi", "cxi", "", "cxi0")}, ["TCP", "OFI"]),
    (ROCE, {"roce": ("ibv", "", "roce", "mlx5_2")}, ["TCP", "IBV"]),
    (PORT.format("irdma0", "Ethernet"), {"rdma": ("ibv", "", "", "irdma0")}, ["TCP", "IBV"]),
    (
        PORT.format("irdma0", "Ethernet") + "device\tirdma0\ti40e\t4: RNIC\n",
        {"iwarp": ("ofi", "verbs", "iwarp", "irdma0")},
        ["TCP", "OFI"],
    ),
    (
        PORT.format("mlx5_0", "InfiniBand") + ROCE,
        {"ib": ("ibv", "", "infiniband", "mlx5_0"), "roce": ("ibv", "", "roce", "mlx5_2")},
        ["TCP", "IBV-ib", "IBV-roce"],
    ),
    (PORT.format("mana_0", "Ethernet"), {}, ["TCP"]),
]


@pytest.mark.parametrize(("lines", "fabrics", "placements"), PROPOSED)
def test_what_the_doctor_proposes(
    tmp_path: Path, lines: str, fabrics: dict[str, tuple[str, ...]], placements: list[str]
) -> None:
    found = site(NodeGroup("aws", MILAN, read_probe(PROBE.format(lines))))
    campaign = loaded(found, tmp_path)
    made = campaign.host_groups["aws"].fabrics
    known = {n: (f.transport, f.provider, f.link, f.device) for n, f in made.items() if n != "ens5"}
    assert known == fabrics
    assert matrix(campaign)["aws"][3:] == tuple(placements)
    assert ("MANA" in campaign_text(found)) == ("mana" in lines)
    rates = {fabric.bytes_per_second for name, fabric in made.items() if name != "ens5"}
    assert rates <= {100e9 / 8, 200e9 / 8}


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (Claim(transport="ofi", provider="efa"), UNVERIFIED),
        (Claim(transport="ofi"), UNVERIFIED),
        (Claim(transport="ofi", provider="cxi"), CONTRADICTED),
        (Claim(transport="tcp"), CONTRADICTED),
        (Claim(transport="ibv"), UNVERIFIED),  # as earlier releases called it
    ],
)
def test_an_imported_run_over_efa(claim: Claim, expected: str) -> None:
    """Nothing else of its label is recorded: unverified is what is not contradicted."""
    facts = read_facts("x", INTEL.format("efa") + imb())
    assert (facts["transport"], facts["provider"], facts["mpi"]) == ("efa", "efa", "intelmpi")
    label = Label("s", "g", "EFA", "PingPong")
    made = ImportMap(name="m", campaign="c", rules=(), placements={"EFA": claim})
    assert judge_import(facts, label, made, changed=False)[0] == expected
