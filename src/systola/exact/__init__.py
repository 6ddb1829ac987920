"""Exact searches: what they find is proven best, or they say how far from it it may be."""
