"""Results in one checksummed file, written here and merged at another site."""
