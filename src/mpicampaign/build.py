"""Building the bundled kernels for a system, with that system's modules and compiler wrapper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.execute import run_script
from mpicampaign.render import build_script_text
from mpicampaign.software import PROJECT, build_folder

if TYPE_CHECKING:
    from mpicampaign.prepare import Prepared


def build(prepared: Prepared) -> int:
    """Build what the plan's runs need; the exit status of the build."""
    binaries = prepared.binaries
    if all(path.exists() for path in binaries):
        return 0
    system = prepared.campaign.systems[prepared.plan.system]
    folder = build_folder(system)
    targets = [path.name for path in binaries]
    folder.parent.mkdir(parents=True, exist_ok=True)
    return run_script(build_script_text(system, folder, PROJECT / "kernels", targets))
