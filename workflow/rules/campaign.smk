# A campaign: its file is read and planned while Snakemake reads the rules.
import shlex
import sys
from os.path import relpath
from pathlib import Path

from snakemake.io import contains_wildcard
from snakemake.settings.enums import Quietness

from mpicampaign.errors import Problem, UserError
from mpicampaign.execution.busy import THIS_CALL
from mpicampaign.execution.conditions import prepare_with_results
from mpicampaign.interrupts import end_in_order
from mpicampaign.execution.many_jobs import evaluate_once, prepare_for_many
from mpicampaign.execution.quiet_snakemake import show_problems_only
from mpicampaign.execution.set_aside import set_aside_faulty
from mpicampaign.files import keep_others_out, system_error_text
from mpicampaign.jobs.plan_text import pending_text
from mpicampaign.jobs.prepare import check_runs, lock_campaign, write_scripts
from mpicampaign.places import work_beside
from mpicampaign.selection import selection_of
from mpicampaign.text import visible_lines

end_in_order()
keep_others_out()
shown = workflow.output_settings
evaluate_once(shows_commands=shown.printshellcmds or not shown.dryrun)
campaign_file = Path(config.get("campaign", "campaign.yaml"))
work_beside(campaign_file)
verbose = workflow.output_settings.verbose
if not verbose and not workflow.output_settings.dryrun:
    show_problems_only()
try:
    prepared = prepare_with_results(campaign_file, config.get("system", ""), selection=selection_of(config))
    check_runs(prepared)
except UserError as error:
    raise SystemExit(visible_lines(str(error))) from None
for line in set_aside_faulty(prepared.selected):
    print(visible_lines(line), file=sys.stderr)
# Our command line, on PATH or not (-P: files here do not hide its modules), and the options of every call.
mpicampaign = f"{shlex.quote(sys.executable)} -P -m mpicampaign.cli"
options = shlex.join([f"--campaign={campaign_file}", f"--system={config.get('system', '')}"])
# Relative paths, since Snakemake takes braces in the names of folders above for wildcards, without an escape.
campaign_input = relpath(campaign_file)
if contains_wildcard(campaign_input):
    message = "Snakemake takes braces in a path for a wildcard"
    raise SystemExit(
        visible_lines(str(Problem(message, campaign_input, hint="rename the file or its folder")))
    )
chosen = prepared.one_repeat if config.get("once") else prepared.wanted
results = Path(relpath(prepared.folder))
scripts = {f"{results}/{script.result}": script for script in chosen}
due = {result: script for result, script in scripts.items() if not script.has_result}
if not due:
    print(pending_text(prepared.plan, 0, prepared.campaign.title, ""), file=sys.stderr)
binaries = {
    name: [relpath(binary) for binary in (*prepared.binaries(name), *prepared.from_source(name))]
    for name in prepared.plan.systems
}


include: "build.smk"
include: "run.smk"
include: "report.smk"


onstart:
    end_in_order()  # Snakemake has set handlers of its own
    # Each finished run has a line of ours, and each failure says why.
    if isinstance(workflow.output_settings.quiet, set):
        workflow.output_settings.quiet.add(Quietness.RULES)
    prepare_for_many(workflow)
    try:
        lock = lock_campaign(prepared)
        write_scripts(prepared)
    except UserError as error:
        raise SystemExit(visible_lines(str(error))) from None
    except OSError as error:
        raise SystemExit(visible_lines(system_error_text(error))) from None


# A failed run must not hide the others: tables and report show the results so far.
onerror:
    if THIS_CALL.reports:
        shell("{mpicampaign} report --quiet {options}")
