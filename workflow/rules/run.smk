# A run is one job script, one job, one raw output. Its identity is part of the path, so that it is executed again if
# and only if its declaration changes.
def needed_binaries(wildcards):
    """The binaries of a run; none if it has a result."""
    script = due.get(f"{results}/runs/{wildcards.run}/result/output.txt")
    return binaries[script.case.system] if script else []


rule run:
    input:
        ancient(needed_binaries),
    output:
        results / "runs/{run}/result/output.txt",
    params:
        script=lambda wildcards, output: scripts[output[0]],
    shell:
        "bash {params.script.path:q}"
