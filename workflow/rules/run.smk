# One run is one job script, one job, one raw output. The hash of the script is part of the path, so
# a run is executed again if and only if the text of its script changes.
rule run:
    input:
        ancient(binaries),
    output:
        results / "runs/{host_group}/{placement}/{benchmark}/r{repeat}-{script_hash}/result/output.txt",
    wildcard_constraints:
        host_group="[^/]+",
        placement="[^/]+",
        benchmark="[^/]+",
        repeat="[0-9]+",
        script_hash="[0-9a-f]+",
    params:
        script=lambda wildcards, output: scripts[output[0]],
    shell:
        "bash {params.script.path:q}"
