"""Whole vectors of the processor: packed bits; sums, products and maxima of rows."""
