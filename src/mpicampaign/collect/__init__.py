"""From files to records: a campaign's own runs, its imports, merged bundles."""
