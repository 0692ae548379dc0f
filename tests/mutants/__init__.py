"""Which test kills which mutant: see __main__."""
