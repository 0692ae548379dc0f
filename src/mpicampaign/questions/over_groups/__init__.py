"""What holds over several host groups: averages, the order of placements, attributes."""
