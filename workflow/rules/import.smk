# Raw outputs that were made elsewhere: the map of an import, and its folders.
from os.path import relpath

from mpicampaign.base.errors import UserError
from mpicampaign.imports.map_file import load_map
from mpicampaign.base.text import visible_lines

try:
    load_map(given)
except UserError as error:
    raise SystemExit(visible_lines(str(error))) from None


# Its mark makes it run at each call; existing files stay as they are.
rule import:
    output:
        touch(f"{marks}/imported"),
    localrule: True
    params:
        # functions, so that braces in these names are no wildcards
        map=lambda wildcards: relpath(given),
        folders=lambda wildcards: folders,
    shell:
        "{mpicampaign} import --only-copy --map {params.map:q} -- {params.folders:q}"
        " && {mpicampaign} report --map {params.map:q}"


goal = f"{marks}/imported"
