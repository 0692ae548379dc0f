"""A comparison as tables, in every format."""
