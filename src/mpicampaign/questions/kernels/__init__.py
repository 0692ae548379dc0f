"""What do the bundled kernels measure: useful and wire bandwidth, and the time of each level of a tree."""
