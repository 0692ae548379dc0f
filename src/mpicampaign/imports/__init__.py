"""Raw outputs that this program did not make: facts, labels by a map, and the account of every file."""
