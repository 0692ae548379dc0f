"""A look at a site: its commands are called, probe jobs are sent, and what was found is told."""
