"""A comparison as figures: SVG, PNG and PDF in one style."""
