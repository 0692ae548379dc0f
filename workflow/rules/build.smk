# The bundled kernels and the evidence library, built with each system's own compiler wrapper.
if any(binaries.values()):

    rule build:
        output:
            # those of an MPI library that a system has twice, such as by two launchers, are the same
            list(dict.fromkeys(binary for of_system in binaries.values() for binary in of_system)),
        localrule: True
        shell:
            "exec {mpicampaign} build {options}" + (" --verbose" if verbose else "")
