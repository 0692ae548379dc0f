# The bundled kernels and the evidence library, built with the system's own compiler wrapper.
if binaries:

    rule build:
        output:
            binaries,
        localrule: True
        shell:
            "{mpicampaign} build {options}"
