# mpicampaign: from a campaign file to tables, figures and a report.
# The campaign: --config campaign=FILE (default campaign.yaml); the system: --config system=NAME; one repeat of each
# case only, as for a scheduled tick: --config once=true. Some runs only: --config placement=TCP,SHM benchmark=PingPong
# host_group=NAME repeat=1-3,5.
# Raw outputs that were made elsewhere: snakemake import --config map=FILE folders=FOLDER (or a list of them).
from mpicampaign.errors import Problem, did_you_mean
from mpicampaign.selection import KEYS

# Snakemake would ignore a misspelt key, and another campaign than intended would run.
known = ("map", "folders") if "map" in config else ("campaign", "system", "once", *KEYS)
for key in config:
    if key not in known:
        raise SystemExit(str(Problem("unknown key", key=f"--config {key}", hint=did_you_mean(key, known))))

if "map" in config:

    include: "workflow/rules/import.smk"

    # Without an output it always runs; existing files stay as they are.
    rule import:
        default_target: True
        localrule: True
        params:
            # functions, so that braces in these names are no wildcards
            map=lambda wildcards: str(map_file),
            folders=lambda wildcards: folders,
        shell:
            "{mpicampaign} import --only-copy --map {params.map:q} -- {params.folders:q}"
            " && {mpicampaign} report --map {params.map:q}"

else:

    include: "workflow/rules/campaign.smk"

    # An existing report alone would not request missing runs; with one of them as a target, too, it requests them all.
    rule all:
        default_target: True
        input:
            [*[*due][:1], results / "report.html"] if THIS_CALL.reports else list(scripts),
        localrule: True
