"""How long does a gather over a tree take, beside those of the MPI library; its levels."""
