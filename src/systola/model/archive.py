"""Arrays in files as `numpy.savez` writes them, read without pickle and within a bound of memory."""

from __future__ import annotations

import io
import math
import zipfile

import numpy as np

from systola.model.encodings import Array

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def unpack_arrays(raw: bytes, most: int, *, compressed: bool = True, kinds: str = "biuf") -> dict[str, Array]:
    """The arrays of an archive by name.

    Parameters
    ----------
    raw
        The whole file.
    most
        How many bytes the arrays may have together.
    compressed
        Whether they may be.
    kinds
        Which types, by NumPy's letters; never objects, which are pickles.

    Raises
    ------
    Exception
        Almost any: readers of archives and of headers raise what they like.
    """
    arrays = {}
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        entries = archive.infolist()
        if not compressed and any(entry.compress_type for entry in entries):
            raise ValueError("its arrays must not be compressed, but are")
        if sum(entry.file_size for entry in entries) > most:
            raise ValueError(f"its arrays must have at most {most:,} bytes, but have more")
        for entry in entries:
            body = io.BytesIO(archive.read(entry))
            version = np.lib.format.read_magic(body)
            if version not in _HEADERS:
                raise ValueError(f"an array has the unknown version {version}")
            shape, fortran, dtype = _HEADERS[version](body)
            rest = body.read()
            if dtype.kind not in kinds or min(shape, default=1) < 0 or math.prod(shape) * dtype.itemsize != len(rest):
                raise ValueError(f"an array of the shape {shape} and type {dtype} does not fit its {len(rest)} bytes")
            array: Array = np.frombuffer(rest, dtype).reshape(shape, order="F" if fortran else "C")
            arrays[entry.filename.removesuffix(".npy")] = array
    return arrays
