"""Which setting won a race."""
