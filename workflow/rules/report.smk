# Records, tables, figures and the report from the results so far. `update`: Snakemake must not remove them first,
# since a report with results is never replaced by one without.
rule report:
    input:
        campaign_input,
        list(scripts),
    output:
        report(
            update(results / "report.html"),
            caption="../captions/report.rst",
            category="Report",
        ),
        report(
            update(results / "tables/comparison.csv"),
            caption="../captions/tables.rst",
            category="Tables",
        ),
    localrule: True
    shell:
        "exec {mpicampaign} report --quiet {options}"
