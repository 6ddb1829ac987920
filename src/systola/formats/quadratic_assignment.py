"""Quadratic assignment instances: files of QAPLIB, and the solutions that lie beside them.

An instance ``NAME.dat`` has n, then the n * n flows row by row, then the n * n distances, wherever its lines end. Its
solution ``NAME.sln`` has n, a cost, and mostly the location of each facility. Public ones differ in what they mean by
it: numbers begin with 1 or 0, and some say the facility of each location. Whichever gives the cost is meant.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import numpy as np

from systola.errors import InputError
from systola.formats.instance import Instance
from systola.formats.text import (
    Tokens,
    located,
    read_text,
    refuse_name_of_solution,
    refuse_other_solution,
    shown,
    write_text,
)
from systola.model.encodings import Array
from systola.model.problem import space_of
from systola.problems.quadratic_assignment import QuadraticAssignment

_SOLUTION = ".sln"
_WORD = re.compile(r"\S+")


def cost(problem: QuadraticAssignment, solution: Array) -> int:
    """The cost of a solution: as `evaluate`, at the speed of NumPy."""
    far = problem.distances[np.ix_(solution, solution)]
    return int((problem.flows.astype(np.int64) * far.astype(np.int64)).sum())


def read_qaplib(path: str | Path) -> Instance:
    """Read an instance of QAPLIB, and the solution beside it if there is one.

    A solution that breaks its own rules does no harm to the instance: a note says what is wrong with it.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If the file of the instance breaks the format, or costs could exceed 61 bits.
    """
    path = Path(path)
    text = read_text(path)
    tokens = Tokens(text, path.name)
    n = tokens.integer("n", 1)
    total = 1 + 2 * n * n
    needed = f"a file with n = {n} must have 1 + 2*n*n = {total} numbers"
    # Nothing is reserved for an n that the file is too short for, and no more words are counted than can matter.
    if 2 * total - 1 > len(text):
        raise tokens.error(f"{needed}, but has room for {(len(text) + 1) // 2} at most; correct n")
    found = sum(1 for _ in islice(_WORD.finditer(text), total))
    if found < total:
        raise tokens.error(f"{needed}, but has {found}; correct n, or complete the file")
    flows = tokens.integers(n * n, "flow").reshape(n, n)
    distances = tokens.integers(n * n, "distance").reshape(n, n)
    tokens.end(f"1 + 2*n*n = {total} numbers, as n = {n}")
    with located(path.name):
        problem = QuadraticAssignment(flows, distances)
    best_known, solution, notes = _known(_beside(path), problem)
    return Instance(path.stem, problem, best_known, f"QAPLIB, file {path}", notes, "qap", solution)


def read_solution(path: str | Path, problem: QuadraticAssignment) -> Array:
    """Read a solution of QAPLIB: the location of each facility, counted from 0.

    Parameters
    ----------
    path
        The file.
    problem
        What it solves.

    Raises
    ------
    InputError
        If the file breaks the format, is of another size, or its permutation has another cost than it says.
    """
    path = Path(path)
    _, solution = _read_claim(path, problem)
    if solution is None:
        raise InputError(f"a permutation must follow the cost, but the file ends ({path.name})")
    return solution


def write(
    problem: QuadraticAssignment,
    path: str | Path,
    best_known: float | None = None,
    solution: Array | None = None,
) -> None:
    """Write an instance of QAPLIB, and beside it the best known cost, if there is one.

    Parameters
    ----------
    problem
        What to write.
    path
        The file; it is replaced if it exists, and so is the file of the solution.
    best_known
        Its cost.
    solution
        One of this cost, the location of each facility.
    """
    path = Path(path)
    refuse_name_of_solution(path, _SOLUTION)
    rows = [" ".join(map(str, row)) for row in (*problem.flows.tolist(), *problem.distances.tolist())]
    n = len(problem.flows)
    contents = {path: [str(n), "", *rows[:n], "", *rows[n:]]}
    if best_known is None:
        refuse_other_solution(_beside(path))
    else:
        told = contents[_beside(path)] = [f"{n} {int(best_known)}"]
        if solution is not None:
            problem.encoding.store(space_of(problem), solution)
            if cost(problem, solution) != best_known:
                raise InputError(f"a solution must cost {best_known}, but this one costs {cost(problem, solution)}")
            told.append(" ".join(str(location + 1) for location in solution.tolist()))
    for file, lines in contents.items():
        write_text(file, lines)


def _beside(path: Path) -> Path:
    return path.parent / (path.stem + _SOLUTION)


def _known(path: Path, problem: QuadraticAssignment) -> tuple[int | None, Array | None, tuple[str, ...]]:
    """The best known cost, a solution of it, and notes, from a file that need not be there."""
    if not path.is_file():
        return None, None, ()
    try:
        value, solution = _read_claim(path, problem)
    except InputError as error:
        return None, None, (f"the best known cost beside it is not used: {error}",)
    unchecked = f"the best known cost is unchecked: {path.name} has no solution to it"
    return value, solution, () if solution is not None else (unchecked,)


def _read_claim(path: Path, problem: QuadraticAssignment) -> tuple[int, Array | None]:
    """The cost that a file tells, and the solution if it tells one, which then has this cost."""
    tokens = Tokens(read_text(path).replace(",", " "), path.name)
    n = len(problem.flows)
    told = tokens.integer("n", 1)
    if told != n:
        raise tokens.error(f"`n` must be {n}, as in the instance, but got {told}")
    value = tokens.integer("cost")
    if tokens.at_end():
        return value, None
    numbers = tokens.integers(n, "location")
    tokens.end(f"the {n} locations")
    first = int(numbers.min())
    if first not in (0, 1) or (np.sort(numbers) != np.arange(first, first + n)).any():
        got = shown(" ".join(map(str, numbers.tolist())))
        raise tokens.error(f"the locations must be a permutation of 1..{n} or of 0..{n - 1}, but got {got}")
    direct = (numbers - first).astype(np.int32)
    inverse = np.argsort(direct).astype(np.int32)
    costs = [cost(problem, solution) for solution in (direct, inverse)]
    if value not in costs:
        raise tokens.error(
            f"the permutation must cost {value}, as the file says, but costs {costs[0]}, and its inverse {costs[1]}"
        )
    return value, (direct, inverse)[costs.index(value)]
