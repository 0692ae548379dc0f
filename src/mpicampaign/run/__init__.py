"""Runs the rendered scripts: processes, jobs on a scheduler, progress."""
