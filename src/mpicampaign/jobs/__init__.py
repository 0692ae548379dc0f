"""From a campaign to its runs and their job scripts; nothing is started here."""
