# The map of an import, and its folders.
import shlex
import sys
from pathlib import Path

from mpicampaign.errors import UserError
from mpicampaign.imports.map_file import load_map
from mpicampaign.text import visible_lines

map_file = Path(config["map"])
try:
    load_map(map_file)
except UserError as error:
    raise SystemExit(visible_lines(str(error))) from None
named = config.get("folders", [])
folders = [str(folder) for folder in ([named] if isinstance(named, str) else named)]
mpicampaign = f"{shlex.quote(sys.executable)} -P -m mpicampaign.cli"
