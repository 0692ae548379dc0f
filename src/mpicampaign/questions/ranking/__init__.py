"""Which placement, host group or MPI library is best."""
