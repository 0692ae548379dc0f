"""Job campaigns that compare MPI placements, fabrics and clusters, with evidence."""

__version__ = "0.2.0"
