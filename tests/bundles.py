"""Campaign folders and archives for tests of bundles."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

from evidence_texts import DECLARED, INTEL_SHM, claim_of, evidence_text, folder_of, rank_lines, run_of, split

from mpicampaign.base.identity import identity

OUTPUT = INTEL_SHM + (Path(__file__).parent / "fixtures/imb/pingpong.out").read_text()


def declared(system: str, repeat: int, budget: int = 3) -> dict[str, object]:
    return {**DECLARED, "system": system, "repeat": repeat, "arguments": ["--budget", str(budget)]}


def evidence(system: str, host: str, cpu: str, repeat: int) -> str:
    """The lines of the claim and the evidence of a run, together."""
    sums = "".join(
        f"job sha256.{name}.txt={hashlib.sha256(text.encode()).hexdigest()}\n"
        for name, text in (("output", OUTPUT), ("stderr", ""))
    )
    facts = f"job ended=2026-01-02T03:04:0{repeat}Z\njob exit_status=0\nnode {host} cpu_model={cpu}\n"
    claim = claim_of(declared(system, repeat)).replace("blue*", "*")
    run = run_of(declared(system, repeat)).replace("node blue1", f"node {host}")
    return evidence_text(claim, run, facts, sums, rank_lines(0, host, 0), rank_lines(1, host, 1))


def campaign_folder(
    results: Path, system: str = "here", host: str = "blue1", cpu: str = "Invented CPU", repeats: int = 2
) -> Path:
    """results/c with runs of one system, and a plan with a case of another, which has no runs."""
    folder = results / "c"
    for repeat in range(1, repeats + 1):
        run = folder / folder_of(declared(system, repeat))
        result = run / "result"
        result.mkdir(parents=True)
        (run / "job.sh").write_text("# script\n")
        found, claim = split(evidence(system, host, cpu, repeat))
        (run / "claim").write_text(claim)
        for name, text in {"output": OUTPUT, "stderr": "", "evidence": found}.items():
            (result / f"{name}.txt").write_text(text)
    (folder / "tables").mkdir()
    (folder / "tables" / "comparison.txt").write_text("made anew\n")
    cases = [case(system, repeats), case("elsewhere", repeats) | {"host_group": "green"}]
    plan = {"format": "mpicampaign-plan", "version": 2, "campaign": "c", "systems": [system], "seed": 1}
    (folder / "plan.json").write_text(json.dumps({**plan, "campaign_file": "", "cases": cases}))
    return folder


def case(system: str, repeats: int, budget: int = 3) -> dict[str, object]:
    """A case of the plan; another ``budget`` means other runs."""
    runs = [
        {"repeat": n, "order": n - 1, "identity": identity(declared(system, n, budget))}
        for n in range(1, repeats + 1)
    ]
    names = {"system": system, "host_group": "blue", "placement": "SHM-1", "benchmark": "tree_gather"}
    of_case = {key: value for key, value in declared(system, 0, budget).items() if key != "repeat"}
    facts = {"suite": "imb", "not_available": "", "line_rate": None, "declared": of_case}
    return {**names, **facts, "runs": runs}


Change = Callable[[list[tuple[tarfile.TarInfo, bytes]]], object]


def rewritten(source: Path, target: Path, change: Change) -> Path:
    """A copy of a bundle whose members a function has changed."""
    with tarfile.open(source) as archive:
        members = []
        for info in archive:
            file = archive.extractfile(info)
            members.append((info, file.read() if file else b""))
    change(members)
    with gzip.open(target, "wb") as packed, tarfile.open(fileobj=packed, mode="w|") as archive:
        for info, content in members:
            if info.isreg():
                info.size = len(content)
            info.pax_headers = {}
            archive.addfile(info, io.BytesIO(content))
    return target


def with_manifest(members: list[tuple[tarfile.TarInfo, bytes]], change: Callable[[dict], object]) -> None:  # type: ignore[type-arg]
    """Change the manifest, as an attacker would to make a hostile bundle look good."""
    info, text = members[0]
    data = json.loads(text)
    change(data)
    members[0] = (info, json.dumps(data).encode())
