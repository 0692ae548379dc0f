# Records, tables, figures and the report, from whatever results are there.
rule report:
    input:
        campaign_file,
        list(scripts),
    output:
        results / "records.jsonl",
        results / "report.html",
    localrule: True
    shell:
        "{mpicampaign} report {options}"
