"""How have the results of a campaign changed over its ticks."""
