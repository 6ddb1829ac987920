"""Who is whose neighbour: a row of places for each cell, the cell itself left out.

Rings as in Soca et al. 2010; the shapes on a torus with the names that the field uses: L for a cross and C for a
compact block, and how many cells it has with the one in the middle (Alba, Dorronsoro 2008).
"""

from __future__ import annotations

import numpy as np

from systola.engines.engine import check_number
from systola.errors import InputError
from systola.model.encodings import Array

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


def near_square(size: int) -> tuple[int, int]:
    """The two factors of a size that are closest to each other."""
    height = next(h for h in range(int(size**0.5), 0, -1) if size % h == 0)
    return height, size // height


def arrange(
    topology: str, size: int | None, radius: int, shape: tuple[int, int] | None
) -> tuple[int, Array, tuple[int, int]]:
    """How many individuals there are, their neighbours, and the shape of the grid."""
    if topology == "ring":
        if shape is not None:
            raise InputError("`shape` is for a torus, but the topology is a ring; leave it out")
        size = int(_SIZE if size is None else size)
        return size, ring(size, radius), (1, size)
    if shape is None:
        shape = near_square(int(_SIZE if size is None else size))
    else:
        if not isinstance(shape, (tuple, list)) or len(shape) != 2:
            raise InputError(f"`shape` must be two whole numbers, but got {shape!r}")
        for side in shape:
            check_number("shape", side, 3, 10**5)
        shape = (int(shape[0]), int(shape[1]))
        if size not in (None, shape[0] * shape[1]):
            raise InputError(f"a torus of {shape[0]} x {shape[1]} does not have `size` {size}; leave one out")
    return shape[0] * shape[1], torus(*shape, topology), shape
