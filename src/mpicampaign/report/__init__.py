"""The results of a campaign for readers: the page, its tables and figures, written together."""
