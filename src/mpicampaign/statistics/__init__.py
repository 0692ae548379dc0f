"""Statistics of plain numbers, without records or units."""
