"""Ways of repeating: each says which repeats are due by the results so far; pure."""
