# A campaign: kernels, scripts, measure, report. What is due is planned while this file is read; results and job scripts
# are outputs of no rule, since Snakemake removes outputs before it makes them, and jobs in the queue need their scripts.
from os.path import relpath
from pathlib import Path

from mpicampaign.cli.output import beside, say
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.run.conditions import prepare_with_results
from mpicampaign.run.why_due import due_runs, due_text
from mpicampaign.jobs.prepare import check_runs
from mpicampaign.base.selection import selection_of
from mpicampaign.base.text import visible_lines

campaign_file = relpath(given)
try:
    prepared = prepare_with_results(
        Path(campaign_file), config.get("system", ""), selection=selection_of(config)
    )
    check_runs(prepared)
except UserError as error:
    raise SystemExit(visible_lines(str(error))) from None
once = bool(config.get("once"))
due = due_runs(prepared, once=once)
say(*beside(prepared), due_text(prepared, due))

# The options of every call.
options = shlex.join([f"--campaign={campaign_file}", f"--system={config.get('system', '')}"])
selected = shlex.join(prepared.selection.options)
one_repeat = "--once" if once else ""
results = relpath(prepared.folder)
for path in (campaign_file, results):
    if set("{}") & set(path):
        message, hint = "Snakemake takes braces in a path for a wildcard", "rename the file or its folder"
        raise SystemExit(visible_lines(str(Problem(message, path, hint=hint))))

due_list = f"{marks}/due"
Path(due_list).write_text("".join(f"{run.label}\n" for run, _ in due), encoding="utf-8")
# Nothing is due: the report is as new as the last result, also of a script that was submitted by hand.
outputs = [run.result for run in prepared.wanted if run.has_result]
newest = [relpath(max(outputs, key=lambda output: output.stat().st_mtime))] if outputs else []


if due:

    # The bundled kernels and the evidence library, built with each system's own compiler wrapper.
    rule kernels:
        output:
            temp(touch(f"{marks}/kernels")),
        localrule: True
        shell:
            "exec {mpicampaign} build {options}"

    # One job script and one claim for each run, from the templates.
    rule scripts:
        output:
            temp(touch(f"{marks}/scripts")),
        localrule: True
        shell:
            "exec {mpicampaign} render --quiet {options} {selected}"

    # Makes the runs: on this machine, or as jobs of the scheduler that the campaign file names.
    rule measure:
        input:
            rules.kernels.output,
            rules.scripts.output,
        output:
            temp(touch(f"{marks}/measured")),
        localrule: True
        shell:
            "exec {mpicampaign} run --no-report {one_repeat} {options} {selected}"


# Records, tables, figures and the report from the results so far. `update`: Snakemake must not remove them first,
# since a report with results is never replaced by one without.
rule report:
    input:
        campaign_file,
        [due_list, rules.measure.output] if due else newest,
    output:
        report(
            update(f"{results}/report.html"),
            caption="../captions/report.rst",
            category="Report",
        ),
        report(
            update(f"{results}/tables/comparison.csv"),
            caption="../captions/tables.rst",
            category="Tables",
        ),
    localrule: True
    shell:
        "exec {mpicampaign} report --quiet {options}"


# A failed run must not hide the others: tables and report show the results so far.
onerror:
    shell("{mpicampaign} report --quiet {options}")


goal = rules.report.output
