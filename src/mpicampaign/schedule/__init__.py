"""Scheduled runs: when a tick is due, what it makes, and what cron or a timer needs to start it."""
