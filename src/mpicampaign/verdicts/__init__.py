"""Which of several candidates is better, from the times of their runs: one rule for all that compares."""
