"""How good fronts are: hypervolume, additive epsilon, IGD+ and attainment surfaces, by the package moocore.

moocore is the extra ``moo``; it is imported when something is measured. Objectives are in the problem's own senses:
`senses` has `MINIMISE` or `MAXIMISE` for each, and all are minimised without.

References
----------
C. M. Fonseca, L. Paquete, M. López-Ibáñez (2006): hypervolume. E. Zitzler and others (2003): additive epsilon.
H. Ishibuchi and others (2015): IGD+. V. Grunert da Fonseca, C. M. Fonseca, A. O. Hall (2001): attainment.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from systola.errors import InputError, MissingExtra
from systola.model.problem import MAXIMISE, MINIMISE

__all__ = ["attainment", "epsilon", "hypervolume", "igd_plus", "read_fronts", "reference_point"]

_Array = npt.NDArray[np.float64]

_MARGIN = 0.1


def reference_point(fronts: Mapping[str, npt.ArrayLike], senses: Sequence[int] | None = None) -> _Array:
    """A point that is worse than all fronts: their nadir, shifted by 10 % of the range.

    Parameters
    ----------
    fronts
        For each name a front, one point a row.
    senses
        `MINIMISE` or `MAXIMISE` for each objective; all are minimised by default.

    Returns
    -------
    ndarray
        For each objective the worst value of all points, made worse by a tenth of the distance from the best one;
        by 1 where all values are equal.

    Raises
    ------
    InputError
        If there is no front, or shapes, values or senses do not fit.

    Examples
    --------
    >>> reference_point({"a": [[0, 30], [10, 10]], "b": [[4, 20]]}).tolist()
    [11.0, 32.0]
    """
    read, maximised = read_fronts(fronts, senses)
    points = np.concatenate(list(read.values()))
    sign = np.where(maximised, -1.0, 1.0)
    worst, best = (sign * points).max(axis=0), (sign * points).min(axis=0)
    shift = np.where(worst > best, _MARGIN * (worst - best), 1.0)
    return np.asarray(sign * (worst + shift))


def hypervolume(
    fronts: Mapping[str, npt.ArrayLike], reference: npt.ArrayLike | None = None, senses: Sequence[int] | None = None
) -> dict[str, float]:
    """The volume of all that a front dominates, up to a reference point: the more, the better.

    Parameters
    ----------
    fronts
        For each name a front, one point a row.
    reference
        The reference point, the same for all fronts; that of :func:`reference_point` by default. Points that are not
        better than it in all objectives count for nothing.
    senses
        `MINIMISE` or `MAXIMISE` for each objective; all are minimised by default.

    Returns
    -------
    dict
        The hypervolume of each front.

    Raises
    ------
    InputError
        If there is no front, or shapes, values or senses do not fit.
    MissingExtra
        If moocore is not installed.
    """
    read, maximised = read_fronts(fronts, senses)
    point = reference_point(fronts, senses) if reference is None else np.asarray(reference, np.float64)
    if point.shape != maximised.shape or not np.isfinite(point).all():
        raise InputError(
            f"a reference point has {len(maximised)} finite numbers, as points of the fronts do, but got {point}"
        )
    library = _moocore()
    return {name: float(library.hypervolume(f, ref=point, maximise=maximised)) for name, f in read.items()}


def epsilon(
    fronts: Mapping[str, npt.ArrayLike], reference: npt.ArrayLike | None = None, senses: Sequence[int] | None = None
) -> dict[str, float]:
    """Additive epsilon: by how much a front must get better in all objectives to be nowhere worse than another.

    Parameters
    ----------
    fronts, senses
        As of `hypervolume`.
    reference
        The front to compare with; by default the points of all fronts that no other dominates.

    Returns
    -------
    dict
        The indicator of each front: the less, the better; 0 for the reference itself.

    Raises
    ------
    InputError
        If there is no front, or shapes, values or senses do not fit.
    MissingExtra
        If moocore is not installed.
    """
    return _compare("epsilon_additive", fronts, reference, senses)


def igd_plus(
    fronts: Mapping[str, npt.ArrayLike], reference: npt.ArrayLike | None = None, senses: Sequence[int] | None = None
) -> dict[str, float]:
    """IGD+: how far points of a reference front are from being dominated, on average.

    Parameters, what is returned and what is raised are those of `epsilon`.
    """
    return _compare("igd_plus", fronts, reference, senses)


def attainment(fronts: Sequence[npt.ArrayLike], level: float, senses: Sequence[int] | None = None) -> _Array:
    """The points that a share of all runs attains, and beyond which fewer do.

    Parameters
    ----------
    fronts
        For each run its front, one point of two or three objectives a row.
    level
        The share of the runs, above 0: 0.5 gives the median attainment surface, 1 the worst, ``1 / len(fronts)``
        the best.
    senses
        `MINIMISE` or `MAXIMISE` for each objective; all are minimised by default.

    Returns
    -------
    ndarray
        One point a row, in order of the first objective: a run attains a point if its front has one that is nowhere
        worse. At least a share of `level` of the runs attains each.

    Raises
    ------
    InputError
        If there is no front, `level` is not above 0 and at most 1, or shapes, values or senses do not fit.
    MissingExtra
        If moocore is not installed.
    """
    read, maximised = read_fronts({f"run {i + 1}": front for i, front in enumerate(fronts)}, senses)
    if not 2 <= len(maximised) <= 3:
        raise InputError(f"attainment is known for two or three objectives, but points have {len(maximised)}")
    if not 0 < level <= 1:
        raise InputError(f"`0 < level <= 1` must hold, the share of the runs, but got {level}; 0.5 is the median")
    runs = len(read)
    sign = np.where(maximised, -1.0, 1.0)
    points = sign * np.concatenate(list(read.values()))
    sets = np.repeat(np.arange(1, runs + 1), [len(front) for front in read.values()])
    attained = max(math.ceil(level * runs - 1e-9), 1)
    percent = 100 * (attained - 0.5) / runs  # moocore rounds up: from here, no error of rounding leads elsewhere
    surface = sign * _moocore().eaf(points, sets, percentiles=[percent])[:, :-1]
    return np.asarray(surface[np.lexsort(surface.T[::-1])])


def _moocore() -> Any:
    try:
        import moocore
    except ImportError:
        raise MissingExtra("measuring a front", "moo") from None
    return moocore


def _compare(
    indicator: str,
    fronts: Mapping[str, npt.ArrayLike],
    reference: npt.ArrayLike | None,
    senses: Sequence[int] | None,
) -> dict[str, float]:
    read, maximised = read_fronts(fronts, senses)
    library = _moocore()
    if reference is None:
        best = library.filter_dominated(np.concatenate(list(read.values())), maximise=maximised)
    else:
        best = _read_front("the reference", reference, len(maximised))
    measure = getattr(library, indicator)
    return {name: float(measure(front, ref=best, maximise=maximised)) for name, front in read.items()}


def read_fronts(
    fronts: Mapping[str, npt.ArrayLike], senses: Sequence[int] | None
) -> tuple[dict[str, _Array], npt.NDArray[np.bool_]]:
    """The fronts as arrays of one number of objectives, and which objectives are maximised; InputError if not so."""
    if not fronts:
        raise InputError("one front or more can be measured, but got none; run something first")
    read: dict[str, _Array] = {}
    for name, front in fronts.items():
        read[name] = _read_front(f"that of {name!r}", front, next(iter(read.values())).shape[1] if read else None)
    k = next(iter(read.values())).shape[1]
    chosen = [MINIMISE] * k if senses is None else list(senses)
    if len(chosen) != k or not set(chosen) <= {MINIMISE, MAXIMISE}:
        raise InputError(f"senses are MINIMISE ({MINIMISE}) or MAXIMISE ({MAXIMISE}), {k} of them, but got {chosen}")
    return read, np.array(chosen) == MAXIMISE


def _read_front(what: str, front: npt.ArrayLike, k: int | None) -> _Array:
    points = np.asarray(front, np.float64)
    if points.ndim != 2 or points.size == 0 or (k is not None and points.shape[1] != k):
        wanted = "some" if k is None else k
        raise InputError(
            f"a front has one point or more, one a row, of {wanted} objectives, but {what} has shape {points.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise InputError(f"points of a front are finite, but row {bad[0]} of {what} is {points[bad[0]].tolist()}")
    return points
