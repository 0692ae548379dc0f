# Records, tables, figures and the report, from whatever results are there.
rule report:
    input:
        campaign_input,
        list(scripts),
    output:
        results / "records.jsonl",
        results / "report.html",
    localrule: True
    shell:
        "{mpicampaign} report {options}"
