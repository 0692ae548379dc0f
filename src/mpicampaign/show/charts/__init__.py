"""What is drawn of a comparison, as typed data: nothing here knows SVG."""
