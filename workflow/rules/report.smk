# Records, tables, figures and the report, from whatever results are there. Only what may be gone while it is made
# anew is an output: Snakemake removes outputs first, and the old records.jsonl tells what changed since it was written.
rule report:
    input:
        campaign_input,
        list(scripts),
    output:
        report(
            results / "report.html",
            caption="../captions/report.rst",
            category="Report",
        ),
        report(
            results / "tables/comparison.csv",
            caption="../captions/tables.rst",
            category="Tables",
        ),
    localrule: True
    shell:
        "{mpicampaign} report {options}"
