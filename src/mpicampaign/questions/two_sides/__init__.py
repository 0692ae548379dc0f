"""What differs between two results: `compare`, and before and now."""
