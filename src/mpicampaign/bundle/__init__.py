"""Results that travel: one checksummed file, written here and taken in elsewhere."""
