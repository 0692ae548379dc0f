# The bundled kernels and the evidence library, built with the system's own compiler wrapper.
if prepared.binaries:

    rule build:
        output:
            prepared.binaries,
        localrule: True
        shell:
            "{mpicampaign} build {options}"
