"""The campaign file: read, checked as a whole, typed."""
