"""Which candidate is better than the reference, of candidates that ran in blocks."""
