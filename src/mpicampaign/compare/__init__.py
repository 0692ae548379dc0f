"""Records side by side: rows, figures, rankings, changes, published figures."""
