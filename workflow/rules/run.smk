# A run is one job script, one job, one raw output. Its identity is part of the path, so that it is executed again if
# and only if its declaration changes.
def needed_binaries(wildcards, output=None):
    """The binaries of a run; none if it has a result."""
    folder = "runs/{host_group}/{placement}/{benchmark}/r{repeat}-{identity}".format(**wildcards)
    script = scripts[f"{results}/{folder}/result/output.txt"]
    return [] if script.has_result else binaries[script.case.system]


rule run:
    input:
        ancient(needed_binaries),
    output:
        results / "runs/{host_group}/{placement}/{benchmark}/r{repeat}-{identity}/result/output.txt",
    wildcard_constraints:
        host_group="[^/]+",
        placement="[^/]+",
        benchmark="[^/]+",
        repeat="[0-9]+",
        identity="[0-9a-f]+",
    params:
        script=lambda wildcards, output: scripts[output[0]],
    shell:
        "bash {params.script.path:q}"
