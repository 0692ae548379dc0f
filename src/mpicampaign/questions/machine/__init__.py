"""Which nodes or links of a machine are slow."""
