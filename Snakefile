# mpicampaign: from a campaign file to tables, figures and a report.
# The campaign: --config campaign=FILE (default campaign.yaml); the system: --config system=NAME; one repeat of each
# case only, as for a scheduled tick: --config once=true. Some runs only: --config placement=TCP,SHM benchmark=PingPong
# host_group=NAME repeat=1-3,5.
# Raw outputs that were made elsewhere: snakemake import --config map=FILE folders=FOLDER (or a list of them).
import atexit
import os
import shlex
import shutil
import sys
import time
from pathlib import Path

# Snakemake looks for modules beside each Snakefile first: a user's file there would hide one of Python's.
sys.path[:] = [path for path in sys.path if not Path(path, "Snakefile").exists()]

from mpicampaign.base.errors import Problem, did_you_mean
from mpicampaign.base.interrupts import end_in_order
from mpicampaign.base.places import work_beside, working_folder
from mpicampaign.base.selection import KEYS

# Snakemake would ignore a misspelt key, and another campaign than intended would run.
known = ("map", "folders") if "map" in config else ("campaign", "system", "once", *KEYS)
for key in config:
    if key not in known:
        raise SystemExit(str(Problem("unknown key", key=f"--config {key}", hint=did_you_mean(key, known))))

# Our command line, on PATH or not; -P: files here do not hide its modules.
mpicampaign = f"{shlex.quote(sys.executable)} -P -m mpicampaign.cli"

# The call works where results/ is; what its words name is seen from where it was made.
given = Path(config.get("map", config.get("campaign", "campaign.yaml"))).absolute()
named = config.get("folders", [])
folders = [os.path.abspath(folder) for folder in ([named] if isinstance(named, str) else named)]
work_beside(given)


workdir: str(working_folder())


os.chdir(working_folder())

# A mark of what this call has done has a name that no file can have yet: it makes the rule due that writes it.
marks = f".snakemake/mpicampaign-{os.getpid()}-{time.time_ns()}"
end_in_order()
atexit.register(shutil.rmtree, marks, ignore_errors=True)
try:
    os.makedirs(marks)
except OSError as error:
    raise SystemExit(f"{error.filename}: {error.strerror}") from None

if "map" in config:

    include: "workflow/rules/import.smk"

else:

    include: "workflow/rules/campaign.smk"


rule all:
    default_target: True
    input:
        goal,
    localrule: True


onstart:
    end_in_order(pass_on=True)  # Snakemake has set handlers of its own
