"""Placements over several host groups: their order, and the averages of what they differ by."""
