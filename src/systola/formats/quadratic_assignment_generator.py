"""Generated quadratic assignments: uniform ones, and two families whose optimum is known because it can be proved.

For these, locations come first: a matrix says what flows between the facilities at any two of them, so made that
everything is where it should be. Then facilities are renamed at random, which hides the optimum and changes no cost.
"""

from __future__ import annotations

import numpy as np

from systola.errors import InputError
from systola.formats.instance import check_sizes
from systola.model.encodings import Array
from systola.model.rng import below, check_seed, draw
from systola.problems.quadratic_assignment import QuadraticAssignment

MOST_FACILITIES = 1_000

_GENERATOR = 9  # purpose of the draws, apart from those of a run with the same seed
_FLOWS, _DISTANCES, _NAMES, _DETOURS, _CORNERS = range(5)
_VALUES = 100  # a uniform entry is below
_BASE = 20  # flow between any two facilities of a grid before some of it is led elsewhere


def uniform(facilities: int, seed: int = 1) -> QuadraticAssignment:
    """Generate an instance like those of Taillard 1991: symmetric, uniform in 0..99, with zero diagonals.

    Parameters
    ----------
    facilities
        n.
    seed
        Equal seeds give equal instances, everywhere.
    """
    _check(facilities)
    seed = check_seed(seed)
    pairs = np.triu_indices(facilities, 1)
    matrices = np.zeros((2, facilities, facilities), np.int64)
    for stream in (_FLOWS, _DISTANCES):
        matrices[stream][pairs] = _entries(seed, stream, len(pairs[0]))
        matrices[stream] += matrices[stream].T
    return QuadraticAssignment(matrices[_FLOWS], matrices[_DISTANCES])


def opposed(facilities: int, seed: int = 1) -> tuple[QuadraticAssignment, Array]:
    """Generate an instance whose flows and distances are sorted in opposite order, with an optimal solution.

    Distances and flows are uniform in 0..99, not symmetric, with zero diagonals. The flows are dealt out from the
    largest to the smallest, to the pairs of locations from the nearest to the farthest.

    Any solution multiplies each flow off the diagonal by another distance off the diagonal, each used once. Of all ways
    to pair two lists of numbers, the opposite order gives the least sum of products: the rearrangement inequality. So
    nothing costs less than leaving facilities where they were when their flows were dealt out.

    Parameters
    ----------
    facilities, seed
        As in `uniform`.
    """
    _check(facilities)
    seed = check_seed(seed)
    pairs = ~np.eye(facilities, dtype=bool)
    count = facilities * (facilities - 1)
    distances = np.zeros((facilities, facilities), np.int64)
    distances[pairs] = _entries(seed, _DISTANCES, count)
    dealt = np.empty(count, np.int64)
    dealt[np.argsort(distances[pairs], kind="stable")] = np.sort(_entries(seed, _FLOWS, count))[::-1]
    flows = np.zeros_like(distances)
    flows[pairs] = dealt
    return _renamed(flows, distances, seed)


def grid(rows: int, columns: int, seed: int = 1) -> tuple[QuadraticAssignment, Array]:
    """Generate an instance on a grid with distances along its lines, with an optimal solution.

    Flows are a sum of pieces, of triangles in the manner of Palubeckis, each of which costs least where it lies:

    - 20 between any two facilities, which costs the same for every solution.
    - *Detours*: for each two locations i, j that are not neighbours, from the farthest, some of the flow between them,
      at most 20, is led over a location k between them: less for i, j, as much more for i, k and for k, j. By the
      triangle inequality this adds amount * (d(i, k) + d(k, j) - d(i, j)) >= 0 to the cost of any solution, and 0 here,
      since k is on a shortest way.
    - *Corners*: in each square of four locations, up to 20 more between any two of some three. On a grid, colour
      locations like a chessboard: each step changes the colour, so a round trip over three locations has an even number
      of steps, at least one for each part, hence at least four; and four it has here.

    So every piece costs any solution at least what it costs this one. No flow is negative.

    Parameters
    ----------
    rows, columns
        Of the grid; locations are numbered row by row.
    seed
        As in `uniform`.
    """
    check_sizes(MOST_FACILITIES, rows=rows, columns=columns)
    seed = check_seed(seed)
    n = rows * columns
    row, column = np.divmod(np.arange(n), columns)
    distances = np.abs(row[:, None] - row) + np.abs(column[:, None] - column)
    flows = np.full((n, n), _BASE, np.int64)
    np.fill_diagonal(flows, 0)
    _lead_over_detours(flows, distances, columns, seed)
    _add_corners(flows, rows, columns, seed)
    return _renamed(flows, distances, seed)


def _lead_over_detours(flows: Array, distances: Array, columns: int, seed: int) -> None:
    one, other = np.triu_indices(len(flows), 1)
    lengths = distances[one, other]
    order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths > 1)]
    places, amounts, _, _ = draw(seed, _GENERATOR, _DETOURS, np.arange(len(one)), 0)
    for pair in order.tolist():
        i, j = int(one[pair]), int(other[pair])
        (top, left), (bottom, right) = divmod(i, columns), divmod(j, columns)
        width = abs(right - left) + 1
        # The locations between are those of the rectangle: from i, the first of them, to j, the last.
        down, along = divmod(1 + int(below(places[pair], (bottom - top + 1) * width - 2)), width)
        k = (top + down) * columns + left + (along if right > left else -along)
        amount = int(below(amounts[pair], min(int(flows[i, j]), _BASE) + 1))
        for a, b, change in ((i, j, -amount), (i, k, amount), (k, j, amount)):
            flows[a, b] += change
            flows[b, a] += change


def _add_corners(flows: Array, rows: int, columns: int, seed: int) -> None:
    squares = np.arange((rows - 1) * (columns - 1))
    missing, amounts, _, _ = draw(seed, _GENERATOR, _CORNERS, squares, 0)
    for square, without, amount in zip(
        squares.tolist(), below(missing, 4).tolist(), below(amounts, _BASE + 1).tolist(), strict=True
    ):
        top, left = divmod(square, columns - 1)
        first = top * columns + left
        corner = np.delete([first, first + 1, first + columns, first + columns + 1], without)
        flows[np.ix_(corner, corner)] += amount * (1 - np.eye(3, dtype=np.int64))


def _check(facilities: int) -> None:
    if not 1 <= facilities <= MOST_FACILITIES:
        raise InputError(f"`1 <= facilities <= {MOST_FACILITIES}` must hold, but got {facilities}")


def _entries(seed: int, stream: int, count: int) -> Array:
    numbers: Array = below(draw(seed, _GENERATOR, stream, np.arange(count), 0)[0], _VALUES)
    return numbers


def _renamed(between: Array, distances: Array, seed: int) -> tuple[QuadraticAssignment, Array]:
    """The problem with facilities in random order, and where they are."""
    high, low, _, _ = draw(seed, _GENERATOR, _NAMES, np.arange(len(between)), 0)
    solution = np.argsort((high << np.uint64(32)) | low, kind="stable").astype(np.int32)
    return QuadraticAssignment(between[np.ix_(solution, solution)], distances), solution
