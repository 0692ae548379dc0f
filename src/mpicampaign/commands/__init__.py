"""Command lines of the subcommands that have many options."""
