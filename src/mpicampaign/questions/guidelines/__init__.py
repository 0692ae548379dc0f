"""Does an operation take longer than others that do the same: tuning cliffs."""
