"""A campaign over time: its series, what was measured in each, and what changed when."""
