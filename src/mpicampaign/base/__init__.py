"""What every room uses: texts, units, files, errors, YAML, keys, records."""
