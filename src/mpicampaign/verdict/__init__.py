"""Evidence that a run recorded, and what it proves of the run's label."""
