"""Formats of tables: each module ends in one `WRITER`, and its name is that of the format."""
