"""Statistics of plain numbers: nothing here knows records or units."""
