"""Is a system balanced: the quantities of the HPC Challenge paper beside HPL."""
