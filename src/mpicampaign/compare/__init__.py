"""Records side by side: rows, rankings, changes, published values."""
