"""Which demes are connected: a torus whose sides are as close to each other as possible."""

from __future__ import annotations

from systola.engines.topology import near_square


def neighbours_of(deme: int, demes: int) -> list[int]:
    """The demes above, below, to the left and to the right; on a small torus some are the same, or the deme itself."""
    height, width = near_square(demes)
    i, j = divmod(deme, width)
    around = [((i - 1) % height, j), ((i + 1) % height, j), (i, (j - 1) % width), (i, (j + 1) % width)]
    places = [row * width + column for row, column in around]
    return [p for p in dict.fromkeys(places) if p != deme]


def connectivity(demes: int) -> int:
    """How many neighbours each deme has."""
    return len(neighbours_of(0, demes))
