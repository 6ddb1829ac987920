"""Runs: a search as the host sees it, the budget it is given, and the loop that takes it to its end."""
