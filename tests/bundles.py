"""Campaign folders and archives for tests of bundles."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

from evidence_texts import CLAIM, INTEL_SHM, RUN, evidence_text, rank_lines

OUTPUT = INTEL_SHM + (Path(__file__).parent / "fixtures/imb/pingpong.out").read_text()


def evidence(system: str, host: str, cpu: str, repeat: int, output: str = OUTPUT) -> str:
    sums = "".join(
        f"job sha256.{name}.txt={hashlib.sha256(text.encode()).hexdigest()}\n"
        for name, text in (("output", output), ("stderr", ""))
    )
    facts = f"job ended=2026-01-02T03:04:0{repeat}Z\njob exit_status=0\nnode {host} cpu_model={cpu}\n"
    claim = CLAIM.replace("system=here", f"system={system}").replace("repeat=1", f"repeat={repeat}")
    claim = claim.replace("abc123", f"abc12{repeat}").replace("blue*", "*") + "claim recipe=r1\n"
    run = RUN.replace("abc123", f"abc12{repeat}").replace("blue1", host)
    return evidence_text(claim, run, facts, sums, rank_lines(0, host, 0), rank_lines(1, host, 1))


def campaign_folder(
    results: Path, system: str = "here", host: str = "blue1", cpu: str = "Invented CPU", repeats: int = 2
) -> Path:
    """results/c with runs of one system, and a plan with a case of another, which has no runs."""
    folder = results / "c"
    runs = []
    for repeat in range(1, repeats + 1):
        run = f"runs/blue/SHM-1/tree_gather/r0{repeat}-abc12{repeat}"
        result = folder / run / "result"
        result.mkdir(parents=True)
        (folder / run / "job.sh").write_text("# script\n")
        texts = {"output": OUTPUT, "stderr": "", "evidence": evidence(system, host, cpu, repeat)}
        for name, text in texts.items():
            (result / f"{name}.txt").write_text(text)
        runs.append({"repeat": repeat, "order": repeat - 1, "folder": run})
    (folder / "tables").mkdir()
    (folder / "tables" / "comparison.txt").write_text("made anew\n")
    cases = [case(system, runs, repeats), case("elsewhere", [], repeats) | {"host_group": "green"}]
    plan = {"format": "mpicampaign-plan", "version": 1, "campaign": "c", "system": system, "seed": 1}
    (folder / "plan.json").write_text(json.dumps({**plan, "cases": cases}))
    return folder


def case(system: str, runs: list[dict[str, object]], repeats: int) -> dict[str, object]:
    names = {"system": system, "host_group": "blue", "placement": "SHM-1", "benchmark": "tree_gather"}
    facts = {"suite": "imb", "repeats": repeats, "not_available": "", "recipe": "r1", "line_rate": None}
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
    """Change the manifest, as somebody would who wants a hostile bundle to be taken for a good one."""
    info, text = members[0]
    data = json.loads(text)
    change(data)
    members[0] = (info, json.dumps(data).encode())
