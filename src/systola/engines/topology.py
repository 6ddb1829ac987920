"""Who is whose neighbour: a row of places for each cell, the cell itself left out.

Rings as in Soca et al. 2010; the shapes on a torus with the names that the field uses: L for a cross and C for a
compact block, and how many cells it has with the one in the middle (Alba, Dorronsoro 2008). Grids of any number of
dimensions, and neighbours that a user lists, are what that paper leaves to later work.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from systola.engines.engine import check_number
from systola.errors import InputError
from systola.model.encodings import Array

_MOST = 10**7  # individuals
_SIZE = 2048  # as Soca et al. 2010
_CROSS = [(-1, 0), (1, 0), (0, -1), (0, 1)]
_CORNERS = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
_FAR = [(-2, 0), (2, 0), (0, -2), (0, 2)]
SHAPES: dict[str, list[tuple[int, int]]] = {
    "L5": _CROSS,
    "L9": _CROSS + _FAR,
    "C9": _CROSS + _CORNERS,
    "C13": _CROSS + _CORNERS + _FAR,
}
Listed = Sequence[Sequence[int]] | Array  # for each individual the numbers of its neighbours


def ring(size: int, radius: int) -> Array:
    """Neighbours up to `radius` places to the left and to the right."""
    if not radius >= 1 or 2 * radius >= size:
        raise InputError(
            f"`1 <= radius` and `2 * radius < size` must hold, but got radius {radius} on a ring of {size}; "
            "choose a smaller radius or more individuals"
        )
    steps = [s for d in range(1, radius + 1) for s in (-d, d)]
    return np.array([[(i + s) % size for s in steps] for i in range(size)], np.int32)


def torus(height: int, width: int, shape: str) -> Array:
    """Neighbours on a torus of this size."""
    least = 5 if shape in ("L9", "C13") else 3
    if min(height, width) < least:
        raise InputError(
            f"{shape} needs a torus of at least {least} x {least}, so that no neighbour comes twice, but got "
            f"{height} x {width}"
        )
    i, j = np.divmod(np.arange(height * width), width)
    return np.stack([(i + di) % height * width + (j + dj) % width for di, dj in SHAPES[shape]], axis=1).astype(np.int32)


def grid(shape: Sequence[int], radius: int) -> Array:
    """Neighbours on a torus of any number of dimensions: up to `radius` places away along one axis."""
    for side in shape:
        if side != 1 and 2 * radius >= side:
            raise InputError(
                "`2 * radius < side` must hold for each side of a grid, so that no neighbour comes twice, but got "
                f"radius {radius} and the shape {' x '.join(map(str, shape))}"
            )
    places = np.arange(prod(shape)).reshape(tuple(shape))
    shifts = [(axis, s) for axis, side in enumerate(shape) if side > 1 for d in range(1, radius + 1) for s in (d, -d)]
    return np.stack([np.roll(places, s, axis).ravel() for axis, s in shifts], axis=1).astype(np.int32)


def listed(neighbours: Listed) -> Array:
    """Neighbours as a user lists them, checked."""
    rows = [list(row) if isinstance(row, (list, tuple, np.ndarray)) else None for row in neighbours]
    size = len(rows)
    if not 3 <= size <= _MOST:
        raise InputError(f"3 to {_MOST:,} individuals must have a list of neighbours, but {size} have")
    width = len(rows[0] or ())
    for cell, row in enumerate(rows):
        if not row or len(row) != width:
            told = "no list" if row is None else f"{len(row)}"
            raise InputError(
                f"each individual must have a list of as many neighbours, one or more, but individual 0 has {width} "
                f"and individual {cell} {told}"
            )
        wrong = [v for v in row if not isinstance(v, (int, np.integer)) or isinstance(v, bool) or not 0 <= v < size]
        if wrong or cell in row or len(set(row)) < width:
            raise InputError(
                f"the neighbours of an individual must be different numbers from 0 to {size - 1}, its own left out, "
                f"but those of individual {cell} are {row}"
            )
    return np.array(rows, np.int32)


def near_square(size: int) -> tuple[int, int]:
    """The two factors of a size that are closest to each other."""
    height = next(h for h in range(int(size**0.5), 0, -1) if size % h == 0)
    return height, size // height


def arrange(
    topology: str | Listed, size: int | None, radius: int, shape: Sequence[int] | None
) -> tuple[int, Array, tuple[int, int]]:
    """How many individuals there are, their neighbours, and the shape of the grid in two dimensions, for pictures."""
    if not isinstance(topology, str):
        places = listed(topology)
        if shape is not None or size not in (None, len(places)):
            raise InputError(f"the neighbours of {len(places)} individuals are listed; leave `size` and `shape` out")
        return len(places), places, near_square(len(places))
    if topology == "ring":
        if shape is not None:
            raise InputError("`shape` is for a torus, but the topology is a ring; leave it out")
        size = int(_SIZE if size is None else size)
        return size, ring(size, radius), (1, size)
    dimensions = _read_shape(topology, size, shape)
    flat = (prod(dimensions[:-1]), dimensions[-1])
    if topology == "grid":
        return prod(dimensions), grid(dimensions, radius), flat
    return prod(dimensions), torus(*flat, topology), flat


def _read_shape(topology: str, size: int | None, shape: Sequence[int] | None) -> tuple[int, ...]:
    """The sides of a torus: two, or any number of them for a grid."""
    if shape is None:
        return near_square(int(_SIZE if size is None else size))
    if not isinstance(shape, (tuple, list)) or (len(shape) != 2 and topology != "grid") or not len(shape):
        wanted = "one whole number or more" if topology == "grid" else "two whole numbers"
        raise InputError(f"`shape` must be {wanted}, but got {shape!r}")
    for side in shape:
        check_number("shape", side, 3 if topology != "grid" else 1, _MOST if topology == "grid" else 10**5)
    sides = tuple(int(side) for side in shape)
    whole = prod(sides)
    if not 3 <= whole <= _MOST:
        raise InputError(f"`shape` must have 3 to {_MOST:,} places, but {' x '.join(map(str, sides))} has {whole}")
    if size not in (None, whole):
        raise InputError(f"a torus of {' x '.join(map(str, sides))} does not have `size` {size}; leave one out")
    return sides
