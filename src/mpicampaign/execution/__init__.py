"""Running what was rendered: processes, jobs on a scheduler, progress."""
