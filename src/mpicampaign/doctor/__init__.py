"""Examines a site: calls its commands, sends probe jobs, reports what it found."""
