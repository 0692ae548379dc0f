"""Which nodes are configured unlike the others of their host group."""
