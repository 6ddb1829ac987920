"""Repeat runs, test them statistically, tabulate and plot them, set them beside the published figures."""
