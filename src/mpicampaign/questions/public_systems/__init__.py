"""Is this normal: own values beside those of public systems, like with like."""
