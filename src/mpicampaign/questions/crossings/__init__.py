"""At which message sizes does the order of candidates turn."""
